"""What a Challenger finds that no rubric shows: counterexamples, and faults above the module (D10, D13, F§10.3).

The roles are scripted; the gate is the real one, in its sandbox, without mutants and fuzz.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import RegressionTests
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.module_directory import judge_module
from ship_gate.ship_gate import SandboxedShipGate
from specwright.domain.debate.records import Challenge
from specwright.domain.escalation import Action
from specwright.domain.modules.evidence import ShipEvidence
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.late_faults import DOUBLE, EXACT, REPLANNED, confirming, falsifying, faulty, late, striking
from testkit.loop.role_answers import (
    PASSING,
    Turn,
    amended,
    amending,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
)

TWO = plan(planned("halve"), planned(DOUBLE), task_facing=DOUBLE)

LARGE = "test_a_large_number"
SOURCE = f"""from modules.double import double


def {LARGE}():
    assert double(1000) == 2000
"""
GREEDY = "test_a_text"
BEYOND = f"""from modules.double import double


def {GREEDY}():
    assert double(3) == 7
"""


def wrong_above_hundred() -> dict[str, str]:
    """A draft whose own tests pass."""
    files = draft(DOUBLE)
    source = files["implementation/__init__.py"]
    wrong = source.replace("return number * 2", "return number * 2 if number < 100 else -1")
    return {**files, "implementation/__init__.py": wrong}


def bench(directory: Path, answers: dict[str, list[Any]], planning: dict[str, Any] = TWO) -> DebateWorkbench:
    """A project whose gate is the real one."""
    gate = SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0))
    return DebateWorkbench(directory, script(answers, planning), gate=gate)


def shipped(bench: DebateWorkbench, name: str) -> ShipEvidence:
    """The evidence of a sealed module."""
    return ShipEvidence.from_bytes((bench.sealed()[name] / "ship.json").read_bytes(), name)


def asked(bench: DebateWorkbench, subject: str) -> list[str]:
    """The answers about a subject, in their order."""
    return [place.partition("/")[2] for place in bench.trace if place.startswith(f"{subject}/")]


def challenge(bench: DebateWorkbench, number: int) -> Challenge:
    """A challenge of the module."""
    return Challenge.model_validate(bench.record(DOUBLE, number, "challenge"))


def test_a_counterexample_costs_a_revision_and_must_pass_from_then_on(directory: Path):
    """Found in the sandbox although the rubric is MET; told without source; shipped once it passes (D-13-01, D-13-02,
    D-13-04, D-13-05)."""
    run = bench(
        directory,
        {
            "double/round-1/proposer": [Turn(claimed(), wrong_above_hundred())],
            "double/round-1/challenger": [falsifying((LARGE, "/outputs/0/invariants/0", SOURCE))],
            "double/round-1/arbiter": [rejecting("Twice a thousand is what the contract says it is.")],
            "double/round-2/proposer": [Turn(claimed(), draft(DOUBLE, version="Mended"))],
        },
    )
    assert run.begin() == "SHIPPED"
    found = challenge(run, 1)
    assert found.verdict == "FAIL"
    assert [(tried.name, tried.result) for tried in found.falsifying_tests] == [(LARGE, "FAIL")]
    (failure,) = found.failures
    assert "double(1000) == 2000" in failure.evidence
    assert "-1" in failure.evidence
    assert "number < 100" not in json.dumps(found.to_json())
    told = next(
        one for one in run.roles.asked if one.place.stage == "round-2" and one.place.role == "proposer"
    )
    assert LARGE in told.message
    assert "Twice a thousand" in told.message
    assert run.record(DOUBLE, 2, "proposal")["preflight"][-1].endswith(LARGE)
    assert asked(run, DOUBLE) == [
        "round-1/proposer",
        "round-1/challenger",
        "round-1/arbiter",
        "round-2/proposer",
        "round-2/challenger",
        "round-2/arbiter",
    ]
    evidence = shipped(run, DOUBLE)
    assert evidence.struck_tests == []
    assert "falsifying tests: 1 of 1 withstood" in evidence.gate[-1].detail
    observed = {check.name: check.result for check in evidence.gate}
    assert observed["falsifying"] == observed["tests"] == observed["surface"] == "PASS"
    assert observed["strength"] == observed["fuzz"] == "SKIPPED"


@pytest.mark.slow
def test_a_struck_counterexample_costs_nothing_and_is_recorded(directory: Path):
    """The round counts as PASS; ship.json names test, pointer and reason (D-13-03, D-13-04, D-20-03)."""
    run = bench(
        directory,
        {
            "double/round-1/challenger": [falsifying((GREEDY, "/outputs/0/invariants/0", BEYOND))],
            "double/round-1/arbiter": [striking(GREEDY)],
        },
    )
    assert run.begin() == "SHIPPED"
    assert challenge(run, 1).verdict == "FAIL"
    assert len(run.records()[DOUBLE]) == 1
    (struck,) = shipped(run, DOUBLE).struck_tests
    assert (struck.test, struck.contract_pointer) == (GREEDY, "/outputs/0/invariants/0")
    assert run.record(DOUBLE, 1, "adjudication")["struck_tests"][0]["reason"] == struck.reason
    assert "falsifying" not in {
        check.name for check in shipped(run, DOUBLE).gate
    }  # none is left that could run


@pytest.mark.slow
def test_tests_that_are_none_go_back_to_the_challenger(directory: Path):
    """Source-reading, obligation-less, unloadable, disproved: within its attempts, never run or never counted
    (D-13-01, D-11-04)."""
    reading = SOURCE.replace("double(1000)", "open(double.__code__.co_filename)")
    nameless = SOURCE.replace("2000", "expected")
    claimed_anyway = failing(f"{LARGE} shows that a large number comes out wrong.")
    run = bench(
        directory,
        {
            "double/round-1/challenger": [
                falsifying((LARGE, "/outputs/9", reading)),
                falsifying((LARGE, "", nameless)),
                falsifying((LARGE, "", SOURCE), said=claimed_anyway),
            ]
        },
    )
    assert run.begin() == "SHIPPED"
    first, second, third = run.roles.refusals
    assert "obligation '/outputs/9' is none" in first
    assert "tests.internals" in first
    assert "the test itself breaks: NameError" in second
    assert f"{LARGE} passes on the module" in third
    assert challenge(run, 1).verdict == "FAIL"
    assert challenge(run, 1).failures[0].invariant == "mild_review_violation"


def told(bench: DebateWorkbench, stage: str) -> list[str]:
    """The requests to the Challenger of the module in a round."""
    places = ((one.place, one.message) for one in bench.roles.asked)
    return [
        message
        for place, message in places
        if (place.subject, place.stage, place.role) == (DOUBLE, stage, "challenger")
    ]


def without_reasons(said: dict[str, Any]) -> dict[str, Any]:
    """A verdict that says nothing of the criteria that no test tries."""
    return {**said, "untested_criteria": []}


def test_a_second_look_brings_a_test_for_each_criterion_that_nothing_shows(directory: Path):
    """Asked for from the second look on, in the request of the round alone; an answer without goes back with the numbers,
    and what is handed in is kept with the module (D-40-11, D-13-01)."""
    tests = falsifying((LARGE, "/outputs/0/invariants/0", SOURCE), said=without_reasons(PASSING))
    of_one = {**tests, "falsifying_tests": [{**tests["falsifying_tests"][0], "criteria": [1]}]}
    reason = {"criterion": 2, "reason": "The other module of the task is the one that raises it."}
    run = bench(
        directory,
        {
            "double/round-1/challenger": [without_reasons(failing())],
            "double/round-2/proposer": [Turn(claimed(), draft(DOUBLE, version="Mended"))],
            "double/round-2/challenger": [
                without_reasons(PASSING),
                of_one,
                {**of_one, "untested_criteria": [reason]},
            ],
        },
    )
    assert run.begin() == "SHIPPED"
    first, second = run.roles.refusals
    rest = "`criteria`, or say in `untested_criteria` why there is none"
    assert "no test tries criteria 1, 2; hand in one for each, with the number in its " + rest in first
    assert "no test tries criterion 2; hand in one for each, with the number in its " + rest in second
    asks = "# Tests that you are asked for"
    assert asks not in told(run, "round-1")[0]
    assert "- criterion 1\n- criterion 2" in told(run, "round-2")[0].partition(asks)[2]
    assert asked(run, DOUBLE).count("round-1/challenger") == 1
    kept = RegressionTests.from_bytes((run.sealed()[DOUBLE] / "falsifying_tests.json").read_bytes(), "kept")
    (one,) = kept.tests
    assert (one.name, one.criteria) == (LARGE, ["Returns the column names in order"])
    judged = judge_module(
        SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0)), run.sealed()[DOUBLE]
    )
    assert judged.findings == ()
    assert judged.verdict is not None
    assert "falsifying tests: 1 of 1 withstood" in judged.verdict.notes


@pytest.mark.slow
def test_a_challenger_that_never_says_why_counts_with_the_tests_that_it_has(directory: Path):
    """The Proposer is not to blame: no revision is spent, and the good test stays (D-40-11, D-11-04)."""
    tests = falsifying((LARGE, "/outputs/0/invariants/0", SOURCE), said=without_reasons(PASSING))
    run = bench(
        directory,
        {
            "double/round-1/challenger": [without_reasons(failing())],
            "double/round-2/proposer": [Turn(claimed(), draft(DOUBLE, version="Mended"))],
            "double/round-2/challenger": [tests],
        },
    )
    assert run.begin() == "SHIPPED"
    assert asked(run, DOUBLE).count("round-2/challenger") == 3
    assert [one.name for one in challenge(run, 2).falsifying_tests] == [LARGE]


@pytest.mark.slow
def test_a_copy_of_a_sealed_module_that_fails_a_kept_test_fails_the_gate(directory: Path):
    """`gate` runs what lies beside the version and says what it tries (D-40-11)."""
    run = bench(
        directory, {"double/round-1/challenger": [falsifying((LARGE, "/outputs/0/invariants/0", SOURCE))]}
    )
    assert run.begin() == "SHIPPED"
    copy = directory / "copy"
    shutil.copytree(run.sealed()[DOUBLE], copy)
    entry = copy / "implementation/__init__.py"
    entry.chmod(0o644)
    source = entry.read_text()
    entry.write_text(source.replace("return number * 2", "return number * 2 if number < 100 else -1"))
    judged = judge_module(SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0)), copy)
    (found,) = judged.findings
    assert (found.code, found.where) == ("falsifying.failed", f"falsifying_tests.json: {LARGE}")
    assert "it tries /outputs/0/invariants/0" in found.message


@pytest.mark.slow
def test_a_challenger_that_never_gets_a_test_right_is_heard_without_it(directory: Path):
    """Its sound review counts; three attempts, and no revision is lost (D-13-01, D-11-04)."""
    broken = falsifying((LARGE, "/outputs/0/invariants/0", SOURCE.replace("double(1000)", "1000")))
    run = bench(directory, {"double/round-1/challenger": [broken]})
    assert run.begin() == "SHIPPED"
    assert asked(run, DOUBLE).count("round-1/challenger") == 3
    assert challenge(run, 1).verdict == "PASS"
    assert challenge(run, 1).falsifying_tests == []


@pytest.mark.slow
def test_an_amendment_that_breaks_a_standing_test_goes_back_within_its_attempts(directory: Path):
    """A test that the module withstood stands as one that it failed does (D-13-05, F-9.6-03)."""
    first = "Say in the first line what it is for."
    breaking = {**wrong_above_hundred(), "examples.md": draft(DOUBLE)["examples.md"]}
    run = bench(
        directory,
        {
            "double/round-1/challenger": [falsifying((LARGE, "/outputs/0/invariants/0", SOURCE))],
            "double/round-1/arbiter": [amending(("MODIFY", "file:implementation/__init__.py", first))],
            "double/amended-1/proposer": [
                Turn(amended(""), breaking),
                Turn(amended(""), draft(DOUBLE, version="What it is for")),
            ],
        },
    )
    assert run.begin() == "SHIPPED"
    assert challenge(run, 1).verdict == "PASS"
    (refusal,) = run.roles.refusals
    assert f"falsifying.failed at tests/{LARGE}" in refusal


@pytest.mark.slow
def test_a_contract_fault_found_late_reopens_the_contract_debate(directory: Path):
    """Both debates go on with their next round; what was sealed stays; the rest ships under the new contract (D-10-05,
    D-10-04)."""
    run = bench(directory, late(REPLANNED))
    assert run.begin() == "SHIPPED"
    assert [place for place in run.trace if not place.startswith("halve")] == [
        "plan/round-1/planner",
        "contracts/round-1/challenger",
        "contracts/round-1/arbiter",
        "double/round-1/proposer",
        "double/round-1/challenger",
        "double/round-1/arbiter",
        "plan/round-2/planner",
        "contracts/round-2/challenger",
        "contracts/round-2/arbiter",
        "double/round-2/proposer",
        "double/round-2/challenger",
        "double/round-2/arbiter",
    ]
    planner = next(one for one in run.roles.asked if one.place.stage == "round-2")
    assert "Nothing says what twice means" in planner.message
    assert "`halve`" in planner.message
    contract = MicroModuleContract.from_bytes((run.sealed()[DOUBLE] / "contract.json").read_bytes(), "")
    assert contract.outputs[0].invariants == ["is the number twice, exactly"]
    statuses = {envelope.version: envelope.status.value for envelope in run.envelopes("MP")}
    assert statuses == {"1.0.0": "DEPRECATED", "1.0.1": "SHIPPED"}
    (task,) = run.state.tasks.values()
    assert task.module_refs == [shipped(run, "halve").ref, shipped(run, DOUBLE).ref]
    assert len({wire["reference"] for wire in run.reviews() if wire["subject"] == "plan.locked"}) == 2


@pytest.mark.slow
def test_a_reopened_plan_that_changes_a_sealed_contract_is_refused_and_halts(directory: Path):
    """Refused three times; the sealed module stays what it is (D-10-05, F-6-03)."""
    changed = plan(planned("halve", purpose="Make the whole of a number."), planned(DOUBLE, **EXACT))
    run = bench(directory, late(changed))
    assert run.begin() == "HALTED"
    assert all("modules.halve: it is sealed; keep purpose" in refusal for refusal in run.roles.refusals)
    assert len(run.roles.refusals) == 3
    assert run.escalation.details["shipped"].keys() == {"halve"}
    assert run.sealed().keys() == {"halve"}


def test_a_confirmed_fault_of_the_plan_halts_the_task_at_once(directory: Path):
    """With plan, trail, evidence and what to do; nothing else is attempted (F-10-14, D-10-06)."""
    why = "double and halve are one behaviour with a factor."
    run = bench(
        directory,
        {"double/round-1/challenger": [faulty("plan", why)], "double/round-1/arbiter": [confirming("plan")]},
        plan(planned(DOUBLE), planned("halve"), task_facing=DOUBLE),
    )
    assert run.begin() == "HALTED"
    assert run.sealed() == {}
    assert asked(run, "halve") == []
    raised = run.escalation
    assert raised.recommended_resolution is Action.REVISE_PLAN
    assert all(word in raised.resolution_context for word in ("split task", "revise plan", "merge modules"))
    assert raised.details["cause"] == "plan"
    assert [module["name"] for module in raised.details["plan"]["modules"]] == [DOUBLE, "halve"]
    assert raised.details["evidence"][0]["evidence"] == why
    assert raised.details["abandoned"] == ["halve"]
    assert [failed.evidence for failed in raised.failed_invariants] == [why]
    assert len(raised.debate_trail.challenges) == 2
    assert list((run.base / "drafts").glob("*/*/*/escalation.json"))


@pytest.mark.slow
def test_a_limit_that_the_gate_itself_met_reopens_the_contract_debate(directory: Path):
    """What the sandbox reports is the evidence, whatever the Proposer says besides; the planner is told, and nobody has
    lost a revision (D-10-05, D-18-02, D-42-02, D-42-03)."""
    name = "test_a_negative_number_is_refused"
    beyond = draft(DOUBLE)
    tests = f"tests/test_{DOUBLE}.py"
    beyond[tests] = beyond[tests].replace(f"{DOUBLE}(-1)", f"{DOUBLE}(range(1))")
    why = "A range does not cross to the module."
    fault = {
        "pointer": "/error_surfaces/0",
        "finding": "tests.boundary",
        "where": f"{tests}::{name}",
        "reason": why,
    }
    run = bench(
        directory,
        {
            "double/round-1/proposer": [
                Turn(claimed(), beyond),
                Turn({**claimed(), "contract_at_fault": [fault]}, beyond),
            ],
            "plan/round-2/planner": [REPLANNED],
            "double/round-2/proposer": [Turn(claimed(), draft(DOUBLE, version="As it says now"))],
        },
    )
    assert run.begin() == "SHIPPED"
    (refusal,) = run.roles.refusals
    assert "tests.boundary" in refusal
    assert [place for place in asked(run, DOUBLE) if "round-1" in place] == ["round-1/proposer"] * 2
    planner = next(
        one for one in run.roles.asked if (one.place.subject, one.place.stage) == ("plan", "round-2")
    )
    assert f"tests.boundary at {tests}::{name}: {why}" in planner.message
