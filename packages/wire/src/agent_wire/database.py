"""An SQL database as the log and the Code Index use it: an SQLite file or a Postgres schema (design: store-layout).

Statements are written once, in the SQL that both understand, with `?` for each parameter.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from agent_wire.sqlite_errors import sqlite_errors


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
