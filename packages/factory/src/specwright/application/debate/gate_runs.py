"""Runs of the gate, with journalled results, so that a crash costs no second run (design: journal)."""

from collections.abc import Callable, Sequence
from textwrap import shorten
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import FalsifyingTest, Property, RegressionTest
from ship_gate.findings import Finding
from ship_gate.verdict import (
    SLOW_STAGES,
    Candidate,
    GateVerdict,
    SealedModule,
    ShipGate,
    StageResult,
    Trial,
    TriedProperty,
)
from specwright.application.store.modules import ModuleStore
from specwright.domain.acceptance.calls import acceptance_of_module
from specwright.domain.answers import Failure
from specwright.domain.base.graph import reachable
from specwright.domain.debate.records import TriedTest
from specwright.domain.modules.evidence import ExecutedTest, ExecutionLog, TestOutcome, tree_sha256
from specwright.domain.spec.change_request import BugReport
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.ports import Files, Progress, RunEvent, Scope

_MOST_NAMED = 20
"""The number of tests or parameters that a finding names; the rest are counted."""

LONGEST_LINE = 160
"""The length limit of a finding's message in progress events."""

_T = TypeVar("_T")

# the journal's form of the gate's results
_VERDICT = TypeAdapter(GateVerdict, config=ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))
_TRIALS = TypeAdapter(tuple[Trial, ...])
_FINDINGS = TypeAdapter(tuple[Finding, ...])
_TRIED = TypeAdapter(tuple[TriedProperty, ...])

PROPERTIES = "properties"
"""The gate stage for approved properties."""

_BINDING = {
    "reported": ("reported.failed", "an example of a bug report", "examples of bug reports"),
    "acceptance": ("acceptance.failed", "an approved example", "approved examples"),
}
"""The stages for examples that no role can strike: the finding's code, and the singular and plural for messages."""


class GateRun(NamedTuple):
    """A run of the gate on a candidate, in a preflight or at the ship node (design: ship-gate).

    Args:
        gate: The gate.
        progress: Shows a failed verdict.
        scopes: Opens the scopes for parts of the run.
        scope: The scope for measurements and for the results of the ship gate.
        measured: The prefix of the scopes for results of the slow stages, by the digest of the files.
        candidate: The module to judge.
        shipping: Whether this is the ship gate rather than a preflight.
    """

    gate: ShipGate
    progress: Progress
    scopes: Callable[[str], Scope]
    scope: Scope
    measured: str
    candidate: Candidate
    shipping: bool


def _observed(adapter: TypeAdapter[_T], scope: Scope, request: JsonValue, observe: Callable[[], _T]) -> _T:
    """Return the recorded result, or observe and record it."""
    seen = scope.recall("verdict", request, lambda: adapter.dump_python(observe(), mode="json"))
    return adapter.validate_python(seen)


def _judged(run: GateRun, request: JsonValue, known: Scope) -> GateVerdict:
    """Return the verdict of the gate's own stages, with journalled measurements.

    A preflight runs all stages. The ship gate runs them again without the slow ones, whose results it takes from a passing
    preflight of the same files, contract and dependencies, or observes now (design: ship-gate).
    """
    gate, candidate, scope = run.gate, run.candidate, run.scope
    verdict = _observed(_VERDICT, scope, request, lambda: gate.judge(candidate, thorough=not run.shipping))
    if run.shipping and verdict.passed:
        slow = _observed(
            _VERDICT, known, request, lambda: _measured_only(gate.judge(candidate, thorough=True))
        )
        verdict = _with_slow_stages(verdict, slow)
    elif verdict.passed:
        _observed(_VERDICT, known, request, lambda: _measured_only(verdict))
    return _with_measures(scope, verdict)


def _extended(
    run: GateRun,
    verdict: GateVerdict,
    stage: str,
    findings: Sequence[Finding],
    *notes: str,
    **observed: int,
) -> GateVerdict:
    """Add a stage to a verdict, and show its findings as progress."""
    if findings:
        _note_refusal(run, verdict._replace(findings=tuple(findings)), stage)
    result = StageResult(stage, "FAIL" if findings else "PASS", len(findings), observed=observed)
    return verdict._replace(
        passed=verdict.passed and not findings,
        findings=(*verdict.findings, *findings),
        notes=(*verdict.notes, *notes),
        stages=(*verdict.stages, result),
    )


