"""What the Code Index's database refuses by itself, whoever writes to it (F§14.1, F§19.5, DESIGN §12)."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from specwright.domain.modules.code_index import IndexStatus
from specwright.errors import CorruptionError
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.ports import IndexQuery
from testkit.index_entries import entry, retirement
from testkit.word_embedder import WordEmbedder

INSERT = "INTO entries (module_id, version, entry, status, notes)"
SEVENTH = "'7.0.0', json_set(entry, '$.version', '7.0.0')"
ATTACKS = {
    "DELETE FROM entries": "never deleted",
    "DELETE FROM entries WHERE rowid = 1": "never deleted",
    "UPDATE entries SET entry = json_set(entry, '$.name', 'evil'), status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE entries SET module_id = 'MM-99999999', status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE OR REPLACE entries SET version = '2.0.0', status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE entries SET seq = 99, status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE entries SET rowid = 9, status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE OR REPLACE entries SET seq = 2, status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE entries SET status = 'SHIPPED' WHERE seq = 2": "one-way",
    "UPDATE OR IGNORE entries SET status = 'SHIPPED' WHERE seq = 2": "one-way",
    "UPDATE entries SET status = 'SUPERSEDED', superseded_by = 'MM-1@1.0.0' WHERE seq = 2": "one-way",
    "UPDATE entries SET notes = notes || 'x' WHERE seq = 2": "one-way",
    "UPDATE entries SET notes = notes || 'x' WHERE seq = 1": "one-way",
    "UPDATE entries SET superseded_by = 'MM-9@1.0.0' WHERE seq = 1": "one-way",
    "UPDATE entries SET notes = 'evil', status = 'DEPRECATED' WHERE seq = 1": "appended to",
    "UPDATE entries SET status = 'SUPERSEDED' WHERE seq = 1": "CHECK",
    "UPDATE entries SET status = 'SUPERSEDED', superseded_by = module_id || '@' || version WHERE seq = 1": "CHECK",
    "UPDATE entries SET status = 'WITHDRAWN' WHERE seq = 1": "CHECK",
    f"INSERT {INSERT} SELECT module_id, version, entry, 'SHIPPED', notes "
    "FROM entries WHERE seq = 1": "in the index already",
    f"INSERT OR IGNORE {INSERT} SELECT module_id, version, entry, 'SHIPPED', notes FROM entries": "in the index already",
    f"REPLACE {INSERT} SELECT module_id, version, json_set(entry, '$.name', 'evil'), 'SHIPPED', notes "
    "FROM entries WHERE seq = 1": "in the index already",
    "REPLACE INTO entries (seq, module_id, version, entry, status, notes) SELECT 1, module_id, "
    f"{SEVENTH}, 'SHIPPED', notes FROM entries WHERE seq = 1": "in the index already",
    f"INSERT {INSERT} SELECT module_id, version, entry, 'SHIPPED', notes FROM entries WHERE seq = 1 "
    "ON CONFLICT DO UPDATE SET status = 'DEPRECATED'": "in the index already",
    f"INSERT {INSERT} SELECT module_id, {SEVENTH}, 'DEPRECATED', notes FROM entries WHERE seq = 1": "begins as SHIPPED",
    f"INSERT {INSERT} SELECT module_id, {SEVENTH}, 'SHIPPED', 'evil' FROM entries WHERE seq = 1": "begins as SHIPPED",
    "INSERT INTO entries (seq, module_id, version, entry, status, notes) SELECT -5, module_id, "
    f"{SEVENTH}, 'SHIPPED', notes FROM entries WHERE seq = 1": "goes to the end",
    f"INSERT {INSERT} SELECT module_id, '7.0.0', entry, 'SHIPPED', notes FROM entries WHERE seq = 1": "CHECK",
    f"INSERT {INSERT} VALUES ('MM-00000007', '1.0.0', 'nothing', 'SHIPPED', '')": "malformed JSON",
    "DELETE FROM facets": "filtered by stays",
    "UPDATE facets SET value = 'evil'": "filtered by stays",
    "DELETE FROM embeddings WHERE seq = 1": "in use",
    "UPDATE embeddings SET vector = zeroblob(1024) WHERE seq = 1": "made anew",
    "INSERT OR REPLACE INTO embeddings (set_id, seq, vector) VALUES (1, 1, zeroblob(1024))": "embedded already",
    "INSERT INTO embeddings (set_id, seq, vector) VALUES (2, 1, zeroblob(512))": "as many 4-byte numbers",
    "INSERT INTO embeddings (set_id, seq, vector) VALUES (9, 1, zeroblob(1024))": "as many 4-byte numbers",
    "INSERT INTO embedding_sets (model, dimension) VALUES ('x', 255)": "CHECK",
    "DELETE FROM active_set": "keeps an active set",
    "INSERT INTO active_set (one, set_id) VALUES (1, 2) ON CONFLICT DO UPDATE SET set_id = 2": "lacks entries",
    "UPDATE OR REPLACE active_set SET set_id = 2": "lacks entries",
    "REPLACE INTO active_set VALUES (1, 2)": "lacks entries",
    "INSERT INTO active_set VALUES (2, 1)": "CHECK",
}
"""Statements, and the reason for which each must fail."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteCodeIndex]:
    """An index of one SHIPPED and one DEPRECATED entry, with an unfinished set of embeddings."""
    index = SqliteCodeIndex(tmp_path, WordEmbedder())
    index.add_all([entry(1, notes="as shipped"), entry(2)])
    index.retire(retirement("MM-00000002@1.0.0"))
    with closing(raw(tmp_path)) as connection:
        connection.execute("INSERT INTO embedding_sets (id, model, dimension) VALUES (2, 'other', 256)")
    yield index
    index.close()


