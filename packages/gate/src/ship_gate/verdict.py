"""The ship gate port: what code observed about a module (design: sealing, ship-gate)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import FalsifyingTest, Property
from ship_gate.findings import Finding

ENTRY_FILE = "implementation/__init__.py"
"""The file of a module that holds its entry point."""

SLOW_STAGES = ("strength", "fuzz")
"""The stages that a judgement may go without."""


class SealedModule(NamedTuple):
    """A dependency by its directory (design: sealing).

    Args:
        contract: Its own.
        directory: Of its files.
        implementation_sha256: Of its implementation; empty where nothing is remembered of a candidate.
    """

    contract: MicroModuleContract
    directory: Path
    implementation_sha256: str = ""


class Candidate(NamedTuple):
    """A module that wants to ship.

    `files` maps posix paths below the module's directory (`implementation/__init__.py`, `tests/test_x.py`,
    `tests/obligations.json`, `examples.md`) to their bytes; `contract` is the locked one.
    """

    contract: MicroModuleContract
    files: Mapping[str, bytes]
    dependencies: tuple[SealedModule, ...] = ()


class TestResult(NamedTuple):
    """One executed test (design: ship-gate)."""

    __test__ = False  # the name is the field's; pytest must not collect it
    name: str
    result: Literal["PASS", "FAIL"]
    duration_ms: float
    message: str = ""


class StageReport(NamedTuple):
    """What a stage found that measures the tests or the module.

    Args:
        findings: What is wrong.
        summary: One line for the evidence.
        counts: How much it looked at, by what it was.
    """

    findings: tuple[Finding, ...]
    summary: str
    counts: dict[str, int]


class StageResult(NamedTuple):
    """What one stage of the gate observed (design: ship-gate).

    Args:
        name: The stage's.
        result: SKIPPED by the settings or in a preflight; NOT_RUN because an earlier stage left no ground for it.
        findings: How many.
        duration_ms: How long it took.
        observed: How much it looked at, by what it was: tests, calls, mutants.
    """

    name: str
    result: Literal["PASS", "FAIL", "SKIPPED", "NOT_RUN"]
    findings: int = 0
    duration_ms: float = 0.0
    observed: dict[str, int] = {}  # noqa: RUF012 - nobody changes it


class GateVerdict(NamedTuple):
    """The gate's own observation.

    Args:
        passed: True only if there is no finding.
        findings: All of them, not only the first.
        locked_fingerprint: Of the contract.
        actual_fingerprint: Of the surface extracted from the source; empty if none could be extracted.
        diverged: The contract dimensions that differ, with both sides rendered.
        tests: Every executed test; empty when the surface did not match (design: ship-gate: tests run after it).
        files: The files that ship: as given, with the docstring spliced from the contract.
        notes: What was measured beside pass or fail, one line each, for the evidence.
        stages: What each stage observed, in their order.
        executed_at: When its run began, as whoever asked for it read the clock; empty from the gate itself.
    """

    passed: bool
    findings: tuple[Finding, ...]
    locked_fingerprint: str
    actual_fingerprint: str
    diverged: Mapping[str, str]
    tests: tuple[TestResult, ...]
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
    stages: tuple[StageResult, ...] = ()
    executed_at: str = ""


class Trial(NamedTuple):
    """What became of one falsifying test (design: falsifying-tests).

    Args:
        name: The test's.
        problems: What keeps it from being a test of this module, in sentences; it then showed nothing.
        passed: Whether the module withstood it.
        message: What failed, without any of the module's source.
    """

    name: str
    problems: tuple[str, ...] = ()
    passed: bool = False
    message: str = ""


class TriedProperty(NamedTuple):
    """What became of one property (design: executable-spec).

    Args:
        heading: Of the property.
        problem: The values for which it does not hold, and what came out; empty if there are none.
        held: For how many values it was true.
        refused: For how many an error came that it allows.
    """

    heading: str
    problem: str = ""
    held: int = 0
    refused: int = 0


class ShipGate(Protocol):
    """Judges a candidate. No model takes part."""

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Check a candidate from the first stage to the last.

        Args:
            candidate: What wants to ship.
            thorough: Also the slow stages. What ships has had them for the same files (design: ship-gate).

        Raises:
            ShipGateError: the gate itself could not run (as opposed to a module that fails it).
        """
        ...

    def falsify(self, candidate: Candidate, tests: Sequence[FalsifyingTest]) -> tuple[Trial, ...]:
        """Try tests that somebody else wrote on a candidate that its own tests accept, each in a run of its own.

        Args:
            candidate: Its own tests take no part.
            tests: Checked as the candidate's own would be, then run.

        Raises:
            ShipGateError: the gate itself could not run.
        """
        ...

    def try_examples(self, candidate: Candidate, examples: Sequence[Example]) -> tuple[Finding, ...]:
        """Run examples that somebody else wrote on a candidate; what is false of them, without advice
        (design: change).

        Raises:
            ShipGateError: the gate itself could not run.
        """
        ...

    def try_properties(
        self, candidate: Candidate, properties: Sequence[Property]
    ) -> tuple[TriedProperty, ...]:
        """Look for values that make approved properties false of a candidate (design: executable-spec).

        Raises:
            ShipGateError: the gate itself could not run.
        """
        ...

    def stub(self, contract: MicroModuleContract, dependencies: Sequence[MicroModuleContract] = ()) -> bytes:
        """The source of `implementation/__init__.py` from which an implementer starts: the contract as a signature and
        docstring, with a body that raises NotImplementedError (design: module-directory).

        Args:
            contract: The locked one.
            dependencies: Of the modules that it calls; classes that both name are imported from there.
        """
        ...

    def documented(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """The source of an `implementation/__init__.py` with the contract's docstring, from which one goes on whose
        contract is another now (design: debate); as it is where the docstring has no place."""
        ...
