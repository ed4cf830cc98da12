"""Databases in a real Postgres server, made for a test and dropped after it.

Without a server such tests are skipped; SPECWRIGHT_REQUIRE_SERVICES=1, which CI sets, makes that a failure.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import psycopg
import pytest
from psycopg import sql

__all__ = ["SERVER", "emptied", "on_server", "own_database", "postgres", "postgres_once"]

SERVER = os.environ.get("SPECWRIGHT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
"""A database from which others can be created."""

_REQUIRED = os.environ.get("SPECWRIGHT_REQUIRE_SERVICES") == "1"


@contextmanager
def own_database() -> Iterator[str]:
    """The URL of an empty database."""
    _require_server()
    name = f"specwright_test_{secrets.token_hex(6)}"
    identifier = sql.Identifier(name)
    on_server(sql.SQL("CREATE DATABASE {}").format(identifier))
    try:
        yield SERVER.rpartition("/")[0] + f"/{name}"
    finally:
        on_server(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))


def emptied(url: str) -> str:
    """The database after everything in it is gone: much faster than another one, which costs two checkpoints."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return url


def on_server(statement: sql.Composable, url: str = SERVER) -> None:
    """Run a statement outside of a transaction."""
    with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        connection.execute(statement)


@cache
def _missing() -> str:
    try:
        psycopg.connect(SERVER, connect_timeout=5).close()
    except psycopg.Error as error:
        return str(error)
    return ""


@pytest.fixture(scope="session")
def postgres_once() -> Iterator[str]:
    """A database of this worker."""
    with own_database() as url:
        yield url


@pytest.fixture
def postgres(postgres_once: str) -> str:
    """The same, empty."""
    return emptied(postgres_once)


def _require_server() -> None:
    if missing := _missing():
        assert not _REQUIRED, f"SPECWRIGHT_REQUIRE_SERVICES is 1, but there is no Postgres server: {missing}"
        pytest.skip(f"needs a Postgres server, SPECWRIGHT_TEST_POSTGRES names another: {missing}")
