"""What the engineering graph remembers of a task: names, ids and counters (DESIGN §5)."""

from typing import TypedDict

__all__ = ["EngineeringState", "Entered", "Left", "Locked"]


class Left(TypedDict):
    """Where a debate was left without a result: whose, at which round, why, and whose fault it was (D10)."""

    subject: str
    reason: str
    debate_id: str
    target: str
    round: int
    retry_count: int
    fault: str
    raw_answers: list[str]
    errors: list[str]


class Locked(TypedDict):
    """Where the contract debate ended: it goes on from there if it is reopened (D10)."""

    target: str
    round: int
    retry_count: int


class Entered(TypedDict):
    """Where a module's debate is entered with what a person gave, without a revision left (F§17.2, D22)."""

    subject: str
    enter: str
    debate_id: str
    target: str
    round: int
    retry_count: int


class EngineeringState(TypedDict, total=False):
    """JSON primitives only (DESIGN §5)."""

    schema_version: int
    task_id: str
    plan_id: str
    subject: str
    target: str
    shipped: dict[str, str]
    failed: dict[str, str]
    debates: dict[str, str]
    locked: Locked
    reopened_by: Left
    entered: Entered
    plan_fault: Left
    halt_reason: str
    raw_answers: list[str]
    errors: list[str]
    outcome: str
    escalation: str
    module_refs: list[str]
    module_ref: str
