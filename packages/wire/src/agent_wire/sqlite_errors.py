"""The errors of SQLite as the errors of this program: locked, not writable, damaged."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG

from agent_wire.errors import BusyError, CorruptionError, RefusedError

_NOT_WRITABLE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PRIMARY_CODE = 0xFF
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


@contextmanager
def sqlite_errors(database: str, path: Path, remedy: str) -> Generator[None]:
    """Raise a `SpecwrightError` for each error of SQLite in the block.

    Args:
        database: What the file holds, for the message: `the Wire log`.
        path: The file.
        remedy: What to do about a damaged file.

    Raises:
        BusyError: another process kept the file locked for longer than the connection's timeout.
        RefusedError: the file cannot be opened or written, or one of its constraints refuses a row.
        CorruptionError: the file is damaged, or is not this database, or one beside it is not of this program.
        sqlite3.ProgrammingError: unchanged, because it is a defect of the caller.
    """
    check_files_beside(database, path)
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        where = str(path)
        if is_locked(error):
            raise BusyError(
                f"another process has been writing to {database} for too long",
                where=where,
                remedy="wait until it is done, or end it, and run again",
            ) from error
        if primary_code(error) in _NOT_WRITABLE:
            raise RefusedError(
                f"{database} cannot be opened or written: {error}",
                where=where,
                remedy="free the disk or correct the permissions, then run again; what was done is kept",
            ) from error
        if isinstance(error, sqlite3.IntegrityError):
            raise RefusedError(f"{database} refuses this: {error}", where=where) from error
        raise CorruptionError(f"{database} cannot be read: {error}", where=where, remedy=remedy) from error


def check_files_beside(database: str, path: Path) -> None:
    """Refuse files that SQLite would open beside a database and that no program here writes.

    It waits for a pipe without end. A journal that ends with the name of a super-journal makes it delete the file of that
    name, wherever that is; only transactions over several databases write such names. The other two files are not opened:
    whoever closes one takes the locks of this process away.

    Raises:
        CorruptionError: there is one.
    """
    for suffix in ("-journal", "-wal", "-shm"):
        beside = Path(f"{path}{suffix}")
        with suppress(FileNotFoundError):  # others may close the database meanwhile
            is_own = S_ISREG(beside.lstat().st_mode)
            if is_own and suffix == "-journal":
                with beside.open("rb") as file:
                    file.seek(max(0, os.fstat(file.fileno()).st_size - len(_JOURNAL_MAGIC)))
                    is_own = file.read() != _JOURNAL_MAGIC
            if not is_own:
                raise CorruptionError(
                    f"a file beside {database} is not of this program",
                    where=str(beside),
                    remedy="do not use this project, or remove the file",
                )


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another connection holds the lock that was wanted."""
    return primary_code(error) in _LOCKED


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 for an error that Python's own module raised."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def make_directory(database: str, path: Path) -> None:
    """Make the directory of a database's file.

    Raises:
        RefusedError: it cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(
            f"{database} cannot be made: {error.strerror}",
            where=str(path),
            remedy="check that its directory can be made and written to",
        ) from error
