"""The SQL databases of the log and the Code Index: an SQLite file or a Postgres schema (design: store-layout).

Statements are written once, in SQL that both understand, with `?` for each parameter. `sqlite_errors` turns errors of
SQLite into errors of this package.
"""

import os
import sqlite3
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
_PRIMARY_CODE = 0xFF
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


class Rows(Protocol):
    """What a statement selected."""

    def fetchone(self) -> Any:
        """The next row, None if there is none."""
        ...

    def fetchmany(self, size: int, /) -> list[Any]:
        """The next rows, at most `size`."""
        ...

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
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
    """A database that one connection of this process reads and writes; its threads take turns."""

    @property
    def address(self) -> str:
        """The file or the server, for messages."""
        ...

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that reads."""
        ...

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction that keeps other writers out; committed when the block ends, rolled back if it raises."""
        ...

    def version(self, connection: Connection) -> int:
        """A number that changes whenever another connection has written."""
        ...

    def close(self) -> None:
        """Close the connection; what was committed stays."""
        ...


class Table(NamedTuple):
    """A table whose rows are moved between stores: its columns, of which the first ones are its key."""

    name: str
    columns: tuple[str, ...]
    key: int = 1


Dump: TypeAlias = Mapping[str, Sequence[Sequence[Any]]]
"""The rows of tables by their names."""


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
        if _primary_code(error) in _NOT_WRITABLE:
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
    return _primary_code(error) in _LOCKED


def _primary_code(error: sqlite3.Error) -> int:
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


def dump(connection: Connection, tables: Iterable[Table]) -> Dump:
    """The rows of tables, in the order of their keys."""
    return {
        table.name: connection.execute(
            f"SELECT {', '.join(table.columns)} FROM {table.name} ORDER BY {', '.join(table.columns[: table.key])}"  # noqa: S608  # constants
        ).fetchall()
        for table in tables
    }


def insert(connection: Connection, tables: Iterable[Table], rows: Dump) -> None:
    """Insert the rows of a dump as they are."""
    for table in tables:
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(
            f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})",  # noqa: S608  # constants
            rows.get(table.name, ()),
        )


def refuse_views(connection: sqlite3.Connection) -> None:
    """Refuse a file with views, which no program here makes: one in the place of a table may have rows without end.

    Raises:
        sqlite3.DatabaseError: it has one.
    """
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'view' LIMIT 1").fetchone():
        raise sqlite3.DatabaseError("it has a view, which this program does not make")


def dump_file(path: Path, tables: Iterable[Table]) -> Dump:
    """The rows of an SQLite file; none if there is no file. Nothing is written."""
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
    """Make an SQLite file with the rows of a dump; its triggers come after the rows, which are restored as they are."""
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
