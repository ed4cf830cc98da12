"""The SQLite file of the log: its tables, and a connection whose commits survive a crash (design: wire).

Triggers keep the file append-only, so that no caller can bypass the rule; one that is gone or changed is put back when
the log is opened for appending. `head` repeats where a topic ends and moves with every entry: a log whose last entries
were cut off no longer agrees with it, and it refuses an entry that is not the next one.
"""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from agent_wire.database import Connection, Table, refuse_views
from agent_wire.sqlite_errors import make_directory, sqlite_errors

_NAME = "the Wire log"
_BUSY_SECONDS = 30.0
VERSION = 2
"""Stored as the file's `user_version`; 0 is a file that has no tables yet."""

TABLES = (
    Table("topic", ("topic_id", "payer")),
    Table(
        "entry",
        ("topic_id", "sequence_number", "consensus_seconds", "consensus_nanos", "body", "running_hash"),
        key=2,
    ),
    Table("head", ("topic_id", "sequence_number", "running_hash")),
)
"""What is moved from store to store."""

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


_MADE = {statement.split()[2]: statement for statement in SCHEMA}
"""What makes each table and trigger, by its name."""


class LogFile:
    """The `Database` of an SQLite file.

    Raises: as `connect`.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self.path = path
        self.address = str(path)
        self._lock = threading.RLock()
        self.connection = connect(path, reading=reading)

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """The connection; each statement reads a state of its own."""
        with self._lock, log_errors(self.path):
            yield self.connection

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction that keeps other writers out."""
        with self._lock, log_errors(self.path), self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            yield self.connection

    def version(self, connection: Connection) -> int:
        """SQLite's number of what other connections have committed."""
        return int(connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self.connection.close()


def connect(path: Path, *, reading: bool = False) -> sqlite3.Connection:
    """Open the log's file, and make it if it does not exist.

    Args:
        path: The file.
        reading: Whether nothing will be appended; triggers that are gone are then left to `verify`.

    WAL, so that a reader never blocks a writer; `synchronous=FULL`, so that a commit is on the disk. A file that cannot
    be written is opened for reading.

    Raises:
        CorruptionError: the file is not an SQLite database, or another version of the program wrote it.
        RefusedError: it cannot be made or written.
    """
    make_directory(_NAME, path)
    with log_errors(path):
        connection = sqlite3.connect(
            address(path), uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
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
    """The tables and triggers that are gone, changed, or not of this program, by their names."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    found = {str(name): str(sql).rstrip(";") for name, sql in rows}
    made = {name: statement.rstrip(";") for name, statement in _MADE.items()}
    return sorted(name for name in found.keys() | made.keys() if found.get(name) != made.get(name))


def _restore_triggers(connection: sqlite3.Connection) -> None:
    """Put back the triggers that are gone or changed."""
    if not _changed_triggers(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    for name in _changed_triggers(connection):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute(_MADE[name])
    connection.execute("COMMIT")


def _changed_triggers(connection: sqlite3.Connection) -> list[str]:
    return [n for n in unlike_schema(connection) if _MADE.get(n, "").startswith("CREATE TRIGGER")]


def address(path: Path, *, reading: bool = False) -> str:
    """The URI by which SQLite opens the file.

    In a directory that cannot be written, SQLite reads a WAL database only as `immutable`.

    Args:
        path: The file.
        reading: Whether it is opened for reading alone.
    """
    uri = path.absolute().as_uri()
    if not path.is_file() or os.access(path.parent, os.W_OK):
        return f"{uri}?mode={'ro' if reading else 'rwc'}"
    wal = path.with_name(f"{path.name}-wal")  # a writer is open, or was killed
    return f"{uri}?mode=ro" if wal.is_file() else f"{uri}?immutable=1"


def log_errors(path: Path) -> AbstractContextManager[None]:
    """`sqlite_errors` for the log's file."""
    return sqlite_errors(_NAME, path, "run `agent-wire verify LOG`, or restore the file from a backup")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the drive's own cache too
    connection.execute("PRAGMA foreign_keys = ON")
    refuse_views(connection)
    if _version(connection) == VERSION:
        return  # a reader takes no lock
    connection.execute("PRAGMA journal_mode = WAL")
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
