"""Errors with typed fields: what ships, and what is refused (design: contracts)."""

import json

import pytest

from gate_testkit.judging import codes
from ship_gate.contract.contract import ErrorField, ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.contract.rules import problems
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Candidate

CONTRACT = MicroModuleContract(
    module_id="MM-00000001",
    name="take_items",
    purpose="Take items out of a list by their places.",
    inputs=[
        Input(name="items", type="list[str]"),
        Input(name="places", type="list[int]", constraints=["each is a place in items, counted from 0"]),
    ],
    outputs=[Output(name="taken", type="list[str]", invariants=["the items in the order of places"])],
    error_surfaces=[
        ErrorSurface(
            name="PatchError",
            when="items is empty",
            surface="exception",
            fields=[ErrorField(name="index", type="int | None"), ErrorField(name="reason", type="str")],
        ),
        ErrorSurface(name="PatchError", when="items has no such place", surface="exception"),
    ],
    effects=[],
    modes=Modes(sync=True, async_=False),
)
SOURCE = '''__all__ = ["PatchError", "take_items"]


class PatchError(Exception):
    """Which place cannot be taken, and why."""

    index: int | None
    reason: str

    def __init__(self, index: int | None, reason: str) -> None:
        super().__init__(f"{reason} (index {index})")
        self.index = index
        self.reason = reason


def take_items(items: list[str], places: list[int]) -> list[str]:
    if not items:
        raise PatchError(None, "nothing to take")
    for index, place in enumerate(places):
        if not 0 <= place < len(items):
            raise PatchError(index, "no such place")
    return [items[place] for place in places]
'''
TESTS = """import pytest

from modules.take_items import PatchError, take_items


@pytest.mark.parametrize(
    ("places", "taken"), [([], []), ([2, 0], ["c", "a"]), ([1, 1], ["b", "b"]), ([0, 2], ["a", "c"])]
)
def test_items_are_taken_in_the_order_of_the_places(places, taken):
    assert take_items(["a", "b", "c"], places) == taken


def test_of_nothing_nothing_is_taken():
    with pytest.raises(PatchError) as caught:
        take_items([], [])
    assert (caught.value.index, caught.value.reason) == (None, "nothing to take")


@pytest.mark.parametrize(("places", "index"), [([3], 0), ([0, -1], 1), ([0, 1, 2, 4], 3)])
def test_a_place_that_is_not_there_is_told_by_its_index(places, index):
    with pytest.raises(PatchError) as caught:
        take_items(["a", "b", "c"], places)
    assert caught.value.index == index
    assert caught.value.reason == "no such place"
"""
CLAIMS = {
    "test_items_are_taken_in_the_order_of_the_places": ["", "/outputs/0/invariants/0"],
    "test_of_nothing_nothing_is_taken": [
        "/error_surfaces/0",
        "/error_surfaces/0/fields/0",
        "/error_surfaces/0/fields/1",
    ],
    "test_a_place_that_is_not_there_is_told_by_its_index": [
        "/inputs/1/constraints/0",
        "/error_surfaces/1",
        "/error_surfaces/0/fields/0",
    ],
}
EXAMPLE = """## {title}

This is what comes out.

```python
from modules.take_items import take_items

{code}
```

```text
{outcome}
```
"""
EXAMPLES = "\n".join(
    EXAMPLE.format(title=title, code=code, outcome=outcome)
    for title, code, outcome in [
        ("Two items", 'take_items(["x", "y"], [1])', "['y']"),
        ("Nothing", "take_items([], [0])", "PatchError: nothing to take (index None)"),
        ("No such place", 'take_items(["x"], [0, 1])', "PatchError: no such place (index 1)"),
    ]
)


def judged(source: str = SOURCE, **gate: int):
    """The verdict on a module with this source."""
    files = {
        "implementation/__init__.py": source,
        "tests/test_take_items.py": TESTS,
        "tests/obligations.json": json.dumps(CLAIMS),
        "examples.md": EXAMPLES,
    }
    whole = {path: text.encode() for path, text in files.items()}
    return SandboxedShipGate(20, **gate).judge(Candidate(CONTRACT, whole), thorough=not gate)


@pytest.mark.slow
def test_a_module_whose_error_has_typed_fields_ships():
    """D-43-01: `PatchError(index: int | None, reason: str)` locks, crosses the processes, and is read by tests."""
    assert problems(CONTRACT) == []
    verdict = judged()
    assert codes(verdict) == []
    assert verdict.passed


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("    index: int | None\n    reason: str\n", ""),
        ("    index: int\n    reason: str\n", "fields.0.type"),
        ("    index: int | None\n    reason: bytes\n", "fields.1.type"),
        ("    index: int | None\n", "only the contract has `reason: str`"),
        ("    reason: str\n    index: int | None\n", "fields.0.name"),
    ],
    ids=["as stated", "without None", "bytes", "one less", "another order"],
)
def test_a_field_of_another_type_is_a_mismatch_of_the_fingerprint(declared, said):
    """D-43-01: before anything runs, and the field is named."""
    verdict = judged(SOURCE.replace("    index: int | None\n    reason: str\n", declared), strength=0)
    assert (verdict.actual_fingerprint == CONTRACT.interface_fingerprint) == (not said)
    messages = {finding.code: finding.message for finding in verdict.findings}
    assert [*messages] == (["surface.mismatch", "surface.diverged"] if said else [])
    assert said in messages.get("surface.diverged", "")


@pytest.mark.parametrize(
    "wrong",
    [
        ("self.index = index", "self.index = None if index is None else index + 1"),
        ("self.reason = reason", "self.reason = reason.upper()"),
    ],
    ids=["index", "reason"],
)
def test_a_wrong_value_of_a_field_fails_a_test(wrong):
    """D-43-01: the test in the other process reads the value that the module gave."""
    verdict = judged(SOURCE.replace(*wrong), strength=0)
    assert codes(verdict) == ["tests.failed"]