def _asked_of(candidate: Candidate, **asked: JsonValue) -> dict[str, JsonValue]:
    """Build the journal request for a question about a candidate."""
    called: list[JsonValue] = [d.contract.ref for d in candidate.dependencies]
    files = tree_sha256(candidate.files)
    return {"contract": candidate.contract.ref, "files": files, "dependencies": called, **asked}


def _called(candidate: Candidate) -> list[JsonValue]:
    """Return the modules that a candidate calls, with the hashes of their implementations."""
    return [[d.contract.ref, d.implementation_sha256] for d in candidate.dependencies]


def _with_binding_examples(
    run: GateRun, stage: str, examples: Sequence[Example], verdict: GateVerdict
) -> GateVerdict:
    """Add examples that no role can strike to a verdict.

    They do not run if the module's own tests could not run.
    """
    if not examples or not verdict.tests:
        return verdict
    code, one, every = _BINDING[stage]
    listed: list[JsonValue] = [[example.heading, example.code, example.expected] for example in examples]
    request = _asked_of(run.candidate, **{stage: listed})
    seen = _observed(_FINDINGS, run.scope, request, lambda: run.gate.try_examples(run.candidate, examples))
    findings = [
        Finding(code, f"{stage}: {found.where}", f"{one} fails: {found.message}; correct the module")
        for found in seen
    ]
    count = len(examples)
    note = f"{every}: {count - len(findings)} of {count} hold"
    return _extended(run, verdict, stage, findings, note, examples=count)


def _with_properties(run: GateRun, properties: Sequence[Property], verdict: GateVerdict) -> GateVerdict:
    """Add the approved properties to a verdict.

    They are as slow as the slow stages. So they run only if everything except approved examples passed, and the ship gate
    reuses the preflight's results for the same files.
    """
    others = [found for found in verdict.findings if found.code != _BINDING["acceptance"][0]]
    if not properties or others or verdict.diverged:
        return verdict
    listed: list[JsonValue] = [
        [one.heading, one.code, dict(one.variables), list(one.errors)] for one in properties
    ]
    request = _asked_of(run.candidate, properties=listed, dependencies=_called(run.candidate))
    known = run.scopes(f"{run.measured}/{canonical_json.digest(request)}")
    tried = _observed(_TRIED, known, request, lambda: run.gate.try_properties(run.candidate, properties))
    findings = [
        Finding(
            "acceptance.property",
            f"{PROPERTIES}: {one.heading}",
            f"an approved property does not hold: {one.problem}; correct the module",
        )
        for one in tried
        if one.problem
    ]
    values = sum(one.held + one.refused for one in tried)
    notes = [f"approved properties: {len(tried) - len(findings)} of {len(tried)} hold, for {values} values"]
    notes += [
        f"approved property {one.heading}: nothing shows it, all {one.refused} values gave an error that it allows"
        for one in tried
        if one.refused and not one.held and not one.problem
    ]
    return _extended(run, verdict, PROPERTIES, findings, *notes, properties=len(tried), values=values)


def _with_measures(scope: Scope, verdict: GateVerdict) -> GateVerdict:
    """Journal the measurements of a verdict (durations, progress of time-limited sweeps), so that a repeated step gives the
    same verdict."""
    measures: JsonValue = {
        "tests": [test.duration_ms for test in verdict.tests],
        "notes": list(verdict.notes),
        "stages": [[s.duration_ms, dict(s.observed)] for s in verdict.stages],
    }
    drawn = cast("dict[str, Any]", scope.recall("draw", "measures", lambda: measures))
    return verdict._replace(
        tests=tuple(t._replace(duration_ms=ms) for t, ms in zip(verdict.tests, drawn["tests"], strict=True)),
        notes=tuple(drawn["notes"]),
        stages=tuple(
            stage._replace(duration_ms=duration, observed=observed)
            for stage, (duration, observed) in zip(verdict.stages, drawn["stages"], strict=True)
        ),
    )


def _measured_only(verdict: GateVerdict) -> GateVerdict:
    """Return a verdict without the results that the ship gate observes itself."""
    return verdict._replace(tests=(), files={})


def _with_slow_stages(verdict: GateVerdict, whole: GateVerdict) -> GateVerdict:
    """Return a passed verdict with the results of the stages that were left out."""
    found = {stage.name: stage for stage in whole.stages}
    return verdict._replace(
        passed=whole.passed,
        findings=whole.findings,
        stages=tuple(found[one.name] if one.name in SLOW_STAGES else one for one in verdict.stages),
        notes=tuple(dict.fromkeys((*verdict.notes, *whole.notes))),
    )


