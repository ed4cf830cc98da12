"""One flipped byte of any file of a finished project is found, and the file is named (D-S9-11, D-20-03)."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from testkit.application.verifying import checked, flip
from testkit.cli.commands import specwright
from testkit.loop.products import NAMEPLATE_SPEC, failing, pair, rejecting
from testkit.roles.overheard import Run
from testkit.sampling import slow

INDEX = "state_store/code_index/index.db"


@pytest.fixture(scope="session")
def given_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a halt, its answer, and the stall behind it: escalations, resolutions, drafts; copied."""
    base = tmp_path_factory.mktemp("given_up")
    playbook, directory = pair(base / "playbook"), base / "project"
    failing(playbook / "TSK-001/shout", 3)
    rejecting(playbook / "TSK-001/shout/round-3")
    model = f"playbook:{playbook}"
    told = specwright("run", directory, "--spec", NAMEPLATE_SPEC, "--model", model, "--approve")
    assert told.code == 3, told
    (escalation,) = (directory / "state_store/escalations").iterdir()
    told = specwright(
        "resolve", escalation.stem, "ABANDON_TASK", directory, "--rationale", "It is not worth it."
    )
    assert told.code == 3, told
    return directory


def evidence_of(directory: Path) -> Iterator[Path]:
    """Every file that `verify` speaks for, but the database of the index, of which some bytes hold no row."""
    for base in ("state_store", "project"):
        for path in sorted((directory / base).rglob("*")):
            if path.is_file() and path.stat().st_size and path.relative_to(directory).as_posix() != INDEX:
                yield path


def unnamed(directory: Path, flips: int) -> list[str]:
    """The flips that were not found, or found without the file: tried in batches, and what those hide one by one."""
    files = list(evidence_of(directory))
    missed: list[str] = []
    for turn in range(flips):
        suspects = [
            path
            for start in range(_BATCHES)
            for path in _missed(directory, files[start::_BATCHES], turn, flips)
        ]
        for path in suspects:
            missed += [f"{path}, flip {turn}" for _ in _missed(directory, [path], turn, flips)]
    return missed


_BATCHES = 10