def raw(tmp_path: Path) -> sqlite3.Connection:
    """The file itself, past the port."""
    return sqlite3.connect(tmp_path / "index.db", isolation_level=None)


@pytest.mark.parametrize("statement", ATTACKS)
def test_raw_sql_cannot_rewrite_the_ledger(index: SqliteCodeIndex, tmp_path: Path, statement: str):
    """No delete, no key reuse, one-way status, whoever writes (F-14.1-02, F-14.1-03, D-S12-02)."""
    query = IndexQuery("purpose", include_inactive=True)
    before = index.entries(), index.search(query)
    with closing(raw(tmp_path)) as connection, pytest.raises(sqlite3.DatabaseError, match=ATTACKS[statement]):
        connection.execute(statement)
    index.close()
    with closing(SqliteCodeIndex(tmp_path, WordEmbedder())) as again:
        assert (again.entries(), again.search(query)) == before


def test_the_one_change_that_is_allowed_passes(index: SqliteCodeIndex, tmp_path: Path):
    """Status, `superseded_by` and notes change together, once (F-14.1-03): the rules are not a lock."""
    with closing(raw(tmp_path)) as connection:
        connection.execute(
            "UPDATE entries SET status = 'SUPERSEDED', superseded_by = 'MM-00000002@1.0.0', "
            "notes = notes || ' and replaced' WHERE seq = 1"
        )
    first = index.entries()[0]
    assert (first.status, first.superseded_by) == (IndexStatus.SUPERSEDED, "MM-00000002@1.0.0")
    assert first.notes == "as shipped and replaced"
    assert index.search(IndexQuery("purpose")) == []


@pytest.mark.parametrize(
    "sabotage", ["DROP TRIGGER entries_stay", "DROP INDEX entries_by_status", "DROP TABLE facets"]
)
def test_an_index_without_its_rules_is_not_opened(index: SqliteCodeIndex, tmp_path: Path, sabotage: str):
    """Rules that were taken out are missed when the index is opened (D-S12-02)."""
    index.close()
    with closing(raw(tmp_path)) as connection:
        connection.execute(sabotage)
    with pytest.raises(CorruptionError, match="lost rules"):
        SqliteCodeIndex(tmp_path, WordEmbedder())


def test_an_entry_without_its_embedding_is_reported(index: SqliteCodeIndex, tmp_path: Path):
    """No vector is ever lost silently, and reindexing makes it (D-S12-04)."""
    with closing(raw(tmp_path)) as connection:
        connection.execute(
            f"INSERT {INSERT} SELECT module_id, {SEVENTH}, 'SHIPPED', notes FROM entries WHERE seq = 1"
        )
    with pytest.raises(CorruptionError, match="without its embedding"):
        index.search(IndexQuery("x"))
    index.reindex()
    assert len(index.search(IndexQuery("x"))) == 2
