"""Which criteria a Challenger owes tests for when it looks again (design: falsifying-tests)."""

from types import SimpleNamespace
from typing import Any, cast

from gate_testkit.pair_contracts import PAIR, a_contract
from specwright.application.debate.deliverable import Case
from specwright.application.debate.judges import criteria_to_test
from specwright.domain.acceptance.records import TaskAcceptance

ACCEPTANCE = TaskAcceptance.model_validate(
    {
        "provides": ["read_pair(text: str) -> Pair"],
        "examples": [{"title": "Two", "criteria": [1], "code": "read_pair('1,2')", "gives": "Pair(1, 2)"}],
        "properties": [
            {
                "title": "Any",
                "criteria": [2],
                "variables": {"text": "str"},
                "code": "read_pair(text) is not None",
            }
        ],
    }
)


def looked_again(acceptance: TaskAcceptance | None) -> Case:
    """A module of a task with three criteria, after one challenge without tests."""
    definition = SimpleNamespace(acceptance=acceptance, acceptance_criteria=["one", "two", "three"])
    challenge = SimpleNamespace(falsifying_tests=[], untested_criteria=[])
    case = SimpleNamespace(
        name="read_pair",
        contracts=[a_contract("read_pair", "Pair", [PAIR])],
        history=SimpleNamespace(challenges=[challenge], adjudications=[]),
        deliverable=SimpleNamespace(task=SimpleNamespace(definition=definition)),
    )
    return cast(Case, case)


def test_a_criterion_that_nothing_approved_shows_is_owed_a_test():
    """Examples and properties are tried at every gate, so that something tries each criterion."""
    assert criteria_to_test(looked_again(ACCEPTANCE), {}) == [3]
    assert criteria_to_test(looked_again(None), {}) == [1, 2, 3]


def test_a_criterion_that_a_ruling_set_aside_is_owed_none():
    """A person has answered for it (D42)."""
    assert criteria_to_test(looked_again(ACCEPTANCE), {3: cast(Any, None)}) == []
    assert criteria_to_test(looked_again(None), {3: cast(Any, None)}) == [1, 2]
