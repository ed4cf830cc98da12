"""What a contract does not promise: constraints that begin `out of scope: ` (D10, design: contracts)."""

import pytest

from ship_gate.contract.contract import Input, MicroModuleContract
from ship_gate.contract.docstring import render_docstring
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import MOST_OUT_OF_SCOPE, normalise, problems, scope_limits
from specwright.domain.interface_change import Bump, compare_contracts
from testkit.domain.doubling import DOUBLE

LIMIT = "out of scope: numbers of over ten digits"


def limited(*constraints: str) -> MicroModuleContract:
    """The double of a number, with further constraints."""
    (one,) = DOUBLE.inputs
    changed = Input(name=one.name, type=one.type, constraints=[*one.constraints, *constraints])
    return DOUBLE.model_copy(update={"inputs": [changed]})


def test_a_limit_is_told_to_callers_and_tried_by_no_test():
    """D-10-07, D-12-01: it stands in the docstring and in the fingerprint, and is no obligation."""
    contract = limited(LIMIT)
    assert problems(contract) == []
    assert f"- {LIMIT}\n" in f"{render_docstring(contract)}\n"
    assert contract.interface_fingerprint != DOUBLE.interface_fingerprint
    assert obligations(contract) == obligations(DOUBLE)
    (stated,) = scope_limits(contract)
    assert stated.pointer == f"/inputs/0/constraints/{len(DOUBLE.inputs[0].constraints)}"
    assert stated.text == LIMIT[14:]


def test_its_beginning_has_one_form():
    """D-10-07: however it is written."""
    contract = normalise(limited("Out of Scope: numbers of  over ten digits"))
    assert contract.inputs[0].constraints[-1] == LIMIT


def test_a_limit_that_names_no_values_is_refused():
    """D-10-07: nothing and everything."""
    assert "names no values; say which ones" in problems(limited("out of scope: everything"))[0]


def test_there_are_few_limits():
    """D-10-07: a contract that leaves out most of its inputs says too little."""
    many = [f"out of scope: numbers of {n} digits" for n in range(MOST_OUT_OF_SCOPE + 1)]
    assert problems(limited(*many[1:])) == []
    assert f"say it in {MOST_OUT_OF_SCOPE} at most" in problems(limited(*many))[0]


def test_a_limit_is_said_of_an_input():
    """D-10-07: of an output it would name no values that a caller gives."""
    (one,) = DOUBLE.outputs
    output = one.model_copy(update={"invariants": [*one.invariants, LIMIT]})
    assert "is said of an input" in problems(DOUBLE.model_copy(update={"outputs": [output]}))[0]


@pytest.mark.parametrize(
    ("before", "after", "bump"),
    [
        (limited(), limited(LIMIT), Bump.MAJOR),
        (limited(LIMIT), limited("out of scope: numbers of over two digits"), Bump.MAJOR),
        (limited(LIMIT), limited(), Bump.MINOR),
    ],
    ids=["added", "reworded", "dropped"],
)
def test_who_promises_less_breaks_callers(
    before: MicroModuleContract, after: MicroModuleContract, bump: Bump
):
    """D-10-07, D-26-03: a caller may rely on what came out; nobody relies on what was not promised."""
    assert compare_contracts(before, after).bump is bump
