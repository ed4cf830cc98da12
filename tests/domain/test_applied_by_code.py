"""Amendments of contracts that code applies (design: amendments)."""

import pytest

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.rules import normalise
from specwright.domain.answers import Amendment, PlanAnswer
from specwright.domain.debate.amendments import applied_by_code
from specwright.domain.plan import KnownModules, assign
from testkit.loop.role_answers import plan, planned

CASES = ["Minus one is refused", "Nought is nought", "Two is four"]
ANSWER = PlanAnswer.model_validate(
    plan(
        planned(
            "double",
            error_cases=CASES,
            inputs=[{"name": "number", "type": "int", "constraints": ["is not negative", "defaults to 0"]}],
        ),
        planned("halve"),
    )
)
BASE = "contract:double#"


def contracts() -> dict[str, MicroModuleContract]:
    """Those of the plan."""
    _, made = assign(ANSWER, "MP-00000000", "", KnownModules({}, frozenset()), iter_ids())
    return {name: normalise(contract) for name, contract in made.items()}


def iter_ids():
    """Ids of modules."""
    ids = iter(f"MM-{number:08x}" for number in range(9))
    return lambda: next(ids)


def applied(*changes: tuple[str, str, str]) -> PlanAnswer | None:
    """The plan with amendments, if code applies them."""
    amendments = [
        Amendment(action=action, target=target, detail=detail) for action, target, detail in changes
    ]
    return applied_by_code(amendments, ANSWER, contracts())


def test_texts_are_replaced_added_and_struck_at_the_places_that_were_judged():
    """F-9.6-02: all in one, each pointer as the contract stood; nothing else changes."""
    made = applied(
        ("REMOVE", f"{BASE}/error_cases/0", "It says what error_surfaces/0 says already."),
        ("MODIFY", f"{BASE}/error_cases/1", "Nought is nought and stays so"),
        ("REMOVE", f"{BASE}/error_cases/2", "It is the invariant once more, for two."),
        ("ADD", f"{BASE}/error_cases/-", "'Minus a million is refused as well'"),
        ("ADD", f"{BASE}/inputs/0/constraints/-", "is less than a million million"),
        ("MODIFY", f"{BASE}/purpose", "Double a number that is not negative."),
    )
    assert made is not None
    double, halve = made.modules
    assert double.error_cases == ["Nought is nought and stays so", "Minus a million is refused as well"]
    assert double.inputs[0].constraints == [
        "is not negative",
        "is less than a million million",
        "defaults to 0",
    ]
    assert double.purpose == "Double a number that is not negative."
    assert halve == ANSWER.modules[1]
    assert double.outputs == ANSWER.modules[0].outputs


@pytest.mark.parametrize("name", ["", "ValueError: "])
def test_the_text_of_an_error_surface_is_what_stands_after_its_name(name: str):
    """F-9.6-02: as the contract is told, with the name of the error or without."""
    made = applied(("MODIFY", f"{BASE}/error_surfaces/0", f"{name}The number is less than nought."))
    assert made is not None
    (surface,) = made.modules[0].error_surfaces
    assert (surface.name, surface.when) == ("ValueError", "The number is less than nought.")


@pytest.mark.parametrize(
    ("action", "pointer", "detail"),
    [
        ("MODIFY", "/purpose", "Say that it doubles, in one sentence."),
        ("MODIFY", "/error_cases/0", "Minus two is refused instead of minus one"),
        ("MODIFY", "/inputs/0", "a number that is not negative at all"),
        ("MODIFY", "/inputs/0/type", "int | None for no number at all"),
        ("ADD", "/error_surfaces/-", "TypeError when number is no integer"),
        ("REMOVE", "/error_surfaces/0", "It cannot fail for any number here."),
        ("REMOVE", "/inputs/0", "The function needs no input at all."),
    ],
)
def test_what_is_no_text_or_reads_as_an_instruction_is_left_to_the_planner(action, pointer, detail):
    """F-9.6-02: code applies what has one reading."""
    assert applied((action, f"{BASE}{pointer}", detail)) is None
