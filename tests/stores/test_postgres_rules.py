"""What the schema of a project refuses by itself, and a connection that is cut (D46, D29, DESIGN §12)."""

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from specwright.bootstrap.stores import opened_store
from specwright.bootstrap.verify import verify_project
from specwright.bootstrap.views import log_findings
from specwright.errors import BusyError, RefusedError
from specwright.index.sqlite_index import AppendOnlyCodeIndex
from specwright.postgres import PostgresTables, StoreAddress
from testkit.index_entries import entry, retirement
from testkit.postgres_projects import connected, prepared
from testkit.trusting import trusting
from testkit.word_embedder import WordEmbedder
from wire_testkit.story import HAPPY_PATH, Story

ATTACKS = {
    "UPDATE entry SET body = ''": "append-only",
    "DELETE FROM entry": "append-only",
    "TRUNCATE entry": "append-only",
    "DELETE FROM head": "append-only",
    "UPDATE head SET sequence_number = 1": "dense",
    "UPDATE topic SET payer = '0.0.9'": "append-only",
    "INSERT INTO entry SELECT topic_id, 9, 1, 1, body, running_hash FROM entry LIMIT 1": "dense",
    "INSERT INTO entry SELECT * FROM entry LIMIT 1": "duplicate key",
    "UPDATE journal SET line = ''": "append-only",
    "DELETE FROM journal": "append-only",
    "INSERT INTO journal SELECT 9, scope, kind, ordinal, line FROM journal LIMIT 1": "duplicate key",
    "DELETE FROM entries": "never deleted",
    "TRUNCATE entries CASCADE": "append-only",
    "UPDATE entries SET module_id = 'MM-99999999', status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE entries SET entry = replace(entry, 'purpose', 'evil'), status = 'DEPRECATED' WHERE seq = 1": "only status",
    "UPDATE entries SET status = 'SHIPPED' WHERE seq = 2": "one-way",
    "UPDATE entries SET notes = notes WHERE seq = 2": "one-way",
    "UPDATE entries SET status = 'DEPRECATED', notes = '' WHERE seq = 1": "appended to",
    "UPDATE entries SET status = 'SUPERSEDED' WHERE seq = 1": "violates check",
    "INSERT INTO entries SELECT 9, module_id, version, entry, status, NULL, notes FROM entries LIMIT 1": "duplicate key",
    'INSERT INTO entries SELECT 0, \'MM-1\', \'1.0.0\', \'{"module_id": "MM-1", "version": "1.0.0", "notes": ""}\', '
    "'SHIPPED', NULL, ''": "to the end",
    "INSERT INTO entries VALUES (9, 'MM-1', '1.0.0', '{}', 'SHIPPED', NULL, '')": "its own notes",
    "DELETE FROM facets": "stays",
    "UPDATE embeddings SET vector = ''": "reindex",
    "DELETE FROM embeddings": "in use",
    "DELETE FROM active_set": "keeps an active set",
    "INSERT INTO embedding_sets VALUES (9, 'evil', 256); UPDATE active_set SET set_id = 9": "lacks entries",
}


