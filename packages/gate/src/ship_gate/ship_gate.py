"""The ship gate: layout, static checks, surface and fingerprint, imports, obligations, tests, examples, strength, contract
fuzz (design: sealing, ship-gate).

No model takes part and nothing of the module is imported here. All findings are reported, each stage's in its order; a
stage whose ground is missing is not run. Nothing of a module is executed before its surface matched. `findings` lists
the codes. Falsifying tests of the debate are tried by themselves (`runs`); who asks for a verdict adds what they
show.
"""

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import imported_classes, render_stub
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.examples import Example, coverage_faults, parse_examples, placeholder_faults
from ship_gate.contract.independent_tests import FalsifyingTest, Property
from ship_gate.contract.obligations import CLAIMS_FILE, claims_faults, obligations, read_claims, unseen_faults
from ship_gate.contract.rules import is_untested, own_statements, problems
from ship_gate.findings import Finding, FindingCode, Severity
from ship_gate.fuzz.check import FuzzBounds, examine_contract
from ship_gate.fuzz.properties import run_properties
from ship_gate.module_directory import layout_findings
from ship_gate.public_surface import SurfaceComparison, compare_surface
from ship_gate.runs import TestRun, named_tests, observed_findings, run_examples, run_tests, try_test
from ship_gate.sandbox.kind import UNCONFINED, Sandbox, chosen_sandbox
from ship_gate.sandbox.packages import AllowedPackage, allowed_packages, import_names
from ship_gate.sandbox.pair import Pair, prepare
from ship_gate.sandbox.process import Limits, SandboxKind
from ship_gate.sandbox.staging import Staged, lay_out, stage, workspace
from ship_gate.settings import GateSettings
from ship_gate.source.files import ParsedFiles, SourceError
from ship_gate.source.splice import splice, spliced_files
from ship_gate.stages import MeasuringBounds, MeasuringStages, StageLog
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import static_findings
from ship_gate.static.suite_tricks import without_repetition
from ship_gate.verdict import ENTRY_FILE, Candidate, GateVerdict, ShipGate, TestResult, Trial, TriedProperty

_EXAMPLES = "examples.md"


_NO_CALL = Finding(
    FindingCode.TESTS_UNCALLED,
    "tests",
    "definitions are called by no test; leave tests/test_*.py out, the gate makes and compares values of each class",
)
_NO_TEST = Finding(FindingCode.TESTS_NONE, "tests", "there is no test; write tests in tests/test_*.py")

_MIB = 1024 * 1024


