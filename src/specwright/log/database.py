"""The SQLite file of the log: its tables, and a connection whose commits survive a crash (design: wire-log).

Triggers keep the file append-only, so that no caller can bypass the rule. `head` repeats where a topic ends and
moves with every entry: a log whose last entries were cut off no longer agrees with it, and it refuses an entry that
is not the next one.
"""

import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from specwright.sqlite_errors import make_directory, sqlite_errors

_NAME = "the Wire log"
_BUSY_SECONDS = 30.0
_VERSION = 2
"""Stored as the file's `user_version`; 0 is a file that has no tables yet."""

_SCHEMA = (
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
BEGIN
    UPDATE head SET sequence_number = NEW.sequence_number, running_hash = NEW.running_hash
    WHERE topic_id = NEW.topic_id;
END;""",
    """CREATE TRIGGER topic_is_not_changed BEFORE UPDATE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER topic_is_not_deleted BEFORE DELETE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
    """CREATE TRIGGER head_moves_by_one BEFORE UPDATE ON head
WHEN NEW.sequence_number <> OLD.sequence_number + 1 OR NEW.topic_id <> OLD.topic_id
BEGIN SELECT RAISE(ABORT, 'the log is append-only: sequence numbers are dense'); END;""",
    """CREATE TRIGGER head_is_not_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;""",
)


def connect(path: Path) -> sqlite3.Connection:
    """Open the log's file, and make it if it does not exist.

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
        except BaseException:
            connection.close()
            raise
    return connection


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
    return sqlite_errors(_NAME, path, "run `specwright wire verify`, or restore the file from a backup")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: flush the drive's own cache too
    connection.execute("PRAGMA foreign_keys = ON")
    if _version(connection) == _VERSION:
        return  # a reader takes no lock
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection)
    if version not in {0, _VERSION}:
        raise sqlite3.DatabaseError(f"its version is {version}, this program reads version {_VERSION}")
    if version == 0:
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
