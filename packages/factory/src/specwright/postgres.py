"""The Postgres store: one connection to the schema of a project, and its errors (design: store-layout).

Whoever drives a project holds a lock of the session and writes by the same connection. A driver whose connection was
cut can therefore write nothing more once another one may hold the project.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import errors, sql

from specwright.errors import BusyError, CorruptionError, InputError, RefusedError

_SCHEMA = "specwright"
_PROJECT = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CONNECT_SECONDS = 10
_PATIENCE = 0.2
"""Seconds that a driver waits for the lock: a driver that ends releases it a little later."""
SESSION = (
    "synchronous_commit=on",  # a commit is on the server's disk
    # a machine that vanished holds its project for half a minute, not for the two hours of the system
    "tcp_keepalives_idle=10",
    "tcp_keepalives_interval=5",
    "tcp_keepalives_count=3",
    "tcp_user_timeout=30000",
)
KEEPALIVES: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_SECRET_PARAMETERS = ("password", "passfile", "sslpassword", "sslkey", "service", "options")
"""Of libpq: they hold passwords, name files with some, or change what this program sets."""
_EXAMPLE = "postgresql://user@host/database?project=shop"


def is_project_name(name: str) -> bool:
    """Whether a project can have this name, which becomes part of a schema's name and of paths."""
    return _PROJECT.fullmatch(name) is not None


class StoreAddress(NamedTuple):
    """What the setting `store` says.

    Args:
        url: For the driver library, without the project.
        project: One of several in the database; empty for the one without a name.
    """

    url: str
    project: str

    @classmethod
    def parse(cls, text: str) -> "StoreAddress":
        """Read the setting.

        Raises:
            InputError: no address of a Postgres database, or no name of a project.
        """
        remedy = f"write it like {_EXAMPLE}"
        try:
            parts = urlsplit(text)
            known = parse_qsl(parts.query, strict_parsing=bool(parts.query))
        except ValueError as error:
            raise InputError(f"the store's address cannot be read: {error}", remedy=remedy) from error
        if parts.scheme not in ("postgresql", "postgres"):
            raise InputError("the store is no Postgres address", where=parts.scheme, remedy=remedy)
        if secret := next((name for name, _ in known if name in _SECRET_PARAMETERS), ""):
            raise InputError(
                f"the store's address may not hold `{secret}`",
                where="store",
                remedy="put the password into PGPASSWORD or ~/.pgpass, and the rest into variables of libpq",
            )
        project = dict(known).get("project", "")
        if project and not is_project_name(project):
            raise InputError(
                f"{project!r} cannot be the name of a project",
                where="store",
                remedy="take lower-case letters, digits and underscores, at most 40",
            )
        rest = urlencode([(name, value) for name, value in known if name != "project"])
        return cls(urlunsplit(parts._replace(query=rest)), project)

    @property
    def schema(self) -> str:
        """The schema that holds the project."""
        return f"{_SCHEMA}_{self.project}" if self.project else _SCHEMA

    @staticmethod
    def project_of(schema: str) -> str:
        """The name of the project in a schema; empty for the one without a name."""
        return schema.removeprefix(_SCHEMA).removeprefix("_")

    def __str__(self) -> str:
        """The address without its password."""
        parts = urlsplit(self.url)
        login, at, host = parts.netloc.rpartition("@")
        shown = urlunsplit(parts._replace(netloc=f"{login.partition(':')[0]}{at}{host}", query=""))
        return f"{shown}?project={self.project}" if self.project else shown


_TRIGGER = re.compile(r"CREATE TRIGGER (\w+)\s.*?\sON (\w+)")
_FUNCTION = re.compile(r"CREATE FUNCTION (\w+)\(.*?\$\$(.*?)\$\$", re.DOTALL)


def _schema_text() -> str:
    return (files("specwright") / "postgres_schema.sql").read_text(encoding="utf-8")


