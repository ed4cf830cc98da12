"""Playbooks as files: checked before a run, recorded from a project, judged module by module."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.playbooks.check import check_playbook
from testkit.cli.commands import SMALL, everything, specwright
from testkit.loop.products import pair, rewrite
from testkit.paths import ROOT

TABKEEPER = ROOT / "examples/tabkeeper/playbook"


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    """The playbook of a small product, to be spoilt."""
    return Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))


def faults(playbook: Path) -> dict[str, str]:
    """What is wrong with a playbook, by file."""
    return {fault.where: fault.what for fault in check_playbook(playbook)}


def sealed(project: Path) -> dict[str, Any]:
    """The modules of a project by name: their interface and their files, without what a run draws."""
    found: dict[str, Any] = {}
    for row in specwright("modules", project, "--json").document["modules"]:
        module_id, version = row["module_ref"].split("@")
        files = everything(project / "state_store/modules" / module_id / version)
        drawn = ("contract.json", "ship.json", "tests/execution_log.json")
        found[row["name"]] = {name: data for name, data in files.items() if name not in drawn}
        found[row["name"]]["fingerprint"] = row["interface_fingerprint"]
    return found


@pytest.mark.parametrize("directory", [SMALL / "playbook", TABKEEPER], ids=["nameplate", "tabkeeper"])
def test_a_playbook_that_runs_has_no_faults(directory: Path) -> None:
    """D-S6-02: with revisions and amendments in it."""
    assert check_playbook(directory) == []


def test_a_task_without_a_plan_is_a_fault(tmp_path: Path) -> None:
    """D-S6-02: this product has a second task, for which nothing is written."""
    assert faults(pair(tmp_path / "pair")) == {"TSK-002/planner.json": "the file is missing"}


def test_all_faults_are_told_at_once(playbook: Path) -> None:
    """D-S6-02: what is missing, not JSON, not valid, not text, or never read; each with its file."""
    task = playbook / "TSK-001"
    (task / "contracts/round-1/arbiter.json").unlink()
    (task / "contracts/round-1/challenger.json").write_text("{")
    rewrite(task / "initials/round-1/arbiter.json", decision="PERHAPS")
    (task / "initials/round-1/deliverable/examples.md").unlink()
    (task / "initials/round-1/deliverable/implementation/__init__.py").write_bytes(b"\xff")
    shutil.copytree(task / "initials", task / "intials")
    shutil.copytree(task, playbook / "TSK-007")
    found = faults(playbook)
    assert set(found) == {
        "TSK-001/contracts/round-1/challenger.json",
        "TSK-001/initials/round-1/arbiter.json",
        "TSK-001/initials/round-1/deliverable/examples.md",
        "TSK-001/initials/round-1/deliverable/implementation/__init__.py",
        "TSK-001/intials",
        "TSK-007",
    }
    assert "PERHAPS" in found["TSK-001/initials/round-1/arbiter.json"]
    said = specwright("playbook", "check", playbook)
    assert said.code == 1
    assert "6 faults" in said.out
    assert specwright("playbook", "check", playbook, "--json").document["valid"] is False


def test_a_plan_and_a_spec_that_are_not_valid_are_faults(playbook: Path) -> None:
    """D-S6-02: they are held against what a run would hold them against."""
    script = json.loads((playbook / "TSK-001/planner.json").read_text())
    del script["plan"]["claim"]
    rewrite(playbook / "TSK-001/planner.json", **script)
    rewrite(playbook / "researcher/spec.json", title="")
    found = faults(playbook)
    assert "claim" in found["TSK-001/planner.json"]
    assert "title" in found["researcher/spec.json"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            [],
            'modules.0.error_surfaces: Value error, say why there is none: `"none: every text has an answer"`',
        ),
        ("none", "modules.0.error_surfaces: Value error, say why there is none"),
        ("none: todo", "modules.0.error_surfaces: Value error, 'none: todo' is a placeholder"),
        ([{"name": "ValueError", "surface": "exception"}], "modules.0.error_surfaces.0.when: Field required"),
    ],
)
def test_a_function_that_cannot_fail_is_told_what_to_write(playbook: Path, said: Any, words: str) -> None:
    """D-S9-04, D-S6-02: one line for one fault, and no word of how it is checked."""
    script = json.loads((playbook / "TSK-001/planner.json").read_text())
    script["plan"]["modules"][0]["error_surfaces"] = said
    rewrite(playbook / "TSK-001/planner.json", **script)
    (told,) = [fault.what for fault in check_playbook(playbook) if fault.where == "TSK-001/planner.json"]
    assert told.startswith(words)
    page = (ROOT / "docs/writing-a-playbook.md").read_text()
    assert '`"error_surfaces": "none: every text has an answer"`' in page


def test_amendments_without_their_round_are_a_fault(playbook: Path) -> None:
    """D-S6-02: the run would end there."""
    amendment = {"action": "MODIFY", "target": "function:initials", "detail": "Say what a word is."}
    ruling = playbook / "TSK-001/initials/round-1/arbiter.json"
    rewrite(ruling, decision="APPROVE_WITH_AMENDMENTS", amendments=[amendment])
    assert "TSK-001/initials/amended" in faults(playbook)


def test_a_directory_that_is_no_playbook_is_refused(tmp_path: Path) -> None:
    """D-S9-04: with what one has."""
    specwright("playbook", "check", tmp_path).refuses("no playbook there", "playbook.json")


@pytest.mark.slow
def test_a_run_can_be_repeated_with_the_playbook_that_it_recorded(
    released_once: Path, tmp_path: Path
) -> None:
    """D-S6-02: the same modules, byte for byte but for what each run draws."""
    recorded = tmp_path / "recorded"
    said = specwright("playbook", "record", released_once, recorded)
    assert said.code == 0
    assert check_playbook(recorded) == []
    options = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{recorded}", "--approve")
    assert specwright("run", tmp_path / "again", *options).code == 0
    assert sealed(tmp_path / "again") == sealed(released_once)


def test_a_request_about_two_modules_is_recorded_as_two(halted_once: Path, tmp_path: Path) -> None:
    """D-S6-02: each module has its files and its answers; what was not reached is missing."""
    specwright("playbook", "record", halted_once, tmp_path / "recorded")
    assert faults(tmp_path / "recorded") == {"TSK-002/planner.json": "the file is missing"}
    written = pair(tmp_path / "written")
    for module in ("shout", "initials"):
        test = f"TSK-001/{module}/round-1/deliverable/tests/test_{module}.py"
        assert (tmp_path / "recorded" / test).read_bytes() == (written / test).read_bytes()
    assert (tmp_path / "recorded/TSK-001/shout/round-3/arbiter.json").is_file()


def test_nothing_is_overwritten_by_a_recording(
    released_once: Path, waiting_once: Path, tmp_path: Path
) -> None:
    """D-S9-05: nor is there anything to record before the approval."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").write_text("mine")
    specwright("playbook", "record", released_once, tmp_path / "mine").refuses("nothing is overwritten")
    specwright("playbook", "record", waiting_once, tmp_path / "new").refuses("no spec is approved")
    assert everything(tmp_path) == {"mine/file": b"mine"}


