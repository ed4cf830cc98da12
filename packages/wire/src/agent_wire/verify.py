"""Verifies a log file: names each altered, dropped, swapped, inserted or cut-off entry (design: wire).

It needs only the file: it recomputes the chain of running hashes from the first entry, parses every body as a Wire and
admits every Wire again. The chain alone cannot show that somebody rewrote the whole file or restored an older copy; log
ends recorded elsewhere, `expected`, can. Each deviation is one finding: after a changed entry only the chain is checked,
because the admission rules need every Wire before.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from agent_wire.admission import Admission, RepeatedWire, default_admission
from agent_wire.database import check_files_beside, refuse_views
from agent_wire.entries import GENESIS, NANOS, EntityId, LogEnd, StoredEntry, running_hash
from agent_wire.envelope import encode, parse
from agent_wire.errors import CorruptionError, InputError, Rejection, WireRefusedError
from agent_wire.log import ENTRIES_OF_TOPIC, file_uri, unlike_schema
from agent_wire.stream import AdmissionState


class Deviation(NamedTuple):
    """A difference between the log file and what was written to it.

    Args:
        topic_id: The topic.
        sequence_number: The entry; 0 for the whole file.
        code: `log.changed`, `log.gap`, `log.time`, `log.cut_off`, `log.inadmissible`, `log.not_canonical`,
            `log.unreadable`, or `log.unprotected` if only triggers or tables differ.
        message: One sentence.
        by_note: Only a log end recorded elsewhere shows it, so that record may be what was changed.
    """

    topic_id: str
    sequence_number: int
    code: str
    message: str
    by_note: bool = False


UNPROTECTED = "log.unprotected"
"""The code of a finding about the file's triggers and tables, not about entries."""

_TYPES = (int, int, int, bytes, bytes)


def verify(
    path: Path, *, expected: Iterable[LogEnd] = (), admission: Admission | None = None
) -> list[Deviation]:
    """Verify a log file.

    Args:
        path: The file, which is opened read-only.
        expected: Log ends recorded elsewhere; the log must have each of these entries unchanged.
        admission: Rules to use instead of the ones that ship.

    Returns:
        The findings in the order of the entries; empty if the log is intact.

    Raises:
        InputError: the file does not exist.
    """
    if not path.is_file():
        raise InputError("this Wire log does not exist", where=str(path))
    try:
        check_files_beside("the Wire log", path)
        with closing(sqlite3.connect(file_uri(path, reading=True), uri=True)) as connection:
            refuse_views(connection)
            connection.text_factory = _lossy
            connection.execute("BEGIN")  # one snapshot, even while another process writes
            return list(_deviations(connection, tuple(expected), admission or default_admission()))
    except (sqlite3.Error, UnicodeDecodeError, InputError, CorruptionError) as error:
        return [Deviation("", 0, "log.unreadable", f"the file cannot be read as a Wire log: {error}")]


