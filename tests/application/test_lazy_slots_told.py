"""What a Proposer is told of iterables, iterators and callables."""

import pytest

from gate_testkit.fuzzing import Planted
from ship_gate.contract.contract_text import contract_text
from specwright.application.messages.debate import (
    JudgedDebate,
    ModuleRequest,
    challenge_message,
    proposer_message,
)
from specwright.application.store.debates import DebateHistory
from specwright.domain.debate.debate import Proposal

TAKEN, YIELDED, CALLED = "read once", "one item more of such a result", "called by place"
SLOTS = {
    "an iterable": ({"rows: Iterable[int] | None": ["takes at most 9 items"]}, "int", {TAKEN}),
    "an iterator of the result": ({"n: int": []}, "Iterator[int]", {YIELDED}),
    "a callable": ({"key: Callable[[str], int] | None": []}, "int", {CALLED}),
    "both": ({"rows: Iterator[int]": ["takes at most 9 items"], "key: Callable[[int], int]": []}, "int", {TAKEN, CALLED}),
    "plain values": ({"rows: list[int]": [], "n: int": []}, "list[int]", set()),
}  # fmt: skip


def a_contract(inputs, returns):
    bound = ("yields at most 9 items",) if returns.startswith("Iterator") else ()
    return Planted(inputs, returns, "", raises=(), returned=bound).contract()


@pytest.mark.parametrize("case", SLOTS)
def test_a_proposer_is_told_of_lazy_slots_that_its_contract_has(case):
    """D-43-05, D-43-06: what it gets, how it is counted, and nothing of what the contract has not."""
    inputs, returns, due = SLOTS[case]
    contract = a_contract(inputs, returns)
    told = proposer_message(ModuleRequest(contract, {"implementation/__init__.py": b""}), [])
    assert {said for said in (TAKEN, YIELDED, CALLED) if said in told} == due


@pytest.mark.parametrize("case", SLOTS)
def test_a_contract_without_errors_lets_those_through_that_are_not_its_own(case):
    """D-43-05, D-43-06: whoever judges it reads that the errors of callables and iterables are no fault of it."""
    inputs, returns, due = SLOTS[case]
    contract = a_contract(inputs, returns)
    names = " and ".join(slot.partition(":")[0] for slot in inputs)
    said = f"it raises only what {names} raises" if due - {YIELDED} else "it cannot fail"
    assert f"/error_surfaces none: {said}\n" in contract_text(contract)


@pytest.mark.parametrize("case", SLOTS)
def test_who_judges_is_told_the_same(case):
    """D-43-05, D-43-06: what code counts, no test has to show."""
    inputs, returns, due = SLOTS[case]
    proposal = Proposal.model_construct(
        claim="It is so.",
        acceptance_checks=[],
        test_inventory={},
        tests="",
        contract_changes=[],
        examples="",
        preflight=[],
        contract_at_fault=[],
    )
    debate = JudgedDebate("contracts", [a_contract(inputs, returns)], DebateHistory([proposal]))
    told = challenge_message(debate, [], ["It does what it says."])
    assert {said for said in (TAKEN, YIELDED, CALLED) if said in told} == due
