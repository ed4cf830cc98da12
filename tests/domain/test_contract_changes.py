"""What is another in a contract than it was (D10)."""

from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.statements import contract_changes
from testkit.domain.doubling import DOUBLE


def changed(**fields: Any) -> list[str]:
    """What changes if these fields are others."""
    return contract_changes(DOUBLE, MicroModuleContract.model_validate({**DOUBLE.to_json(), **fields}))


def test_each_statement_that_went_or_came_is_a_line_of_its_field():
    """D-10-05: types and statements of parameters, errors as a whole; the rest of the field is not repeated."""
    inputs = [{"name": "number", "type": "float", "constraints": ["is not negative", "is finite"]}]
    assert changed(inputs=inputs, error_cases=[]) == [
        "- inputs: number is int",
        "+ inputs: number is float",
        "+ inputs: number: is finite",
        "- error_cases: Minus one",
    ]
    called = [{"ref": "MM-1a2b3c4d@1.0.0", "why": "It begins with it."}]
    assert changed(dependencies=called) == ["+ dependencies: MM-1a2b3c4d@1.0.0: It begins with it."]
    assert changed(error_surfaces=[]) == ["- error_surfaces: ValueError: number is negative"]
    assert changed(dependencies=[{"ref": "MM-00000001@1.0.0", "why": "It adds."}]) == [
        "+ dependencies: MM-00000001@1.0.0: It adds."
    ]
    effect = {"type": "CALL", "target": "clock", "description": "Reads the time."}
    assert changed(effects=[effect]) == ["+ effects: CALL clock: Reads the time."]


def test_statements_in_another_order_are_said_to_be_the_same():
    """D-10-05: their pointers are others, so a test's obligation may be."""
    assert changed(error_cases=["Minus one", "Minus one", "b"]) == ["+ error_cases: b"]
    assert changed() == []
    two = DOUBLE.model_copy(update={"error_cases": ["a", "b"]})
    other = DOUBLE.model_copy(update={"error_cases": ["b", "a"]})
    assert contract_changes(two, other) == ["~ error_cases: the same statements in another order"]
