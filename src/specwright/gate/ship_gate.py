"""The ship gate: layout, static checks, surface and fingerprint, obligations, tests, examples, strength, contract
fuzz (F§11, DESIGN §8).

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
    static.effect, .refused, .dynamic, .raise, .state
    tests.trick, .internals, .swallow, .broad, .sleep, .assertion, .constant
                                  seen in the source alone (`static.stage`)
    obligations.unreadable, .unknown_test, .ambiguous_test, .unknown_pointer, .uncovered, .unseen
    tests.none, .failed, .uncollected, .names, .incomplete, .timeout, .output
    tests.disk                    the run wrote more than its limits allow
    tests.boundary                a value that does not cross the boundary was given or returned
    tests.argument_changed        the module changed what it was given
    tests.uncalled                a test passes without calling the module
    tests.forged                  the run tampered with its own report
    tests.vacuous                 passes on stubs (`vacuity`), or where no module answers (`silence`)
    strength.weak, .function, .unstable, .slow
                                  too few mutants die, or too few can be run (`strength`)
    examples.form, .placeholder, .uncovered, .false, .broken, .argument_changed
    fuzz.counterexample           an input for which the module does what its contract excludes (`fuzz`)

Falsifying tests of the debate are tried by themselves (`falsify`); who asks for a verdict adds what they show."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property

from specwright.domain.answers import FalsifyingTest
from specwright.domain.contract import MicroModuleContract
from specwright.domain.contract_rules import problems
from specwright.domain.docstring import render_stub
from specwright.domain.examples_coverage import coverage_faults
from specwright.domain.examples_file import Example, parse_examples, placeholder_faults
from specwright.domain.obligations import Fault, claims_faults, read_claims, unseen_faults
from specwright.gate.example_run import run_examples
from specwright.gate.falsify import try_test
from specwright.gate.fuzz.check import FuzzBounds
from specwright.gate.imports import import_findings
from specwright.gate.last_stages import LastStages, Seen
from specwright.gate.layout import layout_findings
from specwright.gate.sandbox.kind import UNCONFINED, Sandbox, chosen_sandbox
from specwright.gate.sandbox.pair import Pair, prepare
from specwright.gate.sandbox.plan import Limits, SandboxKind
from specwright.gate.splice import splice
from specwright.gate.staging import Staged, lay_out, stage, workspace
from specwright.gate.static.stage import NOT_EXECUTED, static_findings
from specwright.gate.surface import SurfaceFault
from specwright.gate.surface_comparison import Compared, compared
from specwright.gate.test_run import named_tests, run_tests
from specwright.ports.gate import Candidate, Finding, GateVerdict, ShipGate, TestResult, Trial

__all__ = ["FirstGate"]

_ENTRY = "implementation/__init__.py"
_CLAIMS = "tests/obligations.json"
_EXAMPLES = "examples.md"
_PASSABLE = {"files.missing", "files.contract"}
_NO_GROUND = {
    "tests.failed",
    "tests.uncollected",
    "tests.names",
    "tests.incomplete",
    "tests.timeout",
    "tests.output",
    "tests.disk",
    "tests.boundary",
    "tests.argument_changed",
    "tests.uncalled",
    "tests.forged",
    "tests.none",
}


class FirstGate(ShipGate):
    """Judges candidates by running them in sandboxed processes of this interpreter.

    Args:
        timeout_seconds: Wall-clock time for a module's tests, and again for its examples.
        packages: Third-party packages that the project's settings allow, by their import names (D23).
        sandbox: "auto", or the name of a `SandboxKind`; one that is not there is refused at the first judgement.
        static: Whether the source is checked before it is run; off only to show what a run withstands.
        strength: The least share of mutants that must die, in all and in each function; 0 turns it off, and the
            stubs with it.
        fuzz: How many inputs the contract fuzz draws; none turns it off.
        limits: What a sandboxed process may use; its processor time follows from `timeout_seconds`.
        shipped: Whether all that is judged comes from a playbook that ships with Specwright: that may run unconfined
            where there can be no sandbox (D-S8-16).
        system: As `sys.platform` names it.
    """

    def __init__(
        self,
        timeout_seconds: float = 60.0,
        packages: frozenset[str] = frozenset(),
        *,
        sandbox: str = "auto",
        static: bool = True,
        strength: float = 0.8,
        fuzz: FuzzBounds = FuzzBounds(),  # noqa: B008 - immutable
        limits: Limits = Limits(),  # noqa: B008 - immutable
        shipped: bool = False,
        system: str = sys.platform,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._packages = packages
        self._sandbox_setting = sandbox
        self._static = static
        self._strength = strength
        self._fuzz = fuzz
        self._limits = limits
        self._shipped = shipped
        self._system = system

    @cached_property
    def _sandbox(self) -> Sandbox:
        kind = chosen_sandbox(self._sandbox_setting, system=self._system, shipped=self._shipped)
        return Sandbox(kind, self._packages, self._limits).within(self._timeout_seconds)

    def stub(self, contract: MicroModuleContract) -> bytes:
        """The source from which an implementer starts (port)."""
        return render_stub(contract).encode()

    def documented(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """The source with another contract's docstring (port)."""
        try:
            return splice(source, contract)
        except SurfaceFault:
            return source

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
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
        # the processes come up while the source is still being read; nothing of the module is in them yet
        with workspace() as root, prepare(lay_out(root, self._sandbox), "test_runner") as pair:
            staged = stage(root, candidate, files, self._sandbox)
            verdict = self._judge_staged(candidate, files, staged, pair, findings, thorough=thorough)
            if self._sandbox.kind is SandboxKind.NONE:
                verdict = verdict._replace(notes=(UNCONFINED, *verdict.notes))
            return verdict

    def falsify(self, candidate: Candidate, tests: Sequence[FalsifyingTest]) -> tuple[Trial, ...]:
        """Try tests of the debate on a candidate (port)."""
        entry = splice(candidate.files[_ENTRY], candidate.contract)
        spliced = candidate._replace(files={**candidate.files, _ENTRY: entry})
        return tuple(
            try_test(spliced, test, self._sandbox, self._packages, self._timeout_seconds) for test in tests
        )

    def _judge_staged(
        self,
        candidate: Candidate,
        files: Mapping[str, bytes],
        staged: Staged,
        pair: Pair,
        findings: list[Finding],
        *,
        thorough: bool,
    ) -> GateVerdict:
        contract, named = candidate.contract, named_tests(files)
        surface, imports = compared(staged, contract), import_findings(candidate, self._packages)
        static = static_findings(candidate) if self._static else []
        refused = imports or any(finding.code in NOT_EXECUTED for finding in static)
        claims, wrong_claims = _claims(files, named, contract)
        examples, wrong_examples = _examples(files, contract)
        findings = [*findings, *static, *surface.findings, *imports, *wrong_claims]
        if not named:
            findings.append(
                Finding("tests.none", "tests", "there is no test; write tests in tests/test_*.py")
            )
        # F§11.3: nothing is executed before the surface matched
        if surface.findings or refused or not named:
            return _verdict(candidate, [*findings, *wrong_examples], surface, (), files)
        with ExitStack() as started:
            examples_pair = started.enter_context(prepare(staged, "example_runner"))
            last = started.enter_context(self._last_stages(staged, candidate, files)) if thorough else None
            run = run_tests(staged, contract, named, self._timeout_seconds, pair)
            wrong_examples += run_examples(staged, examples, self._timeout_seconds, examples_pair)
            ground = run.tests and not any(finding.code in _NO_GROUND for finding in run.findings)
            seconds = sum(test.duration_ms for test in run.tests) / 1000
            seen = last.examine(seconds) if last and ground else Seen()
        findings += run.findings
        complete = all(finding.code == "tests.uncalled" for finding in run.findings)
        if claims and complete and not wrong_claims:
            findings += map(_claim_finding, unseen_faults(claims, run.seen, contract))
        findings += [*wrong_examples, *seen.findings]
        return _verdict(candidate, findings, surface, run.tests, files)._replace(notes=seen.notes)

    def _last_stages(self, staged: Staged, candidate: Candidate, files: Mapping[str, bytes]) -> LastStages:
        return LastStages(staged, candidate, files, strength=self._strength, fuzz=self._fuzz)


def _verdict(
    candidate: Candidate,
    findings: list[Finding],
    surface: Compared | None = None,
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
