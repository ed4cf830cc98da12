"""One SQLite connection, set up so that what is acknowledged survives a crash (D36)."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from specwright.errors import CorruptionError, HeldError, RefusedError
from specwright.log.schema import FROM_VERSION_1, SCHEMA, SCHEMA_VERSION

__all__ = ["address", "connect", "told"]

_BUSY_MILLISECONDS = 30_000
_OUTSIDE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}
_PRIMARY_CODE = 0xFF


def connect(path: Path) -> sqlite3.Connection:
    """Open the log's file, and make it if it is not there.

    WAL, so that a reader never blocks a writer; `synchronous=FULL`, so that a commit is on the disk. Where nothing can
    be written, it is opened for reading.

    Raises:
        CorruptionError: the file is no SQLite database.
        RefusedError: it cannot be made or written.
    """
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            address(path),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY_MILLISECONDS / 1000,
        )
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def address(path: Path, *, reading: bool = False) -> str:
    """The file's URI. In a folder that cannot be written WAL needs to be told that nobody else writes either.

    Args:
        path: The file.
        reading: Whether it is only read, even if it could be written.
    """
    uri = path.absolute().as_uri()
    if not path.is_file() or os.access(path.parent, os.W_OK):
        return f"{uri}?mode={'ro' if reading else 'rwc'}"
    left = path.with_name(f"{path.name}-wal")  # of somebody who writes, or who was killed
    return f"{uri}?mode=ro" if left.is_file() else f"{uri}?immutable=1"


@contextmanager
def told(path: Path) -> Generator[None]:
    """Turn what SQLite raises into the errors that a person reads.

    Raises:
        HeldError: another process kept the file locked for half a minute.
        RefusedError: the disk is full, the file or folder is not writable.
        CorruptionError: anything else is a file that is not what was written.
    """
    try:
        yield
    except OSError as error:
        raise RefusedError(f"the Wire log cannot be written: {error.strerror}", where=str(path)) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise HeldError("another process is writing the Wire log", where=str(path)) from error
        if code in _OUTSIDE:
            raise RefusedError(
                f"the Wire log cannot be opened or written: {error}",
                where=str(path),
                remedy="mend the disk or the rights and run again; what was done is kept",
            ) from error
        raise CorruptionError(
            f"the Wire log cannot be read: {error}",
            where=str(path),
            remedy="run `specwright wire verify`, or restore the file from a backup",
        ) from error


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the drive's own cache too
    connection.execute("PRAGMA foreign_keys = ON")
    if _version(connection) == SCHEMA_VERSION:
        return  # somebody who only reads takes no lock
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    found = _version(connection)
    if found not in {0, 1, SCHEMA_VERSION}:
        raise sqlite3.DatabaseError(f"it is of version {found}, this program reads {SCHEMA_VERSION}")
    if found != SCHEMA_VERSION:
        for statement in _statements((FROM_VERSION_1 if found == 1 else "") + SCHEMA):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _statements(script: str) -> list[str]:
    """The statements of a script; `executescript` would commit on its own."""
    statements: list[str] = []
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
