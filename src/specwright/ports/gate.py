"""The ship gate port: what code observed about a module (F§11, DESIGN §8)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from specwright.domain.answers import FalsifyingTest
from specwright.domain.contract import MicroModuleContract

__all__ = ["Candidate", "Finding", "GateVerdict", "SealedModule", "ShipGate", "TestResult", "Trial"]


class SealedModule(NamedTuple):
    """A shipped dependency, by its version directory."""

    contract: MicroModuleContract
    directory: Path


class Candidate(NamedTuple):
    """A module that wants to ship.

    `files` maps posix paths below the module's directory (`implementation/__init__.py`, `tests/test_x.py`,
    `tests/obligations.json`, `examples.md`) to their bytes; `contract` is the locked one.
    """

    contract: MicroModuleContract
    files: Mapping[str, bytes]
    dependencies: tuple[SealedModule, ...] = ()


class Finding(NamedTuple):
    """One thing that is wrong: a stable code, a place, and a sentence that says what to change."""

    code: str
    where: str
    message: str


class TestResult(NamedTuple):
    """One executed test (F§11.3)."""

    __test__ = False  # the name is the field's; pytest must not collect it
    name: str
    result: Literal["PASS", "FAIL"]
    duration_ms: float
    message: str = ""


class GateVerdict(NamedTuple):
    """The gate's own observation.

    Args:
        passed: True only if there is no finding.
        findings: All of them, not only the first.
        locked_fingerprint: Of the contract.
        actual_fingerprint: Of the surface extracted from the source; empty if none could be extracted.
        diverged: The contract dimensions that differ, with both sides rendered.
        tests: Every executed test; empty when the surface did not match (F§11.3: tests run after it).
        files: The files that ship: as given, with the docstring spliced from the contract.
        notes: What was measured beside pass or fail, one line each, for the evidence.
    """

    passed: bool
    findings: tuple[Finding, ...]
    locked_fingerprint: str
    actual_fingerprint: str
    diverged: Mapping[str, str]
    tests: tuple[TestResult, ...]
    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


class Trial(NamedTuple):
    """What became of one falsifying test (D13).

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


class ShipGate(Protocol):
    """Judges a candidate. No model takes part."""

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Check a candidate from the first stage to the last.

        Args:
            candidate: What wants to ship.
            thorough: Also the stages after tests and examples (strength, fuzz). A preflight goes without them (D18);
                what ships never does.

        Raises:
            SpecwrightError: the gate itself could not run (as opposed to a module that fails it).
        """
        ...

    def falsify(self, candidate: Candidate, tests: Sequence[FalsifyingTest]) -> tuple[Trial, ...]:
        """Try tests that somebody else wrote on a candidate that its own tests accept, each in a run of its own.

        Args:
            candidate: Its own tests take no part.
            tests: Checked as the candidate's own would be, then run.

        Raises:
            SpecwrightError: the gate itself could not run.
        """
        ...

    def stub(self, contract: MicroModuleContract) -> bytes:
        """The source of `implementation/__init__.py` from which an implementer starts: the contract as a
        signature and docstring, with a body that raises NotImplementedError (DESIGN §8.1)."""
        ...

    def documented(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """The source of an `implementation/__init__.py` with the contract's docstring, from which one goes on whose
        contract is another now (D10); as it is where the docstring has no place."""
        ...