def _missed(directory: Path, files: list[Path], turn: int, flips: int) -> list[Path]:
    whole = {path: path.read_bytes() for path in files}
    for path, data in whole.items():
        flip(path, (len(data) - 1) * (2 * turn + 1) // (2 * flips))
    where = {fault.where for fault in checked(directory).findings}
    for path, data in whole.items():
        path.write_bytes(data)
    names = {path: path.relative_to(directory).as_posix() for path in files}
    return [p for p, name in names.items() if not where & {name, name.removeprefix("state_store/")}]


@pytest.mark.parametrize("flips", [1, slow(5)])
def test_any_flipped_byte_of_a_finished_project_is_named(project: Path, flips: int):
    """Spec, packs, artifacts, debates, gates, seals, release, notes of the log's end, task files (D-S9-11, D-20-03,
    D-59-02)."""
    assert checked(project).unbound == ()
    assert unnamed(project, flips) == []
    (project / "specwright.toml").write_text("timeout_seconds = 9\n")  # settings are for the next run
    assert checked(project).findings == ()


@pytest.mark.nightly
def test_any_flipped_byte_of_a_long_debate_is_named(run: Run, tmp_path: Path):
    """With revisions, amendments and rulings, over six tasks (D-S9-11, D-15-01)."""
    copy = Path(shutil.copytree(run.project, tmp_path / "project"))
    amended = list(copy.glob("state_store/debates/*/amendments-*.json"))
    assert amended
    assert checked(copy).unbound == ()
    assert unnamed(copy, 2) == []


@pytest.mark.slow
def test_any_flipped_byte_of_a_halt_and_its_answer_is_named(given_up: Path, tmp_path: Path):
    """Escalations, what a person answered, the drafts that were set aside (D-S9-11, D-20-02)."""
    copy = Path(shutil.copytree(given_up, tmp_path / "project"))
    folders = {path.name for path in (copy / "state_store").iterdir()}
    assert {"escalations", "resolutions", "drafts"} <= folders
    assert (checked(copy).findings, checked(copy).unbound) == ((), ())
    assert unnamed(copy, 2) == []


def test_a_task_file_is_what_its_definition_makes_it(project: Path):
    """It goes to the roles as it lies there, so that `verify` names an edit by hand, a file beside it and its loss
    (F-4.1-10, D-S9-11)."""
    for added in (
        project / "project/x",
        *(path.with_name("x") for path in (project / "project").rglob("T-*.md")),
    ):
        added.write_text("Nobody's.\n")
        name = added.relative_to(project).as_posix()
        assert [(f.code, f.where) for f in checked(project).findings] == [("record.added", name)]
        added.unlink()
    (target,) = (project / "project").rglob("T-*.md")
    where = target.relative_to(project).as_posix()
    target.write_text(target.read_text() + "\n- And the moon.\n")
    assert [(f.code, f.where) for f in checked(project).findings] == [("task_file.changed", where)]
    target.unlink()
    assert [(f.code, f.where) for f in checked(project).findings] == [("task_file.missing", where)]


DAMAGE = {
    "an entry": "UPDATE entries SET entry = json_set(entry, '$.purpose', 'Something else')",
    "a status": "UPDATE entries SET status = 'DEPRECATED'",
    "its notes": "UPDATE entries SET notes = 'deprecated: do not use'",
    "a facet": "UPDATE facets SET value = 'bytes' WHERE kind = 'input_type'",
    "a facet more": "INSERT INTO facets SELECT 'tag', 'planted', seq FROM entries",
    "a facet less": "DELETE FROM facets WHERE kind = 'tag'",
    "a vector": "UPDATE embeddings SET vector = zeroblob(1024)",
    "no vector": "DELETE FROM embeddings",
    "the model": "UPDATE embedding_sets SET model = 'openai:embed'",
    "an entry less": "DELETE FROM entries",
    "a rule": "",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_an_index_that_its_modules_do_not_explain_is_found(project: Path, damage: str):
    """Every row is made anew from the sealed contracts and compared (D-S9-11, F-14.1-02, D-S12-02)."""
    with closing(sqlite3.connect(project / INDEX)) as connection:
        rules = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in rules:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(damage or "SELECT 1")
        for name, rule in rules:
            if damage or name != "entries_stay":
                connection.execute(rule)
        connection.commit()
    assert {(f.code, f.where) for f in checked(project).findings} == {
        ("index.changed", "code_index/index.db")
    }


def test_a_module_that_was_never_sealed_is_found_in_the_index(project: Path):
    """And so is an index that is gone, or no database (D-S9-11)."""
    database = project / INDEX
    with closing(sqlite3.connect(database)) as connection:
        entry = "replace(entry, module_id, 'MM-00000bad')"
        connection.execute(
            f"INSERT INTO entries (module_id, version, entry, status, notes) SELECT 'MM-00000bad', version, {entry}, "
            "status, notes FROM entries"
        )
        connection.commit()
    assert "never sealed here" in checked(project).findings[0].message
    database.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert [fault.code for fault in checked(project).findings] == ["index.changed"]
    database.unlink()
    assert [fault.message for fault in checked(project).findings] == ["the file is gone"]


def test_an_index_with_a_text_that_is_none_is_found(project: Path):
    """A byte that is no UTF-8 is told like any other damage (D-S9-11, D-S9-04)."""
    database = project / INDEX
    database.write_bytes(database.read_bytes().replace(b"append-only", b"append-onl\xff"))
    assert {fault.code for fault in checked(project).findings} == {"index.changed"}


@pytest.mark.parametrize("note", ["project", "releases/*"])
def test_a_note_that_the_log_contradicts_is_named_beside_the_log(project: Path, note: str):
    """Which of the two was changed cannot be known from them (D-36-02, D-S9-11)."""
    (target,) = (project / "state_store").glob(f"{note}/log_end.json")
    text = target.read_text()
    end = text.rindex('"') - 1
    target.write_text(text[:end] + ("1" if text[end] == "0" else "0") + text[end + 1 :])
    where = target.relative_to(project / "state_store").as_posix()
    assert {(f.code, f.where) for f in checked(project).findings} == {
        ("log_end.changed", where),
        ("log.changed", ".specwright/wire.db"),
    }


@pytest.mark.slow
def test_a_flipped_bit_of_the_index_is_found_or_changes_no_row(project: Path):
    """What is not found are bytes between rows, and parts of a vector too small to rank by (D-S9-11, D-S12-06)."""
    database = project / INDEX
    whole = database.read_bytes()
    rows = readable(database)
    for place in range(7, len(whole), 599):
        flip(database, place)
        if not any(fault.where == "code_index/index.db" for fault in checked(project).findings):
            assert readable(database) == rows, place
        database.write_bytes(whole)


def readable(database: Path) -> list[tuple[object, ...]]:
    """What can be read in it, vectors by their numbers to four places."""
    import numpy as np

    with closing(sqlite3.connect(f"file:{database}?mode=ro&immutable=1", uri=True)) as connection:
        found = connection.execute("SELECT * FROM entries").fetchall()
        found += connection.execute("SELECT * FROM facets").fetchall()
        vectors = connection.execute("SELECT vector FROM embeddings").fetchall()
    return [*found, *(tuple(np.frombuffer(v, "<f4").round(4)) for (v,) in vectors)]
