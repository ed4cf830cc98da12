"""Projects that are read again and again, as the studio does: what was read of a log stays, and what is new is taken in
(design: floors, studio).

A project of ten thousand tasks takes seconds to read from its log; the entries that came since the last time take none.
"""

import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from agent_wire.log import DatabaseWireLog
from specwright.application.factory import ProjectView
from specwright.application.projection import Projection
from specwright.bootstrap.storage.stores import DirectoryStore, begun_store
from specwright.bootstrap.views.reading import reading_project, without_garbage_collection
from specwright.ports.store import StateStore


class _ReadLog:
    """What was read of one project's log: the projection, and the entry that it goes up to."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._projection: Projection | None = None
        self._number = 0
        self._running_hash = b""

    def projection(self, log: DatabaseWireLog, store: StateStore) -> Projection:
        """The projection up to the end of the log; made anew if the log is another one now."""
        projection = self._projection if self._is_followed_by(log) else None
        self._projection = None  # until it is whole again
        if projection is None:
            projection = Projection(log, store, time.monotonic)
        with without_garbage_collection():
            projection.apply(log.entries(projection.seen))
        self._number = projection.seen
        self._running_hash = self._hash_in(log)
        self._projection = projection
        return projection

    def _is_followed_by(self, log: DatabaseWireLog) -> bool:
        """Whether the log still has the entry up to which it was read."""
        return self._number > 0 and self._hash_in(log) == self._running_hash

    def _hash_in(self, log: DatabaseWireLog) -> bytes:
        """The running hash of the entry up to which it was read, as the log has it; empty if there is none."""
        entry = next(log.stored(self._number - 1), None) if self._number else None
        return entry.running_hash if entry and entry.sequence_number == self._number else b""


class ProjectViews:
    """Views of projects; one thread at a time looks at a project."""

    def __init__(self) -> None:
        self._logs: dict[Path, _ReadLog] = {}
        self._lock = threading.Lock()

    @contextmanager
    def reading(self, directory: Path) -> Generator[ProjectView]:
        """A project as its log and its store show it now; nothing is locked or written.

        A project on Postgres is read anew: its store belongs to a connection.

        Raises:
            InputError: there is no project.
        """
        with self._lock:
            known = self._logs.setdefault(directory, _ReadLog())
        with begun_store(directory) as store:
            if isinstance(store, DirectoryStore):
                with known.lock, closing(store.log(reading=True)) as log:
                    yield ProjectView(store=store.files, projection=known.projection(log, store.files))
                return
        with reading_project(directory) as view:
            yield view