@pytest.fixture(scope="module")
def full(postgres_projects: Iterator[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project with Wires, a record and two index entries, of which one is retired; attacked, and unharmed by it."""
    url = next(postgres_projects)
    with opened_store(tmp_path_factory.mktemp("full"), url) as store, store.driving():
        store.log().append(Story().wires(*HAPPY_PATH))
        store.journal().scope("x").recall("model", "asked", lambda: "answer")
    with prepared(url) as database:
        index = AppendOnlyCodeIndex(PostgresTables(database, "entries", "SELECT 1"), WordEmbedder())
        index.add_all([entry(1, tags=["a"], notes="its notes"), entry(2)])
        index.retire(retirement("MM-00000002@1.0.0"))
    return url


def test_raw_sql_does_not_get_round_the_rules(full: str):
    """Log, journal and Code Index are append-only for every writer (D-29-01, F-14.1-02, D-46-01)."""
    for statement, said in ATTACKS.items():
        with connected(full) as connection, pytest.raises(psycopg.Error, match=said):
            connection.execute(statement.encode())


def test_a_driver_that_was_cut_off_writes_nothing_more(postgres_url: str, tmp_path: Path):
    """Lock and writes are of one session: where another may drive, the first cannot write (D-46-03, D9)."""
    with (
        opened_store(tmp_path, postgres_url) as first,
        opened_store(tmp_path, postgres_url) as second,
        first.driving(),
    ):
        scope = first.journal().scope("x")
        scope.recall("model", 1, lambda: "before")
        with pytest.raises(BusyError), second.driving():
            pass
        with connected(postgres_url) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name LIKE 'specwright %' AND pid IN (SELECT pid FROM pg_locks"
                " WHERE locktype = 'advisory' AND granted) AND datname = current_database()"
            )
        with second.driving():
            for write in (
                lambda: scope.recall("model", 2, lambda: "after"),
                lambda: first.files.replace("product/spec.json", b"after"),
            ):
                with pytest.raises(RefusedError, match="was lost"):
                    write()
            assert [record.answer for record in second.records()] == ["before"]
            assert second.files.names("product") == []


def test_a_commit_is_durable_and_a_machine_that_vanished_is_noticed(postgres_url: str):
    """The session says so to the server, whatever the server's own settings are (D-46-04)."""
    wanted = {"synchronous_commit": "on", "tcp_keepalives_idle": "10", "tcp_user_timeout": "30000"}
    with prepared(postgres_url) as database, database.reading() as connection:
        for setting, value in wanted.items():
            assert connection.execute(f"SHOW {setting}").fetchone() == (value,)


def test_threads_of_a_driver_take_turns(postgres_url: str, tmp_path: Path):
    """One connection, several threads: every write is whole and none is lost (D-46-01)."""
    with opened_store(tmp_path, postgres_url) as store, store.driving():
        journal = store.journal()

        def work(number: int) -> None:
            for ordinal in range(10):
                journal.scope(f"{number}/{ordinal}").recall("model", "asked", lambda: number)
                store.files.publish_tree(f"drafts/{number}/{ordinal}", {"a": b"a", "b": b"b"})

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(journal) == 60
        assert len(store.files.tree("drafts")) == 120
    with opened_store(tmp_path, postgres_url) as again:
        assert len([*again.records()]) == 60


def test_several_that_make_a_project_at_once_make_one(postgres_url: str):
    """The schema is made in one transaction, by whoever is first (D-46-01)."""
    failed: list[BaseException] = []

    def make() -> None:
        try:
            with prepared(postgres_url):
                pass
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_an_address_names_a_project_and_is_shown_without_its_password():
    """A database holds one project without a name and any number with one (D-46-01)."""
    for text, schema, shown in (
        ("postgresql://u@h/d", "specwright", "postgresql://u@h/d"),
        (
            "postgresql://u:secret@h:1/d?project=shop&sslmode=require",
            "specwright_shop",
            "postgresql://u@h:1/d?project=shop",
        ),
    ):
        address = StoreAddress.parse(text)
        assert (address.schema, str(address)) == (schema, shown)
        assert "project" not in address.url


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DROP TRIGGER entry_is_append_only ON entry", "entry_is_append_only on entry is missing"),
        ("ALTER TABLE journal DISABLE TRIGGER USER", "journal_is_append_only on journal is switched off"),
        ("DROP FUNCTION refuse() CASCADE", "function refuse was changed"),
        (
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$",
            "function refuse was changed",
        ),
        (
            "CREATE TRIGGER quiet BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION refuse('x')",
            "quiet on entry was added",
        ),
    ],
)
def test_verify_names_what_protects_the_records_no_more(
    postgres_projects: Iterator[str], tmp_path: Path, statement: str, named: str
) -> None:
    """As it does in a directory: `log.unprotected` (D-S9-11, W-5-02)."""
    url = next(postgres_projects)
    (tmp_path / "specwright.toml").write_text(f'store = "{url}"\n')
    trusting(tmp_path)
    with opened_store(tmp_path, url) as store, store.driving():
        store.log().append(Story().wires(*HAPPY_PATH))
        assert store.unlike_schema() == []
    with connected(url) as connection:
        connection.execute(statement.encode())
    findings = [*verify_project(tmp_path).findings]
    (fault,) = [one for one in findings if one.code == "log.unprotected"]
    assert named in fault.message
    assert "log.unprotected" in {one["code"] for one in log_findings(tmp_path)}
