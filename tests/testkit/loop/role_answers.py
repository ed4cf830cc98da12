"""What roles answer in these tests: sound plans, deliverables, verdicts and rulings, and ways to get each wrong.

Raw JSON as a model would hand it in; a text stands for an answer without a terminal call. What is said of a draft by
the scripted gate is written in the draft: see `testkit.loop.scripted_gate`.
"""

import json
from typing import Any, NamedTuple

from ship_gate.contract.contract import DIMENSIONS
from specwright.domain.answers import CRITERIA

__all__ = [
    "INCONSISTENT",
    "MILD",
    "PASSING",
    "PROSE",
    "UNTESTED",
    "WHY_UNSHOWN",
    "Turn",
    "amended",
    "amending",
    "approving",
    "aside",
    "claimed",
    "draft",
    "failing",
    "plan",
    "planned",
    "rejecting",
    "ruling",
    "unshown",
]

PROSE = "I looked at everything and it seems to be in good order."
"""No JSON at all."""


class Turn(NamedTuple):
    """One turn of a role.

    Args:
        answer: What is submitted; a text is an answer without a terminal call. None: nothing yet, which only a chat
            model can say.
        files: What is written right before.
        calls: Other tools that are called before that, by name with their arguments; a chat model's as well.
        text: What a chat model says beside its calls.
    """

    answer: dict[str, Any] | str | None
    files: dict[str, str] | None = None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    text: str = ""


CLAIM = {
    "claim": "What was asked for is there, and every statement of the contract is shown by a test.",
    "acceptance_checks": ["A negative number is refused.", "Two and two are four."],
}


def planned(name: str, *depends_on: str, **changes: Any) -> dict[str, Any]:
    """A module of a plan: the double of a number, whatever it is called."""
    return {
        "name": name,
        "purpose": f"Make the {name} of a number that is not negative.",
        "tags": ["numbers"],
        "inputs": [{"name": "number", "type": "int", "constraints": ["is not negative"]}],
        "outputs": [{"name": "result", "type": "int", "invariants": ["is the number twice"]}],
        "error_surfaces": [{"name": "ValueError", "when": "number is negative", "surface": "exception"}],
        "effects": "none: pure",
        "modes": {"sync": True, "async": False},
        "error_cases": ["Minus one is refused"],
        "depends_on": [{"module": other, "why": "It begins with it."} for other in depends_on],
        "reuse": {
            "query": f"{name} of a number",
            "conclusion": "CREATE_NEW",
            "justification": "Nothing that was found does this.",
        },
        **changes,
    }


def plan(*modules: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A plan of modules."""
    return {"modules": list(modules), **CLAIM, **changes}


def draft(name: str, mark: str = "", version: str = "") -> dict[str, str]:
    """The files of a module.

    Args:
        name: The module.
        mark: What the gate is to find; none for a sound draft.
        version: Tells drafts apart.
    """
    source = f'''"""{version or "The only version"}."""

__all__ = ["{name}"]


def {name}(number: int) -> int:
    """{mark}"""
    if number < 0:
        raise ValueError("number is negative")
    return number * 2
'''
    tests = f"""import pytest

from modules.{name} import {name}


@pytest.mark.parametrize(("number", "twice"), [(0, 0), (1, 2), (2, 4), (21, 42)])
def test_it_is_the_number_twice(number, twice):
    assert {name}(number) == twice


def test_a_negative_number_is_refused():
    with pytest.raises(ValueError, match="number is negative"):
        {name}(-1)
"""
    claims = {
        "test_it_is_the_number_twice": ["", "/outputs/0/invariants/0"],
        "test_a_negative_number_is_refused": ["/inputs/0/constraints/0", "/error_surfaces/0"],
    }
    examples = f"""## Two

Two and two are four.

```python
from modules.{name} import {name}

{name}(2)
```

```text
4
```

## A negative number

It is refused.

```python
from modules.{name} import {name}

{name}(-1)
```

```text
ValueError: number is negative
```
"""
    return {
        "implementation/__init__.py": source,
        f"tests/test_{name}.py": tests,
        "tests/obligations.json": json.dumps(claims, indent=2) + "\n",
        "examples.md": examples,
    }


def claimed() -> dict[str, Any]:
    """What a Proposer says of its files."""
    return dict(CLAIM)


UNTESTED = [
    {"criterion": number, "reason": "The listed tests try it with every value that matters."}
    for number in (1, 2)
]
"""Why a Challenger that looks again hands in no test of the criteria of a task of two."""


def _verdict(verdict: str, evidence: str, *failures: str, unmet: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "untested_criteria": UNTESTED,
        "rubric_assessments": [
            {"criterion": name, "assessment": "NOT_MET" if name in unmet else "MET", "evidence": evidence}
            for name in CRITERIA
        ],
        "verdict": verdict,
        "failures": [
            {
                "invariant": "/outputs/0/invariants/0: is the number twice",
                "evidence": why,
                "required_change": "Show it for three as well.",
            }
            for why in failures
        ],
    }


_EVIDENCE = f"{', '.join(DIMENSIONS)}: test_it_is_the_number_twice and /error_surfaces/0 with the example 'Two' show it."

PASSING = _verdict("PASS", _EVIDENCE)
MILD = _verdict("PASS", "looks correct")
INCONSISTENT = _verdict("PASS", _EVIDENCE, unmet=("R5",))


def failing(why: str = "No listed test doubles 3.") -> dict[str, Any]:
    """A verdict that fails for one reason."""
    return _verdict("FAIL", _EVIDENCE, why, unmet=("R2",))


def ruling(decision: str, directive: str, why: str, *amendments: tuple[str, str, str]) -> dict[str, Any]:
    """A ruling, sound or not."""
    return {
        "decision": decision,
        "ship_directive": directive,
        "rationale": why,
        "amendments": [
            {"action": action, "target": target, "detail": detail} for action, target, detail in amendments
        ],
    }


def approving() -> dict[str, Any]:
    """An approval as it is."""
    return ruling("APPROVE", "SHIP", "The challenge found nothing that the contract excludes.")


def rejecting(why: str = "The criteria are not shown by any of the tests.") -> dict[str, Any]:
    """A rejection."""
    return ruling("REJECT", "NO_SHIP", why)


def amending(*amendments: tuple[str, str, str]) -> dict[str, Any]:
    """An approval with amendments: action, target and detail of each."""
    return ruling("APPROVE_WITH_AMENDMENTS", "SHIP", "One detail is left; it is named exactly.", *amendments)


def amended(*notes: str) -> dict[str, Any]:
    """What became of amendments: applied, or the note says why not."""
    applied = [
        {"amendment_index": i, "applied": not note, "note": note or "Done as it was asked."}
        for i, note in enumerate(notes)
    ]
    return {"applied": applied, **CLAIM}


WHY_UNSHOWN = "An attribute of an error does not cross to the tests."


def unshown(*numbers: int, why: str = WHY_UNSHOWN) -> dict[str, Any]:
    """A verdict that says of criteria that they cannot be shown."""
    judged = [dict(one) for one in PASSING["rubric_assessments"]]
    judged[4]["assessment"] = "CANNOT_BE_SHOWN"
    named = [{"criterion": number, "evidence": why} for number in numbers]
    return {**PASSING, "rubric_assessments": judged, "unshown_criteria": named}


def aside(*numbers: int, ruling: dict[str, Any] | None = None, why: str = WHY_UNSHOWN) -> dict[str, Any]:
    """A ruling that sets criteria aside."""
    named = [{"criterion": number, "reason": why} for number in numbers]
    return {**(ruling or approving()), "set_aside": named}
