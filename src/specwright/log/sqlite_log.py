"""The Wire log in one SQLite file: topics, dense sequence numbers, consensus time, running hash (D29, D36).

The rules are those of `specwright.wire.admission`; this module adds durability and order (D32). Leaves out
the proof that nobody touched the file (`specwright.log.verify`).
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from specwright.canonical_json import JsonObject
from specwright.domain.log_end import LogEnd
from specwright.errors import CorruptionError
from specwright.log.chain import BEFORE_THE_FIRST, NANOS, Chain, Row, Tail
from specwright.log.connection import connect, told
from specwright.log.group_commit import GroupCommit, Pending
from specwright.log.running_hash import EntityId
from specwright.ports.wire_log import LogEntry
from specwright.wire.admission import Admission, Repeated, Sound, default_admission
from specwright.wire.ledger import Change, Ledger
from specwright.wire.rejection import Rejection, WireRefusedError

__all__ = ["DEFAULT_PAYER", "SqliteWireLog", "StoredEntry"]

DEFAULT_PAYER = "0.0.2"
"""The account that the embedded log names as the submitter; a network would name a paying one."""

_PAGE = 512
_INSERT = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)"


class StoredEntry(NamedTuple):
    """An entry as it is stored: canonical bytes with their proof (W HCS Metadata)."""

    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    body: bytes
    running_hash: bytes


class _Plan(NamedTuple):
    """What a group comes to, by what this process has read of the log.

    Args:
        ledger: What it changes, to be committed when the rows are on the disk.
        rows: The new entries.
        tail: Where the topic ends with them.
        refusals: The appends that break a rule.
    """

    ledger: Ledger
    rows: list[Row]
    tail: Tail
    refusals: list[tuple[Pending[Sound], WireRefusedError]]


class SqliteWireLog:
    """An embedded log of Wires; implements `specwright.ports.wire_log.WireLog`.

    Several threads may append: those that wait together are written together. Several processes, too.

    Args:
        path: The file; several processes may open it.
        topic_id: The topic in it, `0.0.1001`.
        clock: The time in nanoseconds since 1970; consensus time never goes back even if it does.
        admission: Other rules than those that ship.
        payer: The account that the running hash names; a topic keeps the one it began with.
        reading: Whether it is opened for its entries alone; what they come to is then made up only when it is asked for.

    Raises:
        InputError: the topic or the payer is no such id.
        CorruptionError: the file is not a log of Wires.
    """

    def __init__(
        self,
        path: Path,
        topic_id: str,
        clock: Callable[[], int],
        *,
        admission: Admission | None = None,
        payer: str = DEFAULT_PAYER,
        reading: bool = False,
    ) -> None:
        topic = EntityId.parse(topic_id)
        self._topic_id = str(topic)
        self._path = path
        self._admission = admission or default_admission()
        self._ledger = Ledger()
        self._tail = BEFORE_THE_FIRST
        self._lock = threading.RLock()
        self._group = GroupCommit(self._write)
        self._connection = connect(path)
        try:
            with told(path):
                self._chain = Chain(topic, self._payer_of_topic(EntityId.parse(payer)), clock)
                if not reading:
                    self._catch_up()
        except BaseException:
            self._connection.close()
            raise

    def append(self, wires: Sequence[JsonObject]) -> None:
        """Accept Wires, all or none; they are on the disk when this returns.

        Raises:
            WireRefusedError: one of them breaks a rule; none was accepted.
        """
        if wires:
            # What a Wire is by itself is asked before the queue, while others are being written.
            self._group.submit([self._sound(wire) for wire in wires])

    def entries(self, after: int = 0) -> Iterator[LogEntry]:
        """The entries with a sequence number greater than `after`, in order."""
        for entry in self.stored(after):
            try:
                wire = orjson.loads(entry.body)
            except ValueError as error:
                raise self._never_admitted(entry) from error
            yield LogEntry(
                self._topic_id, entry.sequence_number, entry.consensus_seconds, entry.consensus_nanos, wire
            )

    def stored(self, after: int = 0) -> Iterator[StoredEntry]:
        """The same entries with their bytes and running hashes."""
        while True:
            with self._lock, told(self._path):
                page = self._page(after)
            if not page:
                return
            yield from page
            after = page[-1].sequence_number

    def head(self, stream_id: str) -> int:
        """The last `stream_seq` of a stream, 0 if it has none."""
        with self._lock, told(self._path):
            self._catch_up()
            stream = self._ledger.stream(stream_id)
        return stream.seq if stream is not None else 0

    def last_wire_id(self, stream_id: str) -> str | None:
        """The id of the stream's last Wire."""
        with self._lock, told(self._path):
            self._catch_up()
            stream = self._ledger.stream(stream_id)
        return stream.last_wire_id if stream is not None else None

    def end(self) -> LogEnd | None:
        """Where the log ends, None if it is empty."""
        with self._lock, told(self._path):
            self._catch_up()
            tail = self._tail
        return self._noted(tail.sequence_number, tail.running_hash) if tail.sequence_number else None

    def holds(self, end: LogEnd) -> bool:
        """Whether an entry stands where it was noted, with that running hash."""
        with self._lock, told(self._path):
            found = self._page(end.sequence_number - 1, 1)
        return [self._noted(entry.sequence_number, entry.running_hash) for entry in found] == [end]

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    def _payer_of_topic(self, payer: EntityId) -> EntityId:
        query, topic = "SELECT payer FROM topic WHERE topic_id = ?", (self._topic_id,)
        found = self._connection.execute(query, topic).fetchone()
        if found is None:
            self._connection.execute("INSERT OR IGNORE INTO topic VALUES (?, ?)", (*topic, str(payer)))
            found = self._connection.execute(query, topic).fetchone()
        return EntityId.parse(found[0])

    def _noted(self, number: int, digest: bytes) -> LogEnd:
        return LogEnd(topic_id=self._topic_id, sequence_number=number, running_hash=digest.hex())

    def _sound(self, wire: JsonObject) -> Sound:
        found = self._admission.inspect(wire)
        if isinstance(found, Rejection):
            raise WireRefusedError(found, str(wire.get("wire_id", "")))
        return found

    def _write(self, group: Sequence[Pending[Sound]]) -> None:
        """One transaction for a group; whoever breaks a rule is told, the others do not notice."""
        with self._lock, told(self._path):
            plan = self._written(group)
            plan.ledger.commit()
            self._tail = plan.tail
        for pending, refusal in plan.refusals:
            pending.refusal = refusal

    def _written(self, group: Sequence[Pending[Sound]]) -> _Plan:
        """Write what follows from what this process has read; nobody looks first whether there is more.

        The file refuses the rows if another process has written since. Then, or if there are no rows that it could
        refuse, the group is planned again where nobody else can write.
        """
        plan = self._planned(group)
        with suppress(sqlite3.IntegrityError):
            if len(plan.rows) == 1:
                self._connection.execute(_INSERT, plan.rows[0])  # a transaction by itself
                return plan
            if plan.rows:
                with self._connection:
                    self._connection.execute("BEGIN IMMEDIATE")
                    self._connection.executemany(_INSERT, plan.rows)
                return plan
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._catch_up()
            plan = self._planned(group)
            self._connection.executemany(_INSERT, plan.rows)
        return plan

    def _planned(self, group: Sequence[Pending[Sound]]) -> _Plan:
        ledger = self._ledger.staged()
        bodies: list[bytes] = []
        refusals: list[tuple[Pending[Sound], WireRefusedError]] = []
        for pending in group:
            try:
                bodies += [change.body for change in self._placed(ledger, pending.items)]
            except WireRefusedError as error:
                refusals.append((pending, error))
        rows, tail = self._chain.after(self._tail, bodies)
        return _Plan(ledger, rows, tail, refusals)

    def _placed(self, ledger: Ledger, wires: Sequence[Sound]) -> list[Change]:
        """Take an append into a ledger, all or none."""
        stage = ledger.staged()
        changes: list[Change] = []
        for sound in wires:
            decision = self._admission.place(stage, sound)
            if isinstance(decision, Rejection):
                raise WireRefusedError(decision, sound.wire_id)
            if not isinstance(decision, Repeated):
                stage.add(decision)
                changes.append(decision)
        stage.commit()
        return changes

    def _page(self, after: int, size: int = _PAGE) -> list[StoredEntry]:
        rows = self._connection.execute(
            "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
            " FROM entry WHERE topic_id = ? AND sequence_number > ? ORDER BY sequence_number LIMIT ?",
            (self._topic_id, after, size),
        )
        return list(map(StoredEntry._make, rows))

    def _catch_up(self) -> None:
        """Take in what was appended since, by another process."""
        while page := self._page(self._tail.sequence_number):
            for entry in page:
                self._take_in(entry)

    def _take_in(self, entry: StoredEntry) -> None:
        try:
            self._admission.replay(self._ledger, orjson.loads(entry.body), entry.body)
        except (KeyError, TypeError, ValueError) as error:
            raise self._never_admitted(entry) from error
        consensus = entry.consensus_seconds * NANOS + entry.consensus_nanos
        self._tail = Tail(entry.sequence_number, consensus, entry.running_hash)

    def _never_admitted(self, entry: StoredEntry) -> CorruptionError:
        return CorruptionError(
            f"entry {entry.sequence_number} of the Wire log is not a Wire that was admitted",
            where=str(self._path),
            remedy="run `specwright wire verify` to see what was changed",
        )
