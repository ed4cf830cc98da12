"""A gate that finds what is marked in a draft, and writes down every call: a fake of the port `ShipGate`."""

from collections.abc import Iterator, Sequence

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import imported_classes, render_stub
from ship_gate.contract.examples import Example
from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.contract.obligations import read_claims
from ship_gate.findings import Finding
from ship_gate.source.splice import splice
from ship_gate.verdict import Candidate, GateVerdict, TestResult, Trial

__all__ = [
    *("AT_PREFLIGHT", "AT_THE_GATE", "BOUNDARY", "FAILING", "FALSIFIABLE", "LIMITED", "MISMATCH"),
    "ScriptedGate",
]

AT_PREFLIGHT = "fails at preflight"
AT_THE_GATE = "fails at the gate"
FAILING = "fails a test at the gate"
MISMATCH = "has another surface at the gate"
BOUNDARY = "hands over what does not cross"
FALSIFIABLE = "fails every falsifying test"
"""Marks in a draft: what the scripted gate finds in it."""

LIMITED = "tests/test_double.py::test_a_negative_number_is_refused"
"""The test that fails, or at which a draft meets a limit of the boundary."""

MISMATCHED = "Interface fingerprint mismatch: expected {}, got {}"


class ScriptedGate:
    """The port `ShipGate`: it finds what is marked in a draft.

    Args:
        trace: Takes `<module>/preflight` and `<module>/gate`, and `<module>/tests` for falsifying tests.
    """

    def __init__(self, trace: list[str]) -> None:
        self.trace = trace

    def stub(self, contract: MicroModuleContract, dependencies: Sequence[MicroModuleContract] = ()) -> bytes:
        """As the real one makes it."""
        return render_stub(contract, imported_classes(contract, dependencies)).encode()

    def documented(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """As the real one does it."""
        return splice(source, contract)

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """Look for the marks."""
        contract = candidate.contract
        self.trace.append(f"{contract.name}/{'preflight' if thorough else 'gate'}")
        source = candidate.files["implementation/__init__.py"].decode()
        locked = contract.interface_fingerprint
        fails = FAILING in source and not thorough
        tests = tuple(
            TestResult(name, "FAIL" if fails and LIMITED.endswith(name) else "PASS", 1.0)
            for name in read_claims(candidate.files["tests/obligations.json"])
            if BOUNDARY not in source or not LIMITED.endswith(name)
        )
        if MISMATCH in source and not thorough:
            message = MISMATCHED.format(locked, "0" * 64)
            finding = Finding("surface.mismatch", "implementation/__init__.py", message)
            return GateVerdict(
                False,
                (finding,),
                locked,
                "0" * 64,
                {"inputs": "locked: int, actual: str"},
                (),
                candidate.files,
            )
        findings = tuple(self._found(source, thorough=thorough))
        return GateVerdict(not findings, findings, locked, locked, {}, tests, candidate.files)

    def try_examples(self, candidate: Candidate, examples: Sequence[Example]) -> tuple[Finding, ...]:
        """All are true of every draft."""
        return ()

    def falsify(self, candidate: Candidate, tests: Sequence[FalsifyingTest]) -> tuple[Trial, ...]:
        """Every test fails on what is marked so."""
        if tests:
            self.trace.append(f"{candidate.contract.name}/tests")
        failed = FALSIFIABLE in candidate.files["implementation/__init__.py"].decode()
        return tuple(
            Trial(test.name, (), not failed, "expected 6, got 5" if failed else "") for test in tests
        )

    def _found(self, source: str, *, thorough: bool) -> Iterator[Finding]:
        if AT_PREFLIGHT in source:
            yield Finding("tests.failed", "test_it_is_the_number_twice", "expected 4, got 5")
        if BOUNDARY in source:
            yield Finding("tests.boundary", LIMITED, "a value is nested too deeply")
        if FAILING in source and not thorough:
            yield Finding("tests.failed", LIMITED, "expected ValueError, got 6")
        if AT_THE_GATE in source and not thorough:
            yield Finding("strength.weak", "implementation/__init__.py", "7 of 12 mutants lived")
