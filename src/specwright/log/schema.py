"""The tables of the log (D36): append-only by trigger, so that no caller can get round it.

`head` repeats where a topic ends and moves with every entry: a log whose last entries were cut off no longer agrees
with it, and an entry that is not the next one is refused by it, so that who writes need not look first.
"""

__all__ = ["FROM_VERSION_1", "SCHEMA", "SCHEMA_VERSION"]

SCHEMA_VERSION = 2
"""Kept as the file's `user_version`; 0 is a file that has no tables yet."""

FROM_VERSION_1 = """
DROP TRIGGER entry_is_next;
DROP TRIGGER head_moves_forward;
INSERT OR IGNORE INTO head SELECT topic_id, 0, zeroblob(48) FROM topic;
"""
"""What `SCHEMA` does not bring to a file in which a head came with the first append."""

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

CREATE TRIGGER IF NOT EXISTS topic_has_head AFTER INSERT ON topic
BEGIN INSERT INTO head VALUES (NEW.topic_id, 0, zeroblob(48)); END;

CREATE TRIGGER IF NOT EXISTS entry_moves_head AFTER INSERT ON entry
BEGIN
    UPDATE head SET sequence_number = NEW.sequence_number, running_hash = NEW.running_hash
    WHERE topic_id = NEW.topic_id;
END;

CREATE TRIGGER IF NOT EXISTS topic_is_not_changed BEFORE UPDATE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS topic_is_not_deleted BEFORE DELETE ON topic
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER IF NOT EXISTS head_moves_by_one BEFORE UPDATE ON head
WHEN NEW.sequence_number <> OLD.sequence_number + 1 OR NEW.topic_id <> OLD.topic_id
BEGIN SELECT RAISE(ABORT, 'the log is append-only: sequence numbers are dense'); END;

CREATE TRIGGER IF NOT EXISTS head_is_not_deleted BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
"""