def falsify(
    gate: ShipGate, scope: Scope, candidate: Candidate, tests: Sequence[FalsifyingTest]
) -> tuple[Trial, ...]:
    """Run falsifying tests on a candidate, or recall their results."""
    if not tests:
        return ()
    request = _asked_of(candidate, falsify=[test.to_json() for test in tests])
    return _observed(_TRIALS, scope, request, lambda: gate.falsify(candidate, tests))


def judge_whole(
    run: GateRun,
    task: TaskDefinition,
    reports: Sequence[BugReport],
    earlier: Sequence[RegressionTest],
    active: Sequence[TriedTest] = (),
) -> GateVerdict:
    """Judge a candidate, or recall the verdict. It includes approved examples and properties, the examples of bug reports,
    and the falsifying tests of earlier versions and of the debate (design: executable-spec, change, falsifying-tests).

    Falsifying tests do not run if the module's own tests could not run, for example because its surface differs.
    """
    candidate, contract = run.candidate, run.candidate.contract
    called = [dependency.contract for dependency in candidate.dependencies]
    approved = acceptance_of_module(task.acceptance, task.acceptance_criteria, contract, called)
    request: JsonValue = {
        "contract": contract.ref,
        "fingerprint": contract.interface_fingerprint,
        "files": tree_sha256(candidate.files),
        "dependencies": _called(candidate),
    }
    digest = canonical_json.digest(request)
    known = run.scopes(f"{run.measured}/{digest}")
    started_at = run.scopes(f"{run.scope.name}/run/{digest}").now()
    verdict = _judged(run, request, known)._replace(executed_at=started_at)
    if not verdict.passed:
        _note_refusal(run, verdict)
    verdict = _with_binding_examples(run, "reported", [report.example for report in reports], verdict)
    verdict = _with_binding_examples(run, "acceptance", approved.examples, verdict)
    verdict = _with_properties(run, approved.properties, verdict)
    tests = [*earlier, *active]
    if not tests or not verdict.tests:
        return verdict
    trials = falsify(run.gate, run.scope, candidate, [one.test for one in tests])
    findings = falsified(tests, trials)
    note = f"falsifying tests: {len(tests) - len(findings)} of {len(tests)} withstood"
    return _extended(run, verdict, "falsifying", findings, note)


def execution_log(contract: MicroModuleContract, verdict: GateVerdict) -> ExecutionLog:
    """Return the tests that the gate ran, as evidence (design: ship-gate).

    Args:
        contract: The contract of the judged version.
        verdict: A verdict with a start time and at least one test.
    """
    tests = [
        ExecutedTest(name=t.name, result=TestOutcome(t.result), duration_ms=round(t.duration_ms, 3))
        for t in verdict.tests
    ]
    return ExecutionLog.of(contract.module_id, contract.module_version, verdict.executed_at, tests)


def falsified(tests: Sequence[TriedTest | RegressionTest], trials: Sequence[Trial]) -> list[Finding]:
    """Return the findings about falsifying tests that a candidate fails.

    Args:
        tests: Tests of the debate, or sealed with an earlier version.
        trials: Their results, in the same order.
    """
    return [
        Finding("falsifying.failed", f"tests/{one.name}", _still_fails(one, trial))
        for one, trial in zip(tests, trials, strict=True)
        if not trial.passed
    ]


def _still_fails(test: TriedTest | RegressionTest, trial: Trial) -> str:
    result = trial.message or "; ".join(trial.problems)
    origin = f"sealed with {test.since}" if isinstance(test, RegressionTest) else "of an earlier round"
    said = f"the falsifying test {test.name}, {origin}, fails; it tries {test.about}"
    return f"{said}:\n{test.source.strip()}\n\n{result.strip()}"