def _deviations(
    connection: sqlite3.Connection, expected: Sequence[LogEnd], admission: Admission
) -> Iterator[Deviation]:
    (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    found = _content_deviations(connection, expected, admission)
    if problem != "ok":
        yield _damaged_file(str(problem), found)
        return
    if unlike := unlike_schema(connection):
        yield Deviation("", 0, UNPROTECTED, f"these differ from the program's schema: {', '.join(unlike)}")
    yield from found


def _damaged_file(problem: str, found: Iterator[Deviation]) -> Deviation:
    """Build the finding for a file that SQLite reports as damaged, with the first damaged entry if there is one."""
    message = f"the database is damaged: {problem}"
    try:
        first = next(found, None)
    except sqlite3.Error:
        first = None
    if first is None:
        return Deviation("", 0, "log.unreadable", message)
    return first._replace(code="log.unreadable", message=f"{message}; {first.message}")


def _content_deviations(
    connection: sqlite3.Connection, expected: Sequence[LogEnd], admission: Admission
) -> Iterator[Deviation]:
    rows = connection.execute("SELECT topic_id, payer FROM topic ORDER BY topic_id").fetchall()
    topics = {str(topic_id): str(payer) for topic_id, payer in rows}
    for topic_id, payer in topics.items():
        ends = [end for end in expected if end.topic_id == topic_id]
        yield from _Topic(connection, topic_id, payer, admission).check(ends)
    strays = connection.execute(
        "SELECT topic_id, min(sequence_number), count(*) FROM"
        " (SELECT topic_id, sequence_number FROM entry UNION ALL SELECT topic_id, sequence_number FROM head)"
        " WHERE topic_id NOT IN (SELECT topic_id FROM topic) GROUP BY topic_id"
    ).fetchall()
    for topic_id, number, rows_of_it in strays:
        message = f"the log has {rows_of_it} rows of this topic, but not the topic"
        yield Deviation(str(topic_id), number, "log.inadmissible", message)
    for topic_id in sorted(
        {end.topic_id for end in expected} - topics.keys() - {str(row[0]) for row in strays}
    ):
        yield Deviation(topic_id, 0, "log.cut_off", "the topic is missing from the log", by_note=True)


def _lossy(text: bytes) -> str:
    """Decode a text that may be damaged, so that the search for other damage can continue."""
    return text.decode(errors="replace")


class _Topic:
    """Checks one topic from its first entry to its last."""

    def __init__(
        self, connection: sqlite3.Connection, topic_id: str, payer: str, admission: Admission
    ) -> None:
        self._connection = connection
        self._topic_id = topic_id
        self._topic = EntityId.parse(topic_id)
        self._payer = EntityId.parse(payer)
        self._admission = admission
        self._state = AdmissionState()
        self._previous: tuple[bytes, bytes] = (GENESIS, GENESIS)
        self._sequence = 0
        self._time = -1
        self._damaged = False

    def check(self, expected: Iterable[LogEnd]) -> Iterator[Deviation]:
        """Yield the findings for this topic."""
        hashes: dict[int, set[str]] = {}
        for end in expected:
            hashes.setdefault(end.sequence_number, set()).add(end.running_hash)
        query = f"{ENTRIES_OF_TOPIC} ORDER BY sequence_number"
        rows = self._connection.execute(query, (self._topic_id,))
        if not self._begins_the_chain():
            yield self._finding(1, "log.changed", "no running hash matches this topic and payer")
            return
        last: Deviation | None = None
        for row in map(StoredEntry._make, rows):
            if tuple(map(type, row)) != _TYPES:
                yield self._finding(self._sequence + 1, "log.unreadable", "a column has the wrong type")
                return
            noted = hashes.pop(row.sequence_number, set())
            last = self._entry(row)
            if last is None and noted - {row.running_hash.hex()}:
                number = row.sequence_number
                message = "a record outside the log has another running hash for this entry"
                last = self._finding(number, "log.changed", message)._replace(by_note=True)
            if last is not None:
                yield last
        yield from self._end(sorted(hashes), last)

    def _begins_the_chain(self) -> bool:
        """Return whether any running hash is right; if none is, somebody changed the topic or payer, not every entry."""
        rows = self._connection.execute(
            "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash,"
            " lag(running_hash, 1, ?) OVER (ORDER BY sequence_number) FROM entry WHERE topic_id = ?",
            (GENESIS, self._topic_id),
        )
        seen = 0
        for *row, previous in rows:
            if tuple(map(type, row)) != _TYPES or self._hash(StoredEntry._make(row), previous) == row[4]:
                return True
            seen += 1
        return seen < 2

    def _entry(self, row: StoredEntry) -> Deviation | None:
        """Return the first deviation of an entry; continue from the stored values, so that later entries are not blamed."""
        number = row.sequence_number
        if number <= self._sequence:  # later entries follow the entry before this one
            self._damaged = True
            return self._finding(self._sequence + 1, "log.gap", f"entry number {number} is out of order")
        time = row.consensus_seconds * NANOS + row.consensus_nanos
        own = [self._hash(row, previous) for previous in dict.fromkeys(self._previous)]
        found: Deviation | None = None
        if number != self._sequence + 1:
            found = self._finding(self._sequence + 1, "log.gap", f"entry {self._sequence + 1} is missing")
        elif time <= self._time or not 0 <= row.consensus_nanos < NANOS:
            found = self._finding(number, "log.time", "its consensus time is not after the previous one")
        elif row.running_hash not in own:
            found = self._finding(number, "log.changed", "its running hash does not match its content")
        elif not self._damaged:
            found = self._body(row)
        self._damaged = self._damaged or found is not None
        # if only the stored hash was damaged, the next entry matches the hash of the content
        self._previous, self._sequence = (row.running_hash, own[0]), number
        self._time = self._time if found else time
        return found

    def _body(self, row: StoredEntry) -> Deviation | None:
        number = row.sequence_number
        try:
            wire = parse(row.body)
        except WireRefusedError as error:
            message = f"its body is not a Wire: {error.rejection.message}"
            return self._finding(number, "log.not_canonical", message)
        if encode(wire) != row.body:
            return self._finding(number, "log.not_canonical", "its body is not canonical")
        decision = self._admission.admit(self._state, wire)
        if isinstance(decision, Rejection):
            return self._finding(number, "log.inadmissible", f"{decision.message} ({decision.code})")
        if isinstance(decision, RepeatedWire):
            return self._finding(number, "log.inadmissible", "the log already has this Wire")
        self._state.add(decision)
        return None

    def _hash(self, row: StoredEntry, previous: bytes) -> bytes:
        if not 0 <= row.consensus_nanos < NANOS:
            return b""  # no running hash covers an impossible time
        return running_hash(previous, row, payer=self._payer, topic=self._topic)

    def _end(self, missing: Sequence[int], last: Deviation | None) -> Iterator[Deviation]:
        """Compare the last entry with the table `head`, and report recorded entries that are missing.

        Args:
            missing: The numbers of entries that were recorded outside the log but are not in it.
            last: The finding about the last entry, if any.
        """
        head = self._connection.execute(
            "SELECT sequence_number, running_hash FROM head WHERE topic_id = ?", (self._topic_id,)
        ).fetchone() or (0, GENESIS)
        if isinstance(head[0], int) and head[0] > self._sequence:
            message = f"the log ended at entry {head[0]} and now ends at {self._sequence}"
            yield self._finding(self._sequence + 1, "log.cut_off", message)
        elif (last is None or last.by_note) and (head[0], head[1]) != (self._sequence, self._previous[0]):
            yield self._finding(self._sequence, "log.changed", "the end in table head is not the last entry")
        for number in missing:
            message = "a record outside the log names this entry, but it is missing"
            yield self._finding(number, "log.cut_off", message)._replace(by_note=True)

    def _finding(self, sequence_number: int, code: str, message: str) -> Deviation:
        return Deviation(self._topic_id, sequence_number, code, message)
