"""The first ship gate: layout, surface and fingerprint, obligations, tests, examples (F§11, DESIGN §8).

No model takes part and nothing of the module is imported here. All findings are told, each stage's in its
order; a stage whose ground is missing is passed over. Tests and examples run only after the surface matched
(F§11.3).

Codes, which are stable:

    contract.rule                 the contract itself cannot be locked (`contract_rules`)
    files.missing, .unexpected, .contract, .size
    source.unreadable             not UTF-8, or not Python
    surface.exports, .entry_point, .parameters, .twins, .docstring, .class, .name, .star_import
                                  there is no surface to compare (`surface`)
    surface.mismatch              the fingerprint differs (the message is F§11.2's, to the letter)
    surface.diverged              one per dimension that differs
    source.import                 the module imports what is outside its scope (`imports`)
    tests.import                  a test reaches behind the public surface
    obligations.unreadable, .unknown_test, .ambiguous_test, .unknown_pointer, .uncovered, .unseen
    tests.none, .failed, .uncollected, .names, .incomplete, .timeout, .output
    examples.form, .placeholder, .uncovered, .false, .broken

Left out: static checks of effects and of what tests assert, test strength, contract fuzz, falsifying tests
and the two-process sandbox: later stages of §8."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from specwright import canonical_json
from specwright.domain.contract import DIMENSIONS, MicroModuleContract, fingerprint
from specwright.domain.contract_rules import problems
from specwright.domain.docstring import render_stub
from specwright.domain.examples_coverage import coverage_faults
from specwright.domain.examples_file import Example, parse_examples, placeholder_faults
from specwright.domain.obligations import Fault, claims_faults, read_claims, unseen_faults
from specwright.gate.example_run import run_examples
from specwright.gate.imports import import_findings
from specwright.gate.layout import layout_findings
from specwright.gate.splice import splice
from specwright.gate.staging import Staged, stage
from specwright.gate.surface import SurfaceFault, extract_surface
from specwright.gate.test_run import named_tests, run_tests
from specwright.ports.gate import Candidate, Finding, GateVerdict, ShipGate, TestResult

__all__ = ["FirstGate"]

_ENTRY = "implementation/__init__.py"
_CLAIMS = "tests/obligations.json"
_EXAMPLES = "examples.md"
_PASSABLE = {"files.missing", "files.contract"}


class _Surface(NamedTuple):
    """What the surface stage saw."""

    actual: str
    diverged: dict[str, str]
    findings: list[Finding]


class FirstGate(ShipGate):
    """Judges candidates by running them in bounded processes of this interpreter.

    Args:
        timeout_seconds: Wall-clock time for a module's tests, and again for its examples.
        packages: Third-party packages that the project's settings allow (D23).
    """

    def __init__(self, timeout_seconds: float = 60.0, packages: frozenset[str] = frozenset()) -> None:
        self._timeout_seconds = timeout_seconds
        self._packages = packages

    def stub(self, contract: MicroModuleContract) -> bytes:
        """The source from which an implementer starts (port)."""
        return render_stub(contract).encode()

    def judge(self, candidate: Candidate) -> GateVerdict:
        """Check a candidate from the first stage to the last (port)."""
        findings = [
            *(Finding("contract.rule", "contract.json", problem) for problem in problems(candidate.contract)),
            *layout_findings(candidate),
        ]
        if any(finding.where == _ENTRY or finding.code not in _PASSABLE for finding in findings):
            return _verdict(candidate, findings)
        try:
            entry = splice(candidate.files[_ENTRY], candidate.contract)
        except SurfaceFault as fault:
            return _verdict(candidate, [*findings, Finding(fault.code, fault.where, fault.message)])
        files = {**candidate.files, _ENTRY: entry}
        # another process of the module may hold a file of it for a moment longer
        with tempfile.TemporaryDirectory(prefix="gate-", ignore_cleanup_errors=True) as root:
            return self._judge_staged(candidate, files, stage(Path(root), candidate, files), findings)

    def _judge_staged(
        self, candidate: Candidate, files: Mapping[str, bytes], staged: Staged, findings: list[Finding]
    ) -> GateVerdict:
        contract, named = candidate.contract, named_tests(files)
        surface, imports = _surface(staged, contract), import_findings(candidate, self._packages)
        claims, wrong_claims = _claims(files, named, contract)
        examples, wrong_examples = _examples(files, contract)
        findings = [*findings, *surface.findings, *imports, *wrong_claims]
        if not named:
            findings.append(
                Finding("tests.none", "tests", "there is no test; write tests in tests/test_*.py")
            )
        # F§11.3: nothing is executed before the surface matched
        if surface.findings or imports or not named:
            return _verdict(candidate, [*findings, *wrong_examples], surface, (), files)
        run = run_tests(staged, contract, named, self._timeout_seconds)
        findings += run.findings
        if claims and not run.findings and not wrong_claims:
            findings += map(_claim_finding, unseen_faults(claims, run.seen, contract))
        findings += [*wrong_examples, *run_examples(staged, examples, self._timeout_seconds)]
        return _verdict(candidate, findings, surface, run.tests, files)


def _verdict(
    candidate: Candidate,
    findings: list[Finding],
    surface: _Surface | None = None,
    tests: tuple[TestResult, ...] = (),
    files: Mapping[str, bytes] | None = None,
) -> GateVerdict:
    return GateVerdict(
        passed=not findings,
        findings=tuple(findings),
        locked_fingerprint=candidate.contract.interface_fingerprint,
        actual_fingerprint=surface.actual if surface else "",
        diverged=surface.diverged if surface else {},
        tests=tests,
        files=dict(candidate.files) if files is None else dict(files),
    )


def _surface(staged: Staged, contract: MicroModuleContract) -> _Surface:
    try:
        actual = extract_surface(staged.lib / "modules" / contract.name, contract.name)
    except SurfaceFault as fault:
        return _Surface("", {}, [Finding(fault.code, fault.where, fault.message)])
    locked, seen = contract.interface_fingerprint, fingerprint(actual)
    if seen == locked:
        return _Surface(seen, {}, [])
    diverged = _diverged(contract.dimensions(), actual)
    # F§11.2: literally
    message = f"Interface fingerprint mismatch: expected {locked}, got {seen}"
    findings = [Finding("surface.mismatch", _ENTRY, message)]
    for dimension, difference in diverged.items():
        advice = f"{dimension} differ from the contract; change the code to match it. {difference}"
        findings.append(Finding("surface.diverged", f"{_ENTRY}#/{dimension}", advice))
    return _Surface(seen, diverged, findings)


def _diverged(locked: dict[str, Any], actual: dict[str, Any]) -> dict[str, str]:
    return {
        dimension: f"contract: {_shown(locked[dimension])}; source: {_shown(actual[dimension])}"
        for dimension in DIMENSIONS
        if locked[dimension] != actual[dimension]
    }


def _shown(value: object) -> str:
    return canonical_json.canonical(value).decode()


def _claims(
    files: Mapping[str, bytes], named: list[str], contract: MicroModuleContract
) -> tuple[dict[str, tuple[str, ...]], list[Finding]]:
    if _CLAIMS not in files:
        # the layout has told it
        return {}, []
    try:
        claims = read_claims(files[_CLAIMS])
    except ValueError as error:
        return {}, [Finding("obligations.unreadable", _CLAIMS, f"the file cannot be read: {error}")]
    return claims, [_claim_finding(fault) for fault in claims_faults(claims, named, contract)]


def _claim_finding(fault: Fault) -> Finding:
    return Finding(fault.code, _CLAIMS, fault.message)


def _examples(
    files: Mapping[str, bytes], contract: MicroModuleContract
) -> tuple[tuple[Example, ...], list[Finding]]:
    if _EXAMPLES not in files:
        return (), []
    try:
        text = files[_EXAMPLES].decode()
    except UnicodeDecodeError as error:
        return (), [Finding("examples.form", _EXAMPLES, f"the file is not UTF-8 ({error}); save it as UTF-8")]
    examples, faults = parse_examples(text)
    # an example that cannot be read is not also missing
    faults = faults or coverage_faults(examples, contract)
    faults = (*faults, *placeholder_faults(examples))
    return examples, [Finding(fault.code, f"{_EXAMPLES}: {fault.where}", fault.message) for fault in faults]
