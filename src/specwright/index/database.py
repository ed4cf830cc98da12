"""The SQLite file of the Code Index: opened durably, written one at a time, its rules compared (DESIGN §12).

WAL with `synchronous=FULL`: what was committed survives `kill -9` and a power cut. `BEGIN IMMEDIATE` with a
busy timeout makes a second writer wait. Knows nothing of entries or vectors.
"""

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from specwright.errors import CorruptionError, HeldError, RefusedError, SpecwrightError
from specwright.index.schema import STATEMENTS, VERSION

__all__ = ["Database"]

_BUSY_SECONDS = 30.0
_PAUSE_SECONDS = 0.05


class Database:
    """One connection, shared by the threads of a process.

    Args:
        path: The file; made with its directories if it is missing.
        busy_seconds: How long to wait for another writer.

    Raises:
        CorruptionError: not a database, or its rules have been taken out.
        HeldError: another process wrote for longer than `busy_seconds`.
        RefusedError: a later Specwright made it.
    """

    def __init__(self, path: Path, busy_seconds: float = _BUSY_SECONDS) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
            )
        try:
            with self._told():
                self._enter_wal(busy_seconds)
                self._connection.execute("PRAGMA synchronous=FULL")
                self._connection.execute("PRAGMA foreign_keys=ON")
            self._establish()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file; what was committed stays."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A consistent view of one moment."""
        with self._lock, self._told():
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._rollback()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction that is written whole when the block ends, and not at all if it raises."""
        with self._lock, self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                self._rollback()

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _enter_wal(self, patience: float) -> None:
        # two processes that switch a new file together: one is told "locked" at once, past the busy timeout
        for _ in range(int(patience / _PAUSE_SECONDS)):
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return
        self._connection.execute("PRAGMA journal_mode=WAL")

    def _establish(self) -> None:
        with self.reading() as connection:
            made = _layout(connection)
        if made == 0:
            with self.writing() as connection:
                if _layout(connection) == 0:  # nobody else made it while we waited
                    for statement in STATEMENTS:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version={VERSION}")
        elif made > VERSION:
            raise RefusedError(
                "the Code Index was written by a later Specwright",
                where=str(self.path),
                remedy="use that version, or another index directory",
            )
        with self.reading() as connection:
            stored = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master")}
        if not stored.issuperset(STATEMENTS):
            raise CorruptionError(
                "the Code Index has lost rules that keep it append-only; its entries cannot be trusted",
                where=str(self.path),
                remedy="restore the file from a backup",
            )

    @contextmanager
    def _told(self) -> Generator[None]:
        """Say what SQLite reports as an error of ours."""
        try:
            yield
        except OSError as error:
            raise SpecwrightError(
                f"the Code Index cannot be made: {error.strerror}",
                where=str(self.path),
                remedy="check that its directory can be made and written to",
            ) from error
        except sqlite3.ProgrammingError:
            raise  # we misused the library: a defect, not a condition
        except sqlite3.IntegrityError as error:
            raise RefusedError(f"the Code Index refuses this: {error}", where=str(self.path)) from error
        except sqlite3.OperationalError as error:
            if _is_busy(error):
                raise HeldError(
                    "another process has been writing to the Code Index for too long",
                    where=str(self.path),
                    remedy="wait until it is done, or end it, and try again",
                ) from error
            raise SpecwrightError(
                f"the Code Index cannot be used: {error}",
                where=str(self.path),
                remedy="check that its directory exists, is writable and has space",
            ) from error
        except sqlite3.DatabaseError as error:
            raise CorruptionError(
                f"the Code Index is damaged: {error}",
                where=str(self.path),
                remedy="restore the file from a backup",
            ) from error


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_busy(error: sqlite3.Error) -> bool:
    # an error of the module itself, such as a text that is no UTF-8, has no code
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
