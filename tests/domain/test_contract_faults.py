"""What a Proposer may say of its contract, and what code knows of it (D42)."""

import pytest

from ship_gate.findings import Finding
from specwright.domain.answers import ContractFault
from specwright.domain.debate.reported_faults import PreflightLedger, as_failure, still_due
from testkit.domain.doubling import DOUBLE

LIMIT = Finding("tests.boundary", "tests/test_double.py::test_deep[9]", "a value is nested too deeply")
CLAIMS = {"test_deep": ["/outputs/0/invariants/0"], "test_double.py::test_two": ["", "/error_surfaces/0"]}


def fault(
    pointer: str = "/outputs/0/invariants/0",
    finding: str = "tests.boundary",
    where: str = "tests/test_double.py::test_deep",
    reason: str = "A value that holds itself does not cross.",
) -> ContractFault:
    """What the Proposer says."""
    return ContractFault(pointer=pointer, finding=finding, where=where, reason=reason)


def ledger(*passed: str) -> PreflightLedger:
    """An invocation that met a limit, and then let some tests pass."""
    made = PreflightLedger()
    made.add([LIMIT], [], CLAIMS)
    made.add([Finding("tests.failed", "tests/test_double.py::test_two", "4 is not 5")], passed, CLAIMS)
    return made


def test_a_limit_that_a_test_of_the_statement_met_confirms_the_fault():
    """Whatever its parameters and whichever submission it was (D-42-01)."""
    assert list(ledger("test_double.py::test_two").problems([fault()], DOUBLE)) == []
    assert ledger().confirms([fault()])
    assert ledger().confirms([fault(where="test_double.py::test_deep[another]")])
    assert "/outputs/0/invariants/0" in as_failure(fault()).invariant


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        (fault(pointer="/outputs/7"), "the contract has no /outputs/7"),
        (fault(finding="tests.timeout"), "there was no tests.timeout at tests/test_double.py::test_deep"),
        (
            fault(where="tests/test_double.py::test_two"),
            "these findings were: tests.boundary at test_double.py::test_deep",
        ),
    ],
)
def test_what_the_preflights_contradict_is_refused(said: ContractFault, wrong: str):
    """A fault is false if its evidence never was, and empty if its reason says nothing (D-42-01)."""
    (problem,) = ledger().problems([said], DOUBLE)
    assert wrong in problem


def test_a_statement_that_a_test_showed_can_be_shown():
    """One parameter that passes is enough."""
    (problem,) = ledger("test_double.py::test_deep[2]").problems([fault()], DOUBLE)
    assert "test_double.py::test_deep[2] shows /outputs/0/invariants/0 and passed" in problem


@pytest.mark.parametrize(
    "unproved",
    [
        fault(pointer="/inputs/0/constraints/0"),
        fault(finding="tests.failed", where="tests/test_double.py::test_two"),
    ],
)
def test_what_the_preflights_do_not_show_is_for_the_arbiter(unproved: ContractFault):
    """A limit at a test that shows something else, and a finding that is no limit, are neither refused nor confirmed
    (D-42-02)."""
    assert list(ledger().problems([unproved], DOUBLE)) == []
    assert not ledger().confirms([unproved])
    assert not ledger().confirms([fault(), unproved])
    assert not ledger().confirms([])


def test_only_what_asks_for_the_statement_is_waived_until_the_arbiter_rules():
    """The rest of the preflight is as strict as ever."""
    first = "/error_surfaces/1"
    unseen = Finding("obligations.unseen", "x", "no test has seen it", first)
    other = Finding("obligations.unseen", "x", "no test has seen it", "/error_surfaces/10")
    uncovered = Finding("obligations.uncovered", "x", "no test for it; write one", first)
    example = Finding("examples.uncovered", "examples.md", "0 of 1 error surfaces have an example")
    said = [fault(pointer=first)]
    assert still_due([unseen, other, uncovered, example, LIMIT], said) == (other, LIMIT)
    assert still_due([example], [fault()]) == (example,)
