"""The Wire log in one SQLite file: topics, dense sequence numbers, consensus time, running hash (D29, D36).

The rules are those of `specwright.wire.admission`; this module adds durability and order (D32). Leaves out
the proof that nobody touched the file (`specwright.log.verify`).
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from specwright.canonical_json import JsonObject
from specwright.domain.log_end import LogEnd
from specwright.errors import CorruptionError
from specwright.log.connection import connect, told
from specwright.log.group_commit import GroupCommit, Pending
from specwright.log.running_hash import GENESIS, EntityId, running_hash
from specwright.ports.wire_log import LogEntry
from specwright.wire.admission import Admission, Repeated, Sound, default_admission
from specwright.wire.ledger import Change, Ledger
from specwright.wire.rejection import Rejection, WireRefusedError

__all__ = ["DEFAULT_PAYER", "SqliteWireLog", "StoredEntry"]

DEFAULT_PAYER = "0.0.2"
"""The account that the embedded log names as the submitter; a network would name a paying one."""

_NANOS = 1_000_000_000
_PAGE = 512


class StoredEntry(NamedTuple):
    """An entry as it is stored: canonical bytes with their proof (W HCS Metadata)."""

    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    body: bytes
    running_hash: bytes


class _Tail(NamedTuple):
    """Where the topic ends, as far as this process has read."""

    sequence_number: int
    consensus: int
    running_hash: bytes


_BEFORE_THE_FIRST = _Tail(0, 0, GENESIS)


class SqliteWireLog:
    """An embedded log of Wires; implements `specwright.ports.wire_log.WireLog`.

    Several threads may append: those that wait together are written together. Several processes, too.

    Args:
        path: The file; several processes may open it.
        topic_id: The topic in it, `0.0.1001`.
        clock: The time in nanoseconds since 1970; consensus time never goes back even if it does.
        admission: Other rules than those that ship.
        payer: The account that the running hash names; a topic keeps the one it began with.

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
    ) -> None:
        self._topic = EntityId.parse(topic_id)
        self._path = path
        self._clock = clock
        self._admission = admission or default_admission()
        self._ledger = Ledger()
        self._tail = _BEFORE_THE_FIRST
        self._lock = threading.RLock()
        self._group = GroupCommit(self._write)
        self._connection = connect(path)
        try:
            with told(path):
                self._payer = self._payer_of_topic(EntityId.parse(payer))
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
        topic_id = str(self._topic)
        for entry in self.stored(after):
            yield LogEntry(
                topic_id,
                entry.sequence_number,
                entry.consensus_seconds,
                entry.consensus_nanos,
                orjson.loads(entry.body),
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
        topic_id = str(self._topic)
        query = "SELECT payer FROM topic WHERE topic_id = ?"
        found = self._connection.execute(query, (topic_id,)).fetchone()
        if found is None:
            self._connection.execute("INSERT OR IGNORE INTO topic VALUES (?, ?)", (topic_id, str(payer)))
            found = self._connection.execute(query, (topic_id,)).fetchone()
        return EntityId.parse(found[0])

    def _noted(self, number: int, digest: bytes) -> LogEnd:
        return LogEnd(topic_id=str(self._topic), sequence_number=number, running_hash=digest.hex())

    def _sound(self, wire: JsonObject) -> Sound:
        found = self._admission.inspect(wire)
        if isinstance(found, Rejection):
            raise WireRefusedError(found, str(wire.get("wire_id", "")))
        return found

    def _write(self, group: Sequence[Pending[Sound]]) -> None:
        """One transaction for a group; whoever breaks a rule is told, the others do not notice."""
        with self._lock, told(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._catch_up()
                refusals: list[tuple[Pending[Sound], WireRefusedError]] = []
                changes: list[Change] = []
                for pending in group:
                    try:
                        changes += self._placed(pending.items)
                    except WireRefusedError as error:
                        refusals.append((pending, error))
                tail = self._insert(changes)
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                self._ledger, self._tail = Ledger(), _BEFORE_THE_FIRST  # it is read again
                raise
            self._tail = tail
        for pending, refusal in refusals:
            pending.refusal = refusal

    def _placed(self, wires: Iterable[Sound]) -> list[Change]:
        """Take an append into the ledger, all or none; on disk it comes with the group."""
        stage = self._ledger.staged()
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

    def _insert(self, changes: Sequence[Change]) -> _Tail:
        topic_id, tail = str(self._topic), self._tail
        rows: list[tuple[object, ...]] = []
        for change in changes:
            tail = self._after(tail, change.body)
            seconds, nanos = divmod(tail.consensus, _NANOS)
            rows.append((topic_id, tail.sequence_number, seconds, nanos, change.body, tail.running_hash))
        if rows:
            self._connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._connection.execute(
                "INSERT INTO head VALUES (?, ?, ?) ON CONFLICT (topic_id) DO UPDATE"
                " SET sequence_number = excluded.sequence_number, running_hash = excluded.running_hash",
                (topic_id, tail.sequence_number, tail.running_hash),
            )
        return tail

    def _after(self, tail: _Tail, body: bytes) -> _Tail:
        consensus = max(self._clock(), tail.consensus + 1)
        seconds, nanos = divmod(consensus, _NANOS)
        sequence = tail.sequence_number + 1
        digest = running_hash(
            tail.running_hash,
            payer=self._payer,
            topic=self._topic,
            seconds=seconds,
            nanos=nanos,
            sequence=sequence,
            message=body,
        )
        return _Tail(sequence, consensus, digest)

    def _page(self, after: int, size: int = _PAGE) -> list[StoredEntry]:
        rows = self._connection.execute(
            "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
            " FROM entry WHERE topic_id = ? AND sequence_number > ? ORDER BY sequence_number LIMIT ?",
            (str(self._topic), after, size),
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
            raise CorruptionError(
                f"entry {entry.sequence_number} of the Wire log is not a Wire that was admitted",
                where=str(self._path),
                remedy="run `specwright wire verify` to see what was changed",
            ) from error
        consensus = entry.consensus_seconds * _NANOS + entry.consensus_nanos
        self._tail = _Tail(entry.sequence_number, consensus, entry.running_hash)
