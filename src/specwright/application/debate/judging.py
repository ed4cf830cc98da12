"""The gate's verdict, journalled: what it observed once is not observed again after a crash (DESIGN §4)."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from typing import Any, cast

from specwright import canonical_json
from specwright.application.factory import Factory
from specwright.application.planning import shipped_contract
from specwright.canonical_json import JsonValue
from specwright.domain.answers import Failure, FalsifyingTest
from specwright.domain.contract import MicroModuleContract
from specwright.domain.falsifying import TriedTest
from specwright.domain.ids import ModuleRef
from specwright.domain.ship import ExecutedTest, ExecutionLog, TestOutcome, tree_sha256
from specwright.ports.gate import Candidate, Finding, GateVerdict, SealedModule, TestResult, Trial
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Files

__all__ = [
    "as_failures",
    "candidate",
    "execution_log",
    "falsify",
    "judge",
    "observations",
    "refused",
    "withstood",
]

MANY_PLACES = 5
"""Of one finding; the rest are counted."""

LONGEST_LINE = 160
"""Of a finding's message, as far as the progress tells it."""


def judge(factory: Factory, scope: Scope, candidate: Candidate, *, thorough: bool) -> GateVerdict:
    """Judge a candidate, or recall how it was judged; what it measured is drawn as such."""
    request: JsonValue = {
        "contract": candidate.contract.ref,
        "fingerprint": candidate.contract.interface_fingerprint,
        "files": tree_sha256(candidate.files),
        "dependencies": [d.contract.ref for d in candidate.dependencies],
        "thorough": thorough,
    }
    verdict = _from_json(
        cast(
            dict[str, Any],
            scope.recall(
                "verdict", request, lambda: _to_json(factory.gate.judge(candidate, thorough=thorough))
            ),
        )
    )
    durations = scope.readings([test.duration_ms for test in verdict.tests])
    tests = tuple(t._replace(duration_ms=ms) for t, ms in zip(verdict.tests, durations, strict=True))
    # a sweep that is bounded by time reports how far it came: measured too, so that a replay says the same
    notes = cast(list[str], scope.recall("draw", "notes", lambda: list(verdict.notes)))
    if not verdict.passed:
        factory.progress.note(_refused(scope, candidate, verdict, "gate" if thorough else "preflight"))
    return verdict._replace(tests=tests, notes=tuple(notes))


def falsify(
    factory: Factory, scope: Scope, candidate: Candidate, tests: Sequence[FalsifyingTest]
) -> tuple[Trial, ...]:
    """Try falsifying tests on a candidate, or recall what they showed; without tests nothing is asked."""
    if not tests:
        return ()
    request: JsonValue = {
        "contract": candidate.contract.ref,
        "files": tree_sha256(candidate.files),
        "dependencies": [d.contract.ref for d in candidate.dependencies],
        "falsify": [test.to_json() for test in tests],
    }

    def live() -> JsonValue:
        trials = factory.gate.falsify(candidate, tests)
        return [[t.name, list(t.problems), t.passed, t.message] for t in trials]

    found = cast(list[Any], scope.recall("verdict", request, live))
    return tuple(Trial(name, tuple(problems), passed, said) for name, problems, passed, said in found)


def withstood(
    factory: Factory, scope: Scope, candidate: Candidate, verdict: GateVerdict, standing: Sequence[TriedTest]
) -> GateVerdict:
    """A verdict with what the standing falsifying tests of the debate show as well: they must pass too (D13).

    They are not tried where the module's own tests could not be, for example because its surface is another.
    """
    if not standing or not verdict.tests:
        return verdict
    trials = falsify(factory, scope, candidate, [one.test for one in standing])
    found = [
        Finding("falsifying.failed", f"tests/{one.name}", _still_fails(one, trial))
        for one, trial in zip(standing, trials, strict=True)
        if not trial.passed
    ]
    if found:
        failed = verdict._replace(findings=tuple(found))
        factory.progress.note(_refused(scope, candidate, failed, "falsified"))
    told = f"falsifying tests: {len(standing) - len(found)} of {len(standing)} withstood"
    return verdict._replace(
        passed=verdict.passed and not found,
        findings=(*verdict.findings, *found),
        notes=(*verdict.notes, told),
    )


def execution_log(contract: MicroModuleContract, executed_at: str, verdict: GateVerdict) -> ExecutionLog:
    """The tests that the gate ran, as evidence (F§11.3).

    Args:
        contract: Of the version that was judged.
        executed_at: When.
        verdict: With at least one test.
    """
    tests = [
        ExecutedTest(name=t.name, result=TestOutcome(t.result), duration_ms=round(t.duration_ms, 3))
        for t in verdict.tests
    ]
    return ExecutionLog.of(contract.module_id, contract.module_version, executed_at, tests)


