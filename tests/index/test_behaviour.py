"""The behaviour suite of the Code Index port, run on the real index and on the fake that other tests use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from specwright.index.sqlite_index import AppendOnlyCodeIndex, SqliteCodeIndex
from specwright.ports import CodeIndex
from specwright.postgres import PostgresTables
from testkit.postgres_projects import prepared
from testkit.word_embedder import WordEmbedder

pytest.register_assert_rewrite("index.behaviour")

from testkit.index.behaviour import CodeIndexBehaviour  # noqa: E402  # after its asserts are registered


class TestSqliteCodeIndex(CodeIndexBehaviour):
    """The index that the factory uses."""

    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[CodeIndex]:
        """An empty index in a directory that is not there yet."""
        index = SqliteCodeIndex(tmp_path / "state_store" / "code_index", WordEmbedder())
        yield index
        index.close()


class TestPostgresCodeIndex(CodeIndexBehaviour):
    """The index of a project in Postgres."""

    @pytest.fixture
    def index(self, postgres_url: str) -> Iterator[CodeIndex]:
        """An empty index in a schema of its own."""
        with prepared(postgres_url) as database:
            counter = "SELECT number FROM index_version"
            yield AppendOnlyCodeIndex(PostgresTables(database, "entries", counter), WordEmbedder())
