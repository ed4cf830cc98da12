"""The Wire log in a database: topics, dense sequence numbers, consensus time, running hash (design: projection, wire).

`DatabaseWireLog` works with any `Database`. `SqliteWireLog` is the log in a file, whose commits survive a crash. Triggers
keep that file append-only, so that no caller can bypass the rule; opening the file for appending restores a trigger that
was dropped or changed. The table `head` repeats where a topic ends and moves with every entry: it refuses an entry that
is not the next one, and disagrees with a log whose last entries were deleted.
One writer appends at a time: threads wait for a lock, processes for the database.
`agent_wire.verify` proves that nobody changed the entries.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import orjson

from agent_wire.admission import Admission, CheckedWire, RepeatedWire, default_admission
from agent_wire.canonical_json import JsonObject
from agent_wire.database import (
    Connection,
    Database,
    Table,
    enter_wal,
    make_directory,
    refuse_views,
    sqlite_errors,
)
from agent_wire.entries import (
    GENESIS,
    NANOS,
    EntityId,
    LogEnd,
    LogEntry,
    StoredEntry,
    StreamEnd,
    running_hash,
)
from agent_wire.errors import CorruptionError, InputError, Rejection, WireRefusedError
from agent_wire.stream import AdmissionState

DEFAULT_PAYER = "0.0.2"
"""The account in the running hashes of a local log; on the network it is the account that pays."""

_PAGE = 512
_NAME = "the Wire log"
_BUSY_SECONDS = 30.0
VERSION = 2
"""The file's `user_version`; a file without tables has 0."""

TABLES = (
    Table("topic", ("topic_id", "payer")),
    Table(
        "entry",
        ("topic_id", "sequence_number", "consensus_seconds", "consensus_nanos", "body", "running_hash"),
        key=2,
    ),
    Table("head", ("topic_id", "sequence_number", "running_hash")),
)
"""The tables to copy between stores."""

