"""A log on disk, and hands that get past its triggers."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from agent_wire.log import SqliteWireLog
from wire_testkit.story import HAPPY_PATH, Story

TOPIC = "0.0.1001"
START = 1_778_083_200_000_000_000


OPENED: list[SqliteWireLog] = []
"""What the tests opened; closed after each (`conftest.py`)."""


def open_log(path: Path, topic_id: str = TOPIC) -> SqliteWireLog:
    """A log whose clock ticks a second with every reading."""
    ticks = count(START, 1_000_000_000)
    OPENED.append(SqliteWireLog(path, topic_id, lambda: next(ticks)))
    return OPENED[-1]


def written(path: Path, *events: str) -> list[dict[str, Any]]:
    """Write a task's Wires to a fresh log, and close it."""
    wires = Story().wires(*(events or HAPPY_PATH))
    log = open_log(path)
    log.append(wires)
    log.close()
    return wires


def tamper(
    path: Path, *statements: str, parameters: tuple[Any, ...] = (), rows: Sequence[tuple[Any, ...]] = ()
) -> None:
    """Do to the file what the log refuses: triggers off, constraints off, the statements, new entries, triggers on."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement, parameters if "?" in statement else ())
        connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)
        for _, sql in triggers:
            connection.execute(sql)


def stored(path: Path) -> list[tuple[Any, ...]]:
    """Everything that the entries hold."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM entry ORDER BY topic_id, sequence_number").fetchall()
