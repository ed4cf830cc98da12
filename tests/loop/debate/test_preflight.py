"""The slow stages run before judges are asked, once for the same files (design: ship-gate)."""

from pathlib import Path
from typing import Any

from ship_gate.findings import Finding
from ship_gate.verdict import GateVerdict, StageResult
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.role_answers import Turn, claimed, draft, plan, planned
from testkit.loop.scripted_gate import ScriptedGate

WEAK = "Its tests notice little."


class MeasuringGate(ScriptedGate):
    """Measures strength and fuzz where it is asked for the slow stages; the strength of drafts marked WEAK is too low.

    `measured` are the modules, `quick` those that were judged without the slow stages.
    """

    def __init__(self, trace: list[str]) -> None:
        super().__init__(trace)
        self.measured: list[str] = []
        self.quick: list[str] = []

    def judge(self, candidate: Any, *, thorough: bool = True) -> GateVerdict:
        """As the scripted one, with the results of three stages."""
        (self.measured if thorough else self.quick).append(candidate.contract.name)
        verdict = super().judge(candidate, thorough=thorough)
        found = thorough and WEAK in candidate.files["implementation/__init__.py"].decode()
        weak = (Finding("strength.weak", "tests", "the tests notice 7 of 12 small faults"),) * found
        slow = "FAIL" if found else "PASS"
        stages = (
            StageResult("tests", "PASS", 0, 1.0, {"tests": 2}),
            StageResult(
                "strength", slow if thorough else "SKIPPED", len(weak), 1.0, {"killed": 7} if thorough else {}
            ),
            StageResult("fuzz", "PASS" if thorough else "SKIPPED", 0, 1.0, {"calls": 9} if thorough else {}),
        )
        findings = (*verdict.findings, *weak)
        notes = ("7 of 12 mutants died",) * thorough
        return verdict._replace(passed=not findings, findings=findings, stages=stages, notes=notes)


def run(
    directory: Path, answers: dict[str, list[Any]], *modules: dict[str, Any]
) -> tuple[DebateWorkbench, MeasuringGate]:
    """A task to its end, with a measuring gate that writes into the workbench's trace."""
    gate = MeasuringGate([])
    bench = DebateWorkbench(directory, script(answers, plan(*modules, task_facing=modules[-1]["name"])), gate)
    gate.trace = bench.trace
    bench.begin()
    return bench, gate


def test_tests_that_are_too_weak_come_back_before_a_judge_is_asked(directory: Path):
    """A repair of the same invocation, whose request says what was found: no challenge, no round (D-18-03, F-5-10)."""
    weak, sound = Turn(claimed(), draft("double", version=WEAK)), Turn(claimed(), draft("double"))
    bench, _ = run(directory, {"double/round-1/proposer": [weak, sound]}, planned("double"))
    assert bench.status() == "SHIPPED"
    (told,) = bench.roles.refusals
    assert "strength.weak at tests: the tests notice 7 of 12 small faults" in told
    assert bench.traced("double") == [
        "double/round-1/proposer",
        "double/preflight",
        "double/round-1/proposer",
        "double/preflight",
        "double/round-1/challenger",
        "double/round-1/arbiter",
        "double/gate",
    ]


def test_checks_that_trace_to_nothing_come_back_before_a_judge_is_asked(directory: Path):
    """What a check names is there: a listed test, a statement of the contract (F-9.1-02)."""
    lying = Turn({**claimed(), "acceptance_checks": ["1: test_of_nothing", "2: /outputs/7"]}, draft("double"))
    sound = Turn(claimed(), draft("double"))
    bench, _ = run(directory, {"double/round-1/proposer": [lying, sound]}, planned("double"))
    assert bench.status() == "SHIPPED"
    assert bench.traced("double").count("double/round-1/proposer") == 2
    (told,) = bench.roles.refusals
    assert "no test is called test_of_nothing" in told
    assert "the contract has no /outputs/7" in told


def test_what_ships_is_judged_once_more_and_measured_once(directory: Path):
    """The evidence has the strength and the fuzz of the same files (F-11.3-01, D-18-04)."""
    bench, gate = run(directory, {}, planned("double"))
    assert (gate.measured, gate.quick) == (["double"], ["double"])
    checks = {check["name"]: check for check in bench.read(bench.sealed()["double"] / "ship.json")["gate"]}
    assert [checks[name]["result"] for name in ("tests", "strength", "fuzz")] == ["PASS"] * 3
    assert checks["strength"]["observed"] == {"killed": 7}
    assert "7 of 12 mutants died" in checks["notes"]["detail"]
