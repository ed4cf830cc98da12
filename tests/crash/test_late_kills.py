"""Counterexamples and reopened contracts survive crashes: nothing is asked or run twice (D10, D13, DESIGN §4)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.modules.evidence import ShipEvidence
from testkit.killing import Job
from testkit.layout import examine_store
from testkit.loop.processes import assert_kills_change_nothing
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, rejecting, rewrite, untested
from testkit.sampling import nightly, slow
from testkit.workshop import Workshop

INITIALS = "TSK-001/initials"
HEAD = "from modules.initials import initials\n\n\n"
DOTTED = {
    "name": "test_dots_are_written",
    "obligation": "/outputs/0/invariants/0",
    "source": f'{HEAD}def test_dots_are_written():\n    assert initials("ada lovelace") == "A.L."\n',
}
TABS = {
    "name": "test_tabs_part_words",
    "obligation": "/outputs/0/invariants/0",
    "source": f'{HEAD}def test_tabs_part_words():\n    assert initials("ada\\tlovelace") == "AL"\n',
}
STRIKE = {
    "test": "test_dots_are_written",
    "contract_pointer": "/outputs/0/invariants/0",
    "reason": "The letters stand in order, and nothing is said of dots.",
}


def struck(playbook: Path) -> None:
    """Two falsifying tests: one fails and is struck, the other stands."""
    place = playbook / INITIALS / "round-1"
    rewrite(place / "challenger.json", falsifying_tests=[DOTTED, TABS])
    rewrite(place / "arbiter.json", struck_tests=[STRIKE])


def reopened(playbook: Path) -> None:
    """The contract is found at fault: planner, contracts and module have a second round."""
    struck(playbook)
    for place in (playbook / INITIALS, playbook / "TSK-001/contracts"):
        shutil.copytree(place / "round-1", place / "round-2")
    again = {**TABS, "name": "test_tabs_part_words_still"}
    again["source"] = again["source"].replace(TABS["name"], again["name"])
    rewrite(playbook / INITIALS / "round-2/challenger.json", falsifying_tests=[again])
    untested(playbook / INITIALS / "round-2")
    rewrite(playbook / INITIALS / "round-2/arbiter.json", struck_tests=[])
    planned = json.loads((playbook / "TSK-001/planner.json").read_text())
    planned["plan"]["modules"][0]["error_cases"].append("A tab parts two words")
    (playbook / "TSK-001/planner-2.json").write_text(json.dumps(planned))
    place = playbook / INITIALS / "round-1"
    failure: dict[str, Any] = {
        "invariant": "/outputs/0/invariants/0: words",
        "evidence": "/inputs/0/constraints/0 does not say what parts two words, a tab for example.",
        "required_change": "Say what parts two words.",
        "fault": "contract",
    }
    rewrite(place / "challenger.json", verdict="FAIL", failures=[failure])
    rejecting(place, "The contract leaves open what parts two words; it must say so.")
    rewrite(place / "arbiter.json", confirmed_fault="contract", struck_tests=[STRIKE])


@pytest.mark.parametrize(
    ("spoil", "step", "forgetting"),
    [
        nightly(struck, 13, False, timeout=400),
        nightly(struck, 29, True, timeout=400),
        nightly(reopened, 13, False, timeout=400),
        slow(reopened, 29, True, timeout=400),
    ],
)
def test_late_faults_are_killed_again_and_again(
    workshop: Workshop, tmp_path: Path, spoil: Any, step: int, forgetting: bool
):
    """The same bytes as without a kill, and every answer and verdict once (D-S4-03, D-S4-07, D-13-03, D-10-05)."""
    playbook = tmp_path / "playbook"
    shutil.copytree(PLAYBOOK, playbook)
    spoil(playbook)
    whole = Job(str(tmp_path / "whole"), str(NAMEPLATE_SPEC), f"playbook:{playbook}")
    again = whole._replace(directory=str(tmp_path / "again"))
    assert_kills_change_nothing(workshop, whole, again, step, forgetting=forgetting, least=5)
    examine_store(tmp_path / "whole")
    (ship,) = (tmp_path / "whole/state_store/modules").glob("*/*/ship.json")
    evidence = ShipEvidence.from_bytes(ship.read_bytes(), "ship.json")
    assert [one.test for one in evidence.struck_tests] == ["test_dots_are_written"]
    assert "falsifying tests: 1 of 1 withstood" in evidence.gate[-1].detail


@pytest.mark.slow
def test_a_module_with_a_reopened_contract_can_be_traced_and_verified(workshop: Workshop, tmp_path: Path):
    """Seal, log and evidence agree, and the trail leads through both plans (F-5-02, F-6-03, D-20-03)."""
    playbook = tmp_path / "playbook"
    shutil.copytree(PLAYBOOK, playbook)
    reopened(playbook)
    project = tmp_path / "project"
    finished = workshop.drive(Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{playbook}"))
    assert finished.code == 0, finished.err
    verified = workshop.command("verify", project, "--json")
    assert verified.code == 0, verified.out
    (ship,) = (project / "state_store/modules").glob("*/*/ship.json")
    trail = workshop.command("module", ship.parts[-3], project, "--trail")
    assert trail.code == 0, trail.err
    assert "MP-" in trail.out
