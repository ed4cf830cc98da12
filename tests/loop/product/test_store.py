"""What a run leaves: the layout of `state_store/`, and a state that follows from the log (F§7, D15, D20, D29)."""

import json
import shutil
from pathlib import Path

import pytest

from specwright.bootstrap.views import reading_project
from testkit.layout import examine_store
from testkit.loop.processes import Uninterrupted
from testkit.loop.products import NAMEPLATE, NAMEPLATE_SPEC
from testkit.stores import differences, journal_of, records
from testkit.workshop import Workshop
from wire_testkit.damage import tamper

STATE = "state_store/project/state_machine.json"


@pytest.fixture
def project(uninterrupted: Uninterrupted, tmp_path: Path) -> Path:
    """A copy of the finished project, to be spoilt."""
    shutil.copytree(uninterrupted.project, tmp_path / "project")
    return tmp_path / "project"


def test_every_file_of_the_store_has_its_place_and_validates(uninterrupted: Uninterrupted):
    """One pattern for each path, a model for each JSON (F-7-01, F-7-02, D-15-01, D-20-01, D-29-02)."""
    assert examine_store(uninterrupted.project) == {
        "artifacts",
        "code_index",
        "context_packs",
        "contributions",
        "debates",
        "definitions",
        "modules",
        "product",
        "project",
        "releases",
    }


def test_nothing_is_left_of_a_run_but_its_records(uninterrupted: Uninterrupted):
    """Run-time state lies in `.specwright/`, and no workspace or half-written file is left (D-20-04, D-S4-07);
    the note of what it was doing means nothing without a driver."""
    left = {path.name for path in (uninterrupted.project / ".specwright").iterdir()}
    assert left - {"at_work.json", "wire.db-shm", "wire.db-wal", "unfinished", "work"} == {
        "checkpoints.db",
        "journal.jsonl",
        "wire.db",
    }
    for empty in ("unfinished", "work"):
        assert list((uninterrupted.project / ".specwright" / empty).iterdir()) == []


def test_the_journal_holds_every_answer_verdict_and_draw_once(uninterrupted: Uninterrupted):
    """Each model answer of the endpoint, each search, each verdict of the gate (D-S4-01)."""
    answers = records(uninterrupted.project, "model")
    assert len(answers) == sum(uninterrupted.endpoint.answered.values())
    # the preflight, what it measured, the ship gate, and the release
    assert len(records(uninterrupted.project, "verdict")) == 4
    searched = [
        r.place.scope for r in records(uninterrupted.project, "tool") if "planner/call" in r.place.scope
    ]
    assert len(searched) == 1
    places = [
        record.place
        for kind in ("model", "tool", "verdict", "place", "step", "draw")
        for record in records(uninterrupted.project, kind)
    ]
    assert len(set(places)) == len(places) == len(journal_of(uninterrupted.project).read_bytes().splitlines())


def test_a_state_that_was_deleted_is_rebuilt_by_a_new_process(
    workshop: Workshop, project: Path, uninterrupted: Uninterrupted
):
    """From log and definitions alone, the very same bytes (D-29-01, D-29-03)."""
    (project / STATE).unlink()
    looked = workshop.command("status", project)
    assert looked.code == 0, looked.err
    assert not (project / STATE).exists()

    driven = workshop.command("run", project, "--spec", NAMEPLATE_SPEC, "--model", NAMEPLATE)
    assert driven.code == 0, driven.err
    assert (project / STATE).read_bytes() == (uninterrupted.project / STATE).read_bytes()
    assert [name for name in differences(project, uninterrupted.project) if "SPEC.md" not in name] == []


def test_what_a_crash_left_half_written_is_cleared_away(workshop: Workshop, project: Path):
    """Files that had not taken their place are no records, and nobody's way is blocked by them (D-S4-07)."""
    half = project / ".specwright/unfinished/.tmp-1-1-ship.json"
    half.parent.mkdir(exist_ok=True)
    half.write_text("{")
    assert workshop.command("run", project, "--spec", NAMEPLATE_SPEC, "--model", NAMEPLATE).code == 0
    assert not half.exists()
    assert not list((project / "state_store").rglob(".tmp-*"))


def test_one_altered_wire_changes_the_state(project: Path):
    """The state is a function of the log and of nothing else (D-29-01)."""
    with reading_project(project) as view:
        before = view.projection.state
    tamper(
        project / ".specwright" / "wire.db",
        'UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), \'"ts":"2\', \'"ts":"3\') AS BLOB)'
        " WHERE CAST(body AS TEXT) LIKE '%task.complete%'",
    )
    with reading_project(project) as view:
        after = view.projection.state
    assert before
    assert after
    assert before.to_bytes() == (project / STATE).read_bytes() != after.to_bytes()
    (one,), (other,) = before.tasks.values(), after.tasks.values()
    assert one.shipped_at
    assert other.shipped_at == "3" + one.shipped_at[1:]


def test_a_definition_that_was_altered_is_found_out(workshop: Workshop, project: Path):
    """A Wire refers to its definition by hash; another text under it is an error, not a state (D-29-02)."""
    with reading_project(project) as view:
        definition = project / "state_store/definitions" / view.projection.spec_sha256
    definition.write_text(definition.read_text().replace("Nameplate", "Nameplots"))
    finished = workshop.command("status", project, "--json")
    assert finished.code == 1
    assert finished.document["error"]["what"] == "a definition was altered"
    assert json.dumps(str(definition)) in finished.out
