"""The tables of the log (D36): append-only by trigger, so that no caller can get round it.

`head` repeats where a topic ends, written with every append: a log whose last entries were cut off no longer
agrees with it.
"""

__all__ = ["SCHEMA", "SCHEMA_VERSION"]

SCHEMA_VERSION = 1
"""Kept as the file's `user_version`; 0 is a file that has no tables yet."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS topic (
    topic_id TEXT PRIMARY KEY,
    payer    TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS entry (
    topic_id          TEXT    NOT NULL REFERENCES topic (topic_id),
    sequence_number   INTEGER NOT NULL,
    consensus_seconds INTEGER NOT NULL,
    consensus_nanos   INTEGER NOT NULL,
    body              BLOB    NOT NULL,
    running_hash      BLOB    NOT NULL,
    PRIMARY KEY (topic_id, sequence_number)
) STRICT;

CREATE TABLE IF NOT EXISTS head (
    topic_id        TEXT PRIMARY KEY REFERENCES topic (topic_id),
    sequence_number INTEGER NOT NULL,
    running_hash    BLOB    NOT NULL
) STRICT;

CREATE TRIGGER IF NOT EXISTS entry_is_not_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS entry_is_not_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS entry_is_next BEFORE INSERT ON entry
WHEN NEW.sequence_number <>
        (SELECT COALESCE(MAX(sequence_number), 0) + 1 FROM entry WHERE topic_id = NEW.topic_id)
BEGIN SELECT RAISE(ABORT, 'the log is append-only: sequence numbers are dense'); END;

CREATE TRIGGER IF NOT EXISTS topic_is_not_changed BEFORE UPDATE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS topic_is_not_deleted BEFORE DELETE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS head_moves_forward BEFORE UPDATE ON head
WHEN NEW.sequence_number <= OLD.sequence_number OR NEW.topic_id <> OLD.topic_id
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS head_is_not_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
