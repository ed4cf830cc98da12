"""Is the log what was written? Each altered, dropped, swapped, inserted or cut-off entry is named (D36).

Reads the file alone: the chain of running hashes is recomputed from the first entry, every body is read again
as a Wire, and every Wire is admitted again. Leaves out what no hash chain shows by itself, a file that was
rewritten as a whole or replaced by an older copy: for that, give the end that was noted elsewhere
(`expected`).
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from specwright.domain.log_end import LogEnd
from specwright.errors import InputError
from specwright.log.connection import address
from specwright.log.running_hash import GENESIS, EntityId, running_hash
from specwright.wire import canonical
from specwright.wire.admission import Admission, Repeated, default_admission
from specwright.wire.ledger import Ledger
from specwright.wire.rejection import Rejection, WireRefusedError

__all__ = ["Finding", "verify"]

_NANOS = 1_000_000_000


class Finding(NamedTuple):
    """One thing that is not as it was written.

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


class _Row(NamedTuple):
    sequence_number: int
    seconds: int
    nanos: int
    body: bytes
    running_hash: bytes


_TYPES = (int, int, int, bytes, bytes)


def verify(
    path: Path, *, expected: Iterable[LogEnd] = (), admission: Admission | None = None
) -> list[Finding]:
    """Check a log's file.

    Args:
        path: The file; it is only read.
        expected: Where topics ended when somebody noted it outside; each of these entries must be unchanged.
        admission: Other rules than those that ship.

    Returns:
        Everything that is wrong, in the order of the entries; empty if the log is intact.

    Raises:
        InputError: there is no such file.
    """
    if not path.is_file():
        raise InputError("there is no Wire log", where=str(path))
    try:
        with closing(sqlite3.connect(address(path, reading=True), uri=True)) as connection:
            connection.text_factory = _lossy
            connection.execute("BEGIN")  # one snapshot, whoever writes meanwhile
            return list(_findings(connection, tuple(expected), admission or default_admission()))
    except (sqlite3.Error, UnicodeDecodeError, InputError) as error:
        return [Finding("", 0, "log.unreadable", f"the file cannot be read as a Wire log: {error}")]


def _findings(
    connection: sqlite3.Connection, expected: Sequence[LogEnd], admission: Admission
) -> Iterator[Finding]:
    for (fault,) in connection.execute("PRAGMA integrity_check(8)").fetchall():
        if fault != "ok":
            yield Finding("", 0, "log.unreadable", f"the database is damaged: {fault}")
    rows = connection.execute("SELECT topic_id, payer FROM topic ORDER BY topic_id").fetchall()
    topics = {str(topic_id): str(payer) for topic_id, payer in rows}
    for topic_id, payer in topics.items():
        noted = [end for end in expected if end.topic_id == topic_id]
        yield from _Topic(connection, topic_id, payer, admission).check(noted)
    strays = "SELECT topic_id, sequence_number FROM {} WHERE topic_id NOT IN (SELECT topic_id FROM topic)"
    for table in ("entry", "head"):
        for topic_id, number in connection.execute(strays.format(table)):
            yield Finding(str(topic_id), number, "log.inadmissible", "this log has no such topic")
    for topic_id in sorted({end.topic_id for end in expected} - topics.keys()):
        yield Finding(topic_id, 0, "log.cut_off", "the topic is gone")


def _lossy(text: bytes) -> str:
    """A damaged text must not stop the search for what else is damaged."""
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
        self._ledger = Ledger()
        self._previous = GENESIS
        self._sequence = 0
        self._time = -1

    def check(self, expected: Iterable[LogEnd]) -> Iterator[Finding]:
        """Every finding of this topic."""
        noted: dict[int, set[str]] = {}
        for end in expected:
            noted.setdefault(end.sequence_number, set()).add(end.running_hash)
        rows = self._connection.execute(
            "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
            " FROM entry WHERE topic_id = ? ORDER BY sequence_number",
            (self._topic_id,),
        )
        for row in map(_Row._make, rows):
            if tuple(map(type, row)) != _TYPES:
                yield self._finding(
                    self._sequence + 1, "log.unreadable", "it does not hold what an entry holds"
                )
                return
            yield from self._entry(row)
            if noted.pop(row.sequence_number, set()) - {row.running_hash.hex()}:
                yield self._finding(
                    row.sequence_number, "log.changed", "another running hash was noted for it outside"
                )
        for number in sorted(noted):
            yield self._finding(number, "log.cut_off", "this entry was noted outside, but is gone")
        yield from self._end()

    def _entry(self, row: _Row) -> Iterator[Finding]:
        number = row.sequence_number
        if number != self._sequence + 1:
            yield self._finding(self._sequence + 1, "log.gap", f"entry {self._sequence + 1} is missing")
        time = row.seconds * _NANOS + row.nanos
        if time <= self._time or not 0 <= row.nanos < _NANOS:
            yield self._finding(number, "log.time", "its consensus time does not follow the one before it")
        if self._hash(row) != row.running_hash:
            yield self._finding(number, "log.changed", "its running hash does not follow from what it holds")
        yield from self._body(row)
        # Go on from what is stored, so that one changed entry is named and not every one after it.
        self._previous, self._sequence, self._time = row.running_hash, number, time

    def _body(self, row: _Row) -> Iterator[Finding]:
        number = row.sequence_number
        try:
            wire = canonical.parse(row.body)
        except WireRefusedError as error:
            yield self._finding(
                number, "log.not_canonical", f"its body is no Wire: {error.rejection.message}"
            )
            return
        if canonical.encode(wire) != row.body:
            yield self._finding(number, "log.not_canonical", "its body is not in canonical bytes")
        decision = self._admission.admit(self._ledger, wire)
        if isinstance(decision, Rejection):
            yield self._finding(number, "log.inadmissible", f"{decision.message} ({decision.code})")
        elif isinstance(decision, Repeated):
            yield self._finding(number, "log.inadmissible", "the same Wire stands in the log twice")
        else:
            self._ledger.add(decision)

    def _hash(self, row: _Row) -> bytes:
        if not 0 <= row.nanos < _NANOS:
            return b""  # no such time has a running hash
        return running_hash(
            self._previous,
            payer=self._payer,
            topic=self._topic,
            seconds=row.seconds,
            nanos=row.nanos,
            sequence=row.sequence_number,
            message=row.body,
        )

    def _end(self) -> Iterator[Finding]:
        """The log must end where its own note says (`head`)."""
        noted = self._connection.execute(
            "SELECT sequence_number, running_hash FROM head WHERE topic_id = ?", (self._topic_id,)
        ).fetchone() or (0, GENESIS)
        if isinstance(noted[0], int) and noted[0] > self._sequence:
            missing = f"the log ended at entry {noted[0]}, now it ends at {self._sequence}"
            yield self._finding(self._sequence + 1, "log.cut_off", missing)
        elif (noted[0], noted[1]) != (self._sequence, self._previous):
            yield self._finding(
                self._sequence, "log.changed", "the note of where the log ends does not agree with it"
            )

    def _finding(self, sequence_number: int, code: str, message: str) -> Finding:
        return Finding(self._topic_id, sequence_number, code, message)
