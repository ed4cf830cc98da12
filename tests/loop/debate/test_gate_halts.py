"""A module that the gate refuses to the end: what its escalation and its draft hold (F§11.2, F§11.3, D11, D20)."""

import re
from pathlib import Path

import pytest

from specwright.domain.modules.evidence import ExecutionLog
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.role_answers import Turn, claimed, draft
from testkit.loop.scripted_gate import AT_THE_GATE, MISMATCH

HEX = re.compile(r"[0-9a-f]{64}")


def refused(directory: Path, mark: str) -> DebateWorkbench:
    """A task whose first module fails at the gate in every round."""
    drafts = {
        f"double/round-{n}/proposer": [Turn(claimed(), draft("double", mark, f"Version {n}"))]
        for n in (1, 2, 3)
    }
    bench = DebateWorkbench(directory, script(drafts))
    assert bench.begin() == "HALTED"
    assert len(bench.records()["double"]) == 3
    assert bench.sealed().keys() == {"halve"}
    return bench


def test_a_fingerprint_that_never_matches_halts_with_both_and_their_difference(directory: Path):
    """Three rounds within the one budget, the Arbiter not asked again; the same lies with the draft (F-11.2-03,
    F-11.2-04, F-11.2-05, F-11.2-06, D-11-01)."""
    bench = refused(directory, MISMATCH)
    seen = bench.escalation.details["gate"]["double"]
    assert HEX.fullmatch(seen["locked_fingerprint"])
    assert seen["actual_fingerprint"] == "0" * 64
    assert seen["diverged"].keys() == {"inputs"}
    assert "execution_log" not in seen
    literal = f"Interface fingerprint mismatch: expected {seen['locked_fingerprint']}, got {'0' * 64}"
    assert literal in bench.escalation.details["failed"]["double"]
    (path,) = (bench.base / "drafts").glob("*/*/*/escalation.json")
    aside = bench.read(path)
    assert {name: aside[name] for name in seen} == seen
    assert path.parts[-4:-2] == (seen["module_id"], seen["module_version"])
    assert [place for place in bench.trace if place.startswith("double/")][-1] == "double/gate"
    told = next(one for one in bench.roles.asked if one.place.stage == "round-2")
    assert literal in told.message


def test_a_module_whose_gate_run_never_passes_halts_with_the_whole_execution_log(directory: Path):
    """As the schema has it (F-11.3-06, F-11.3-07)."""
    seen = refused(directory, AT_THE_GATE).escalation.details["gate"]["double"]
    log = ExecutionLog.model_validate(seen["execution_log"])
    assert log.summary.total == len(log.tests) == 2
    assert seen["locked_fingerprint"] == seen["actual_fingerprint"]


@pytest.mark.parametrize("mark", [MISMATCH, AT_THE_GATE])
def test_what_the_gate_refuses_goes_back_within_the_budget_and_ships_once_it_is_right(
    directory: Path, mark: str
):
    """One revision for one refusal (F-11.2-04, F-11.3-06)."""
    drafts = {"double/round-1/proposer": [Turn(claimed(), draft("double", mark))]}
    bench = DebateWorkbench(directory, script(drafts))
    assert bench.begin() == "SHIPPED"
    assert len(bench.records()["double"]) == 2
    assert bench.unapproved() == []
