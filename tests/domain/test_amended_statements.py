"""Statements that were amended in one contract and stand in another as they were (D51)."""

from typing import Any

import pytest

from specwright.domain.answers.answers import Amendment
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.plan.amended_statements import AmendedStatement, amended_statements, statements_left
from testkit.domain.doubling import DOUBLE

REFUSED = "the file is no database of working hours"
AMENDED = AmendedStatement(module="start", before=REFUSED, after="the file is a database of something else")


def stop(when: str) -> MicroModuleContract:
    """A contract with an error that is raised when this holds."""
    fields: dict[str, Any] = {
        **DOUBLE.to_json(),
        "name": "stop",
        "error_surfaces": [{"name": "ValueError", "when": when, "surface": "exception"}],
    }
    return MicroModuleContract.model_validate(fields)


@pytest.mark.parametrize("when", [REFUSED, "The file is no database of working times", f"{REFUSED} at all"])
def test_a_statement_that_says_the_same_is_told(when: str):
    """D51, D-S12-09: with its pointer, and what became of the other."""
    (line,) = statements_left([AMENDED], [stop(when)])
    assert (
        line == f'`start`: "{REFUSED}", now "{AMENDED.after}"; `stop` /error_surfaces/0/when says: "{when}"'
    )


@pytest.mark.parametrize("when", [AMENDED.after, "nothing was started, so nothing stops", "the file"])
def test_a_statement_that_says_something_else_is_not_told(when: str):
    """D51: what the amendment made of it, other words, too few of them."""
    assert list(statements_left([AMENDED], [stop(when)])) == []


def test_the_amended_contract_itself_is_not_told():
    """D51: an amendment is of its own contract."""
    own = AMENDED.model_copy(update={"module": "stop"})
    assert list(statements_left([own], [stop(REFUSED)])) == []


def change(action: str, pointer: str, detail: str) -> Amendment:
    """An amendment of the contract."""
    return Amendment.model_validate(
        {"action": action, "target": f"contract:stop#{pointer}", "detail": detail}
    )


def test_what_is_amended_is_what_is_reworded_or_removed():
    """D51: an error surface by its condition; what is added stood nowhere."""
    amendments = [
        change("MODIFY", "/error_surfaces/0", "ValueError: the file is a folder"),
        change("MODIFY", "/error_surfaces/0/when", "the file is a folder"),
        change("REMOVE", "/inputs/0/constraints/0", "nobody needs that any more"),
        change("ADD", "/error_cases/-", "A folder is refused"),
        change("MODIFY", "/inputs/7", "is not there"),
    ]
    found = [(one.before, one.after) for one in amended_statements(amendments, [stop(REFUSED)])]
    constraint = DOUBLE.inputs[0].constraints[0]
    assert found == [(REFUSED, "the file is a folder")] * 2 + [(constraint, "")]
