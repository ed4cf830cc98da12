"""The gate's verdict, journalled: what it observed once is not observed again after a crash (DESIGN §4)."""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, cast

from specwright import canonical_json
from specwright.application.factory import Factory
from specwright.canonical_json import JsonValue
from specwright.domain.answers import Failure
from specwright.domain.ship import tree_sha256
from specwright.ports.gate import Candidate, Finding, GateVerdict, TestResult
from specwright.ports.journal import Scope

__all__ = ["as_failures", "judge"]

MANY_PLACES = 5
"""Of one finding; the rest are counted."""


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
    return verdict._replace(tests=tests, notes=tuple(notes))


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
        required_change=f"Correct what the ship gate found: {first.message}",
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
