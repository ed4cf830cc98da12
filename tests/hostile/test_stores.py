"""A store that somebody else writes names no file outside of the project (cases store-row-traversal,
store-schema-traversal)."""

from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from specwright.bootstrap.postgres_store import project_directories
from specwright.errors import RefusedError
from specwright.storage.files import DiskTree
from specwright.storage.postgres_files import PostgresTree
from testkit.postgres_projects import connected, prepared

OUTSIDE = [
    "state_store/releases/../../../planted",
    "/planted",
    "state_store//etc/planted",
    "state_store/./planted",
    "state_store/..\\planted",
    "state_store/a\nb",
    "state_store/\x7f",
    "..",
    "",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_row_that_leads_out_is_not_stored(postgres_url: str, path: str):
    """The table has a CHECK for it (case store-row-traversal)."""
    with (
        prepared(postgres_url),
        connected(postgres_url) as store,
        pytest.raises(psycopg.errors.CheckViolation),
    ):
        store.execute("INSERT INTO file VALUES (%s, '')", (path,))


@pytest.mark.parametrize("path", OUTSIDE[:-1])
def test_a_row_that_leads_out_is_not_read(postgres_url: str, tmp_path: Path, path: str):
    """Whoever owns the store can drop the CHECK: nothing is written from such a row (case store-row-traversal)."""
    with prepared(postgres_url) as database, connected(postgres_url) as store:
        store.execute("ALTER TABLE file DROP CONSTRAINT file_path_check")
        store.execute("INSERT INTO file VALUES (%s, '')", (path,))
        tree = PostgresTree(database, "", tmp_path / "a/b/copies")
        for read in (tree.tree, tree.directory):
            with pytest.raises(RefusedError, match="must stay inside"):
                read("")
        with pytest.raises(RefusedError, match="must stay inside"):
            tree.read(path)
    with pytest.raises(RefusedError, match="must stay inside"):
        DiskTree(tmp_path / "a/b/project").publish(path, b"")
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


def test_a_schema_whose_name_leads_out_is_no_project(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its settings would be written over those of another directory (case store-schema-traversal)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a/b/c/d/e/cache"))
    name = "specwright_../../../../../victim"
    schema = sql.Identifier(name)
    with prepared(postgres_url), connected(postgres_url) as store:
        store.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        store.execute(sql.SQL("CREATE TABLE {}.topic (a int)").format(schema))
        places = project_directories(postgres_url.partition("?")[0])
        store.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))
    assert places
    assert not list(tmp_path.rglob("victim"))
    assert all(place.resolve().is_relative_to(tmp_path / "a/b/c/d/e/cache") for place in places)
