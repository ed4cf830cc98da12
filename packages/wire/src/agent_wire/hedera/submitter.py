"""Submits the Wires of a log to a topic, each exactly once and in order (design: mirrors).

A Wire is submitted when the placement of the one before it is known. If the outcome of a submission is unknown, the
submitter asks for the receipt of its transaction id, and repeats it with the same id, which the network accepts only once.
After that id has expired, the submitter looks for the message on the mirror node before it uses a new id. The outbox
records on disk which transaction carries which Wire.
"""

import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from filelock import FileLock, Timeout

from agent_wire.database import make_directory, sqlite_errors
from agent_wire.entries import StoredEntry, StoredLog
from agent_wire.errors import BusyError, NetworkUnavailableError
from agent_wire.hedera.topic import TopicMessage

VALID_SECONDS = 120
"""How long the network accepts a transaction after its start time."""

_RECEIPT_SECONDS = 170
"""How long after its start time a receipt is certainly kept; the network keeps it three minutes after consensus."""

_ATTEMPTS = 8
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0

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
    """The sequence number of a message on the topic, and the running hash after it, 48 bytes."""

    topic_sequence: int
    running_hash: bytes


class SentWire(NamedTuple):
    """A submitted Wire: its sequence number in the log, its transaction id, and its placement once known."""

    sequence_number: int
    transaction_id: str
    placement: Placement | None = None


