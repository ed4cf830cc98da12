"""The Postgres store: one connection to the schema of a project, and its errors (design: store-layout).

The process that drives a project holds a session lock and writes over the same connection. If that connection is lost,
so is the lock, and the process can write nothing more.
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
"""Seconds to wait for the lock, because the server releases it a little after the previous driver ends."""
SESSION = (
    "synchronous_commit=on",  # a commit is on the server's disk
    # a machine that lost power holds its project for half a minute, not for the system's two hours
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
"""Parameters of libpq that hold passwords, name files with passwords, or override what this program sets."""
_EXAMPLE = "postgresql://user@host/database?project=shop"


def is_project_name(name: str) -> bool:
    """Whether a name is valid for a project; it becomes part of a schema's name and of paths."""
    return _PROJECT.fullmatch(name) is not None


class StoreAddress(NamedTuple):
    """The setting `store`.

    Args:
        url: The address for psycopg, without the project.
        project: The project's name in the database; empty for the one without a name.
    """

    url: str
    project: str

    @classmethod
    def parse(cls, text: str) -> "StoreAddress":
        """Parse the setting.

        Raises:
            InputError: the text is not the address of a Postgres database, or has no valid project name.
        """
        remedy = f"write it like {_EXAMPLE}"
        try:
            parts = urlsplit(text)
            known = parse_qsl(parts.query, strict_parsing=bool(parts.query))
        except ValueError as error:
            raise InputError(f"the store's address cannot be read: {error}", remedy=remedy) from error
        if parts.scheme not in ("postgresql", "postgres"):
            raise InputError("the store is not a Postgres address", where=parts.scheme, remedy=remedy)
        if secret := next((name for name, _ in known if name in _SECRET_PARAMETERS), ""):
            raise InputError(
                f"the store's address must not contain `{secret}`",
                where="store",
                remedy="put the password into PGPASSWORD or ~/.pgpass, and other parameters into libpq's variables",
            )
        project = dict(known).get("project", "")
        if project and not is_project_name(project):
            raise InputError(
                f"{project!r} is not a valid project name",
                where="store",
                remedy="use at most 40 lower-case letters, digits and underscores, and begin with a letter",
            )
        rest = urlencode([(name, value) for name, value in known if name != "project"])
        return cls(urlunsplit(parts._replace(query=rest)), project)

    @property
    def schema(self) -> str:
        """The schema that holds the project."""
        return f"{_SCHEMA}_{self.project}" if self.project else _SCHEMA

    @staticmethod
    def project_of(schema: str) -> str:
        """Return the name of the project in a schema; empty for the one without a name."""
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
    """Return a value of the catalog's type `char`, which psycopg returns as bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


class PostgresDatabase:
    """The `Database` of a project's schema: one connection, shared by the threads of a process.

    Args:
        address: The address of the store.

    Raises:
        InputError: psycopg cannot read the address.
        RefusedError: the server cannot be reached, rejects the login, or has no such database.
    """

    def __init__(self, address: StoreAddress) -> None:
        self.schema = address.schema
        self.address = str(address)
        self.lock = threading.RLock()
        """Held by the thread that is using the connection."""
        self.connection = self._connected(address)
        self.exists = self._has_schema()
        """Whether the database has the project's schema."""

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
                remedy="start the server, create the database or correct the setting `store`; all results are kept",
            ) from error

    def _has_schema(self) -> bool:
        with self.reading() as connection:
            # from the catalog's tables, because `to_regclass` may answer from an outdated cache
            query = "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = 'index_version'"
            return connection.execute(query, (self.schema,)).fetchone() is not None

    def prepare(self) -> None:
        """Create the schema of the project, if missing, in one transaction."""
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
        """Describe the triggers and functions that are missing, disabled, added or changed; empty if the schema still
        protects the records."""
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
        """Lock the project against other drivers while this connection lasts; create the project if missing.

        Raises:
            BusyError: another process drives the project; the message names it.
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
        """Describe the process that drives the project; empty if none does."""
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
        """Begin a transaction for reading."""
        return self.writing()

    @contextmanager
    def writing(self, table: str = "") -> Generator["QuestionMarks"]:
        """Begin a transaction; it commits at the end of the block and rolls back if the block raises.

        Args:
            table: The table to lock against other writers; empty for none.
        """
        with self._transaction() as connection:
            if table:
                lock = sql.SQL("LOCK TABLE {} IN EXCLUSIVE MODE").format(sql.Identifier(table))
                connection.execute(lock)
            yield QuestionMarks(connection)

    @contextmanager
    def snapshot(self) -> Generator["QuestionMarks"]:
        """Begin a read-only transaction on one snapshot of the database."""
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
    """A `Database` of some tables of a project, on a connection that its owner closes.

    Args:
        database: The project's database.
        table: The table that a writer locks against other writers.
        counter: A statement that selects the number of writes to the tables; empty if `version` is not used.
    """

    def __init__(self, database: PostgresDatabase, table: str, counter: str = "") -> None:
        self._database = database
        self._table = table
        self._counter = counter
        self.address = database.address

    def reading(self) -> AbstractContextManager["QuestionMarks"]:
        """Begin a transaction for reading."""
        return self._database.reading()

    def writing(self) -> AbstractContextManager["QuestionMarks"]:
        """Begin a transaction that locks out other writers of these tables."""
        return self._database.writing(self._table)

    def version(self, connection: Any) -> int:
        """Return the number of writes to the tables."""
        return int(connection.execute(self._counter).fetchone()[0])

    def close(self) -> None:
        """Do nothing: the connection stays open."""


class QuestionMarks:
    """A connection that takes statements with `?` as the placeholder."""

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
        """Yield the rows of a statement, fetched in batches."""
        with self._connection.cursor(name="rows") as cursor:
            cursor.execute(cast(Any, statement))
            yield from cursor


def _translated(statement: str) -> Any:
    return statement.replace("%", "%%").replace("?", "%s")


@contextmanager
def postgres_errors(address: str) -> Generator[None]:
    """Turn errors of Postgres in the block into `SpecwrightError`s.

    Args:
        address: The address of the store, for the message.

    Raises:
        RefusedError: the connection is lost, the login lacks rights, the disk is full, or a constraint fails.
        CorruptionError: a table or column is missing.
        psycopg.ProgrammingError: passed on unchanged, because it is a defect of the caller.
    """
    try:
        yield
    except (errors.RaiseException, errors.IntegrityError) as error:
        raise RefusedError(f"the store rejected a record: {_first_line(error)}", where=address) from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction, errors.DiskFull) as error:
        raise RefusedError(
            f"the store cannot be written: {_first_line(error)}",
            where=address,
            remedy="give the login its rights or the server space, then run again; all results are kept",
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise RefusedError(
            f"the connection to the store was lost: {_first_line(error)}",
            where=address,
            remedy="run again when the server can be reached; all results are kept",
        ) from error
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName) as error:
        raise CorruptionError(
            f"the store lacks a table or column: {_first_line(error)}",
            where=address,
            remedy="restore the schema from a backup",
        ) from error
    except psycopg.DataError as error:
        raise RefusedError(f"the store cannot store a value: {_first_line(error)}", where=address) from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
