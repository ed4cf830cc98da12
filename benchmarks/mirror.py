"""The speed of the mirror, compared with the bare insertion of the same rows (docs/design.md#testing).

`python benchmarks/mirror.py` mirrors 100,000 Wires of 900 bytes to SQLite and to Postgres, and then writes the very rows
that are there now into the same tables of an empty database, all in one transaction: with INSERT in SQLite, with COPY in
Postgres. The peer parses and replays nothing, and knows the last state of each task beforehand. It prints the figures of
one run; it asserts nothing, since machines differ. There is no target; the factory writes a few Wires a second.

`--postgres ""` leaves Postgres out; the databases are made in the server that it names, and dropped.
"""

import argparse
import secrets
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import select
from wire_throughput import wires

from agent_wire.log import SqliteWireLog
from agent_wire.mirror import LogReplay, Mirror
from agent_wire.mirror.model import METADATA, ReadModel, open_engine, read_url, upgrade

SERVER = "postgresql://postgres@127.0.0.1:5432/postgres"
TOPIC = "0.0.1001"
APPENDED_AT_ONCE = 1_000


def written(path: Path, number: int) -> SqliteWireLog:
    """A log of so many Wires."""
    log = SqliteWireLog(path, TOPIC, time.time_ns)
    sample = wires(number)
    for start in range(0, number, APPENDED_AT_ONCE):
        log.append(sample[start : start + APPENDED_AT_ONCE])
    return log


@contextmanager
def own_database(server: str) -> Iterator[str]:
    """An empty database of a server."""
    name = sql.Identifier(f"specwright_bench_{secrets.token_hex(4)}")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
        try:
            yield server.rpartition("/")[0] + "/" + name.as_string().strip('"')
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def seconds(run: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def mirrored(log: SqliteWireLog, url: str) -> float:
    """What the mirror takes, its schema made before."""
    with closing(ReadModel(url)) as model:
        upgrade(open_engine(read_url(url)))
        return seconds(Mirror(log, TOPIC, model).catch_up)


def rows_of(url: str) -> dict[str, list[Any]]:
    """The rows of each table, as its driver takes them."""
    engine = open_engine(read_url(url))
    with engine.connect() as connection:
        return {
            name: [tuple(row) for row in connection.exec_driver_sql(str(select(table)))]
            for name, table in METADATA.tables.items()
        }


def inserted(path: Path, rows: dict[str, list[Any]]) -> float:
    """The rows into an empty file of SQLite."""
    upgrade(open_engine(read_url(f"sqlite:///{path}")))

    def insert() -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            for name, values in rows.items():
                if values:
                    marks = ", ".join("?" * len(values[0]))
                    connection.executemany(f"INSERT INTO {name} VALUES ({marks})", values)

    return seconds(insert)


def copied(url: str, source: str) -> float:
    """The rows of one database of Postgres into an empty one; what is copied is read beforehand."""
    upgrade(open_engine(read_url(url)))
    data: dict[str, list[bytes]] = {}
    with psycopg.connect(source) as connection:
        for name in METADATA.tables:
            with connection.cursor().copy(sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(name))) as copy:
                data[name] = [bytes(block) for block in copy]

    def copy_in() -> None:
        with psycopg.connect(url) as connection:
            for name, blocks in data.items():
                with connection.cursor().copy(
                    sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))
                ) as copy:
                    copy.write(b"".join(blocks))

    return seconds(copy_in)


def show(what: str, taken: float, number: int, remark: str = "") -> None:
    """Print one figure."""
    print(f"{what:<26}{taken:8.2f} s{number / taken:>12,.0f} Wires/s   {remark}".rstrip())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="The mirror beside bare insertion.")
    parser.add_argument("--wires", type=int, default=100_000)
    parser.add_argument("--postgres", default=SERVER, help="a database of the server; empty for none")
    options = parser.parse_args()
    number = options.wires
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with closing(written(folder / "wire.db", number)) as log:
            replay = seconds(lambda: LogReplay().batch(log.stored()))
            show("rows alone, not written", replay, number)
            file = f"sqlite:///{folder / 'model.db'}"
            mirror = mirrored(log, file)
            bare = inserted(folder / "bare.db", rows_of(file))
            show("SQLite, bare INSERT", bare, number)
            show("SQLite, mirror", mirror, number, f"{mirror / bare:.1f} of the bare insert")
            if options.postgres:
                with own_database(options.postgres) as url, own_database(options.postgres) as empty:
                    mirror = mirrored(log, url)
                    bare = copied(empty, url)
                    show("Postgres, bare COPY", bare, number)
                    show("Postgres, mirror", mirror, number, f"{mirror / bare:.1f} of the bare copy")


if __name__ == "__main__":
    main()