class Outbox:
    """The record of which Wires were submitted to a topic, in an SQLite file.

    Args:
        path: The file, beside the log.
        topic_id: The topic, `0.0.1234`.

    Raises:
        CorruptionError: the file is not an SQLite database.
        RefusedError: the file cannot be written.
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
        """Keep other processes from submitting during the block.

        Raises:
            BusyError: another process is submitting.
        """
        try:
            with FileLock(f"{self._path}.lock", timeout=0):
                yield
        except Timeout as error:
            raise BusyError(
                "another process is submitting this log", where=str(self._path), remedy="wait, or stop it"
            ) from error

    def position(self) -> int:
        """Return the sequence number of the last Wire with a known placement, or 0."""
        query = "SELECT max(sequence_number) FROM sent_wire WHERE topic_id = ? AND topic_sequence IS NOT NULL"
        with self._errors():
            (number,) = self._connection.execute(query, (self._topic,)).fetchone()
        return int(number or 0)

    def open_entry(self) -> SentWire | None:
        """Return the Wire whose placement is unknown, if any."""
        return next((each for each in self.entries() if each.placement is None), None)

    def entries(self) -> list[SentWire]:
        """Return every submitted Wire in log order."""
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
        """Record the transaction id of a Wire before its submission, or replace one that has expired."""
        with self._errors():
            self._connection.execute(
                "INSERT OR REPLACE INTO sent_wire VALUES (?, ?, ?, NULL, NULL)",
                (self._topic, sequence_number, transaction_id),
            )
        return SentWire(sequence_number, transaction_id)

    def place(self, sequence_number: int, placement: Placement) -> None:
        """Record the placement of a Wire."""
        with self._errors():
            self._connection.execute(
                "UPDATE sent_wire SET topic_sequence = ?, running_hash = ?"
                " WHERE topic_id = ? AND sequence_number = ?",
                (*placement, self._topic, sequence_number),
            )

    def _errors(self) -> AbstractContextManager[None]:
        return sqlite_errors(
            _NAME,
            self._path,
            "restore the file from a backup; without it, every Wire is looked up on the topic again",
        )


class ExpiredTransactionError(Exception):
    """The network no longer accepts a transaction id."""


class Network(Protocol):
    """The consensus nodes of the network."""

    def new_transaction_id(self) -> str:
        """Generate a transaction id of the operator, `0.0.2@seconds.nanos`, valid from that time."""
        ...

    def submit(self, transaction_id: str, message: bytes) -> None:
        """Submit a message with a transaction id; do nothing if the network already has that transaction.

        Raises:
            NetworkUnavailableError: the outcome is unknown.
            ExpiredTransactionError: the id is too old.
            RefusedError: the network rejected the message.
        """
        ...

    def receipt(self, transaction_id: str, *, waiting: bool = True) -> Placement | None:
        """Return the placement of a transaction's message, or None if the network does not know the transaction.

        Args:
            transaction_id: The transaction.
            waiting: Wait some seconds for consensus, because the transaction was just submitted.

        Raises:
            NetworkUnavailableError: the outcome is unknown.
            RefusedError: the transaction failed.
        """
        ...


class Topic(Protocol):
    """The topic as read from a mirror node."""

    def messages(self, *, since: int = 0) -> Iterator[TopicMessage]:
        """Yield the messages since a consensus time (seconds since 1970), in order."""
        ...

    def latest_seconds(self) -> int:
        """Return the consensus time up to which the mirror node is complete, in whole seconds since 1970."""
        ...


@dataclass
class Submitter:
    """Submits the Wires of a log that its topic does not have yet.

    Args:
        log: The log.
        outbox: Records what was submitted.
        network: Accepts messages.
        topic: The topic, for looking up messages whose transaction id has expired.
        clock: The time in nanoseconds since 1970.
        sleep: Waits for a number of seconds.
    """

    log: StoredLog
    outbox: Outbox
    network: Network
    topic: Topic
    clock: Callable[[], int] = time.time_ns
    sleep: Callable[[float], None] = time.sleep

    def catch_up(self) -> int:
        """Submit the Wires that the topic does not have yet, and return their number.

        Raises:
            BusyError: another process is submitting this log.
            NetworkUnavailableError: the network or the mirror node cannot be reached; the next call continues.
            RefusedError: the network rejected a Wire.
        """
        with self.outbox.submitting():
            count = 0
            for entry in self.log.stored(self.outbox.position()):
                self.outbox.place(entry.sequence_number, self._placed(entry))
                count += 1
            return count

    def _placed(self, entry: StoredEntry) -> Placement:
        """Submit an entry unless it is on the topic, and return its placement."""
        sent = self.outbox.open_entry()
        settled = self._begun(entry) if sent is None else self._settled(sent, entry)
        pause = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            if isinstance(settled, Placement):
                return settled
            try:
                self.network.submit(settled.transaction_id, entry.body)
                settled = self.network.receipt(settled.transaction_id) or settled
            except (NetworkUnavailableError, ExpiredTransactionError) as error:
                if attempt == _ATTEMPTS - 1:
                    raise self._unknown(entry, str(error)) from error
                self.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                settled = self._settled(settled, entry)
        if isinstance(settled, Placement):
            return settled
        raise self._unknown(entry, "the network returned no receipt")

    def _begun(self, entry: StoredEntry) -> SentWire:
        return self.outbox.begin(entry.sequence_number, self.network.new_transaction_id())

    def _settled(self, sent: SentWire, entry: StoredEntry) -> Placement | SentWire:
        """Return the placement of a Wire, or the submission to repeat, with a new id if the old one has expired."""
        if not self._has_expired(sent, _RECEIPT_SECONDS):
            try:
                known = self.network.receipt(sent.transaction_id, waiting=False)
            except NetworkUnavailableError:
                known = None
            if known is not None or not self._has_expired(sent, VALID_SECONDS):
                return known or sent
        start = _start(sent)
        if self.topic.latest_seconds() <= start + VALID_SECONDS:
            raise self._unknown(entry, "its transaction id has expired, and the mirror node is behind")
        payer = sent.transaction_id.partition("@")[0]
        for message in self.topic.messages(since=start):
            if message.body == entry.body and str(message.payer) == payer:
                return Placement(message.sequence_number, message.running_hash)
        return self._begun(entry)

    def _unknown(self, entry: StoredEntry, why: str) -> NetworkUnavailableError:
        return NetworkUnavailableError(
            f"it is not known yet whether Wire {entry.sequence_number} is on the topic: {why}",
            remedy="run `specwright hedera submit` again; it continues from there",
        )

    def _has_expired(self, sent: SentWire, seconds: int) -> bool:
        return self.clock() // 1_000_000_000 > _start(sent) + seconds


def _start(sent: SentWire) -> int:
    """Return the second from which its transaction is valid."""
    return int(sent.transaction_id.partition("@")[2].partition(".")[0])
