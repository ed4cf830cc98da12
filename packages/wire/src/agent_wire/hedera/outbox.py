"""The outbox: which Wires of the log went to a topic, by which transactions (design: mirrors).

A transaction id is on the disk before it is used, so that a Wire whose outcome is unknown can be asked for and
sent again under the same id. At most one entry is open; those before it are placed.
"""

import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from agent_wire.errors import BusyError
from agent_wire.sqlite_errors import make_directory, sqlite_errors

_NAME = "the Hedera outbox"
_SCHEMA = """CREATE TABLE IF NOT EXISTS sent_wire (
    topic_id        TEXT    NOT NULL,
    sequence_number INTEGER NOT NULL,
    transaction_id  TEXT    NOT NULL,
    topic_sequence  INTEGER,
    running_hash    BLOB,
    PRIMARY KEY (topic_id, sequence_number)
) STRICT"""


class Placement(NamedTuple):
    """Where a message stands on the topic: its sequence number there, and the running hash after it, 48 bytes."""

    topic_sequence: int
    running_hash: bytes


class SentWire(NamedTuple):
    """A Wire on its way: its sequence number in the log, its transaction, and its place once it has one."""

    sequence_number: int
    transaction_id: str
    placement: Placement | None = None


class Outbox:
    """What was sent of a log to one topic.

    Args:
        path: The file, beside the log.
        topic_id: The topic, `0.0.1234`.

    Raises:
        CorruptionError: the file is no SQLite database.
        RefusedError: it cannot be written.
    """

    def __init__(self, path: Path, topic_id: str) -> None:
        self._path = path
        self._topic = topic_id
        make_directory(_NAME, path)
        with self._errors():
            self._connection = sqlite3.connect(path, isolation_level=None)
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def submitting(self) -> Generator[None]:
        """Keep other processes from submitting.

        Raises:
            BusyError: another process submits.
        """
        try:
            with FileLock(f"{self._path}.lock", timeout=0):
                yield
        except Timeout as error:
            raise BusyError(
                "another process submits this log", where=str(self._path), remedy="wait for it, or stop it"
            ) from error

    def position(self) -> int:
        """The sequence number of the last Wire that is placed, 0 before the first."""
        query = "SELECT max(sequence_number) FROM sent_wire WHERE topic_id = ? AND topic_sequence IS NOT NULL"
        with self._errors():
            (number,) = self._connection.execute(query, (self._topic,)).fetchone()
        return int(number or 0)

    def open_entry(self) -> SentWire | None:
        """The Wire whose place is not known, if there is one."""
        return next((each for each in self.entries() if each.placement is None), None)

    def entries(self) -> list[SentWire]:
        """Every Wire that was sent, in the order of the log."""
        query = (
            "SELECT sequence_number, transaction_id, topic_sequence, running_hash FROM sent_wire"
            " WHERE topic_id = ? ORDER BY sequence_number"
        )
        with self._errors():
            rows = self._connection.execute(query, (self._topic,)).fetchall()
        return [
            SentWire(number, transaction, None if place is None else Placement(place, digest))
            for number, transaction, place, digest in rows
        ]

    def begin(self, sequence_number: int, transaction_id: str) -> SentWire:
        """Record the transaction of a Wire before it is submitted, or another one in place of one that expired."""
        with self._errors():
            self._connection.execute(
                "INSERT OR REPLACE INTO sent_wire VALUES (?, ?, ?, NULL, NULL)",
                (self._topic, sequence_number, transaction_id),
            )
        return SentWire(sequence_number, transaction_id)

    def place(self, sequence_number: int, placement: Placement) -> None:
        """Record where a Wire stands."""
        with self._errors():
            self._connection.execute(
                "UPDATE sent_wire SET topic_sequence = ?, running_hash = ?"
                " WHERE topic_id = ? AND sequence_number = ?",
                (*placement, self._topic, sequence_number),
            )

    def _errors(self) -> AbstractContextManager[None]:
        return sqlite_errors(
            _NAME, self._path, "restore it from a backup; without it every Wire is looked up again"
        )
