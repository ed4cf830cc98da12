"""Projects stored in a Postgres database."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import psycopg

from specwright.postgres import PostgresDatabase, StoreAddress

__all__ = ["connected", "prepared", "project_urls"]


def project_urls(database: str) -> Iterator[str]:
    """Addresses of projects in a database, each a new one."""
    return (f"{database}?project=p{number}" for number in count(1))


@contextmanager
def prepared(url: str) -> Iterator[PostgresDatabase]:
    """A connection to a project whose schema is made."""
    database = PostgresDatabase(StoreAddress.parse(url))
    try:
        database.prepare()
        yield database
    finally:
        database.close()


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection]:
    """A plain connection to the schema of a project, for those who go past the program."""
    address = StoreAddress.parse(url)
    with psycopg.connect(
        address.url, autocommit=True, options=f"-c search_path={address.schema}"
    ) as connection:
        yield connection
