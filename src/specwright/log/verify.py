"""Verification of a log's file: names each altered, dropped, swapped, inserted or cut-off entry (design: wire-log).

It reads the file alone: it recomputes the chain of running hashes from the first entry, parses every body as a Wire and
admits every Wire again. A hash chain by itself does not show that a file was rewritten as a whole or replaced by an
older copy; `expected`, the log ends recorded elsewhere, does.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from specwright.errors import InputError
from specwright.log.database import address
from specwright.log.hcs import GENESIS, NANOS, EntityId, StoredEntry, running_hash
from specwright.ports.wire_log import LogEnd
from specwright.wire import canonical
from specwright.wire.admission import Admission, RepeatedWire, default_admission
from specwright.wire.rejection import Rejection, WireRefusedError
from specwright.wire.stream import AdmissionState


class Finding(NamedTuple):
    """One deviation from what was written.

    Args:
        topic_id: The topic.
        sequence_number: The entry; 0 if the file as a whole is meant.
        code: `log.changed`, `log.gap`, `log.time`, `log.cut_off`, `log.inadmissible`, `log.not_canonical`,
            `log.unreadable`.
        message: One sentence.
    """

    topic_id: str
    sequence_number: int
    code: str
    message: str


_TYPES = (int, int, int, bytes, bytes)


def verify(
    path: Path, *, expected: Iterable[LogEnd] = (), admission: Admission | None = None
) -> list[Finding]:
    """Check a log's file.

    Args:
        path: The file; it is only read.
        expected: Log ends that were recorded outside; each of these entries must be unchanged.
        admission: Other rules than those that ship.

    Returns:
        The findings in the order of the entries; empty if the log is intact.

    Raises:
        InputError: there is no such file.
    """
    if not path.is_file():
        raise InputError("there is no Wire log", where=str(path))
    try:
        with closing(sqlite3.connect(address(path, reading=True), uri=True)) as connection:
            connection.text_factory = _lossy
            connection.execute("BEGIN")  # one snapshot, even while another process writes
            return list(_findings(connection, tuple(expected), admission or default_admission()))
    except (sqlite3.Error, UnicodeDecodeError, InputError) as error:
        return [Finding("", 0, "log.unreadable", f"the file cannot be read as a Wire log: {error}")]


def _findings(
    connection: sqlite3.Connection, expected: Sequence[LogEnd], admission: Admission
) -> Iterator[Finding]:
    for (problem,) in connection.execute("PRAGMA integrity_check(8)").fetchall():
        if problem != "ok":
            yield Finding("", 0, "log.unreadable", f"the database is damaged: {problem}")
    rows = connection.execute("SELECT topic_id, payer FROM topic ORDER BY topic_id").fetchall()
    topics = {str(topic_id): str(payer) for topic_id, payer in rows}
    for topic_id, payer in topics.items():
        ends = [end for end in expected if end.topic_id == topic_id]
        yield from _Topic(connection, topic_id, payer, admission).check(ends)
    strays = "SELECT topic_id, sequence_number FROM {} WHERE topic_id NOT IN (SELECT topic_id FROM topic)"
    for table in ("entry", "head"):
        for topic_id, number in connection.execute(strays.format(table)):
            yield Finding(str(topic_id), number, "log.inadmissible", "this log has no such topic")
    for topic_id in sorted({end.topic_id for end in expected} - topics.keys()):
        yield Finding(topic_id, 0, "log.cut_off", "the topic is gone")


def _lossy(text: bytes) -> str:
    """Decode a text that may be damaged, so that the search for other damage goes on."""
    return text.decode(errors="replace")


class _Topic:
    """One topic, read from its first entry to its last."""

    def __init__(
        self, connection: sqlite3.Connection, topic_id: str, payer: str, admission: Admission
    ) -> None:
        self._connection = connection
        self._topic_id = topic_id
        self._topic = EntityId.parse(topic_id)
        self._payer = EntityId.parse(payer)
        self._admission = admission
        self._state = AdmissionState()
        self._previous = GENESIS
        self._sequence = 0
        self._time = -1

    def check(self, expected: Iterable[LogEnd]) -> Iterator[Finding]:
        """Every finding of this topic."""
        hashes: dict[int, set[str]] = {}
        for end in expected:
            hashes.setdefault(end.sequence_number, set()).add(end.running_hash)
        rows = self._connection.execute(
            "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
            " FROM entry WHERE topic_id = ? ORDER BY sequence_number",
            (self._topic_id,),
        )
        for row in map(StoredEntry._make, rows):
            if tuple(map(type, row)) != _TYPES:
                yield self._finding(self._sequence + 1, "log.unreadable", "the row is not an entry")
                return
            yield from self._entry(row)
            if hashes.pop(row.sequence_number, set()) - {row.running_hash.hex()}:
                yield self._finding(
                    row.sequence_number, "log.changed", "another running hash was recorded for it outside"
                )
        for number in sorted(hashes):
            yield self._finding(number, "log.cut_off", "this entry was recorded outside, but is gone")
        yield from self._end()

    def _entry(self, row: StoredEntry) -> Iterator[Finding]:
        number = row.sequence_number
        if number != self._sequence + 1:
            yield self._finding(self._sequence + 1, "log.gap", f"entry {self._sequence + 1} is missing")
        time = row.consensus_seconds * NANOS + row.consensus_nanos
        if time <= self._time or not 0 <= row.consensus_nanos < NANOS:
            yield self._finding(
                number, "log.time", "its consensus time is not after that of the entry before"
            )
        if self._hash(row) != row.running_hash:
            yield self._finding(number, "log.changed", "its running hash is not that of its content")
        yield from self._body(row)
        # Go on from what is stored, so that one changed entry is named and not every one after it.
        self._previous, self._sequence, self._time = row.running_hash, number, time

    def _body(self, row: StoredEntry) -> Iterator[Finding]:
        number = row.sequence_number
        try:
            wire = canonical.parse(row.body)
        except WireRefusedError as error:
            yield self._finding(
                number, "log.not_canonical", f"its body is not a Wire: {error.rejection.message}"
            )
            return
        if canonical.encode(wire) != row.body:
            yield self._finding(number, "log.not_canonical", "its body is not in canonical bytes")
        decision = self._admission.admit(self._state, wire)
        if isinstance(decision, Rejection):
            yield self._finding(number, "log.inadmissible", f"{decision.message} ({decision.code})")
        elif isinstance(decision, RepeatedWire):
            yield self._finding(number, "log.inadmissible", "the log has this Wire twice")
        else:
            self._state.add(decision)

    def _hash(self, row: StoredEntry) -> bytes:
        if not 0 <= row.consensus_nanos < NANOS:
            return b""  # a time that no running hash can cover
        return running_hash(
            self._previous,
            payer=self._payer,
            topic=self._topic,
            seconds=row.consensus_seconds,
            nanos=row.consensus_nanos,
            sequence=row.sequence_number,
            message=row.body,
        )

    def _end(self) -> Iterator[Finding]:
        """Compare the last entry with the table `head`."""
        head = self._connection.execute(
            "SELECT sequence_number, running_hash FROM head WHERE topic_id = ?", (self._topic_id,)
        ).fetchone() or (0, GENESIS)
        if isinstance(head[0], int) and head[0] > self._sequence:
            missing = f"the log ended at entry {head[0]}, now it ends at {self._sequence}"
            yield self._finding(self._sequence + 1, "log.cut_off", missing)
        elif (head[0], head[1]) != (self._sequence, self._previous):
            yield self._finding(
                self._sequence, "log.changed", "the recorded end of the log is not its last entry"
            )

    def _finding(self, sequence_number: int, code: str, message: str) -> Finding:
        return Finding(self._topic_id, sequence_number, code, message)