def _still_fails(tried: TriedTest, trial: Trial) -> str:
    seen = trial.message or "; ".join(trial.problems)
    return f"the falsifying test {tried.name} of an earlier round fails:\n{tried.source.strip()}\n\n{seen.strip()}"


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


def _refused(scope: Scope, candidate: Candidate, verdict: GateVerdict, kind: str) -> Step:
    """What a person who watches is told of a failed verdict, in one line."""
    first, *more = verdict.findings or (Finding("surface.diverged", "", "the interface is another one"),)
    where = f" at {first.where}" if first.where else ""
    others = f" (and {len(more)} more)" if more else ""
    said = first.message.strip().partition("\n")[0][:LONGEST_LINE]
    task = scope.name.partition(".")[0]
    return Step(kind, task, f"{candidate.contract.name}: {first.code}{where}: {said}{others}")


def _grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of one cause together: sixty tests that fail in one way are one thing to correct."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.message), []).append(finding)
    return list(groups.values())


def _failure(group: list[Finding]) -> Failure:
    first = group[0]
    where = ", ".join(finding.where or "the module" for finding in group[:MANY_PLACES])
    more = f" and {len(group) - MANY_PLACES} more places" if len(group) > MANY_PLACES else ""
    return Failure(
        invariant=f"{first.code} at {where}{more}",
        evidence=first.message,
        required_change=first.message,
    )


def _to_json(verdict: GateVerdict) -> JsonValue:
    return cast(
        JsonValue,
        {
            "passed": verdict.passed,
            "findings": [list(finding) for finding in verdict.findings],
            "locked": verdict.locked_fingerprint,
            "actual": verdict.actual_fingerprint,
            "diverged": dict(verdict.diverged),
            "tests": [list(test) for test in verdict.tests],
            "notes": list(verdict.notes),
            "files": {path: b64encode(data).decode() for path, data in verdict.files.items()},
        },
    )


def _from_json(data: dict[str, Any]) -> GateVerdict:
    return GateVerdict(
        passed=data["passed"],
        findings=tuple(Finding(*finding) for finding in data["findings"]),
        locked_fingerprint=data["locked"],
        actual_fingerprint=data["actual"],
        diverged=data["diverged"],
        tests=tuple(TestResult(*test) for test in data["tests"]),
        notes=tuple(data["notes"]),
        files={path: b64decode(text) for path, text in data["files"].items()},
    )


def candidate(factory: Factory, contract: MicroModuleContract, files: Files) -> Candidate:
    """What the gate judges: a module's files with everything sealed that it calls, directly or not."""
    root, found, waiting = (
        factory.store.location,
        list[SealedModule](),
        [d.ref for d in contract.dependencies],
    )
    for ref in waiting:  # grows
        sealed = shipped_contract(factory, ref)
        found.append(SealedModule(sealed, root / "modules" / "/".join(ModuleRef.parse(ref))))
        waiting += [d.ref for d in sealed.dependencies if d.ref not in waiting]
    return Candidate(contract, files, tuple(found))


def observations(verdict: GateVerdict, standing: Sequence[TriedTest]) -> tuple[str, ...]:
    """What code saw of a draft, for those who may not see it: test names with their parameters, never source."""
    passed = [test.name for test in verdict.tests if test.result == "PASS"]
    names = ", ".join(tried.name for tried in standing)
    return (
        f"the interface extracted from the source is the locked contract, {verdict.actual_fingerprint}",
        "every obligation of the contract has a passing test, every example gives what it says",
        f"{len(passed)} of {len(verdict.tests)} tests passed: {', '.join(passed)}",
        *([f"falsifying tests of earlier rounds passed: {names}"] if standing else []),
    )


def refused(contract: MicroModuleContract, scope: Scope, verdict: GateVerdict) -> dict[str, Any]:
    """What an escalation tells of a version that the gate refused: fingerprints, their difference, and the log of the
    tests if they ran (F§11.2, F§11.3)."""
    seen: dict[str, Any] = {
        "module_id": contract.module_id,
        "module_version": contract.module_version,
        "locked_fingerprint": verdict.locked_fingerprint,
        "actual_fingerprint": verdict.actual_fingerprint,
        "diverged": dict(verdict.diverged),
    }
    log = execution_log(contract, scope.now(), verdict).to_json() if verdict.tests else None
    return seen if log is None else {**seen, "execution_log": log}
