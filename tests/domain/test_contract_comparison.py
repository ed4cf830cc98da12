"""The difference of two contracts of a module, and the bump that code computes of it (F§7.4)."""

from typing import Any

import pytest
from hypothesis import given

from gate_testkit.drawn_contracts import contracts
from ship_gate.contract.contract import MicroModuleContract, serves
from specwright.domain.interface_change import Bump, compare_contracts, next_version
from testkit.domain.doubling import DOUBLE

STEP = {"name": "step", "type": "int", "constraints": ["is not zero", "defaults to 1"]}
NUMBER = DOUBLE.inputs[0].to_json()
RESULT = DOUBLE.outputs[0].to_json()
NEGATIVE = DOUBLE.error_surfaces[0].to_json()
TOO_LARGE = {"name": "OverflowError", "when": "number is over 10", "surface": "exception"}
READS = {"type": "CALL", "target": "the clock", "description": "reads the time"}
POINT = "Point is a frozen dataclass: x: int"
AT = {"name": "at", "type": "Point", "constraints": [POINT, "defaults to None"]}


def changed(before: MicroModuleContract = DOUBLE, **fields: Any) -> MicroModuleContract:
    """A contract with other fields."""
    return MicroModuleContract.model_validate({**before.to_json(), **fields})


COMPATIBLE = {
    "an input with a default at the end": {"inputs": [NUMBER, STEP]},
    "a default": {"inputs": [{**NUMBER, "constraints": ["is not negative", "defaults to 0"]}]},
    "an error surface": {"error_surfaces": [NEGATIVE, TOO_LARGE]},
    "the first field of an error": {
        "error_surfaces": [{**NEGATIVE, "fields": [{"name": "number", "type": "int"}]}]
    },
    "an invariant": {"outputs": [{**RESULT, "invariants": ["is the number twice", "is even"]}]},
}

BREAKING: dict[str, Any] = {
    "an input gone": ({"inputs": []}, "Callers cannot pass `number` any more."),
    "an input that must be passed": (
        {"inputs": [NUMBER, {**STEP, "constraints": []}]},
        "Every caller has to pass `step`.",
    ),
    "an input before others": ({"inputs": [STEP, NUMBER]}, "by position"),
    "another type of an input": ({"inputs": [{**NUMBER, "type": "float"}]}, "Callers pass `number` as int."),
    "a constraint": ({"inputs": [{**NUMBER, "constraints": ["is not negative", "is even"]}]}, "a `number` that"),
    "a constraint gone": ({"inputs": [{**NUMBER, "constraints": []}]}, "a `number` that does not meet it"),
    "another output": ({"outputs": [RESULT, {**RESULT, "name": "rest"}]}, "another shape for every caller"),
    "an output gone": ({"outputs": []}, "another shape for every caller"),
    "another type of an output": ({"outputs": [{**RESULT, "type": "float"}]}, "Callers use `result` as int."),
    "another invariant": ({"outputs": [{**RESULT, "invariants": ["is even"]}]}, "was promised of `result`"),
    "an invariant gone": ({"outputs": [{**RESULT, "invariants": []}]}, "was promised of `result`"),
    "an error surface gone": ({"error_surfaces": []}, "Callers that handle ValueError"),
    "another condition": ({"error_surfaces": [{**NEGATIVE, "when": "is odd"}]}, "Callers that handle ValueError"),
    "an effect": ({"effects": [READS]}, "do not declare this effect"),
    "another mode": ({"modes": {"sync": True, "async": True}}, "Callers call it or await it"),
    "another note of the modes": ({"modes": {"sync": True, "async": False, "notes": "slow"}}, "the notes"),
    "a default that is another": ({"inputs": [NUMBER, {**STEP, "constraints": ["is not zero", "defaults to 2"]}]},
                                  "leave `step` out"),
    "a default gone": ({"inputs": [NUMBER, {**STEP, "constraints": ["is not zero"]}]}, "leave `step` out"),
    "an effect gone": ({"effects": []}, "may rely on this effect"),
    "a field of a class": ({"inputs": [NUMBER, STEP, {**AT, "constraints": [POINT + ", y: int", "defaults to None"]}]},
                           "a Point as it was"),
    "a field of an error gone": ({"error_surfaces": [NEGATIVE, {**TOO_LARGE, "fields": []}]}, "this field of OverflowError"),
}  # fmt: skip

_RICH = changed(
    inputs=[NUMBER, STEP, AT],
    effects=[READS],
    error_surfaces=[NEGATIVE, {**TOO_LARGE, "fields": [{"name": "limit", "type": "int"}]}],
)
_OF_RICH = {
    "a default that is another",
    "a default gone",
    "an effect gone",
    "a field of a class",
    "a field of an error gone",
}


def test_an_addition_that_no_caller_meets_unasked_is_minor():
    """F-7-05: it is one change, added, and nobody breaks."""
    for what, fields in COMPATIBLE.items():
        difference = compare_contracts(DOUBLE, changed(**fields))  # pyright: ignore
        assert difference.bump is Bump.MINOR, what
        assert ([change.kind for change in difference.changes], difference.breaks) == (["added"], []), what


def test_what_breaks_a_caller_is_major():
    """F-7-05, F-7-06: and a sentence says who breaks."""
    for what, (fields, says) in BREAKING.items():
        before = _RICH if what in _OF_RICH else DOUBLE
        difference = compare_contracts(before, changed(before, **fields))
        assert difference.bump is Bump.MAJOR, what
        assert any(says in sentence for sentence in difference.breaks), difference.breaks


def test_what_callers_do_not_see_is_a_patch():
    """F-7-05: the fingerprint is the same; where the order of statements alone is another, what is promised is not, and
    nobody breaks; a module that was renamed is another one."""
    difference = compare_contracts(DOUBLE, changed(purpose="Double an integer.", error_cases=[]))
    assert [change.place for change in difference.changes] == ["purpose", "error_cases"]
    assert difference.bump is Bump.PATCH
    both = changed(error_surfaces=[NEGATIVE, TOO_LARGE])
    difference = compare_contracts(both, changed(error_surfaces=[TOO_LARGE, NEGATIVE]))
    assert difference.bump is Bump.MINOR
    (change,) = difference.changes
    assert change.line == "modified error_surfaces: the same in another order"
    with pytest.raises(ValueError, match="the name of a module is the same in all versions"):
        compare_contracts(DOUBLE, changed(name="twice"))


@given(contracts(), contracts())  # pyright: ignore
def test_a_difference_is_seen_exactly_where_the_fingerprint_is_another(
    before: MicroModuleContract, after: MicroModuleContract
):
    """F-7-05: nothing of the five dimensions changes unseen, what one direction adds the other removes, and a reference
    to the old version is served by the next one unless it breaks."""
    same = compare_contracts(before, before.model_copy(update={"module_version": "7.1.0"}))
    assert same == ((), Bump.NONE)
    forth, back = compare_contracts(before, after), compare_contracts(after, before)
    assert (forth.bump in {Bump.MINOR, Bump.MAJOR}) == (
        before.interface_fingerprint != after.interface_fingerprint
    )
    assert bool(forth.breaks) == (forth.bump is Bump.MAJOR)
    added = [(change.place, change.after) for change in forth.changes if change.kind == "added"]
    removed = [(change.place, change.before) for change in back.changes if change.kind == "removed"]
    assert sorted(added) == sorted(removed)
    version = next_version("1.4.2", forth.bump)
    assert version in {"1.4.2", "1.4.3", "1.5.0", "2.0.0"}
    assert serves(version, "MM-0123abcd@1.4.2") == (forth.bump is not Bump.MAJOR)
