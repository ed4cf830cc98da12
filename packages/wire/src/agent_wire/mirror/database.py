"""The database of the read model: where it is, its schema, and its errors (design: mirrors)."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from agent_wire.errors import DatabaseUnavailableError, InputError, RefusedError

_MIGRATIONS = Path(__file__).parent / "migrations"
_UPGRADE_LOCK = 0x5045_4357
"""Of Postgres, while the schema is changed."""
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}
_SQLITE = {"sqlite", "sqlite+pysqlite"}
_BUSY_SECONDS = 30.0

READS = "reads"
"""The execution option of a transaction that only reads, and so waits for no writer."""

_NETWORK: dict[str, Any] = {
    "application_name": "specwright mirror",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""A server that is gone is noticed within half a minute."""


def read_url(url: str) -> URL:
    """A database URL with the driver that is used for it.

    Raises:
        InputError: it is none of SQLite or Postgres; the message holds no password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise InputError(
            "this is no database URL", where="--to", remedy=f"write it like {_EXAMPLES}"
        ) from error
    if parsed.drivername in _SQLITE and parsed.database:
        return parsed.set(drivername="sqlite+pysqlite")
    if parsed.drivername in _POSTGRES:
        return parsed.set(drivername="postgresql+psycopg")
    raise InputError(
        f"{shown_url(parsed)} is no database for the read model",
        where="--to",
        remedy=f"write it like {_EXAMPLES}",
    )


_EXAMPLES = "sqlite:////home/me/model.db or postgresql://user@host/database"


def shown_url(url: URL) -> str:
    """A URL as it may be shown: without its password, which may stand among its options too, and without these."""
    shown = url.set(drivername=url.drivername.partition("+")[0], query={})
    return shown.render_as_string(hide_password=True)


def is_missing_file(url: URL) -> bool:
    """Whether it is a file of SQLite that is not there yet."""
    return url.drivername == "sqlite+pysqlite" and not Path(url.database or "").exists()


def open_engine(url: URL) -> Engine:
    """An engine; nothing is connected by this.

    Raises:
        InputError: the driver of Postgres is not installed.
    """
    try:
        if url.drivername == "postgresql+psycopg":
            return create_engine(
                url, pool_size=1, pool_pre_ping=True, connect_args=_NETWORK, json_serializer=_json
            )
        engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": _BUSY_SECONDS})
    except (ImportError, NoSuchModuleError) as error:
        raise InputError(
            "the driver for Postgres is not installed",
            where=shown_url(url),
            remedy="python -m pip install 'psycopg[binary]'",
        ) from error
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def upgrade(engine: Engine) -> None:
    """Bring the tables to the version of this program; nothing is done if they are.

    Raises:
        RefusedError: they are of a later version, or the user may not create them.
        DatabaseUnavailableError: the database cannot be reached.
    """
    with database_errors(engine), engine.begin() as connection:
        found = MigrationContext.configure(connection).get_current_heads()
        if found == _revisions()[:1]:
            return
        if unknown := set(found) - set(_revisions()):
            raise RefusedError(
                f"the read model there is of a later version ({', '.join(unknown)})",
                where=shown_url(engine.url),
                remedy="mirror with the version of Specwright that made it, or into another database",
            )
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
        config = migrations()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@cache
def _revisions() -> tuple[str, ...]:
    """The versions of the tables, the last one first."""
    script = ScriptDirectory.from_config(migrations())
    return tuple(revision.revision for revision in script.walk_revisions())


def has_tables(connection: Connection) -> bool:
    """Whether a mirror has been there."""
    return bool(MigrationContext.configure(connection).get_current_heads())


def migrations() -> Config:
    """Where Alembic finds the migrations."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def database_errors(engine: Engine) -> Generator[None]:
    """Raise a `SpecwrightError` for each error of the database in the block.

    Raises:
        DatabaseUnavailableError: it cannot be reached, or a connection was lost.
        RefusedError: it refuses a statement.
    """
    try:
        yield
    except DBAPIError as error:
        where, message = shown_url(engine.url), str(error.orig).strip().splitlines()[0]
        if _is_lost(error):
            raise DatabaseUnavailableError(
                f"the database cannot be reached: {message}",
                where=where,
                remedy="see whether the server runs and lets this user in; the mirror goes on where it was",
            ) from error
        raise RefusedError(
            f"the database refuses: {message}",
            where=where,
            remedy="the user needs the rights of the mirror; docs/mirror.md lists them",
        ) from error
    except SQLAlchemyError as error:
        raise RefusedError(
            f"the database cannot be used: {str(error).splitlines()[0]}", where=shown_url(engine.url)
        ) from error


def _is_lost(error: DBAPIError) -> bool:
    """Whether the connection is at fault, and not the statement."""
    if error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", "")
    if isinstance(error.orig, sqlite3.Error):
        return isinstance(error.orig, sqlite3.OperationalError) and "locked" in str(error.orig)
    # no SQLSTATE: it came from the client; 08: connection; 57P: shut down; 53: too many connections; 40: try again
    return not state or state[:2] in {"08", "53", "40"} or state[:3] == "57P"


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _set_up_sqlite(connection: sqlite3.Connection, _: object) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if tables and "alembic_version" not in tables:
        file = connection.execute("PRAGMA database_list").fetchone()[2]
        what, remedy = "the file is a database of something else", "name a file that is not there yet"
        raise RefusedError(what, where=file, remedy=remedy)
    connection.isolation_level = None  # `_begin_sqlite` says when a transaction begins
    connection.execute("PRAGMA journal_mode = WAL")
    # a power cut may take the last batches, and they come again
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    reads = connection.get_execution_options().get(READS)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
