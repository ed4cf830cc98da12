"""The SQL databases of the log and the Code Index: an SQLite file or a Postgres schema (design: store-layout).

Statements are written once, in SQL that both understand, with `?` for each parameter. `sqlite_errors` turns errors of
SQLite into errors of this package.
"""

import os
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple, Protocol, TypeAlias

from agent_wire.errors import BusyError, CorruptionError, RefusedError

_NOT_WRITABLE = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PAUSE_SECONDS = 0.05
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


class Rows(Protocol):
    """The rows that a statement selected."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchmany(self, size: int, /) -> list[Any]:
        """Return the next rows, at most `size`."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection inside a transaction."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Rows:
        """Execute a statement."""
        ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Execute a statement once for each row."""
        ...


class Database(Protocol):
    """A database with one connection per process, which the threads of the process share in turn."""

    @property
    def address(self) -> str:
        """The file or server, for error messages."""
        ...

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction for reading."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction that excludes other writers; commit at the end of the block, roll back if it raises."""
        ...

    def version(self, connection: Connection) -> int:
        """Return a number that changes whenever another connection has written."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Table(NamedTuple):
    """A table that can be copied between stores. The first `key` columns are its primary key."""

    name: str
    columns: tuple[str, ...]
    key: int = 1


Dump: TypeAlias = Mapping[str, Sequence[Sequence[Any]]]
"""Table name -> rows."""


@contextmanager
def sqlite_errors(database: str, path: Path, remedy: str) -> Generator[None]:
    """Turn SQLite errors in the block into errors of this package.

    Args:
        database: The name of the database in messages, such as `the Wire log`.
        path: The file.
        remedy: What the reader can do about a damaged file.

    Raises:
        BusyError: another process kept the file locked for longer than the connection's timeout.
        RefusedError: the file cannot be opened or written, or a row violates a constraint.
        CorruptionError: the file is damaged or is another database, or a file beside it has an unexpected form.
        sqlite3.ProgrammingError: passed through, because it is a bug in the caller.
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
                f"another process has kept {database} locked for too long",
                where=where,
                remedy="wait until it finishes, or stop it, and run the command again",
            ) from error
        if _primary_code(error) in _NOT_WRITABLE:
            raise RefusedError(
                f"{database} cannot be opened or written: {error}",
                where=where,
                remedy="free disk space or correct the permissions, then run the command again; finished work is kept",
            ) from error
        if isinstance(error, sqlite3.IntegrityError):
            raise RefusedError(f"{database} rejected a row: {error}", where=where) from error
        raise CorruptionError(f"{database} cannot be read: {error}", where=where, remedy=remedy) from error


def check_files_beside(database: str, path: Path) -> None:
    """Reject dangerous files beside a database, which SQLite would open together with it.

    A named pipe makes SQLite wait forever. A journal that ends with the name of a super-journal makes it delete the file
    of that name, wherever it is; only transactions over several databases write such names. This function does not open
    the `-wal` and `-shm` files, because closing them would release this process's locks.

    Raises:
        CorruptionError: there is such a file.
    """
    for suffix in ("-journal", "-wal", "-shm"):
        beside = Path(f"{path}{suffix}")
        with suppress(FileNotFoundError):  # another process may close the database meanwhile
            is_own = S_ISREG(beside.lstat().st_mode)
            if is_own and suffix == "-journal":
                with beside.open("rb") as file:
                    file.seek(max(0, os.fstat(file.fileno()).st_size - len(_JOURNAL_MAGIC)))
                    is_own = file.read() != _JOURNAL_MAGIC
            if not is_own:
                raise CorruptionError(
                    f"this program did not write a file beside {database}",
                    where=str(beside),
                    remedy="remove the file, or do not use this project",
                )


def is_locked(error: sqlite3.Error) -> bool:
    """Return whether another connection holds the lock."""
    return _primary_code(error) in _LOCKED


def _primary_code(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code, or 0 if Python's sqlite3 module raised the error itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def enter_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch a database file to WAL mode.

    If two processes switch a new file at the same time, SQLite reports a lock to one of them at once instead of waiting.

    Args:
        connection: A connection to the file.
        patience: How many seconds to wait for the other process.
    """
    for _ in range(int(patience / _PAUSE_SECONDS)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not is_locked(error):
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")


def make_directory(database: str, path: Path) -> None:
    """Create the directory of a database file.

    Raises:
        RefusedError: the directory cannot be created.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(
            f"{database} cannot be created: {error.strerror}",
            where=str(path),
            remedy="check that its directory can be created and written to",
        ) from error


def dump(connection: Connection, tables: Iterable[Table]) -> Dump:
    """Read the rows of tables, ordered by key."""
    return {
        table.name: connection.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name} ORDER BY {', '.join(table.columns[: table.key])}"  # noqa: S608  # constants
        ).fetchall()
        for table in tables
    }


def insert(connection: Connection, tables: Iterable[Table], rows: Dump) -> None:
    """Insert the rows of a dump."""
    for table in tables:
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(
            f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})",  # noqa: S608  # constants
            rows.get(table.name, ()),
        )


def refuse_views(connection: sqlite3.Connection) -> None:
    """Reject a file with views: this program creates none, and a view in place of a table may yield endless rows.

    Raises:
        sqlite3.DatabaseError: the file has a view.
    """
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'view' LIMIT 1").fetchone():
        raise sqlite3.DatabaseError("the file has a view, which this program never creates")


def dump_file(path: Path, tables: Iterable[Table]) -> Dump:
    """Read the rows of an SQLite file without writing to it; a missing file has none."""
    if not path.is_file():
        return {}
    with (
        sqlite_errors("the database", path, "restore the file from a copy"),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        refuse_views(connection)
        connection.execute("BEGIN")
        return dump(connection, tables)


def restore_file(
    path: Path, schema: Sequence[str], version: int, tables: Iterable[Table], rows: Dump
) -> None:
    """Create an SQLite file with the rows of a dump; triggers are created last, so that they do not change the rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    triggers = [statement for statement in schema if statement.startswith("CREATE TRIGGER")]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in schema:
            if statement not in triggers:
                connection.execute(statement)
        insert(connection, tables, rows)
        for statement in triggers:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
