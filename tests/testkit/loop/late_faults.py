"""Answers of roles that find a contract, a plan or a test at fault late."""

from typing import Any

from testkit.loop.role_answers import (
    PASSING,
    Turn,
    approving,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
)

DOUBLE = "double"


def falsifying(*tests: tuple[str, str, str], said: dict[str, Any] = PASSING) -> dict[str, Any]:
    """A verdict with falsifying tests: name, obligation, source of each."""
    handed = [{"name": name, "obligation": pointer, "source": source} for name, pointer, source in tests]
    return {**said, "falsifying_tests": handed}


def faulty(of: str, why: str) -> dict[str, Any]:
    """A verdict that fails because of the contract or the plan."""
    said = failing(why)
    return {**said, "failures": [{**failure, "fault": of} for failure in said["failures"]]}


def striking(
    *names: str, pointer: str = "/outputs/0/invariants/0", said: dict[str, Any] | None = None
) -> Any:
    """A ruling that strikes tests."""
    struck = [
        {"test": name, "contract_pointer": pointer, "reason": "It asks for seven where twice three is six."}
        for name in names
    ]
    return {**(said or approving()), "struck_tests": struck}


def confirming(fault: str) -> dict[str, Any]:
    """A rejection that says whose fault it is."""
    return {
        **rejecting(f"The {fault} is wrong, and no implementation can mend that."),
        "confirmed_fault": fault,
    }


EXACT = {"outputs": [{"name": "result", "type": "int", "invariants": ["is the number twice, exactly"]}]}


REPLANNED = plan(planned("halve"), planned(DOUBLE, **EXACT), task_facing=DOUBLE)


def late(*planned_again: dict[str, Any]) -> dict[str, list[Any]]:
    """Answers of a debate in which the contract is found at fault."""
    return {
        "double/round-1/challenger": [
            faulty("contract", "Nothing says what twice means for a large number.")
        ],
        "double/round-1/arbiter": [confirming("contract")],
        "plan/round-2/planner": list(planned_again),
        "double/round-2/proposer": [Turn(claimed(), draft(DOUBLE, version="As it says now"))],
    }