def test_a_deliverable_is_judged_by_itself(playbook: Path) -> None:
    """F§3.2.2: under the contract of its plan, as a run would judge it; the playbook stays as it is."""
    before = everything(playbook)
    assert specwright("playbook", "gate", playbook, "initials").out.startswith("PASS  initials")
    assert everything(playbook) == before
    entry = playbook / "TSK-001/initials/round-1/deliverable/implementation/__init__.py"
    entry.write_text(entry.read_text() + "\nimport subprocess\n")
    said = specwright("playbook", "gate", playbook, "initials")
    assert said.code == 1
    assert "subprocess" in said.out
    specwright("playbook", "gate", playbook, "intials").refuses("plans no module", "initials")


@pytest.mark.slow
def test_a_deliverable_calls_those_of_its_playbook() -> None:
    """F§3.2.2: its dependencies are taken from there, at the end of their own debates."""
    assert specwright("playbook", "gate", TABKEEPER, "split_evenly").code == 0


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_revised_and_an_amended_module_are_recorded_as_they_were(tmp_path: Path) -> None:
    """D-S6-02: tabkeeper from its own recording, with a FAIL, amendments and modules that call each other."""
    specwright("demo", tmp_path / "first")
    assert specwright("playbook", "record", tmp_path / "first", tmp_path / "recorded").code == 0
    options = ("--spec", ROOT / "examples/tabkeeper/SPEC.md", "--model", f"playbook:{tmp_path / 'recorded'}")
    assert specwright("run", tmp_path / "again", *options, "--approve").code == 0
    assert sealed(tmp_path / "again") == sealed(tmp_path / "first")
