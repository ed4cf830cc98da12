"""The tables of the Code Index, apart from what reads them: moving a project needs no numpy (design: code-index)."""

from agent_wire.database import Table

VERSION = 1
"""The layout's number, stored in `PRAGMA user_version`."""

TABLES = (
    Table("entries", ("seq", "module_id", "version", "entry", "status", "superseded_by", "notes")),
    Table("facets", ("kind", "value", "seq"), key=3),
    Table("embedding_sets", ("id", "model", "dimension")),
    Table("embeddings", ("set_id", "seq", "vector"), key=2),
    Table("active_set", ("one", "set_id")),
)
"""What is moved from store to store."""

_ENTRIES = (
    # `entry` is docs/design.md#code-index as it was added; the three columns after it are what has become of it since
    """CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    module_id TEXT NOT NULL CHECK (module_id IS json_extract(entry, '$.module_id')),
    version TEXT NOT NULL CHECK (version IS json_extract(entry, '$.version')),
    entry TEXT NOT NULL CHECK (json_valid(entry)),
    status TEXT NOT NULL CHECK (status IN ('SHIPPED', 'DEPRECATED', 'SUPERSEDED')),
    superseded_by TEXT CHECK (superseded_by <> module_id || '@' || version),
    notes TEXT NOT NULL,
    UNIQUE (module_id, version),
    CHECK (status <> 'SHIPPED' OR superseded_by IS NULL),
    CHECK (status <> 'SUPERSEDED' OR superseded_by IS NOT NULL)
)""",
    "CREATE INDEX entries_by_status ON entries (status, module_id, version)",
    """CREATE TRIGGER entries_begin_as_shipped BEFORE INSERT ON entries
WHEN NEW.status <> 'SHIPPED' OR NEW.notes IS NOT json_extract(NEW.entry, '$.notes')
BEGIN SELECT RAISE(ABORT, 'append-only: an entry begins as SHIPPED, with its own notes'); END""",
    """CREATE TRIGGER entries_use_a_key_once BEFORE INSERT ON entries
WHEN EXISTS (
    SELECT 1 FROM entries
    WHERE (module_id = NEW.module_id AND version = NEW.version) OR seq = NEW.seq
)
BEGIN SELECT RAISE(ABORT, 'append-only: this module version is in the index already'); END""",
    """CREATE TRIGGER entries_grow_at_the_end AFTER INSERT ON entries
WHEN NEW.seq < (SELECT max(seq) FROM entries)
BEGIN SELECT RAISE(ABORT, 'append-only: an entry goes to the end'); END""",
    """CREATE TRIGGER entries_stay BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'append-only: entries are never deleted'); END""",
    """CREATE TRIGGER entries_keep_their_content BEFORE UPDATE ON entries
WHEN NEW.seq IS NOT OLD.seq OR NEW.module_id IS NOT OLD.module_id
    OR NEW.version IS NOT OLD.version OR NEW.entry IS NOT OLD.entry
BEGIN SELECT RAISE(ABORT, 'append-only: only status, superseded_by and notes may change'); END""",
    """CREATE TRIGGER entries_retire_once BEFORE UPDATE ON entries
WHEN OLD.status <> 'SHIPPED' OR NEW.status = 'SHIPPED'
BEGIN SELECT RAISE(ABORT, 'one-way: an entry leaves SHIPPED once and never comes back'); END""",
    """CREATE TRIGGER entries_only_gain_notes BEFORE UPDATE ON entries
WHEN substr(NEW.notes, 1, length(OLD.notes)) IS NOT OLD.notes
BEGIN SELECT RAISE(ABORT, 'append-only: notes are appended to, not replaced'); END""",
)

_FACETS = (
    # what the pre-filters of docs/design.md#code-index compare: derived from the entry when it is added, and kept beside it
    """CREATE TABLE facets (
    kind TEXT NOT NULL CHECK (kind IN ('tag', 'input_type', 'output_type')),
    value TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES entries (seq),
    PRIMARY KEY (kind, value, seq)
) WITHOUT ROWID""",
    """CREATE TRIGGER facets_stay BEFORE DELETE ON facets
BEGIN SELECT RAISE(ABORT, 'append-only: what an entry is filtered by stays'); END""",
    """CREATE TRIGGER facets_keep_their_content BEFORE UPDATE ON facets
BEGIN SELECT RAISE(ABORT, 'append-only: what an entry is filtered by stays'); END""",
)

_EMBEDDINGS = (
    # one set for each time that everything was embedded by one model; searches read the active one
    """CREATE TABLE embedding_sets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 256 AND 1536)
)""",
    """CREATE TABLE embeddings (
    set_id INTEGER NOT NULL REFERENCES embedding_sets (id),
    seq INTEGER NOT NULL REFERENCES entries (seq),
    vector BLOB NOT NULL,
    PRIMARY KEY (set_id, seq)
)""",
    """CREATE TABLE active_set (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    set_id INTEGER NOT NULL REFERENCES embedding_sets (id)
)""",
    """CREATE TRIGGER embeddings_are_made_once BEFORE INSERT ON embeddings
WHEN EXISTS (SELECT 1 FROM embeddings WHERE set_id = NEW.set_id AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'append-only: this entry is embedded already'); END""",
    """CREATE TRIGGER embeddings_fit_their_set BEFORE INSERT ON embeddings
WHEN length(NEW.vector) IS NOT (SELECT 4 * dimension FROM embedding_sets WHERE id = NEW.set_id)
BEGIN SELECT RAISE(ABORT, 'a vector is as many 4-byte numbers as its set has dimensions'); END""",
    """CREATE TRIGGER embeddings_keep_their_content BEFORE UPDATE ON embeddings
BEGIN SELECT RAISE(ABORT, 'append-only: embeddings are made anew by reindex'); END""",
    """CREATE TRIGGER embeddings_in_use_stay BEFORE DELETE ON embeddings
WHEN EXISTS (SELECT 1 FROM active_set WHERE set_id = OLD.set_id)
BEGIN SELECT RAISE(ABORT, 'append-only: these embeddings are in use'); END""",
    """CREATE TRIGGER active_set_stays BEFORE DELETE ON active_set
BEGIN SELECT RAISE(ABORT, 'an index keeps an active set of embeddings'); END""",
    """CREATE TRIGGER active_set_begins_complete BEFORE INSERT ON active_set
WHEN EXISTS (SELECT seq FROM entries EXCEPT SELECT seq FROM embeddings WHERE set_id = NEW.set_id)
BEGIN SELECT RAISE(ABORT, 'a set of embeddings lacks entries'); END""",
    """CREATE TRIGGER active_set_switches_complete BEFORE UPDATE ON active_set
WHEN EXISTS (SELECT seq FROM entries EXCEPT SELECT seq FROM embeddings WHERE set_id = NEW.set_id)
BEGIN SELECT RAISE(ABORT, 'a set of embeddings lacks entries'); END""",
)

STATEMENTS = (*_ENTRIES, *_FACETS, *_EMBEDDINGS)
"""Every statement that builds an empty index, in order."""
