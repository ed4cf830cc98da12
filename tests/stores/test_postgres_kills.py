"""Kills of a run on Postgres lose and repeat nothing; what it leaves is what a directory would have (D46, DESIGN §4)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from specwright.bootstrap.stores import DirectoryStore, opened_store
from specwright.bootstrap.transfer import export_project, import_project
from specwright.errors import SpecwrightError
from testkit.endpoint import Endpoint
from testkit.killing import EFFECTS, Job, Kill
from testkit.loop.processes import Uninterrupted, killed_again_and_again
from testkit.postgres_projects import connected
from testkit.processes import until
from testkit.sampling import nightly, slow
from testkit.stores import differences
from testkit.workshop import KILLED, Workshop
from wire_testkit.story import HAPPY_PATH, Story


def copy_of(job: Job, tmp_path: Path) -> Path:
    """The project of a run, in a directory."""
    export_project(job.store, tmp_path / "project.tar")
    import_project(str(tmp_path / "copy"), tmp_path / "project.tar")
    return tmp_path / "copy"


@pytest.mark.parametrize("part", [slow(0.8), *(nightly(part / 20) for part in range(20))])
def test_a_run_that_is_killed_once_goes_on_to_the_same_end(
    workshop: Workshop,
    job: Job,
    endpoint: Endpoint,
    uninterrupted: Uninterrupted,
    postgres_url: str,
    tmp_path: Path,
    part: float,
):
    """Killed at an effect of any kind, checkpoints among them (D-46-02, D-46-04, D-S4-03)."""
    counted = [effect for effect in uninterrupted.effects if effect.split()[0] in EFFECTS]
    on_postgres = job._replace(store=postgres_url)
    deadly = on_postgres._replace(kill=Kill(EFFECTS, 1 + int(part * len(counted))))
    assert workshop.drive(deadly).code == KILLED
    finished = workshop.drive(on_postgres)
    assert finished.code == 0, finished.err
    assert set(endpoint.asked.values()) == {1}
    assert endpoint.answered == uninterrupted.endpoint.answered
    assert differences(copy_of(on_postgres, tmp_path), uninterrupted.project) == []


@pytest.mark.parametrize("step", [slow(41), nightly(7, timeout=400)])
def test_a_run_that_is_killed_again_and_again_ends_all_the_same(
    workshop: Workshop,
    job: Job,
    endpoint: Endpoint,
    uninterrupted: Uninterrupted,
    postgres_url: str,
    tmp_path: Path,
    step: int,
):
    """After each so many journal records, files, Wires and index entries (D-46-04, D-S4-07)."""
    on_postgres = job._replace(store=postgres_url)
    assert killed_again_and_again(workshop, on_postgres, step) > 1
    assert endpoint.asked == uninterrupted.endpoint.asked
    assert differences(copy_of(on_postgres, tmp_path), uninterrupted.project) == []


def test_an_import_that_is_cut_in_the_middle_leaves_nothing(
    postgres_projects: Iterator[str], tmp_path: Path
) -> None:
    """The log and the index are written, the files are not yet: all is rolled back, and a second one succeeds (D46)."""
    source = DirectoryStore(tmp_path / "source")
    with source.driving():
        source.log().append(Story().wires(*HAPPY_PATH))
        source.journal().scope("x").recall("model", "asked", lambda: "answer")
        source.files.replace("product/SPEC.md", b"# A product\n")
    moved = export_project(str(tmp_path / "source"), tmp_path / "project.tar")
    url = next(postgres_projects)
    with opened_store(tmp_path, url) as store, store.driving():
        pass  # the schema is there, and empty
    with connected(url) as other, ThreadPoolExecutor(1) as pool:
        with other.transaction():
            other.execute("LOCK TABLE file IN SHARE MODE")  # reads pass, the insert waits
            ended = pool.submit(import_project, url, tmp_path / "project.tar")
            until(lambda: bool(other.execute(_WAITING).fetchall()))
            other.execute(f"SELECT pg_terminate_backend(pid) FROM ({_WAITING}) AS waiting")
        with pytest.raises(SpecwrightError):
            ended.result()
        tables = ("file", "journal", "topic", "entry", "head", "entries")
        left = [other.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]
        assert left == [(0,)] * len(tables)
    assert import_project(url, tmp_path / "project.tar") == moved


_WAITING = "SELECT pid FROM pg_locks WHERE relation = 'file'::regclass AND NOT granted"
"""The sessions that wait for the table of files of this project."""
