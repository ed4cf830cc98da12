"""Answers that resume a halted task in place, from the page that asks to the wheel, with the real gate (F§17.2, D22)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import SMALL, Told, everything, filled_in, specwright
from testkit.cli.projects import with_playbook_of
from testkit.layout import examine_store
from testkit.loop.products import failing, rejecting
from testkit.shared_fixtures import made_once

pytestmark = pytest.mark.slow

SOUND = SMALL / "playbook/TSK-001/initials/round-1"


@pytest.fixture(scope="session")
def rejected_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose one module was rejected in the end, and a debate that would go well by now; copied, never used."""

    def make(directory: Path) -> None:
        debate = Path(shutil.copytree(SMALL / "playbook", directory / "playbook")) / "TSK-001/initials"
        failing(debate, 3)
        rejecting(debate / "round-3")
        shutil.copytree(SOUND, debate / "round-4")
        told = specwright(
            *("run", directory / "project", "--spec", SMALL / "SPEC.md", "--approve"),
            *("--model", f"playbook:{directory / 'playbook'}"),
        )
        assert told.code == 3, told

    return made_once(tmp_path_factory, worker_id, "rejected", make)


@pytest.fixture
def rejected(rejected_once: Path, tmp_path: Path) -> Path:
    """That project."""
    copy = Path(shutil.copytree(rejected_once, tmp_path / "rejected"))
    with_playbook_of(copy)
    return copy / "project"


def shown(project: Path, action: str) -> Any:
    """The payload that the page of the escalation offers for an action, with words for its dots."""
    (waits,) = specwright("escalations", project, "--json").document["escalations"]
    page = specwright("escalations", waits["escalation_id"], project, "--json").document
    return filled_in(page["actions"][action])


def resolve(project: Path, action: str, payload: Any, *options: str) -> Told:
    """Answer the escalation that waits."""
    (waits,) = specwright("escalations", project, "--json").document["escalations"]
    file = project.parent / "payload.json"
    file.write_text(json.dumps(payload))
    return specwright("resolve", waits["escalation_id"], action, project, "--payload", file, *options)


def is_released(project: Path, told: Told, run: str = "TSK-001.1r1") -> None:
    """The product is there, every record has its place, and all of it proves."""
    assert told.code == 0, told
    assert list((project / "state_store/releases").rglob("*.whl"))
    examine_store(project)
    verified = specwright("verify", project)
    assert verified.code == 0, verified
    (module,) = specwright("modules", project, "--json").document["modules"]
    name = module["module_ref"].partition("@")[0]
    assert f"{run}/initials/operator" in specwright("module", name, project, "--trail").out
    assert "Round 4" in specwright("module", name, project, "--debate").out


def test_a_person_s_files_are_challenged_pass_the_gate_and_are_released(rejected: Path):
    """F-17.2-11, D-S9-08: the payload of the page with a source in it; what was given is what is sealed, and the module's
    trail and debate say so."""
    payload = shown(rejected, "PROVIDE_FIX")
    assert payload["module"] == "initials"
    mine = (SOUND / "deliverable/implementation/__init__.py").read_text() + "\n# As it should be.\n"
    payload["fix_artifacts"] = {"implementation/__init__.py": mine}
    told = resolve(rejected, "PROVIDE_FIX", payload)
    is_released(rejected, told)
    (sealed,) = (rejected / "state_store").glob("modules/*/*/implementation/__init__.py")
    assert sealed.read_text() == mine


def test_a_person_s_approval_is_released_when_the_gate_lets_it(rejected: Path):
    """F-17.2-02, D-22-01: as the page offers it; what a release says of itself names it."""
    is_released(rejected, resolve(rejected, "APPROVE_OVERRIDE", shown(rejected, "APPROVE_OVERRIDE")))
    assert "Decided:  TSK-001 APPROVE_OVERRIDE by human:operator" in specwright("status", rejected).out


def test_files_that_do_not_hold_ask_again_and_a_path_outside_is_refused(rejected: Path):
    """F-17.2-11, F-17.2-12: the gate judges first, so that nothing is used up. Recorded all the same, the
    findings of the preflight stand on the page of the second escalation, which is answered."""
    payload = shown(rejected, "PROVIDE_FIX")
    outside = {**payload, "fix_artifacts": {"../evil.py": "x = 1\n"}}
    resolve(rejected, "PROVIDE_FIX", outside).refuses("'../evil.py' is not a file of a module")
    source = (SOUND / "deliverable/implementation/__init__.py").read_text()
    payload["fix_artifacts"] = {"implementation/__init__.py": source.replace("return", "return '' and", 1)}
    (first,) = specwright("escalations", rejected, "--json").document["escalations"]
    before = everything(rejected / "state_store")
    refused = resolve(rejected, "PROVIDE_FIX", payload)
    refused.refuses("the gate refuses these files", "tests.failed", "--unchecked", code=1)
    assert everything(rejected / "state_store") == before
    assert specwright("escalations", rejected, "--json").document["escalations"] == [first]
    assert resolve(rejected, "PROVIDE_FIX", payload, "--unchecked").code == 3
    (second,) = specwright("escalations", rejected, "--json").document["escalations"]
    assert second["escalation_id"] != first["escalation_id"]
    assert "tests.failed" in second["details"]["failed"]["initials"]
    told = resolve(rejected, "APPROVE_OVERRIDE", shown(rejected, "APPROVE_OVERRIDE"))
    is_released(rejected, told, "TSK-001.1r2")


def test_the_short_plan_of_the_page_is_planned_and_released(rejected: Path):
    """F-17.2-10, F-10-15: the modules of the plan that failed, whose contracts the planner fills in again."""
    payload = shown(rejected, "REVISE_PLAN")
    assert [module["module_id"] for module in payload["revised_micro_plan"]] == ["initials"]
    debate = rejected.parent / "playbook/TSK-001/initials"
    shutil.rmtree(debate / "round-1")
    shutil.copytree(SOUND, debate / "round-1")
    told = resolve(rejected, "REVISE_PLAN", payload)
    assert told.code == 0, told
    assert specwright("verify", rejected).code == 0


def test_files_that_the_script_judges_nowhere_leave_the_question_open(rejected: Path):
    """The answer would be used up, and the run could not go on with the script (D-S9-04)."""
    payload = shown(rejected, "PROVIDE_FIX")
    shutil.rmtree(rejected.parent / "playbook/TSK-001/initials/round-4")
    payload["fix_artifacts"] = {"implementation/__init__.py": "# Mine.\n"}
    told = resolve(rejected, "PROVIDE_FIX", payload)
    told.refuses("none is there for TSK-001.1r1/initials/round-4/challenger", "nothing was begun", "--model")
    assert specwright("status", rejected, "--json").document["where"] == "halted"
