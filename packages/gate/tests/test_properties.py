"""Approved properties are tried with values that examples do not have (design: executable-spec)."""

from typing import Any

import pytest

from gate_testkit.edge_faults import EDGE_FAULTS
from gate_testkit.fuzzing import Planted
from ship_gate.contract.independent_tests import Property
from ship_gate.ship_gate import SandboxedShipGate
from testkit.sampling import slow, spread

GATE = SandboxedShipGate()


def _tried(planted: Any, code: Any, variables: Any, errors: Any = (), examples: Any = ()):
    one = Property("criterion 1", f"from modules.f import f\n{code}", variables, errors, examples)
    (tried,) = GATE.try_properties(planted.candidate(), [one])
    return tried


@pytest.mark.parametrize("name", spread(EDGE_FAULTS, fast=16, slow=8))
def test_a_property_finds_an_edge_fault_that_the_examples_of_the_module_miss(name: Any):
    """D-40-12."""
    case = EDGE_FAULTS[name]
    assert GATE.try_examples(case.planted().candidate(), case.approved_examples()) == ()

    (tried,) = GATE.try_properties(case.planted().candidate(), [case.property()])

    assert tried.problem


@pytest.mark.parametrize("name", spread(EDGE_FAULTS, fast=16, slow=8))
def test_a_sound_module_keeps_its_property(name: Any):
    """D-40-12."""
    case = EDGE_FAULTS[name]
    sound = case.planted(is_sound=True).candidate()
    assert GATE.try_examples(sound, case.approved_examples()) == ()

    (tried,) = GATE.try_properties(sound, [case.property()])

    assert tried.problem == ""
    assert tried.held > 20


INT: dict[str, list[str]] = {"n: int": []}


def test_without_a_property_nothing_is_tried():
    """A task may have examples alone (D-40-03)."""
    assert GATE.try_properties(Planted(INT, "int", "return n").candidate(), []) == ()


def test_an_allowed_error_of_a_call_refuses_the_values_and_of_the_propertys_own_code_it_breaks_it():
    """D-40-03: the error is allowed to the product, not to what looks at its results."""
    planted = Planted(INT, "str", "if n < 0:\n    raise ValueError(n)\nreturn '' if n == 0 else str(n)")

    by_product = _tried(planted, "f(n) == str(n) or n == 0", {"n": "int"}, ("ValueError",))
    by_itself = _tried(planted, "int(f(n)) == n", {"n": "int"}, ("ValueError",))

    assert by_product.problem == ""
    assert by_product.refused > 0
    assert by_itself.problem.startswith("for n=0 its code raises ValueError: invalid literal")


def test_an_error_that_is_not_allowed_breaks_a_property():
    """D-40-03."""
    planted = Planted(INT, "int", "if n > 1000:\n    raise KeyError(n)\nreturn n", ("KeyError",))

    assert _tried(planted, "f(n) == n", {"n": "int"}).problem == "for n=1001 its code raises KeyError: 1001"


def test_the_counterexample_is_made_small():
    """D-40-10: a person reads it."""
    planted = Planted({"words: list[str]": []}, "int", "return len(words) if len(words) < 4 else 3")

    assert _tried(planted, "f(words) == len(words)", {"words": "list[str]"}).problem.startswith(
        "for words=['', '', '', ''] its code gives False"
    )


def test_numbers_are_finite_and_texts_can_be_written():
    """What is meant by all values: no NaN, no half of a character."""
    planted = Planted(INT, "int", "return n")
    code = "f(0) == 0 and abs(x) < float('inf') and d.is_finite() and t.encode() is not None"

    assert _tried(planted, code, {"x": "float", "d": "Decimal", "t": "str"}).problem == ""


def test_a_variable_may_be_of_a_class_that_the_module_exports():
    """D-40-03."""
    planted = Planted(
        {"bill: Bill": ["Bill is a frozen dataclass: payer: str, cents: int"]},
        "int",
        "return bill.cents if bill.payer else 0",
        before="@dataclass(frozen=True)\nclass Bill:\n    payer: str\n    cents: int\n",
    )

    assert _tried(planted, "f(bill) == bill.cents", {"bill": "Bill"}).problem.startswith(
        "for bill=Bill(payer='', cents=1)"
    )


def test_a_variable_may_be_a_function():
    """D-43-06: it is pure, so that the property can call it as well as the module."""
    planted = Planted(
        {"words: list[str]": [], "key: Callable[[str], int]": []},
        "list[int]",
        "return [key(word) for word in words if word]",
    )
    variables = {"words": "list[str]", "key": "Callable[[str], int]"}
    tried = _tried(planted, "f(words, key) == [key(word) for word in words]", variables)
    assert tried.problem.startswith("for words=[''], key=<a function that gives ")
    assert _tried(planted, "len(f(words, key)) <= len(words)", variables).problem == ""


@pytest.mark.parametrize(
    ("body", "end"),
    [
        slow("while n == 77:\n    pass\nreturn n", "does not end"),
        ("import os\nif n == 77:\n    os._exit(0)\nreturn n", "ends the process"),
    ],
)
def test_a_call_that_gives_nothing_breaks_a_property(body: str, end: str):
    """D-40-10: a hang is a counterexample, not a fault of the gate."""
    tried = _tried(Planted(INT, "int", body), "f(n) == n or n != 77", {"n": "int"}, examples=("f(77)",))

    assert f"for n=77 a call {end}" in tried.problem


def test_a_property_that_every_value_is_refused_by_shows_nothing_and_says_so():
    """D-40-10."""
    planted = Planted(INT, "int", "raise ValueError(n)")

    tried = _tried(planted, "f(n) == n", {"n": "int"}, ("ValueError",))

    assert (tried.problem, tried.held) == ("", 0)
    assert tried.refused > 100


def test_the_same_module_is_tried_with_the_same_values():
    """D-40-10: a verdict can be repeated."""
    planted = Planted({"text: str": []}, "str", "return text")

    first, second = (_tried(planted, "f(text) == text", {"text": "str"}) for _ in range(2))

    assert first == second
