"""What a Challenger may still find in a later round of a contract debate, and within which scope (D11, D13)."""

from typing import Any

import pytest

from ship_gate.contract.contract import MicroModuleContract, contract_changes
from specwright.domain.answers.answers import Failure
from specwright.domain.debate.answer_rules import mild_review
from specwright.domain.debate.open_cases import EarlierRounds, open_cases

SCOPE = "out of scope: texts with tabs in them"


def contract(*constraints: str, name: str = "find_links", **changes: Any) -> MicroModuleContract:
    """A contract with these constraints of its input."""
    return MicroModuleContract.model_validate(
        {
            "module_id": "MM-0000000a",
            "name": name,
            "purpose": "Find the links of a text.",
            "inputs": [{"name": "text", "type": "str", "constraints": list(constraints)}],
            "outputs": [{"name": "links", "type": "list[str]", "invariants": ["in the order of the text"]}],
            "error_surfaces": [{"name": "ValueError", "when": "text is blank", "surface": "exception"}],
            "effects": [],
            "modes": {"sync": True, "async": False},
            **changes,
        }
    )


def failure(why: str = "A text of one tab gives nothing that is stated.", **changes: Any) -> Failure:
    """A failure of contracts."""
    return Failure.model_validate(
        {"invariant": "The contract is total.", "evidence": why, "required_change": "Say it.", **changes}
    )


BEFORE, AFTER = contract("is not blank", "no longer than nine"), contract("is not blank", "at most nine long")
CHANGES = [f"find_links {line}" for line in contract_changes(BEFORE, AFTER)]
LATE = EarlierRounds([AFTER, contract(name="scan")], 4, 2, 3, ruled=False, changes=CHANGES)


@pytest.mark.parametrize(
    ("kind", "cites"),
    [
        ("NOT_MENDED", "failure 3"),
        ("CHANGED", "find_links /inputs/0/constraints/1"),
        ("CHANGED", "/inputs/0/constraints/1, which is new"),
        ("CONTRADICTION", "criterion 4 and find_links /purpose"),
        ("CONTRADICTION", "find_links /purpose and scan /purpose"),
        ("CONTRADICTION", "/outputs/0/invariants/0, /error_surfaces/0/when"),
    ],
)
def test_a_late_failure_of_a_kind_stands(kind: str, cites: str):
    """D-11-07: an earlier failure, what the revision brought, a contradiction of two places."""
    assert open_cases([failure(kind=kind, cites=cites)], LATE) == []


@pytest.mark.parametrize(
    ("kind", "cites"),
    [
        (None, ""),
        (None, "failure 1"),
        ("NOT_MENDED", "failure 4"),
        ("NOT_MENDED", "the ruling"),
        ("NOT_MENDED", "it was said before"),
        ("CHANGED", "find_links /inputs/0/constraints/0"),
        ("CHANGED", "find_links /inputs/0/constraints"),
        ("CHANGED", "find_links /inputs/0"),
        ("CHANGED", "find_links /purpose"),
        ("CHANGED", "scan /inputs/0"),
        ("CHANGED", "find_links /inputs/7"),
        ("CONTRADICTION", "criterion 5 and find_links /purpose"),
        ("CONTRADICTION", "find_links /purpose"),
        ("CONTRADICTION", "criterion 1 and criterion 2"),
    ],
)
def test_a_late_failure_of_no_kind_is_an_open_case(kind: str | None, cites: str):
    """D-11-07: what it cites is not there, or was there before, or names one place alone."""
    late = failure(kind=kind, cites=cites)
    assert open_cases([failure(kind="NOT_MENDED", cites="failure 1"), late], LATE) == [late]


def test_in_the_first_round_nothing_is_late():
    """D-11-07: every failure stands."""
    assert open_cases([failure()], EarlierRounds([AFTER], 4)) == []


def test_an_earlier_ruling_may_be_gone_back_to():
    """D-11-07: what the Arbiter asked for and is not done."""
    late = failure(kind="NOT_MENDED", cites="the ruling of round 1")
    assert open_cases([late], LATE._replace(ruled=True)) == []


def test_a_list_that_lost_a_statement_is_changed():
    """D-11-07: a removed statement has no pointer of its own, so the list is cited."""
    fewer = contract("is not blank")
    changes = [f"find_links {line}" for line in contract_changes(BEFORE, fewer)]
    late = failure(kind="CHANGED", cites="find_links /inputs/0/constraints")
    assert open_cases([late], LATE._replace(contracts=[fewer], changes=changes)) == []


def test_a_new_module_is_new_in_all_its_statements():
    """D-11-07: of a module that the revision brought nothing was judged before."""
    late = failure(kind="CHANGED", cites="find_links /purpose")
    assert open_cases([late], LATE._replace(changes=["find_links: a new module"])) == []


def test_a_review_that_never_complied_is_no_open_case():
    """D-11-07, F-9.5-04: the FAIL in place of a mild review costs a revision in every round."""
    assert open_cases(mild_review("it said nothing").failures, LATE) == []


def test_a_scope_is_contested_with_the_criterion_that_it_drops():
    """D-10-07: of a scope that names no criterion the Challenger makes an open case, in the first round too."""
    judged = EarlierRounds([contract("is not blank", SCOPE)], 4)
    contests = failure("find_links /inputs/0/constraints/1 leaves out texts with tabs.")
    drops = failure("find_links /inputs/0/constraints/1 drops criterion 2, which has tabs.")
    beyond = failure("find_links /inputs/0/constraints/1 drops criterion 9, which has tabs.")
    assert open_cases([contests, drops, beyond], judged) == [contests, beyond]


def test_a_scope_is_contested_once():
    """D-10-07: in the round that brought it; later it is an open case, whatever its kind."""
    after = contract("is not blank", SCOPE)
    drops = failure(
        "/inputs/0/constraints/1 drops criterion 2.",
        kind="CONTRADICTION",
        cites="criterion 2, /inputs/0/constraints/1",
    )
    brought = [f"find_links {line}" for line in contract_changes(contract("is not blank"), after)]
    judged = LATE._replace(contracts=[after])
    assert open_cases([drops], judged._replace(changes=brought)) == []
    assert open_cases([drops], judged._replace(changes=[])) == [drops]


def test_a_scope_is_contested_by_its_pointer_and_not_by_what_it_is_about():
    """D-10-07: a failure that speaks of the same values and cites another statement stands."""
    judged = EarlierRounds([contract("is not blank", SCOPE)], 4)
    assert (
        open_cases([failure("/outputs/0/invariants/0 leaves open where texts with tabs come.")], judged) == []
    )


def test_a_pointer_is_one_of_the_contract_that_the_failure_names():
    """D-10-07: the limit that another module of the plan has at that place is not contested."""
    plain, limited = (
        contract("is not blank", "no longer than nine"),
        contract("is not blank", SCOPE, name="scan"),
    )
    judged = EarlierRounds([plain, limited], 4)
    named = failure("A text of ten letters, see /inputs/0/constraints/1, is refused by find_links nowhere.")
    changed = failure(
        "A text of ten letters is refused nowhere, see /inputs/0/constraints/1.",
        exact_changes=[
            {
                "action": "ADD",
                "target": "contract:find_links#/error_cases/-",
                "detail": "A text of ten letters is refused",
            }
        ],
    )
    either = failure("A text of ten letters is refused nowhere, see /inputs/0/constraints/1.")
    contests = failure("What scan says at /inputs/0/constraints/1 leaves out texts with tabs.")
    assert open_cases([named, changed, either, contests], judged) == [contests]
