"""The Wire log in a database: topics, dense sequence numbers, consensus time, running hash (design: projection, wire).

The database is an SQLite file or a Postgres schema. The rules are those of `agent_wire.admission`; this module adds
durability and order. One writer appends at a time: threads wait for a lock, processes for that of the database.
`agent_wire.verify` proves that nobody changed the entries.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import orjson

from agent_wire.admission import Admission, CheckedWire, RepeatedWire, default_admission
from agent_wire.canonical_json import JsonObject
from agent_wire.database import Connection, Database
from agent_wire.entries import LogEnd, LogEntry, StoredEntry, StreamEnd
from agent_wire.errors import CorruptionError, InputError
from agent_wire.hcs import GENESIS, NANOS, EntityId, running_hash
from agent_wire.log_file import LogFile
from agent_wire.rejection import Rejection, WireRefusedError
from agent_wire.stream import AdmissionState

DEFAULT_PAYER = "0.0.2"
"""The account that the embedded log names as the submitter; a network would name a paying one."""

_PAGE = 512


class _TopicEnd(NamedTuple):
    """The last entry of a topic that this process has read; `consensus` is its time in nanoseconds."""

    sequence_number: int = 0
    consensus: int = 0
    running_hash: bytes = GENESIS


class DatabaseWireLog:
    """A log of Wires; implements `agent_wire.entries.WireLog`.

    Args:
        database: With the tables of the log; several processes may open it.
        topic_id: The topic in it, `0.0.1001`.
        clock: The time in nanoseconds since 1970; consensus time rises even if the clock does not.
        admission: Other rules than those that ship.
        payer: The account that the running hash names; a topic keeps its first one.
        reading: Whether it is opened for its entries alone; the state of the streams is then computed on demand.

    Raises:
        InputError: the topic or the payer is not an id.
        CorruptionError: the database holds no log of Wires.
    """

    def __init__(
        self,
        database: Database,
        topic_id: str,
        clock: Callable[[], int],
        *,
        admission: Admission | None = None,
        payer: str = DEFAULT_PAYER,
        reading: bool = False,
    ) -> None:
        self._topic = EntityId.parse(topic_id)
        self._topic_id = str(self._topic)
        self._clock = clock
        self._admission = admission or default_admission()
        self._state = AdmissionState()
        self._end = _TopicEnd()
        self._lock = threading.RLock()
        self._database = database
        try:
            with database.reading() as connection:
                self._payer = self._payer_of_topic(connection, EntityId.parse(payer))
                if not reading:
                    self._catch_up(connection)
        except BaseException:
            database.close()
            raise

    @property
    def topic_id(self) -> str:
        """The topic, `0.0.1001`."""
        return self._topic_id

    def append(self, wires: Sequence[JsonObject]) -> list[LogEntry]:
        """Accept Wires, all or none, in one transaction that is on the disk when this returns.

        Returns:
            The new entries; a Wire that the log has already makes none.

        Raises:
            WireRefusedError: one of them breaks a rule; none was accepted.
            BusyError: another process kept the file locked for half a minute.
        """
        checked = [self._checked(wire) for wire in wires]  # before the lock: it needs nothing of the log
        if not checked:
            return []
        with self._lock:
            with self._database.writing() as connection:
                self._catch_up(connection)
                state = self._state.staged()
                new = self._admit(state, checked)
                rows = self._rows([wire.body for wire in new])
                connection.executemany(
                    "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", [(self._topic_id, *row) for row in rows]
                )
            state.commit()
            if rows:
                self._end = _end_at(rows[-1])
        return [
            LogEntry(self._topic_id, *row[:3], checked.wire) for row, checked in zip(rows, new, strict=True)
        ]

    def entries(self, after: int = 0) -> Iterator[LogEntry]:
        """The entries with a sequence number greater than `after`, in order."""
        for entry in self.stored(after):
            try:
                wire = orjson.loads(entry.body)
            except ValueError as error:
                raise self._never_admitted(entry) from error
            yield LogEntry(self._topic_id, *entry[:3], wire)

    def stored(self, after: int = 0) -> Iterator[StoredEntry]:
        """The same entries with their bytes and running hashes."""
        while True:
            with self._lock, self._database.reading() as connection:
                page = self._page(connection, after)
            if not page:
                return
            yield from page
            after = page[-1].sequence_number

    def stream_end(self, stream_id: str) -> StreamEnd:
        """Where a stream ends."""
        with self._lock, self._database.reading() as connection:
            self._catch_up(connection)
            stream = self._state.stream(stream_id)
        return StreamEnd(stream.seq, stream.last_wire_id) if stream is not None else StreamEnd()

    def end(self) -> LogEnd | None:
        """Where the log ends, None if it is empty."""
        with self._lock, self._database.reading() as connection:
            self._catch_up(connection)
            end = self._end
        return self._log_end(end.sequence_number, end.running_hash) if end.sequence_number else None

    def holds(self, end: LogEnd) -> bool:
        """Whether the log has this entry with this running hash."""
        with self._lock, self._database.reading() as connection:
            page = self._page(connection, end.sequence_number - 1, 1)
        return [self._log_end(entry.sequence_number, entry.running_hash) for entry in page] == [end]

    def last(self) -> StoredEntry | None:
        """The last entry, None if the log is empty; the entries before it are not looked at."""
        with self._lock, self._database.reading() as connection:
            row = connection.execute(
                "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
                " FROM entry WHERE topic_id = ? ORDER BY sequence_number DESC LIMIT 1",
                (self._topic_id,),
            ).fetchone()
        return StoredEntry._make(row) if row is not None else None

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    def _payer_of_topic(self, connection: Connection, payer: EntityId) -> EntityId:
        query, topic = "SELECT payer FROM topic WHERE topic_id = ?", (self._topic_id,)
        row = connection.execute(query, topic).fetchone()
        if row is None:
            connection.execute("INSERT INTO topic VALUES (?, ?) ON CONFLICT DO NOTHING", (*topic, str(payer)))
            row = connection.execute(query, topic).fetchone()
        return EntityId.parse(row[0])

    def _log_end(self, number: int, digest: bytes) -> LogEnd:
        return LogEnd(topic_id=self._topic_id, sequence_number=number, running_hash=digest.hex())

    def _checked(self, wire: JsonObject) -> CheckedWire:
        result = self._admission.inspect(wire)
        if isinstance(result, Rejection):
            raise WireRefusedError(result, str(wire.get("wire_id", "")))
        return result

    def _admit(self, state: AdmissionState, wires: Sequence[CheckedWire]) -> list[CheckedWire]:
        """Add Wires to a state; those that it did not have.

        Raises:
            WireRefusedError: the first Wire that is inadmissible.
        """
        new: list[CheckedWire] = []
        for wire in wires:
            decision = self._admission.place(state, wire)
            if isinstance(decision, Rejection):
                raise WireRefusedError(decision, wire.wire_id)
            if not isinstance(decision, RepeatedWire):
                state.add(decision)
                new.append(wire)
        return new

    def _rows(self, bodies: Sequence[bytes]) -> list[StoredEntry]:
        """The entries of new bodies, chained to the end of the topic."""
        sequence, consensus, digest = self._end
        rows: list[StoredEntry] = []
        for body in bodies:
            sequence += 1
            consensus = max(self._clock(), consensus + 1)
            seconds, nanos = divmod(consensus, NANOS)
            digest = running_hash(
                digest,
                payer=self._payer,
                topic=self._topic,
                seconds=seconds,
                nanos=nanos,
                sequence=sequence,
                message=body,
            )
            rows.append(StoredEntry(sequence, seconds, nanos, body, digest))
        return rows

    def _page(self, connection: Connection, after: int, size: int = _PAGE) -> list[StoredEntry]:
        rows = connection.execute(
            "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
            " FROM entry WHERE topic_id = ? AND sequence_number > ? ORDER BY sequence_number LIMIT ?",
            (self._topic_id, after, size),
        )
        return list(map(StoredEntry._make, rows))

    def _catch_up(self, connection: Connection) -> None:
        """Apply the entries that another process has appended."""
        while page := self._page(connection, self._end.sequence_number):
            for entry in page:
                try:
                    self._admission.replay(self._state, orjson.loads(entry.body), entry.body)
                except (KeyError, TypeError, ValueError) as error:
                    raise self._never_admitted(entry) from error
                self._end = _end_at(entry)

    def _never_admitted(self, entry: StoredEntry) -> CorruptionError:
        return CorruptionError(
            f"entry {entry.sequence_number} of the Wire log is not a Wire that was admitted",
            where=self._database.address,
            remedy="`agent-wire verify LOG`, or `specwright wire verify` for a project, names what was changed",
        )


class SqliteWireLog(DatabaseWireLog):
    """The log in an SQLite file.

    Args:
        path: The file; it is made if it does not exist.
        topic_id: The topic in it.
        clock: The time in nanoseconds.
        admission: Other rules than those that ship.
        payer: The account that the running hash names.
        reading: Whether it is opened for its entries alone.

    Raises: as `DatabaseWireLog`.
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
        EntityId.parse(topic_id)  # before a file is made
        database = LogFile(path, reading=reading)
        super().__init__(database, topic_id, clock, admission=admission, payer=payer, reading=reading)
        self.connection = database.connection


def open_log_file(path: Path) -> SqliteWireLog:
    """Open an existing log for reading, without knowing its topic.

    Raises:
        InputError: there is no such log, or it holds several topics.
        CorruptionError: the file is no log.
    """
    if not path.is_file():
        raise InputError("there is no Wire log", where=str(path))
    with closing(LogFile(path, reading=True)) as database, database.reading() as connection:
        topics = [str(row[0]) for row in connection.execute("SELECT topic_id FROM topic")]
    if len(topics) != 1:
        raise InputError(f"the log holds {len(topics)} topics, not one", where=str(path))
    return SqliteWireLog(path, topics[0], lambda: 0, reading=True)


def _end_at(entry: StoredEntry) -> _TopicEnd:
    consensus = entry.consensus_seconds * NANOS + entry.consensus_nanos
    return _TopicEnd(entry.sequence_number, consensus, entry.running_hash)
