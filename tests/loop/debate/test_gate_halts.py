"""A module that the gate refuses to the end: what its escalation and its draft hold (F§11.2, F§11.3, D11, D20)."""

import re
from pathlib import Path

import pytest

from ship_gate.fuzz.check import FuzzBounds
from ship_gate.ship_gate import SandboxedShipGate
from specwright.domain.modules.evidence import ExecutionLog, TestOutcome
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.resolving import answer
from testkit.loop.role_answers import Turn, claimed, draft
from testkit.loop.scripted_gate import AT_PREFLIGHT, FAILING, MISMATCH

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
    """As the schema has it, with the test that failed (F-11.3-06, F-11.3-07)."""
    seen = refused(directory, FAILING).escalation.details["gate"]["double"]
    log = ExecutionLog.model_validate(seen["execution_log"])
    assert log.summary.total == len(log.tests) == 2
    assert [test.name for test in log.tests if test.result is TestOutcome.FAIL] == [
        "test_a_negative_number_is_refused"
    ]
    assert seen["locked_fingerprint"] == seen["actual_fingerprint"]


def test_a_log_says_when_the_tests_ran(directory: Path):
    """When the gate's run began, not when its module was sealed (F-11.3-05)."""
    with DebateWorkbench(directory, script()) as bench:
        assert bench.begin() == "SHIPPED"
        log = bench.read(bench.sealed()["double"] / "tests/execution_log.json")
        drawn = [record for record in bench.journal.records("step") if "/double/gate/" in record.place.scope]
        (began,) = (record.answer["time"] for record in drawn if "/run/" in record.place.scope)
        assert log["executed_at"] == began


REFUSED_DRAFTS = {
    "another_surface": ("def double(number: int) -> int:", "def double(number: str) -> int:"),
    "failing_tests": ("return number * 2", "return number * 3"),
}
"""What a Proposer gets wrong to the end: the words of the draft, and what stands there instead."""


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED_DRAFTS)
def test_drafts_that_the_real_gate_never_lets_through_halt_with_what_it_saw(directory: Path, name: str):
    """The common halts: no draft passes the preflight, so nothing is ever proposed, and the escalation has fingerprints,
    difference and log all the same (F-11.2-05, F-11.2-06, F-11.3-07, F-17.1-01)."""
    files, (old, new) = draft("double"), REFUSED_DRAFTS[name]
    entry = "implementation/__init__.py"
    drafts = {"double/round-1/proposer": [Turn(claimed(), {**files, entry: files[entry].replace(old, new)})]}
    gate = SandboxedShipGate(60, strength=False, fuzz=FuzzBounds(examples=0))
    with DebateWorkbench(directory, script(drafts), gate) as bench:
        assert bench.begin() == "HALTED"
        seen = bench.escalation.details["gate"]["double"]
        (path,) = (bench.base / "drafts").glob("*/*/unproposed-TSK-001.1-round-1/escalation.json")
        aside = bench.read(path)
        assert {key: aside[key] for key in seen} == seen
        assert path.parts[-4:-2] == (seen["module_id"], seen["module_version"])
        shown = [
            failed for failed in bench.escalation.failed_invariants if failed.invariant != "double ships"
        ]
        assert shown
        if name == "another_surface":
            assert seen["diverged"].keys() == {"inputs"}
            assert HEX.fullmatch(seen["locked_fingerprint"])
            assert seen["locked_fingerprint"] != seen["actual_fingerprint"]
            literal = (
                "Interface fingerprint mismatch: expected {locked_fingerprint}, got {actual_fingerprint}"
            )
            assert any(literal.format(**seen) in failed.evidence for failed in shown)
        else:
            log = ExecutionLog.model_validate(seen["execution_log"])
            assert log.summary.failed == 3
            assert any("test_it_is_the_number_twice" in failed.invariant for failed in shown)


def test_a_draft_that_is_refused_in_a_later_round_is_told_and_not_the_version_before_it(directory: Path):
    """The gate refused round 1 for its surface; what halts is the draft of round 2 (F-11.2-05, F-17.1-01)."""
    drafts = {
        "double/round-1/proposer": [Turn(claimed(), draft("double", MISMATCH))],
        "double/round-2/proposer": [Turn(claimed(), draft("double", AT_PREFLIGHT, "Later"))],
    }
    with DebateWorkbench(directory, script(drafts)) as bench:
        assert bench.begin() == "HALTED"
        seen = bench.escalation.details["gate"]["double"]
        assert seen["locked_fingerprint"] == seen["actual_fingerprint"]
        assert seen["execution_log"]["summary"]["total"] == 2
        evidence = [failed.evidence for failed in bench.escalation.failed_invariants]
        assert evidence[1:] == ["expected 4, got 5"]


def test_a_fix_of_a_person_that_the_preflight_refuses_is_told_as_a_draft_is(directory: Path):
    """Its files are kept, and what the gate saw is that of the fix (F-11.2-06, F-17.1-01)."""
    drafts = {"double/round-1/proposer": [Turn(claimed(), draft("double", AT_PREFLIGHT))]}
    with DebateWorkbench(directory, script(drafts)) as bench:
        assert bench.begin() == "HALTED"
        fix = draft("double", AT_PREFLIGHT, "A person's")
        payload = {"fix_description": "It ought to be right now.", "fix_artifacts": fix, "module": "double"}
        assert answer(bench, "PROVIDE_FIX", payload) == "HALTED"
        (kept,) = bench.base.glob("drafts/*/*/unproposed-TSK-001.1r1-round-1")
        assert "A person's" in (kept / "implementation/__init__.py").read_text()
        seen = bench.escalation.details["gate"]["double"]
        assert seen.items() <= bench.read(kept / "escalation.json").items()
        evidence = [failed.evidence for failed in bench.escalation.failed_invariants]
        assert evidence[1:] == ["expected 4, got 5"]


@pytest.mark.parametrize("mark", [MISMATCH, FAILING])
def test_what_the_gate_refuses_goes_back_within_the_budget_and_ships_once_it_is_right(
    directory: Path, mark: str
):
    """One revision for one refusal (F-11.2-04, F-11.3-06)."""
    drafts = {"double/round-1/proposer": [Turn(claimed(), draft("double", mark))]}
    bench = DebateWorkbench(directory, script(drafts))
    assert bench.begin() == "SHIPPED"
    assert len(bench.records()["double"]) == 2
    assert bench.unapproved() == []
