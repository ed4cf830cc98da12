"""The gate's verdict, journalled: what it observed once is not observed again after a crash (design: journal)."""

from collections.abc import Callable, Iterable, Sequence
from textwrap import shorten
from typing import Any, NamedTuple, cast

from pydantic import ConfigDict, TypeAdapter

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples_file import Example
from ship_gate.contract.falsifying_tests import FalsifyingTest, RegressionTest
from ship_gate.contract.properties import Property
from ship_gate.verdict import (
    SLOW_STAGES,
    Candidate,
    Finding,
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
from specwright.domain.debate.falsifying import TriedTest
from specwright.domain.modules.evidence import ExecutedTest, ExecutionLog, TestOutcome, tree_sha256
from specwright.domain.spec.change_request import BugReport
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.ports import Files, Progress, Scope, Step

_MOST_NAMED = 20
"""Tests or parameters that a finding names; of very many the rest is counted."""

LONGEST_LINE = 160
"""Of a finding's message, as far as the progress tells it."""

# how the journal holds what the gate observed
_VERDICT = TypeAdapter(GateVerdict, config=ConfigDict(ser_json_bytes="base64", val_json_bytes="base64"))
_TRIALS = TypeAdapter(tuple[Trial, ...])
_FINDINGS = TypeAdapter(tuple[Finding, ...])
_TRIED = TypeAdapter(tuple[TriedProperty, ...])

REPORTED = "reported"
"""The stage of the gate that runs the examples of bug reports."""

ACCEPTANCE = "acceptance"
"""The stage of the gate that runs the examples which were approved with the spec."""

PROPERTIES = "properties"
"""The stage of the gate that tries the properties which were approved with the spec."""

_OWN_REMEDY = "; correct the example or the module"
"""What the gate says of an example that the module brings itself."""

_BINDING = {REPORTED: "examples of bug reports", ACCEPTANCE: "approved examples"}


class BindingExamples(NamedTuple):
    """Examples that no role can strike.

    Args:
        stage: Of the gate.
        code: Of a finding about one.
        one: What each is.
        examples: In order.
    """

    stage: str
    code: str
    one: str
    examples: Sequence[Example]


class GateRun(NamedTuple):
    """A judgement of a candidate, in the preflight of a draft or at the ship gate (design: preflight).

    Args:
        gate: The port.
        progress: Is told of a failed verdict.
        scope: Takes what was measured, and what the ship gate observed.
        by_content: The scope of what the slow stages showed of the same files, by their digest.
        shipping: Whether the candidate would be sealed.
        started_at: Reads the clock as a judgement of these files begins, by the same digest.
        binding: The examples that the module must give, whatever its own tests say.
        properties: What must be true of it for all values, as well.
    """

    gate: ShipGate
    progress: Progress
    scope: Scope
    by_content: Callable[[str], Scope]
    shipping: bool
    started_at: Callable[[str], str]
    binding: Sequence[BindingExamples] = ()
    properties: Sequence[Property] = ()


def judge(run: GateRun, candidate: Candidate) -> GateVerdict:
    """Judge a candidate, or recall how it was judged; what it measured is drawn as such.

    A preflight runs all stages. The ship gate runs them again without the slow ones; what those showed is taken over from a
    preflight that passed with the same files, contract and dependencies, or observed now (design: preflight).
    """
    request: JsonValue = {
        "contract": candidate.contract.ref,
        "fingerprint": candidate.contract.interface_fingerprint,
        "files": tree_sha256(candidate.files),
        "dependencies": [[d.contract.ref, d.implementation_sha256] for d in candidate.dependencies],
    }
    digest = canonical_json.digest(request)
    scope, known, started_at = run.scope, run.by_content(digest), run.started_at(digest)
    verdict = _recalled(scope, request, lambda: run.gate.judge(candidate, thorough=not run.shipping))
    if run.shipping and verdict.passed:
        slow = _recalled(known, request, lambda: _measured_only(run.gate.judge(candidate, thorough=True)))
        verdict = _with_slow_stages(verdict, slow)
    elif verdict.passed:
        _recalled(known, request, lambda: _measured_only(verdict))
    verdict = _with_measures(scope, verdict)._replace(executed_at=started_at)
    judged = _Judged(run.progress, scope, candidate, "gate" if run.shipping else "preflight")
    if not verdict.passed:
        run.progress.note(_refusal_note(scope, candidate, verdict, judged.kind))
    for one in run.binding:
        verdict = _with_binding_examples(run, one, judged, verdict)
    return _with_properties(run, known, judged, verdict)


def _extended(
    judged: "_Judged",
    verdict: GateVerdict,
    stage: str,
    findings: Sequence[Finding],
    *notes: str,
    **observed: int,
) -> GateVerdict:
    """A verdict with a further stage; whoever watches is told what it found."""
    if findings:
        failed = verdict._replace(findings=tuple(findings))
        judged.progress.note(_refusal_note(judged.scope, judged.candidate, failed, judged.kind))
    result = StageResult(stage, "FAIL" if findings else "PASS", len(findings), observed=observed)
    return verdict._replace(
        passed=verdict.passed and not findings,
        findings=(*verdict.findings, *findings),
        notes=(*verdict.notes, *notes),
        stages=(*verdict.stages, result),
    )


class _Judged(NamedTuple):
    """What is judged, and who is told of it; `kind` is that of the note."""

    progress: Progress
    scope: Scope
    candidate: Candidate
    kind: str


def _asked_of(candidate: Candidate, **asked: JsonValue) -> dict[str, JsonValue]:
    """What identifies a question about a candidate."""
    called: list[JsonValue] = [d.contract.ref for d in candidate.dependencies]
    files = tree_sha256(candidate.files)
    return {"contract": candidate.contract.ref, "files": files, "dependencies": called, **asked}


def _with_binding_examples(
    run: GateRun, binding: BindingExamples, judged: _Judged, verdict: GateVerdict
) -> GateVerdict:
    """A verdict that includes examples which nobody can strike.

    They are not run where the module's own tests could not be.
    """
    if not binding.examples or not verdict.tests:
        return verdict
    candidate, stage, count = judged.candidate, binding.stage, len(binding.examples)
    listed: list[JsonValue] = [[one.heading, one.code, one.expected] for one in binding.examples]
    seen = run.scope.recall(
        "verdict",
        _asked_of(candidate, **{stage: listed}),
        lambda: _FINDINGS.dump_python(run.gate.try_examples(candidate, binding.examples), mode="json"),
    )
    findings = [
        Finding(
            binding.code,
            f"{stage}: {found.where}",
            f"{binding.one} fails: {found.message.removesuffix(_OWN_REMEDY)}; correct the module",
        )
        for found in _FINDINGS.validate_python(seen)
    ]
    note = f"{_BINDING[stage]}: {count - len(findings)} of {count} hold"
    return _extended(judged, verdict, stage, findings, note, examples=count)


def _with_properties(run: GateRun, known: Scope, judged: _Judged, verdict: GateVerdict) -> GateVerdict:
    """A verdict that includes the approved properties.

    They take as long as the slow stages: they are tried where everything else passed, and what the preflight saw of the same
    files holds at the ship gate.
    """
    if not run.properties or not verdict.passed:
        return verdict
    candidate = judged.candidate
    called: list[JsonValue] = [[d.contract.ref, d.implementation_sha256] for d in candidate.dependencies]
    listed: list[JsonValue] = [
        [one.heading, one.code, dict(one.variables), list(one.errors)] for one in run.properties
    ]
    seen = known.recall(
        "verdict",
        _asked_of(candidate, properties=listed, dependencies=called),
        lambda: _TRIED.dump_python(run.gate.try_properties(candidate, run.properties), mode="json"),
    )
    tried = _TRIED.validate_python(seen)
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
    return _extended(judged, verdict, PROPERTIES, findings, *notes, properties=len(tried), values=values)


def _recalled(scope: Scope, request: JsonValue, observe: Callable[[], GateVerdict]) -> GateVerdict:
    return _VERDICT.validate_python(
        scope.recall("verdict", request, lambda: _VERDICT.dump_python(observe(), mode="json"))
    )


def _with_measures(scope: Scope, verdict: GateVerdict) -> GateVerdict:
    """A verdict whose measures are draws, so that a repeated step says the same: durations, and how far a sweep came that is
    bounded by time."""
    measures: JsonValue = {
        "tests": [test.duration_ms for test in verdict.tests],
        "notes": list(verdict.notes),
        "stages": [[s.duration_ms, dict(s.observed)] for s in verdict.stages],
    }
    drawn = cast("dict[str, Any]", scope.recall("draw", "measures", lambda: measures))
    tests = tuple(t._replace(duration_ms=ms) for t, ms in zip(verdict.tests, drawn["tests"], strict=True))
    stages = _measured(verdict.stages, drawn["stages"])
    return verdict._replace(tests=tests, notes=tuple(drawn["notes"]), stages=stages)


def _measured_only(verdict: GateVerdict) -> GateVerdict:
    """A verdict without what the ship gate observes itself."""
    return verdict._replace(tests=(), files={})


def _with_slow_stages(verdict: GateVerdict, whole: GateVerdict) -> GateVerdict:
    """A verdict that passed, with what the stages showed that it went without."""
    found = {stage.name: stage for stage in whole.stages}
    return verdict._replace(
        passed=whole.passed,
        findings=whole.findings,
        stages=tuple(found[one.name] if one.name in SLOW_STAGES else one for one in verdict.stages),
        notes=tuple(dict.fromkeys((*verdict.notes, *whole.notes))),
    )


def _measured(stages: tuple[StageResult, ...], drawn: JsonValue) -> tuple[StageResult, ...]:
    """The stages with what was measured of them."""
    measures = TypeAdapter(list[tuple[float, dict[str, int]]]).validate_python(drawn)
    return tuple(
        stage._replace(duration_ms=duration, observed=observed)
        for stage, (duration, observed) in zip(stages, measures, strict=True)
    )


def falsify(
    gate: ShipGate, scope: Scope, candidate: Candidate, tests: Sequence[FalsifyingTest]
) -> tuple[Trial, ...]:
    """Try falsifying tests on a candidate, or recall what they showed; without tests nothing is asked."""
    if not tests:
        return ()
    request = _asked_of(candidate, falsify=[test.to_json() for test in tests])
    return _TRIALS.validate_python(
        scope.recall(
            "verdict",
            request,
            lambda: _TRIALS.dump_python(gate.falsify(candidate, tests), mode="json"),
        )
    )


def judge_whole(
    run: GateRun,
    candidate: Candidate,
    task: TaskDefinition,
    reports: Sequence[BugReport],
    earlier: Sequence[RegressionTest],
    active: Sequence[TriedTest] = (),
) -> GateVerdict:
    """A verdict that includes what was approved, the examples of bug reports, and falsifying tests: those kept with earlier
    versions, and the active ones of the debate, which must pass as well (design: executable-spec, bug-reports,
    falsifying-tests).

    Falsifying tests are not run where the module's own tests could not be, for example because its surface differs.
    """
    called = [dependency.contract for dependency in candidate.dependencies]
    approved = acceptance_of_module(task.acceptance, task.acceptance_criteria, candidate.contract, called)
    reported = [report.example for report in reports]
    binding = (
        BindingExamples(REPORTED, "reported.failed", "an example of a bug report", reported),
        BindingExamples(ACCEPTANCE, "acceptance.failed", "an approved example", approved.examples),
    )
    verdict = judge(run._replace(binding=binding, properties=approved.properties), candidate)
    tests = [*earlier, *active]
    if not tests or not verdict.tests:
        return verdict
    trials = falsify(run.gate, run.scope, candidate, [one.test for one in tests])
    findings = falsified(tests, trials)
    note = f"falsifying tests: {len(tests) - len(findings)} of {len(tests)} withstood"
    judged = _Judged(run.progress, run.scope, candidate, "falsified")
    return _extended(judged, verdict, "falsifying", findings, note)


def execution_log(contract: MicroModuleContract, verdict: GateVerdict) -> ExecutionLog:
    """The tests that the gate ran, as evidence (design: ship-gate).

    Args:
        contract: Of the version that was judged.
        verdict: With at least one test, and when its run began.
    """
    tests = [
        ExecutedTest(name=t.name, result=TestOutcome(t.result), duration_ms=round(t.duration_ms, 3))
        for t in verdict.tests
    ]
    return ExecutionLog.of(contract.module_id, contract.module_version, verdict.executed_at, tests)


def falsified(tests: Sequence[TriedTest | RegressionTest], trials: Sequence[Trial]) -> list[Finding]:
    """The findings about falsifying tests that a candidate does not pass.

    Args:
        tests: Of the debate, or sealed with an earlier version.
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
    """What a Proposer is told of a failed verdict: findings and failing tests, no source but its own."""
    failures = [_failure(group) for group in _grouped(verdict.findings)]
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


def _refusal_note(scope: Scope, candidate: Candidate, verdict: GateVerdict, kind: str) -> Step:
    """What a person who watches is told of a failed verdict, in one line."""
    first, *more = verdict.findings or (Finding("surface.diverged", "", "the interface is another one"),)
    where = f" at {first.where}" if first.where else ""
    others = f" (and {len(more)} more)" if more else ""
    message = shorten(first.message.strip().partition("\n")[0].rstrip(":"), LONGEST_LINE, placeholder=" ...")
    task = scope.name.partition(".")[0]
    return Step(kind, task, f"{candidate.contract.name}: {first.code}{where}: {message}{others}")


def _grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of one cause together: sixty tests that fail in one way are one thing to correct."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.message), []).append(finding)
    return list(groups.values())


def _failure(group: list[Finding]) -> Failure:
    """A test that fails with many parameters is named once, with their ids."""
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
    """The names, or the first of very many and how many there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def candidate(modules: ModuleStore, contract: MicroModuleContract, files: Files) -> Candidate:
    """What the gate judges: a module's files with everything that it calls, directly or not.

    Args:
        modules: The sealed ones.
        contract: The candidate's.
        files: The candidate's.
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
    """What code saw of a draft, for those who may not see it."""
    passed = sum(test.result == "PASS" for test in verdict.tests)
    names = ", ".join(tried.name for tried in active)
    return (
        "the interface extracted from the source is the locked contract",
        "for every obligation of the contract a test passed that claims it; every example gives what it says"
        if verdict.passed
        else "not shown: " + "; ".join(f"{found.code} at {found.where}" for found in verdict.findings),
        f"{passed} of {len(verdict.tests)} tests passed, those of each parameter counted",
        *([f"falsifying tests of earlier rounds passed: {names}"] if active else []),
        *(
            [f"falsifying tests of earlier versions passed: {', '.join(t.name for t in earlier)}"]
            if earlier
            else []
        ),
        *(
            f"{_BINDING[stage.name]}, which nobody can strike: {stage.result}"
            for stage in verdict.stages
            if stage.name in _BINDING
        ),
    )


def passing_details(contract: MicroModuleContract, verdict: GateVerdict) -> dict[str, Any]:
    """What the gate's record tells of a version that it let through: what was judged, by which stages and tests, and what
    it measured (design: ship-gate)."""
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
    """What an escalation tells of a draft or a version that the gate refused: fingerprints, their difference, and the log
    of the tests if they ran (design: sealing, ship-gate)."""
    details: dict[str, Any] = {
        "module_id": contract.module_id,
        "module_version": contract.module_version,
        "locked_fingerprint": verdict.locked_fingerprint,
        "actual_fingerprint": verdict.actual_fingerprint,
        "diverged": dict(verdict.diverged),
    }
    log = execution_log(contract, verdict).to_json() if verdict.tests else None
    return details if log is None else {**details, "execution_log": log}
