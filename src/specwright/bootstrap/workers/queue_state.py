"""What the queue and the workers say about a project, for those who look at it (design: workers)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from specwright.bootstrap.storage.stores import opened_store
from specwright.bootstrap.workers.drive_record import DriveRecord, drive_record
from specwright.errors import InputError
from specwright.settings import load_settings

if TYPE_CHECKING:
    from specwright.queue.jobs import QueuedJob


class QueueState(NamedTuple):
    """A project that workers drive.

    Args:
        jobs: What they have not done yet, the claimed one first.
        workers: How many are alive, whatever they drive.
        record: The last attempt.
    """

    jobs: "Sequence[QueuedJob]"
    workers: int
    record: DriveRecord

    @property
    def waits(self) -> bool:
        """Whether a worker is to drive it."""
        return bool(self.jobs)


def queue_state(directory: Path) -> QueueState | None:
    """What the queue says about a project; None if it is not driven by workers."""
    try:
        settings = load_settings(directory)
    except InputError:  # what is there can be looked at all the same
        return None
    if settings.drive != "workers" or not settings.store:
        return None
    with opened_store(directory, settings.store) as store:
        return QueueState(store.jobs(), store.workers(), drive_record(store.folder))