class SandboxedShipGate(ShipGate):
    """Judges candidates by running them in sandboxed processes of this interpreter.

    Args:
        timeout_seconds: Wall-clock time for a module's tests, and again for its examples.
        packages: Third-party packages that the project's settings allow, by their import names (design: contracts).
        sandbox: "auto", or the name of a `SandboxKind`; one that is not there is refused at the first judgement.
        static: Whether the source is checked before it is run; off only to show what a run withstands.
        strength: The least share of mutants that must die, in all and in each function; 0 turns it off, and the
            stubs with it.
        fuzz: How many inputs the contract fuzz draws; none turns it off.
        limits: What a sandboxed process may use; its processor time follows from `timeout_seconds`.
        shipped: Whether all that is judged comes from a playbook that ships with Specwright: that may run unconfined
            where there can be no sandbox (design: ship-gate).
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
    def sandbox(self) -> Sandbox:
        """In what it runs code.

        Raises:
            ShipGateError: there is no such sandbox.
        """
        kind = chosen_sandbox(self._sandbox_setting, system=self._system, shipped=self._shipped)
        return Sandbox(kind, self._packages, self._limits).within(self._timeout_seconds)

    def stub(self, contract: MicroModuleContract, dependencies: Sequence[MicroModuleContract] = ()) -> bytes:
        """The source from which an implementer starts (port)."""
        return render_stub(contract, imported_classes(contract, dependencies)).encode()

    def documented(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """The source with another contract's docstring (port)."""
        try:
            return splice(source, contract)
        except SourceError:
            return source

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Check a candidate from the first stage to the last (port)."""
        files = ParsedFiles.of(candidate.files)
        candidate = candidate._replace(files=files)
        log = StageLog(self._skipped(thorough=thorough))
        with log.stage("layout") as findings:
            broken = problems(candidate.contract)
            findings += [Finding(FindingCode.CONTRACT_RULE, "contract.json", problem) for problem in broken]
            findings += layout_findings(candidate)
        if any(finding.where == ENTRY_FILE for finding in log.findings) or _has(log, Severity.FATAL):
            return _verdict(candidate, log)
        try:
            files = spliced_files(files, candidate.contract)
        except SourceError as error:
            log.add("surface", [error.finding])
            return _verdict(candidate, log)
        # the processes come up while the source is still being read; nothing of the module is in them yet
        with workspace() as root, prepare(lay_out(root, self.sandbox), "test_runner") as pair:
            staged = stage(root, candidate, files, self.sandbox)
            if self.sandbox.kind is SandboxKind.NONE:
                log.notes.append(UNCONFINED)
            return self._judge_staged(candidate, files, staged, pair, log, thorough=thorough)

    def falsify(self, candidate: Candidate, tests: Sequence[FalsifyingTest]) -> tuple[Trial, ...]:
        """Try tests of the debate on a candidate (port)."""
        files = spliced_files(ParsedFiles.of(candidate.files), candidate.contract)
        spliced = candidate._replace(files=files)
        return tuple(
            try_test(spliced, test, self.sandbox, self._packages, self._timeout_seconds) for test in tests
        )

    def try_examples(self, candidate: Candidate, examples: Sequence[Example]) -> tuple[Finding, ...]:
        """Run examples of bug reports on a candidate (port)."""
        files = spliced_files(ParsedFiles.of(candidate.files), candidate.contract)
        with workspace() as root, prepare(lay_out(root, self.sandbox), "example_runner") as pair:
            staged = stage(root, candidate._replace(files=files), files, self.sandbox)
            return run_examples(staged, tuple(examples), self._timeout_seconds, pair, advice="")

    def try_properties(
        self, candidate: Candidate, properties: Sequence[Property]
    ) -> tuple[TriedProperty, ...]:
        """Look for values that make approved properties false (port)."""
        if not properties:
            return ()
        files = spliced_files(ParsedFiles.of(candidate.files), candidate.contract)
        with workspace() as root, prepare(lay_out(root, self.sandbox), "fuzz.properties") as pair:
            judged = candidate._replace(files=files)
            return run_properties(stage(root, judged, files, self.sandbox), judged, properties, pair)

    def _skipped(self, *, thorough: bool) -> set[str]:
        skipped = set[str]() if self._static else {"static"}
        if not self._strength:
            skipped |= {"observation"}
        if not (thorough and self._strength):
            skipped |= {"strength"}
        return skipped if thorough and self._fuzz.examples else {*skipped, "fuzz"}

    def _judge_staged(
        self,
        candidate: Candidate,
        files: ParsedFiles,
        staged: Staged,
        pair: Pair,
        log: StageLog,
        *,
        thorough: bool,
    ) -> GateVerdict:
        contract, named = candidate.contract, named_tests(files)
        surface, claims, wrong_claims = self._read(candidate, files, named, log)
        examples, wrong_examples = _examples(files, contract)
        if is_untested(contract):
            log.add("tests", [_NO_CALL] if named else [])
        elif not named:
            log.add("tests", [_NO_TEST])
        # docs/design.md#ship-gate: nothing is executed before the surface matched
        if _has(log, Severity.NOT_EXECUTED):
            log.add("examples", wrong_examples)
            return _verdict(candidate, log, surface, (), files)
        if is_untested(contract):
            log.add("examples", wrong_examples)
            tests = self._try_definitions(candidate, files, staged, examples, log)
            return _verdict(candidate, log, surface, tests, files)
        with ExitStack() as started:
            examples_pair = started.enter_context(prepare(staged, "example_runner"))
            bounds = MeasuringBounds(self._strength, self._fuzz, thorough=thorough)
            known = {} if wrong_claims else claims
            measuring = started.enter_context(MeasuringStages(staged, candidate, files, known, bounds))
            with log.stage("tests") as findings:
                run = run_tests(staged, contract, named, self._timeout_seconds, pair)
                findings += run.findings
            complete = all(FindingCode(f.code) is FindingCode.TESTS_UNCALLED for f in run.findings)
            if claims and complete and not wrong_claims:
                log.add("obligations", unseen_faults(claims, run.outcomes, contract))
            with log.stage("examples") as findings:
                findings += wrong_examples
                # what hangs in a test hangs in an example too
                if not any(FindingCode(f.code) is FindingCode.TESTS_TIMEOUT for f in run.findings):
                    findings += run_examples(staged, examples, self._timeout_seconds, examples_pair)
            if run.tests and not run.findings:
                measuring.examine(run.seconds(), log, pair.exchange.raised | examples_pair.exchange.raised)
            observed = (*pair.exchange.observed(), *examples_pair.exchange.observed(), *measuring.observed())
            log.add("effects", observed_findings(observed, contract, staged))
            _note_counts(log, candidate, run, examples=len(examples), effects=len({*observed}))
        return _verdict(candidate, log, surface, run.tests, files)

    def _read(
        self, candidate: Candidate, files: ParsedFiles, named: list[str], log: StageLog
    ) -> tuple[SurfaceComparison, dict[str, tuple[str, ...]], list[Finding]]:
        """The stages that read: the surface, the claims of the tests, and what is wrong with these."""
        contract = candidate.contract
        with log.stage("static") as findings:
            findings += static_findings(candidate) if self._static else []
        with log.stage("surface") as findings:
            findings += (surface := compare_surface(files, contract, candidate.dependencies)).findings
        with log.stage("imports") as findings:
            findings += import_findings(candidate, self._packages)
        with log.stage("obligations") as findings:
            claims, wrong_claims = _claims(files, named, contract)
            findings += wrong_claims
        return surface, claims, wrong_claims

    def _try_definitions(
        self,
        candidate: Candidate,
        files: ParsedFiles,
        staged: Staged,
        examples: tuple[Example, ...],
        log: StageLog,
    ) -> tuple[TestResult, ...]:
        """Where there is no function: examples make values, and drawn ones go to the module's process and come back.

        Returns:
            A result for each class, since there is nothing that a test of the module could call.
        """
        with prepare(staged, "example_runner") as pair, log.stage("examples") as found:
            found += run_examples(staged, examples, self._timeout_seconds, pair)
            observed = [*pair.exchange.observed()]
        bounds = self._fuzz if self._fuzz.examples else FuzzBounds()
        with prepare(staged, "fuzz.runner") as pair:
            began = time.monotonic()
            result = examine_contract(staged, candidate, files, bounds, pair)
            log.report("fuzz", result, time.monotonic() - began)
            observed += pair.exchange.observed()
        log.add("effects", observed_findings(observed, candidate.contract, staged))
        names = (*own_statements(candidate.contract), *own_exceptions(candidate.contract))
        outcome = "FAIL" if result.findings else "PASS"
        return tuple(TestResult(f"definitions::{name}", outcome, 0.0) for name in names)


def _note_counts(log: StageLog, candidate: Candidate, run: TestRun, *, examples: int, effects: int) -> None:
    log.observe("layout", files=len(candidate.files))
    log.observe("obligations", obligations=len(obligations(candidate.contract)))
    log.observe("tests", tests=len(run.tests), calls=run.calls)
    log.observe("examples", examples=examples)
    log.observe("effects", effects=effects)


def _has(log: StageLog, severity: Severity) -> bool:
    return any(FindingCode(finding.code).severity is severity for finding in log.findings)


def _verdict(
    candidate: Candidate,
    log: StageLog,
    surface: SurfaceComparison | None = None,
    tests: tuple[TestResult, ...] = (),
    files: ParsedFiles | None = None,
) -> GateVerdict:
    findings = without_repetition(log.findings, files or ParsedFiles.of(candidate.files))
    return GateVerdict(
        passed=not log.findings,
        findings=tuple(findings),
        locked_fingerprint=candidate.contract.interface_fingerprint,
        actual_fingerprint=surface.actual if surface else "",
        diverged=surface.diverged if surface else {},
        tests=tests,
        files=dict(candidate.files if files is None else files),
        notes=tuple(log.notes),
        stages=log.results(),
    )


def _claims(
    files: ParsedFiles, named: list[str], contract: MicroModuleContract
) -> tuple[dict[str, tuple[str, ...]], list[Finding]]:
    if CLAIMS_FILE not in files:
        # the layout stage has reported it
        return {}, []
    try:
        claims = read_claims(files[CLAIMS_FILE])
    except ValueError as error:
        message = f"the file cannot be read: {error}"
        return {}, [Finding(FindingCode.OBLIGATIONS_UNREADABLE, CLAIMS_FILE, message)]
    return claims, claims_faults(claims, named, contract)


def _examples(files: ParsedFiles, contract: MicroModuleContract) -> tuple[tuple[Example, ...], list[Finding]]:
    if _EXAMPLES not in files:
        return (), []
    try:
        text = files[_EXAMPLES].decode()
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8 ({error}); save it as UTF-8"
        return (), [Finding(FindingCode.EXAMPLES_FORM, _EXAMPLES, message)]
    examples, faults = parse_examples(text)
    # an example that cannot be read is not also missing
    faults = faults or coverage_faults(examples, contract)
    faults = (*faults, *placeholder_faults(examples))
    return examples, [fault._replace(where=f"{_EXAMPLES}: {fault.where}") for fault in faults]


def packages_of(settings: GateSettings) -> tuple[AllowedPackage, ...]:
    """The third-party packages that modules may import.

    Raises:
        InputError: one is not installed here, or in another version.
    """
    return allowed_packages(settings.packages)


def gate_of(settings: GateSettings, *, shipped: bool = False) -> SandboxedShipGate:
    """The gate with the limits of the settings.

    Args:
        settings: The limits.
        shipped: Whether all that is judged ships with this installation (`SandboxedShipGate`).

    Raises:
        InputError: a package that modules may import is not installed here.
    """
    disk = settings.gate_disk_mib * _MIB
    limits = Limits(
        memory=settings.gate_memory_mib * _MIB,
        file_size=max(disk // 4, _MIB),
        scratch_size=disk,
        output=settings.gate_output_mib * _MIB,
    )
    return SandboxedShipGate(
        settings.gate_timeout_seconds,
        import_names(packages_of(settings)),
        sandbox=settings.sandbox,
        strength=settings.gate_strength,
        fuzz=FuzzBounds(examples=settings.gate_fuzz_examples),
        limits=limits,
        shipped=shipped,
    )
