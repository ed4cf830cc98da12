"""Faults planted in the examples of a spec: each is found before anything is built, with what to do (DESIGN §13.2). Two that
only a run shows: `tests/loop/debate/test_spec_faults.py`."""

import json
from typing import Any

import pytest

from specwright.domain.spec.completeness import validate
from testkit.paths import EXAMPLES

IMPORT = "from tabkeeper import parse_money, to_cents\n"
SPEC = json.loads((EXAMPLES / "tabkeeper/playbook/researcher/spec.json").read_text())


def shown(title: str, code: str, gives: str, *criteria: int) -> dict[str, Any]:
    """An example of the first task."""
    return {"title": title, "criteria": list(criteria), "code": f"{IMPORT}{code}", "gives": gives}


SOUND = [
    shown("A price", "parse_money('$12.5')", "Decimal('12.50')", 1),
    shown("Thousands", "parse_money('1,200')", "Decimal('1200.00')", 2),
    shown("No number", "parse_money('twelve')", "ValueError:", 3),
    shown("Cents", "to_cents(parse_money('12.34'))", "1234", 4),
]


CALLS_READ_MONEY = "from tabkeeper import parse_money, read_money\nread_money(str(parse_money('1')))"


def report(examples: list[dict[str, Any]]):
    """What `validate` says of the example's spec with these examples of its first task."""
    spec = json.loads(json.dumps(SPEC))
    provides = ["parse_money(text: str) -> Decimal", "to_cents(amount: Decimal) -> int"]
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    assert task["task_id"] == "TSK-001"
    task["acceptance"] = {"provides": provides, "examples": examples}
    return validate(spec)


def test_sound_examples_have_no_fault():
    """What is planted is what is found (D-40-05)."""
    found = report(SOUND)
    assert found.errors == []
    assert not any("example" in one.message for one in found.warnings)


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        (shown("Rounded", "parse_money( '$12.5' )", "Decimal('12.5')", 1), "'A price' of TSK-001 says"),
        (
            shown("Read", "read_money('1')", "Decimal('1.00')", 1),
            "uses names that nothing defines: read_money",
        ),
        (
            {**shown("Read", "x", "1", 1), "code": CALLS_READ_MONEY},
            "no task provides read_money; add it to `provides` of the task that makes it, or use another name",
        ),
        (
            shown("Grouped", "parse_money('1.200', group='.')", "Decimal('1200.00')", 2),
            "does not fit `parse_money(text: str) -> Decimal`",
        ),
    ],
    ids=["contradicts another", "undefined name", "name nobody provides", "two signatures"],
)
def test_a_planted_fault_is_an_error_that_says_what_to_do(planted: dict[str, Any], words: str):
    """Before the gate of the person, in the conversation of the researcher (D-40-05)."""
    (error,) = report([*SOUND, planted]).errors
    assert error.path.endswith("tasks[0]")
    assert error.field == "acceptance.examples"
    assert words in error.message


def test_a_criterion_without_an_example_is_a_warning_that_says_what_to_do():
    """Prose criteria stay as they are, and the page counts them (D-40-04)."""
    found = report(SOUND[:3])
    assert found.errors == []
    assert [one.message for one in found.warnings if "no example" in one.message] == [
        "criterion 4 is shown by no example and no property; add one, or say why not: "
        "in `unexecutable`, which is `Not executable:` in acceptance.md"
    ]