def as_failures(verdict: GateVerdict) -> list[Failure]:
    """Return the failures of a verdict for the Proposer: findings and failing tests, without source of other modules."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in verdict.findings:  # sixty tests that fail in the same way are one failure
        groups.setdefault((finding.code, finding.message), []).append(finding)
    failures = [_failure(group) for group in groups.values()]
    if verdict.diverged:
        shown = canonical_json.pretty(dict(verdict.diverged)).decode()
        failures.append(
            Failure(
                invariant="The public surface is the locked contract.",
                evidence=f"These dimensions diverge:\n{shown}",
                required_change="Restore the signature, `__all__` and classes of the stub.",
            )
        )
    return failures


def _note_refusal(run: GateRun, verdict: GateVerdict, stage: str = "") -> None:
    """Show a failed verdict or stage as progress, in one line."""
    kind = "falsified" if stage == "falsifying" else "gate" if run.shipping else "preflight"
    first, *more = verdict.findings or (Finding("surface.diverged", "", "the interface is another one"),)
    where = f" at {first.where}" if first.where else ""
    others = f" (and {len(more)} more)" if more else ""
    message = shorten(first.message.strip().partition("\n")[0].rstrip(":"), LONGEST_LINE, placeholder=" ...")
    task, name = run.scope.name.partition(".")[0], run.candidate.contract.name
    run.progress.note(RunEvent(kind, task, f"{name}: {first.code}{where}: {message}{others}"))


def _failure(group: list[Finding]) -> Failure:
    """Build one failure for a test that fails with many parameters, with their ids."""
    first, parameters = group[0], dict[str, list[str]]()
    for finding in group:
        place, _, parameter = finding.where.partition("[")
        parameters.setdefault(place or "the module", []).extend(
            [parameter.removesuffix("]")] * bool(parameter)
        )
    places = [f"{place}[{_some(ids)}]" if ids else place for place, ids in parameters.items()]
    where = _some(places)
    return Failure(
        invariant=f"{first.code} at {where}",
        evidence=first.message,
        required_change=first.message,
    )


def _some(names: Sequence[str]) -> str:
    """Join names; if there are too many, the first ones and the number of others."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def candidate(modules: ModuleStore, contract: MicroModuleContract, files: Files) -> Candidate:
    """Build the gate's input: a module's files with all direct and indirect dependencies.

    Args:
        modules: The sealed modules.
        contract: The candidate's contract.
        files: The candidate's files.
    """

    def module(ref: str) -> SealedModule:
        sha256 = modules.evidence(ref).tree_sha256.implementation
        return SealedModule(modules.contract(ref), modules.location(ref), sha256)

    own = [d.ref for d in contract.dependencies]
    called = [*own, *reachable(own, lambda ref: [d.ref for d in module(ref).contract.dependencies])]
    return Candidate(contract, files, tuple(map(module, called)))


def observations(
    verdict: GateVerdict, active: Sequence[TriedTest], earlier: Sequence[RegressionTest] = ()
) -> tuple[str, ...]:
    """Return the gate's observations of a draft, for roles that may not see it."""
    passed = sum(test.result == "PASS" for test in verdict.tests)
    kept = {"rounds": [one.name for one in active], "versions": [one.name for one in earlier]}
    return (
        "the interface extracted from the source is the locked contract",
        "for every obligation of the contract a test passed that claims it; every example gives what it says"
        if verdict.passed
        else "not shown: " + "; ".join(f"{found.code} at {found.where}" for found in verdict.findings),
        f"{passed} of {len(verdict.tests)} tests passed, those of each parameter counted",
        *(f"falsifying tests of earlier {of} passed: {', '.join(them)}" for of, them in kept.items() if them),
        *(
            f"{_BINDING[stage.name][2]}, which nobody can strike: {stage.result}"
            for stage in verdict.stages
            if stage.name in _BINDING
        ),
    )


def passing_details(contract: MicroModuleContract, verdict: GateVerdict) -> dict[str, Any]:
    """Return the details for the gate's record of a version that passed: the judged files, stages, tests and measurements
    (design: ship-gate)."""
    return {
        "module": contract.ref,
        "interface_fingerprint": verdict.actual_fingerprint,
        "tree_sha256": tree_sha256(verdict.files),
        "stages": [
            {"name": stage.name, "result": stage.result, "observed": dict(stage.observed)}
            for stage in verdict.stages
        ],
        "tests": [test.name for test in verdict.tests],
        "notes": list(verdict.notes),
    }


def refusal_details(contract: MicroModuleContract, verdict: GateVerdict) -> dict[str, Any]:
    """Return the details for an escalation about a draft or version that the gate refused: fingerprints, their difference,
    and the test log if the tests ran (design: sealing, ship-gate)."""
    details: dict[str, Any] = {
        "module_id": contract.module_id,
        "module_version": contract.module_version,
        "locked_fingerprint": verdict.locked_fingerprint,
        "actual_fingerprint": verdict.actual_fingerprint,
        "diverged": dict(verdict.diverged),
    }
    log = execution_log(contract, verdict).to_json() if verdict.tests else None
    return details if log is None else {**details, "execution_log": log}
