"""When a contract debate may be opened again, and in which state debates go on (D10, D11)."""

import pytest

from specwright.application.loop import debate_input, may_reopen
from specwright.application.loop_state import EngineeringState, HaltedDebate
from specwright.domain.debate.records import CONTRACTS


def left(fault: str = "contract", retries: int = 0) -> HaltedDebate:
    """Where a module's debate was left."""
    return {
        "deliverable": "double",
        "reason": "its contract is wrong",
        "debate_id": "PROP-00000002",
        "version_id": "IMPL-00000001",
        "round": retries + 1,
        "retry_count": retries,
        "fault": fault,
        "raw_answers": [],
        "errors": [],
    }


def state(retries: int = 0) -> EngineeringState:
    """A task whose contracts are locked."""
    return {
        "task_id": "T-a",
        "plan_id": "MP-00000001",
        "schema_version": 1,
        "deliverable": CONTRACTS,
        "debates": {CONTRACTS: "PROP-00000001", "double": "PROP-00000002"},
        "locked": {"version_id": "MP-00000001", "round": retries + 1, "retry_count": retries},
        "shipped": {"halve": "MM-00000001@1.0.0"},
    }


@pytest.mark.parametrize(
    ("fault", "of_contracts", "of_module", "may"),
    [
        ("contract", 0, 0, True),
        ("contract", 1, 1, True),
        ("contract", 2, 0, True),
        ("contract", 0, 2, True),
        ("plan", 0, 0, False),
        ("", 0, 0, False),
    ],
)
def test_a_fault_of_the_contract_reopens_whatever_was_revised(
    fault: str, of_contracts: int, of_module: int, may: bool
):
    """D-10-05, D-11-01: neither debate pays for it with a revision (D-42-03)."""
    assert may_reopen(state(of_contracts), left(fault, of_module)) is may


def test_it_may_be_done_once():
    """D-10-05: whichever module asked for it."""
    assert not may_reopen({**state(), "reopened_by": left()}, left())


def test_both_debates_go_on_where_they_were():
    """D-10-05: same id, next round, and what is sealed is known; any other debate begins."""
    reopened: EngineeringState = {**state(), "reopened_by": left()}
    contracts = debate_input(reopened)
    assert contracts["debate_id"] == "PROP-00000001"
    assert (contracts["source_of_failure"], contracts["cause_debate"]) == ("late", "PROP-00000002")
    assert contracts["sealed"] == {"halve": "MM-00000001@1.0.0"}
    module = debate_input({**reopened, "deliverable": "double"})
    assert (module["debate_id"], module["version_id"], module["round"]) == (
        "PROP-00000002",
        "IMPL-00000001",
        1,
    )
    assert module["source_of_failure"] == "reopened"
    assert "debate_id" not in debate_input({**reopened, "deliverable": "halve"})
    assert "debate_id" not in debate_input(state())
