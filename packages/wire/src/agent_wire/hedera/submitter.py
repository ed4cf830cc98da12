"""Submission of a log's Wires to a topic, each once and in order (design: mirrors).

One Wire after the other: the next one is submitted when the place of the one before it is known. A Wire whose
outcome is unknown is asked for by its transaction id and repeated under the same id, which the network takes once. When
the id has expired, the mirror node says whether the message is on the topic, and only then another id is drawn.
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
"""For how long after its start the network takes a transaction."""

_RECEIPT_SECONDS = 170
"""For how long after that start a receipt is surely kept; the network promises three minutes from consensus."""

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


class ExpiredTransactionError(Exception):
    """The network does not take a transaction id any more."""


class Network(Protocol):
    """The consensus nodes of the network."""

    def new_transaction_id(self) -> str:
        """A transaction id of the operator, `0.0.2@seconds.nanos`, valid from those seconds on."""
        ...

    def submit(self, transaction_id: str, message: bytes) -> None:
        """Submit a message under a transaction id; one that the network has already counts as submitted.

        Raises:
            NetworkUnavailableError: whether it was taken is not known.
            ExpiredTransactionError: the id is too old.
            RefusedError: the network does not take the message.
        """
        ...

    def receipt(self, transaction_id: str, *, waiting: bool = True) -> Placement | None:
        """Where the message of a transaction stands; None if the network knows no such transaction.

        Args:
            transaction_id: The transaction.
            waiting: Whether it was just submitted, so that consensus may take some seconds.

        Raises:
            NetworkUnavailableError: it is not known.
            RefusedError: the transaction failed.
        """
        ...


class Topic(Protocol):
    """The topic as the mirror node shows it."""

    def messages(self, *, since: int = 0) -> Iterator[TopicMessage]:
        """Its messages from a consensus time on, seconds since 1970, in order."""
        ...

    def latest_seconds(self) -> int:
        """The consensus time up to which the mirror node knows everything, whole seconds since 1970."""
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
        """Submit what the log has and the topic has not; returns how many Wires that were.

        Raises:
            BusyError: another process submits this log.
            NetworkUnavailableError: the network or the mirror node cannot be reached; the next call goes on.
            RefusedError: the network does not take a Wire.
        """
        with self.outbox.submitting():
            count = 0
            for entry in self.log.stored(self.outbox.position()):
                self.outbox.place(entry.sequence_number, self._placed(entry))
                count += 1
            return count

    def _placed(self, entry: StoredEntry) -> Placement:
        """Submit an entry unless it is on the topic; its place."""
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
        raise self._unknown(entry, "the network gives no receipt")

    def _begun(self, entry: StoredEntry) -> SentWire:
        return self.outbox.begin(entry.sequence_number, self.network.new_transaction_id())

    def _settled(self, sent: SentWire, entry: StoredEntry) -> Placement | SentWire:
        """Where a Wire stands; or what may be submitted: the same one, or one with another id if its own expired."""
        if not self._has_expired(sent, _RECEIPT_SECONDS):
            try:
                known = self.network.receipt(sent.transaction_id, waiting=False)
            except NetworkUnavailableError:
                known = None
            if known is not None or not self._has_expired(sent, VALID_SECONDS):
                return known or sent
        start = _start(sent)
        if self.topic.latest_seconds() <= start + VALID_SECONDS:
            raise self._unknown(entry, "its transaction has expired, and the mirror node is behind")
        payer = sent.transaction_id.partition("@")[0]
        for message in self.topic.messages(since=start):
            if message.body == entry.body and str(message.payer) == payer:
                return Placement(message.sequence_number, message.running_hash)
        return self._begun(entry)

    def _unknown(self, entry: StoredEntry, why: str) -> NetworkUnavailableError:
        return NetworkUnavailableError(
            f"whether Wire {entry.sequence_number} is on the topic is not known yet: {why}",
            remedy="`specwright hedera submit` goes on where it was",
        )

    def _has_expired(self, sent: SentWire, seconds: int) -> bool:
        return self.clock() // 1_000_000_000 > _start(sent) + seconds


def _start(sent: SentWire) -> int:
    """The second from which its transaction is valid."""
    return int(sent.transaction_id.partition("@")[2].partition(".")[0])
