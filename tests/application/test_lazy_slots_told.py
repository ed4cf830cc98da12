"""What a Proposer is told of iterables, iterators and callables."""

from typing import Any

import pytest

from gate_testkit.fuzzing import Planted
from specwright.application.requests import ModuleRequest, proposer_message

TAKEN, YIELDED, CALLED = "read once", "one item more of such a result", "called by place"
SLOTS: dict[str, Any] = {
    "an iterable": ({"rows: Iterable[int] | None": ["takes at most 9 items"]}, "int", {TAKEN}),
    "an iterator of the result": ({"n: int": []}, "Iterator[int]", {YIELDED}),
    "a callable": ({"key: Callable[[str], int] | None": []}, "int", {CALLED}),
    "both": ({"rows: Iterator[int]": ["takes at most 9 items"], "key: Callable[[int], int]": []}, "int", {TAKEN, CALLED}),
    "plain values": ({"rows: list[int]": [], "n: int": []}, "list[int]", set()),
}  # fmt: skip


def a_contract(inputs: Any, returns: Any):
    bound = ("yields at most 9 items",) if returns.startswith("Iterator") else ()
    return Planted(inputs, returns, "", raises=(), returned=bound).contract()


@pytest.mark.parametrize("case", SLOTS)
def test_a_proposer_is_told_of_lazy_slots_that_its_contract_has(case: Any):
    """D-43-05, D-43-06: what it gets, how it is counted, and nothing of what the contract has not."""
    inputs, returns, due = SLOTS[case]
    contract = a_contract(inputs, returns)
    told = proposer_message(ModuleRequest(contract, {"implementation/__init__.py": b""}), [])
    assert {said for said in (TAKEN, YIELDED, CALLED) if said in told} == due
