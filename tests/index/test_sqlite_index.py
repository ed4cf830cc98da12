"""The Code Index in SQLite: one file, crashes, other processes, other models (DESIGN §12)."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from specwright.domain.modules.code_index import embedding_text
from specwright.errors import BusyError, CorruptionErrors, ModelError, RefusedError, SpecwrightErrors
from specwright.index.sqlite_index import IndexFile, SqliteCodeIndex
from specwright.ports import IndexQuery
from testkit.index.another_process import open_together
from testkit.index_entries import entry, retirement
from testkit.paths import TESTS
from testkit.word_embedder import WordEmbedder

ANOTHER_PROCESS = TESTS / "testkit/index/another_process.py"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteCodeIndex]:
    """An empty index, its file being `tmp_path / "index.db"`."""
    index = SqliteCodeIndex(tmp_path, WordEmbedder())
    yield index
    index.close()


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start another process on an index."""
    return subprocess.Popen(
        [sys.executable, str(ANOTHER_PROCESS), *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    """Wait for another process to end well; what it printed."""
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output.split()


def raw(tmp_path: Path) -> sqlite3.Connection:
    """The file itself, past the port."""
    return sqlite3.connect(tmp_path / "index.db", isolation_level=None)


class KnownVectors:
    """Answers with the vector that a test gives for a purpose: two numbers, the other 254 being 0."""

    name = "known"
    dimension = 256

    def __init__(self, vectors: dict[str, tuple[float, float]]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One row per text, found by its first line."""
        rows = np.zeros((len(texts), 256), np.float32)
        rows[:, :2] = [self._vectors[text.partition("\n")[0]] for text in texts]
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


PRAGMAS = {"journal_mode": ("wal",), "synchronous": (2,), "foreign_keys": (1,)}


class TestStorage:
    """One durable file."""

    def test_everything_is_in_one_durable_database(self, index: SqliteCodeIndex, tmp_path: Path):
        """One store for metadata and vectors, no snapshots; WAL mode, synchronous FULL (F-14.1-01, F-14.1-05, D-S12-01)."""
        index.add(entry(1))
        index.search(IndexQuery("x"))
        index.reindex()
        assert {path.name for path in tmp_path.iterdir()} == {"index.db", "index.db-wal", "index.db-shm"}
        index.close()
        assert [path.name for path in tmp_path.iterdir()] == ["index.db"]
        with closing(IndexFile(tmp_path / "index.db")) as database, database.reading() as connection:
            modes = [connection.execute(f"PRAGMA {name}").fetchone() for name in PRAGMAS]
        assert modes == [*PRAGMAS.values()]

    def test_an_index_outlives_its_process(self, index: SqliteCodeIndex, tmp_path: Path):
        """What was added, retired and ranked is the same after closing and opening (D-S12-01)."""
        for number in range(5):
            index.add(entry(number))
        index.retire(retirement("MM-00000002@1.0.0"))
        before = index.entries(), index.search(IndexQuery("purpose number 3"))
        index.close()
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder())) as again:
            assert (again.entries(), again.search(IndexQuery("purpose number 3"))) == before

    def test_several_entries_are_added_all_or_none(self, index: SqliteCodeIndex):
        """A refused entry takes the others of its batch with it (F-14.1-02)."""
        index.add(entry(1, "the first"))
        with pytest.raises(RefusedError):
            index.add_all([entry(2), entry(3), entry(3, "another"), entry(4)])
        assert [each.purpose for each in index.entries()] == ["the first"]
        index.add_all([entry(2), entry(2), entry(1, "the first"), entry(3)])
        assert [each.module_id[-1] for each in index.entries()] == ["1", "2", "3"]

    def test_a_place_that_can_hold_no_index_is_reported(self, index: SqliteCodeIndex, tmp_path: Path):
        """In one message; a damaged file and one of a later version are left alone (D-S12-01)."""
        index.close()
        with closing(raw(tmp_path)) as connection:
            connection.execute("PRAGMA user_version=99")
        with pytest.raises(RefusedError, match="later Specwright"):
            SqliteCodeIndex(tmp_path, WordEmbedder())
        (tmp_path / "index.db").write_bytes(b"no database at all" * 100)
        with pytest.raises(CorruptionErrors, match=r"index\.db"):
            SqliteCodeIndex(tmp_path, WordEmbedder())
        assert (tmp_path / "index.db").read_bytes().startswith(b"no database")
        with pytest.raises(SpecwrightErrors, match="cannot be created"):
            SqliteCodeIndex(tmp_path / "index.db" / "code_index", WordEmbedder())


class TestOtherProcesses:
    """Crashes and second writers."""

    def test_what_was_added_survives_a_kill(self, tmp_path: Path):
        """After `kill -9` while inserting, everything reported is there, with its vector (D-S12-04)."""
        process = start("add", tmp_path, 1, 100_000)
        assert process.stdout is not None
        reported = [process.stdout.readline().strip() for _ in range(30)]
        process.send_signal(signal.SIGKILL)
        reported += process.stdout.read().split()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder())) as index:
            there = [each.module_id for each in index.entries()]
            assert there[: len(reported)] == reported
            assert len(there) <= len(reported) + 1
            assert len(index.search(IndexQuery("x", top_k=100_000))) == len(there)
            index.add(entry(99_999_999))

    def test_two_writers_lose_nothing(self, tmp_path: Path):
        """Two processes that write to a new index at once each find all their entries there (D-S12-04)."""
        writers = [start("add", tmp_path, first, 100) for first in (1, 1001)]
        reported = [module for writer in writers for module in finish(writer)]
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder())) as index:
            assert sorted(each.module_id for each in index.entries()) == sorted(reported)
            found = index.search(IndexQuery("x", top_k=1000))
            assert sorted(hit.entry.module_id for hit in found) == sorted(reported)
        assert len(set(reported)) == 200

    @pytest.mark.slow
    def test_two_writers_of_the_same_entries_agree(self, tmp_path: Path):
        """Two processes add the same entries at once: each is there once (F-14.1-02, D-S12-04)."""
        writers = [start("add", tmp_path, 1, 50) for _ in range(2)]
        assert [len(finish(writer)) for writer in writers] == [50, 50]
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder())) as index:
            assert [each.module_id for each in index.entries()] == [f"MM-{n:08x}" for n in range(1, 51)]

    @pytest.mark.slow
    def test_many_processes_may_make_the_index_together(self, tmp_path: Path):
        """Processes that open the same new index at the same moment all succeed (D-S12-04)."""
        spawn = multiprocessing.get_context("spawn")
        barrier, faults = spawn.Barrier(6), spawn.SimpleQueue()
        crowd = [spawn.Process(target=open_together, args=(tmp_path, 20, barrier, faults)) for _ in range(6)]
        for process in crowd:
            process.start()
        for process in crowd:
            process.join()
        assert [process.exitcode for process in crowd] == [0] * 6
        assert faults.empty(), faults.get()

    @pytest.mark.slow
    def test_a_process_finds_what_another_has_written(self, index: SqliteCodeIndex, tmp_path: Path):
        """The matrix is refreshed when another process added or retired (D-S12-03)."""
        index.add(entry(1))
        assert len(index.search(IndexQuery("purpose"))) == 1
        finish(start("add", tmp_path, 2, 1))
        assert len(index.search(IndexQuery("purpose"))) == 2
        finish(start("retire", tmp_path, "MM-00000001"))
        assert [hit.entry.module_id for hit in index.search(IndexQuery("purpose"))] == ["MM-00000002"]
        index.add(entry(3))
        assert len(index.search(IndexQuery("purpose", include_inactive=True))) == 3

    def test_a_writer_that_waits_too_long_is_told(self, index: SqliteCodeIndex, tmp_path: Path):
        """Another writer is waited for; a stuck one is named, not a database error (D-S12-04)."""
        impatient = IndexFile(tmp_path / "index.db", busy_seconds=0.05)
        with closing(raw(tmp_path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            with pytest.raises(BusyError, match="another process"), impatient.writing():
                pass
        with impatient.writing():
            pass
        impatient.close()

    def test_threads_share_an_index(self, index: SqliteCodeIndex):
        """Searches and additions from several threads do not disturb each other (D-S12-03)."""
        faults: list[BaseException] = []

        def work(first: int) -> None:
            try:
                for number in range(first, first + 20):
                    index.add(entry(number))
                    hits = index.search(IndexQuery(f"purpose number {number}", top_k=5))
                    assert hits[0].similarity_score >= hits[-1].similarity_score
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(100 * number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not faults
        assert len(index.search(IndexQuery("x", top_k=1000))) == 80


class TestSimilarity:
    """Exact, dense, from 0 to 1."""

    def test_similarity_is_the_cosine_and_never_below_0(self, tmp_path: Path):
        """An opposite vector scores 0, and still comes after a right-angled one (D-S12-06)."""
        purposes = {"same": (5.0, 0.0), "half": (1.0, 3**0.5), "right": (0.0, 2.0), "not": (-1.0, 0)}
        vectors = {"q": (1.0, 0.0), **purposes}
        with closing(SqliteCodeIndex(tmp_path, KnownVectors(vectors))) as index:
            for number, purpose in enumerate(["not", "right", "half", "same"]):
                index.add(entry(number, purpose))
            hits = index.search(IndexQuery("q"))
        assert [hit.entry.purpose for hit in hits] == ["same", "half", "right", "not"]
        assert [hit.similarity_score for hit in hits] == pytest.approx([1.0, 0.5, 0.0, 0.0])
        assert all(0.0 <= hit.similarity_score <= 1.0 for hit in hits)

    def test_equals_come_in_the_order_in_which_they_were_added(self, tmp_path: Path):
        """A ranking is the same every time it is asked for (F-14.3-04)."""
        with closing(SqliteCodeIndex(tmp_path, KnownVectors({"q": (1.0, 0.0), "p": (1.0, 1.0)}))) as index:
            index.add_all(entry(number, "p") for number in range(300))
            hits = index.search(IndexQuery("q", top_k=7))
        assert [hit.entry.module_id for hit in hits] == [f"MM-{number:08x}" for number in range(7)]

    def test_the_model_sees_purpose_tags_and_io_summary_once(self, tmp_path: Path):
        """The embedding text is purpose, tags joined by ', ' and compact JSON of io_summary; adding what is there costs no
        call of the model (F-14.1-07, F-14.1-02)."""
        model, purpose = WordEmbedder(), "turn a title into a slug"
        shipped = entry(1, purpose, tags=["text", "url"], inputs=["titel: str (nicht leer, ü)"])
        with closing(SqliteCodeIndex(tmp_path, model)) as index:
            for _ in range(3):
                index.add(shipped)
        text = (
            "turn a title into a slug\ntext, url\n"
            '{"inputs":["titel: str (nicht leer, ü)"],"outputs":["result: str"],'
            '"error_surfaces":["ValueError: text is empty"],"effects":[],"modes":["sync"]}'
        )
        assert model.asked == [text] == [embedding_text(shipped)]


def ranking(index: SqliteCodeIndex) -> list[tuple[str, float]]:
    """What a search finds, as far as it tells models apart."""
    hits = index.search(IndexQuery("purpose number 3 5 7", top_k=1000))
    return [(hit.entry.ref, hit.similarity_score) for hit in hits]


class TestReindex:
    """Another model for the same entries."""

    @pytest.fixture
    def filled(self, index: SqliteCodeIndex) -> SqliteCodeIndex:
        """An index of 600 entries: more than two batches."""
        index.add_all(entry(number) for number in range(600))
        return index

    def expected(self, salt: str, directory: Path) -> list[tuple[str, float]]:
        """The ranking of an index that has known one model only."""
        with closing(SqliteCodeIndex(directory, WordEmbedder("any", salt=salt))) as fresh:
            fresh.add_all(entry(number) for number in range(600))
            return ranking(fresh)

    def test_everything_is_embedded_anew(self, filled: SqliteCodeIndex, tmp_path: Path):
        """After `reindex` the ranking is the new model's, of another dimension too (F-14.1-08, D-S12-05)."""
        old = ranking(filled)
        assert old == self.expected("", tmp_path / "old")
        filled.reindex(WordEmbedder("new", salt="other"))
        new = ranking(filled)
        assert new == self.expected("other", tmp_path / "new") != old
        filled.reindex(WordEmbedder("wide", dimension=1536))
        assert len(ranking(filled)) == 600

    def test_the_same_model_may_be_asked_again(self, filled: SqliteCodeIndex, tmp_path: Path):
        """A model whose weights changed under its name is asked for everything anew; the set that is replaced is dropped in
        the switch (F-14.1-08, D-S12-05)."""
        old = ranking(filled)
        changed = WordEmbedder("words", salt="other")
        filled.reindex(changed)
        assert len(changed.asked) == 600
        assert ranking(filled) != old
        filled.reindex(WordEmbedder("three"))
        with closing(raw(tmp_path)) as connection:
            assert connection.execute("SELECT count(*) FROM embeddings").fetchone() == (600,)
            assert connection.execute("SELECT model FROM embedding_sets").fetchall() == [("three",)]

    def test_a_kill_during_reindex_leaves_the_old_ranking(self, filled: SqliteCodeIndex, tmp_path: Path):
        """The new set is built beside; until it is complete the old one answers (D-S12-05)."""
        old = ranking(filled)
        process = start("reindex-slowly", tmp_path)
        assert process.stdout is not None
        assert process.stdout.readline() == "half done\n"
        assert ranking(filled) == old
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert ranking(filled) == old
        resumed = WordEmbedder("slow", salt="other")
        filled.reindex(resumed)
        assert 0 < len(resumed.asked) < 600, "what the killed process had embedded is not asked for again"
        assert ranking(filled)[:10] != old[:10]

    def test_a_model_that_fails_leaves_the_old_ranking(self, filled: SqliteCodeIndex):
        """A reindex that cannot be finished changes nothing (D-S12-05)."""

        class Failing(WordEmbedder):
            def embed(self, texts: Sequence[str]) -> np.ndarray:
                if self.asked:
                    raise ModelError("no more")
                return super().embed(texts)

        old = ranking(filled)
        with pytest.raises(ModelError):
            filled.reindex(Failing("failing", salt="other"))
        assert ranking(filled) == old

    def test_what_is_added_during_a_reindex_is_not_lost(self, filled: SqliteCodeIndex, tmp_path: Path):
        """Entries that others add while the new set is built are in it at the switch (D-S12-05)."""

        class Disturbed(WordEmbedder):
            disturb: Callable[[], None] | None = None

            def embed(self, texts: Sequence[str]) -> np.ndarray:
                if self.disturb and len(texts) < 256:  # the last batch has been chosen
                    disturb, self.disturb = self.disturb, None
                    disturb()
                return super().embed(texts)

        model = Disturbed("new", salt="other")
        other = SqliteCodeIndex(tmp_path, WordEmbedder())
        model.disturb = lambda: other.add(entry(12345))
        filled.reindex(model)
        other.close()
        assert "MM-00003039@1.0.0" in dict(ranking(filled))
        assert len(ranking(filled)) == 601

    def test_another_model_is_refused_until_it_has_reindexed(self, filled: SqliteCodeIndex, tmp_path: Path):
        """Vectors of two models are never compared: the message says what to do (F-14.1-08)."""
        assert not filled.needs_reindex
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder("new", salt="other"))) as other:
            assert other.needs_reindex
            with pytest.raises(RefusedError, match="reindex"):
                other.search(IndexQuery("x"))
            with pytest.raises(RefusedError, match="reindex"):
                other.add(entry(1000))
            assert len(other.entries()) == 600
            other.reindex()
            assert not other.needs_reindex
            other.add(entry(1000))
            assert len(ranking(other)) == 601

    def test_a_process_whose_index_was_switched_is_told(self, filled: SqliteCodeIndex, tmp_path: Path):
        """When another process has changed the model, queries are refused, not misranked (D-S12-05)."""
        ranking(filled)
        finish(start("reindex", tmp_path))
        with pytest.raises(RefusedError, match="embedded by new"):
            ranking(filled)
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder("new", salt="other"))) as other:
            assert len(ranking(other)) == 600

    def test_an_empty_index_takes_any_model(self, index: SqliteCodeIndex, tmp_path: Path):
        """Nothing has to be reindexed before there is an entry (F-14.1-08)."""
        index.reindex(WordEmbedder("first"))
        with closing(SqliteCodeIndex(tmp_path, WordEmbedder("second", dimension=300))) as other:
            assert not other.needs_reindex
            assert other.search(IndexQuery("x")) == []
            other.add(entry(1))
            assert len(other.search(IndexQuery("x"))) == 1
