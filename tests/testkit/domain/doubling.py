"""The contract of a module that doubles a number, and what a Challenger may cite of it."""

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.debate.answer_rules import citable

DOUBLE = MicroModuleContract.model_validate(
    {
        "module_id": "MM-00000001",
        "module_version": "1.0.0",
        "name": "double",
        "purpose": "Double a number.",
        "tags": ["numbers"],
        "inputs": [{"name": "number", "type": "int", "constraints": ["is not negative"]}],
        "outputs": [{"name": "result", "type": "int", "invariants": ["is the number twice"]}],
        "error_surfaces": [{"name": "ValueError", "when": "number is negative", "surface": "exception"}],
        "effects": [],
        "modes": {"sync": True, "async": False},
        "error_cases": ["Minus one"],
        "dependencies": [],
    }
)


GIVEN = citable(
    [DOUBLE],
    ["test_it_is_the_number_twice", "test_double.py::test_a_negative_number_is_refused"],
    ["2 of 2 tests passed: test_it_is_the_number_twice[1], test_unlisted"],
    "# Examples\n\n## Two and two\n\nAre four.\n",
)