def _text(value: Any) -> str:
    """A value of the catalog's type `char`, which comes as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


class PostgresDatabase:
    """The `Database` of a project's schema; one connection, shared by the threads of a process.

    Args:
        address: Of the store.

    Raises:
        InputError: there is no such database, or the login is refused.
        RefusedError: the server cannot be reached.
    """

    def __init__(self, address: StoreAddress) -> None:
        self.schema = address.schema
        self.address = str(address)
        self.lock = threading.RLock()
        """Held by the thread that uses the connection."""
        self.connection = self._connected(address)
        self.exists = self._has_schema()
        """Whether the project is there."""

    def _connected(self, address: StoreAddress) -> psycopg.Connection[Any]:
        try:
            return psycopg.connect(
                address.url,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                application_name=f"specwright {os.getpid()} {socket.gethostname()}"[:63],
                options=" ".join(f"-c {setting}" for setting in (*SESSION, f"search_path={self.schema}")),
                **KEEPALIVES,
            )
        except (psycopg.ProgrammingError, UnicodeError) as error:
            raise InputError(
                f"the store's address cannot be used: {_first_line(error)}",
                where=self.address,
                remedy=f"write it like {_EXAMPLE}",
            ) from error
        except psycopg.OperationalError as error:
            raise RefusedError(
                f"the store cannot be reached: {_first_line(error)}",
                where=self.address,
                remedy="start the server, make the database or correct the setting `store`; what was done is kept",
            ) from error

    def _has_schema(self) -> bool:
        with self.reading() as connection:
            # from the tables of the catalog: `to_regclass` may answer from a cache what was so before
            query = "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'index_version'"
            return connection.execute(query, (self.schema,)).fetchone() is not None

    def prepare(self) -> None:
        """Make the schema of the project unless it is there, in one transaction."""
        if self.exists:
            return
        statements = _schema_text()
        with self._transaction() as connection:
            key = (f"{self.schema} is made",)
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", key)
            if not self._has_schema():
                name = sql.Identifier(self.schema)
                connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
                connection.execute(cast(Any, statements))
        self.exists = True

    def unlike_schema(self) -> list[str]:
        """The triggers and functions that are missing, switched off, added or changed, in words; empty if the schema
        protects the records as the program made it."""
        text = _schema_text()
        triggers = {f"trigger {name} on {table}" for name, table in _TRIGGER.findall(text)}
        bodies = dict(_FUNCTION.findall(text))
        with self.reading() as connection:
            found = connection.execute(
                "SELECT tgname, relname, tgenabled FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
                " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ? AND NOT tgisinternal",
                (self.schema,),
            ).fetchall()
            sources = connection.execute(
                "SELECT proname, prosrc FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace"
                " WHERE nspname = ?",
                (self.schema,),
            ).fetchall()
        enabled = {f"trigger {name} on {table}" for name, table, how in found if _text(how) in "OA"}
        present = {f"trigger {name} on {table}" for name, table, _ in found}
        faults = [
            *(f"{one} is missing" for one in triggers - present),
            *(f"{one} is switched off" for one in triggers & present - enabled),
            *(f"{one} was added" for one in present - triggers),
            *(f"function {name} was changed" for name, body in bodies.items() if (name, body) not in sources),
        ]
        return sorted(faults)

    @contextmanager
    def driving(self) -> Generator[None]:
        """Hold the project against other drivers for as long as this connection lasts; it is made if missing.

        Raises:
            BusyError: another process drives it; the message says which.
        """
        self.prepare()
        ends = time.monotonic() + _PATIENCE
        while not self._lock():
            if time.monotonic() > ends:
                raise BusyError(
                    f"the project is being driven by {self.driver() or 'another process'}",
                    where=self.address,
                    remedy="wait for it, or stop it; its results are kept",
                )
            time.sleep(_PATIENCE / 10)
        try:
            yield
        finally:
            if not self.connection.closed:
                with self.reading() as connection:
                    connection.execute("SELECT pg_advisory_unlock(hashtextextended(?, 0))", (self.schema,))

    def driver(self) -> str:
        """The process that drives the project, in words; empty if none does."""
        query = """SELECT coalesce(a.application_name, '') FROM pg_locks l
            JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
            LEFT JOIN pg_stat_activity a USING (pid)
            WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
              AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(?, 0)"""
        with self.reading() as connection:
            row = connection.execute(query, (self.schema,)).fetchone()
        if row is None:
            return ""
        program, _, process = str(row[0]).partition(" ")
        pid, _, host = process.partition(" ")
        return f"process {pid} on {host}" if program == "specwright" else "another process"

    def _lock(self) -> bool:
        with self.reading() as connection:
            query = "SELECT pg_try_advisory_lock(hashtextextended(?, 0))"
            return connection.execute(query, (self.schema,)).fetchone() == (True,)

    def reading(self) -> AbstractContextManager["QuestionMarks"]:
        """A transaction that reads."""
        return self.writing()

    @contextmanager
    def writing(self, table: str = "") -> Generator["QuestionMarks"]:
        """A transaction, committed when the block ends and rolled back if it raises.

        Args:
            table: That other writers are kept out of.
        """
        with self._transaction() as connection:
            if table:
                lock = sql.SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(sql.Identifier(table))
                connection.execute(lock)
            yield QuestionMarks(connection)

    @contextmanager
    def snapshot(self) -> Generator["QuestionMarks"]:
        """A transaction that reads one state, whatever others write meanwhile."""
        with self._transaction() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield QuestionMarks(connection)

    @contextmanager
    def _transaction(self) -> Generator[psycopg.Connection[Any]]:
        with self.lock, postgres_errors(self.address), self.connection.transaction():
            yield self.connection

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


class PostgresTables:
    """A `Database` of some tables of a project, on its connection, which another one closes.

    Args:
        database: Of the project.
        table: The one that a writer keeps other writers out of.
        counter: A statement that selects how often the tables were written; empty if nobody asks.
    """

    def __init__(self, database: PostgresDatabase, table: str, counter: str = "") -> None:
        self._database = database
        self._table = table
        self._counter = counter
        self.address = database.address

    def reading(self) -> AbstractContextManager["QuestionMarks"]:
        """A transaction that reads."""
        return self._database.reading()

    def writing(self) -> AbstractContextManager["QuestionMarks"]:
        """A transaction that keeps other writers of these tables out."""
        return self._database.writing(self._table)

    def version(self, connection: Any) -> int:
        """How often the tables were written."""
        return int(connection.execute(self._counter).fetchone()[0])

    def close(self) -> None:
        """Leave the connection open."""


class QuestionMarks:
    """A connection that takes statements with `?` for each parameter."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        """Execute a statement."""
        return self._connection.execute(_translated(statement), parameters)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Execute a statement once for each row."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement), rows)

    def stream(self, statement: str) -> Iterator[Any]:
        """The rows of a statement, some at a time."""
        with self._connection.cursor(name="rows") as cursor:
            cursor.execute(cast(Any, statement))
            yield from cursor


def _translated(statement: str) -> Any:
    return statement.replace("%", "%%").replace("?", "%s")


@contextmanager
def postgres_errors(address: str) -> Generator[None]:
    """Raise a `SpecwrightError` for each error of Postgres in the block.

    Args:
        address: Of the store, for the message.

    Raises:
        RefusedError: the connection is lost, the server lacks rights or space, or one of its rules refuses a row.
        CorruptionError: what is stored is not what this program stores.
        psycopg.ProgrammingError: unchanged, because it is a defect of the caller.
    """
    try:
        yield
    except (errors.RaiseException, errors.IntegrityError) as error:
        raise RefusedError(f"the store refuses this: {_first_line(error)}", where=address) from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction, errors.DiskFull) as error:
        raise RefusedError(
            f"the store cannot be written: {_first_line(error)}",
            where=address,
            remedy="give the login its rights or the server space, then run again; what was done is kept",
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise RefusedError(
            f"the store has broken off: {_first_line(error)}",
            where=address,
            remedy="run again when the server can be reached; what was done is kept",
        ) from error
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName) as error:
        raise CorruptionError(
            f"the store lacks a table: {_first_line(error)}",
            where=address,
            remedy="restore the schema from a backup",
        ) from error
    except psycopg.DataError as error:
        raise RefusedError(f"the store cannot take this: {_first_line(error)}", where=address) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
