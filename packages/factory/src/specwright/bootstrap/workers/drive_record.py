"""What workers note about their attempts to drive a project, in the project itself (design: workers).

It bounds the attempts of a project that ends its driver before it can do anything, whether the error is raised, or the
process or the whole machine dies of it: an attempt that was begun counts, unless the project has moved on since. The
claims are the queue's; nothing is claimed here.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agent_wire import canonical_json
from specwright.bootstrap.storage.stores import RUNTIME, opened_store
from specwright.errors import AnyError, InputErrors, SpecwrightError
from specwright.ports.store import FileTree
from specwright.settings import load_settings

if TYPE_CHECKING:
    from specwright.queue.jobs import QueuedJob

_RECORD = f"{RUNTIME}/drive.json"
MOST_ATTEMPTS = 8
"""In a row, without an answer or a verdict more in the journal."""
_LONGEST_WAIT = 900.0
_FIRST_WAIT = 5.0
_GROWTH = 3.0


class DriveError(NamedTuple):
    """An error, as a person is shown it."""

    what: str
    where: str
    remedy: str

    @classmethod
    def of(cls, error: AnyError) -> "DriveError":
        """What the error says."""
        return cls(error.what, error.where, error.remedy)

    def __str__(self) -> str:
        return str(SpecwrightError(self.what, where=self.where, remedy=self.remedy))


Ended = Literal["stopped", "interrupted", "paused", "waiting", "failed", "busy"]
"""`busy` is an attempt that was none: the project could not be had, or its store not reached."""


class Outcome(NamedTuple):
    """How an attempt ended.

    Args:
        ended: `stopped` where the project is complete or a person is needed; `paused` where only a person can remove
            what is in the way; `waiting` and `busy` for another attempt; `failed` for none.
        status: Where the project stopped.
        wait: Seconds to the next attempt.
        error: What was in the way.
    """

    ended: Ended
    status: str = ""
    wait: float = 0.0
    error: DriveError | None = None


class DriveRecord(NamedTuple):
    """The last attempt.

    Args:
        worker: The host and the process that made it.
        began: When, UTC.
        attempts: How many in a row have led nowhere, this one included.
        journal: How many records the journal had when it began.
        ended: How: `stopped`, `interrupted`, `paused`, `waiting` to be tried again, `failed`; empty if nobody has said.
        error: Why, if it is one.
    """

    worker: str = ""
    began: str = ""
    attempts: int = 0
    journal: int = 0
    ended: str = ""
    error: DriveError | None = None

    def next(self, worker: str, now: str, journal: int) -> "DriveRecord":
        """The record of the next attempt.

        Args:
            worker: That makes it.
            now: The time.
            journal: How many records the journal has.
        """
        anew = journal > self.journal or self.ended in ("stopped", "interrupted", "paused")
        attempts = 1 if anew else self.attempts + 1
        return DriveRecord(worker, now, attempts, journal, "", None if anew else self.error)

    def asked(self) -> "DriveRecord":
        """The record when a person has asked: attempts count anew, and what was in their way is past."""
        return self._replace(attempts=0, ended="", error=None)

    @property
    def wait(self) -> float:
        """Seconds to the next attempt."""
        return min(_LONGEST_WAIT, _FIRST_WAIT * _GROWTH ** (self.attempts - 1))

    def to_json(self) -> dict[str, Any]:
        """As it is stored, and shown to programs."""
        return {**self._asdict(), "error": self.error and self.error._asdict()}


def drive_record(folder: FileTree) -> DriveRecord:
    """The record of the last attempt; an empty one if there was none, or if it is damaged, for it only counts."""
    try:
        data: Mapping[str, Any] = canonical_json.loads(
            folder.read(_RECORD) if folder.exists(_RECORD) else b"{}"
        )
        error = data.get("error")
        return DriveRecord(
            str(data.get("worker", "")),
            str(data.get("began", "")),
            int(data.get("attempts", 0)),
            int(data.get("journal", 0)),
            str(data.get("ended", "")),
            DriveError(*(str(error[name]) for name in DriveError._fields)) if error else None,
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        return DriveRecord()


def note_drive(folder: FileTree, record: DriveRecord) -> None:
    """Store a record in place of the last one."""
    folder.replace(_RECORD, json.dumps(record.to_json()).encode())


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
        settings = load_settings(directory, looking=True)
    except InputErrors:  # what is there can be looked at all the same
        return None
    if settings.drive != "workers" or not settings.store:
        return None
    with opened_store(directory, settings.store) as store:
        return QueueState(store.jobs(), store.workers(), drive_record(store.folder))