SCHEMA = (
    """CREATE TABLE topic (
    topic_id TEXT PRIMARY KEY,
    payer    TEXT NOT NULL
) STRICT""",
    """CREATE TABLE entry (
    topic_id          TEXT    NOT NULL REFERENCES topic (topic_id),
    sequence_number   INTEGER NOT NULL,
    consensus_seconds INTEGER NOT NULL,
    consensus_nanos   INTEGER NOT NULL,
    body              BLOB    NOT NULL,
    running_hash      BLOB    NOT NULL,
    PRIMARY KEY (topic_id, sequence_number)
) STRICT""",
    """CREATE TABLE head (
    topic_id        TEXT PRIMARY KEY REFERENCES topic (topic_id),
    sequence_number INTEGER NOT NULL,
    running_hash    BLOB    NOT NULL
) STRICT""",
    """CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER topic_has_head AFTER INSERT ON topic
BEGIN INSERT INTO head VALUES (NEW.topic_id, 0, zeroblob(48)); END;""",
    """CREATE TRIGGER entry_moves_head AFTER INSERT ON entry
BEGIN UPDATE head SET sequence_number = NEW.sequence_number, running_hash = NEW.running_hash
    WHERE topic_id = NEW.topic_id; END;""",
    """CREATE TRIGGER topic_is_not_changed BEFORE UPDATE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER topic_is_not_deleted BEFORE DELETE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER head_moves_by_one BEFORE UPDATE ON head
WHEN NEW.sequence_number <> OLD.sequence_number + 1 OR NEW.topic_id <> OLD.topic_id
BEGIN SELECT RAISE(ABORT, 'the log is append-only: sequence numbers are dense'); END;""",
    """CREATE TRIGGER head_is_made_once BEFORE INSERT ON head WHEN NEW.topic_id IN (SELECT topic_id FROM head)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER head_is_not_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
)


ENTRIES_OF_TOPIC = (
    "SELECT sequence_number, consensus_seconds, consensus_nanos, body, running_hash"
    " FROM entry WHERE topic_id = ?"
)
_MADE = {statement.split()[2]: statement for statement in SCHEMA}
"""The statement that creates each table and trigger, by name."""


class LogFile:
    """The `Database` of an SQLite file.

    Raises: as `_connect`.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path = path
        self.address = str(path)
        self._lock = threading.RLock()
        self.connection = _connect(path, reading=reading)

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """Yield the connection without a transaction: each statement reads its own snapshot."""
        with self._lock, _log_errors(self.path):
            yield self.connection

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """Open a transaction that excludes other writers."""
        with self._lock, _log_errors(self.path), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            yield self.connection

    def version(self, connection: Connection) -> int:
        """Return SQLite's `data_version`, which changes when another connection commits."""
        return int(connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self.connection.close()


def _connect(path: Path, *, reading: bool = False) -> sqlite3.Connection:
    """Open the log's file; create it if it does not exist.

    WAL mode keeps readers from blocking writers, and `synchronous=FULL` puts each commit on disk. A file that cannot be
    written is opened for reading.

    Args:
        path: The file.
        reading: The caller will not append; missing triggers are then left for `verify` to report.

    Raises:
        CorruptionError: the file is not an SQLite database, or another version of the program wrote it.
        RefusedError: the file cannot be created or written.
    """
    make_directory(_NAME, path)
    with _log_errors(path):
        connection = sqlite3.connect(
            file_uri(path), uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
        )
        try:
            _prepare(connection)
            if not reading:
                _restore_triggers(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def unlike_schema(connection: sqlite3.Connection) -> list[str]:
    """Return the names of tables and triggers that are missing, changed, or unknown."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    found = {str(name): str(sql).rstrip(";") for name, sql in rows}
    made = {name: statement.rstrip(";") for name, statement in _MADE.items()}
    return sorted(name for name in found.keys() | made.keys() if found.get(name) != made.get(name))


def _restore_triggers(connection: sqlite3.Connection) -> None:
    """Restore the triggers that are missing or changed."""
    if not _changed_triggers(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    for name in _changed_triggers(connection):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute(_MADE[name])
    connection.execute("COMMIT")


def _changed_triggers(connection: sqlite3.Connection) -> list[str]:
    return [n for n in unlike_schema(connection) if _MADE.get(n, "").startswith("CREATE TRIGGER")]


def file_uri(path: Path, *, reading: bool = False) -> str:
    """Return the URI with which SQLite opens the file.

    In a read-only directory, SQLite can open a WAL database only as `immutable`.

    Args:
        path: The file.
        reading: Open it read-only.
    """
    uri = path.absolute().as_uri()
    if not path.is_file() or os.access(path.parent, os.W_OK):
        return f"{uri}?mode={'ro' if reading else 'rwc'}"
    wal = path.with_name(f"{path.name}-wal")  # present while a writer is open, or after it was killed
    return f"{uri}?mode=ro" if wal.is_file() else f"{uri}?immutable=1"


def _log_errors(path: Path) -> AbstractContextManager[None]:
    """`sqlite_errors` for the log's file."""
    return sqlite_errors(_NAME, path, "run `agent-wire verify LOG`, or restore the file from a backup")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the drive's own cache too
    connection.execute("PRAGMA foreign_keys = ON")
    refuse_views(connection)
    if _version(connection) == VERSION:
        return  # a reader takes no lock
    enter_wal(connection, _BUSY_SECONDS)
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection)
    if version not in {0, VERSION}:
        raise sqlite3.DatabaseError(f"its version is {version}, this program reads version {VERSION}")
    if version == 0:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


class _TopicEnd(NamedTuple):
    """The last entry of the topic that this process has read; `consensus` is its time in nanoseconds."""

    sequence_number: int = 0
    consensus: int = 0
    running_hash: bytes = GENESIS


class DatabaseWireLog:
    """A log of Wires in a database; implements `agent_wire.entries.WireLog`.

    Args:
        database: A database with the tables of the log; several processes may open it.
        topic_id: The topic, `0.0.1001`.
        clock: Returns the time in nanoseconds since 1970; consensus time rises even if the clock does not.
        admission: Rules to use instead of the ones that ship.
        payer: The account in the running hashes; an existing topic keeps the one it was created with.
        reading: Only read entries; the state of the streams is then computed when needed.

    Raises:
        InputError: the topic or the payer is not an id.
        CorruptionError: the database does not hold a Wire log.
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
        self.topic_id = str(self._topic)
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

    def append(self, wires: Sequence[JsonObject]) -> list[LogEntry]:
        """Append Wires, all or none, in one transaction that is on disk when this returns.

        Returns:
            The new entries; Wires that the log already holds are skipped.

        Raises:
            WireRefusedError: a Wire breaks a rule; none was appended.
            BusyError: another process kept the database locked for half a minute.
        """
        checked = [self._checked(wire) for wire in wires]  # before the lock, because it does not need the log
        if not checked:
            return []
        with self._lock:
            with self._database.writing() as connection:
                self._catch_up(connection)
                state = self._state.staged()
                new = self._admit(state, checked)
                rows = self._rows([wire.body for wire in new])
                connection.executemany(
                    "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", [(self.topic_id, *row) for row in rows]
                )
            state.commit()
            if rows:
                self._end = _end_at(rows[-1])
        return [
            LogEntry(self.topic_id, *row[:3], checked.wire) for row, checked in zip(rows, new, strict=True)
        ]

    def entries(self, after: int = 0) -> Iterator[LogEntry]:
        """Yield the entries with a sequence number greater than `after`, in order."""
        for entry in self.stored(after):
            try:
                wire = orjson.loads(entry.body)
            except ValueError as error:
                raise self._never_admitted(entry) from error
            yield LogEntry(self.topic_id, *entry[:3], wire)

    def stored(self, after: int = 0) -> Iterator[StoredEntry]:
        """Yield the same entries with their bytes and running hashes."""
        while True:
            with self._lock, self._database.reading() as connection:
                page = self._page(connection, after)
            if not page:
                return
            yield from page
            after = page[-1].sequence_number

    def stream_end(self, stream_id: str) -> StreamEnd:
        """Return the last Wire of a stream."""
        with self._lock, self._database.reading() as connection:
            self._catch_up(connection)
            stream = self._state.stream(stream_id)
        return StreamEnd(stream.seq, stream.last_wire_id) if stream is not None else StreamEnd()

    def end(self) -> LogEnd | None:
        """Return the end of the log, or None if it is empty."""
        with self._lock, self._database.reading() as connection:
            self._catch_up(connection)
            end = self._end
        return self._log_end(end.sequence_number, end.running_hash) if end.sequence_number else None

    def holds(self, end: LogEnd) -> bool:
        """Return whether the log has this entry with this running hash."""
        with self._lock, self._database.reading() as connection:
            page = self._page(connection, end.sequence_number - 1, 1)
        return [self._log_end(entry.sequence_number, entry.running_hash) for entry in page] == [end]

    def last(self) -> StoredEntry | None:
        """Return the last entry without reading the others, or None if the log is empty."""
        with self._lock, self._database.reading() as connection:
            query = f"{ENTRIES_OF_TOPIC} ORDER BY sequence_number DESC LIMIT 1"
            row = connection.execute(query, (self.topic_id,)).fetchone()
        return StoredEntry._make(row) if row is not None else None

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._database.close()

    def _payer_of_topic(self, connection: Connection, payer: EntityId) -> EntityId:
        query, topic = "SELECT payer FROM topic WHERE topic_id = ?", (self.topic_id,)
        row = connection.execute(query, topic).fetchone()
        if row is None:
            connection.execute("INSERT INTO topic VALUES (?, ?) ON CONFLICT DO NOTHING", (*topic, str(payer)))
            row = connection.execute(query, topic).fetchone()
        return EntityId.parse(row[0])

    def _log_end(self, number: int, digest: bytes) -> LogEnd:
        return LogEnd(topic_id=self.topic_id, sequence_number=number, running_hash=digest.hex())

    def _checked(self, wire: JsonObject) -> CheckedWire:
        result = self._admission.inspect(wire)
        if isinstance(result, Rejection):
            raise WireRefusedError(result, str(wire.get("wire_id", "")))
        return result

    def _admit(self, state: AdmissionState, wires: Sequence[CheckedWire]) -> list[CheckedWire]:
        """Add Wires to a state and return those that are new.

        Raises:
            WireRefusedError: a Wire is inadmissible.
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
        """Build the entries for new bodies, chained to the end of the topic."""
        sequence, consensus, digest = self._end
        rows: list[StoredEntry] = []
        for body in bodies:
            sequence += 1
            consensus = max(self._clock(), consensus + 1)
            entry = StoredEntry(sequence, *divmod(consensus, NANOS), body, b"")
            digest = running_hash(digest, entry, payer=self._payer, topic=self._topic)
            rows.append(entry._replace(running_hash=digest))
        return rows

    def _page(self, connection: Connection, after: int, size: int = _PAGE) -> list[StoredEntry]:
        query = f"{ENTRIES_OF_TOPIC} AND sequence_number > ? ORDER BY sequence_number LIMIT ?"
        return list(map(StoredEntry._make, connection.execute(query, (self.topic_id, after, size))))

    def _catch_up(self, connection: Connection) -> None:
        """Read the entries that other processes have appended."""
        while page := self._page(connection, self._end.sequence_number):
            for entry in page:
                try:
                    self._admission.replay(self._state, orjson.loads(entry.body), entry.body)
                except (KeyError, TypeError, ValueError) as error:
                    raise self._never_admitted(entry) from error
                self._end = _end_at(entry)

    def _never_admitted(self, entry: StoredEntry) -> CorruptionError:
        return CorruptionError(
            f"entry {entry.sequence_number} of the Wire log is not an admissible Wire",
            where=self._database.address,
            remedy="run `agent-wire verify LOG`, or `specwright wire verify` in a project, to see what was changed",
        )


class SqliteWireLog(DatabaseWireLog):
    """A log of Wires in an SQLite file.

    Args:
        path: The file; it is created if it does not exist.
        topic_id: The topic.
        clock: Returns the time in nanoseconds since 1970.
        admission: Rules to use instead of the ones that ship.
        payer: The account in the running hashes.
        reading: Only read entries.

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
        EntityId.parse(topic_id)  # before the file is created
        database = LogFile(path, reading=reading)
        super().__init__(database, topic_id, clock, admission=admission, payer=payer, reading=reading)
        self.connection = database.connection


def open_log_file(path: Path) -> SqliteWireLog:
    """Open an existing log file for reading; its topic need not be known.

    Raises:
        InputError: the file does not exist, or it does not hold exactly one topic.
        CorruptionError: the file is not a Wire log.
    """
    if not path.is_file():
        raise InputError("this Wire log does not exist", where=str(path))
    with closing(LogFile(path, reading=True)) as database, database.reading() as connection:
        topics = [str(row[0]) for row in connection.execute("SELECT topic_id FROM topic")]
    if len(topics) != 1:
        raise InputError(f"the log has {len(topics)} topics instead of one", where=str(path))
    return SqliteWireLog(path, topics[0], lambda: 0, reading=True)


def _end_at(entry: StoredEntry) -> _TopicEnd:
    consensus = entry.consensus_seconds * NANOS + entry.consensus_nanos
    return _TopicEnd(entry.sequence_number, consensus, entry.running_hash)
