"""What the loops remember between two steps: names, ids and counters, as JSON primitives (design: graphs).

What was said in a debate is in its records, not here.
"""

from typing import TypedDict


class DebateState(TypedDict, total=False):
    """The state of one deliverable's debate."""

    schema_version: int
    task_id: str
    plan_id: str
    deliverable: str
    sealed: dict[str, str]
    change: str
    baseline: str
    enter: str
    debate_id: str
    version_id: str
    round: int
    retry_count: int
    verdict: str
    disputed: bool
    decision: str
    confirmed_fault: str
    exception_id: str
    halt_reason: str
    source_of_failure: str
    cause_debate: str
    cause_round: int
    questions: list[str]
    raw_answers: list[str]
    errors: list[str]


class HaltedDebate(TypedDict):
    """A debate that ended without a result: at which round, why, and whose fault it was (design: debate)."""

    deliverable: str
    reason: str
    debate_id: str
    version_id: str
    round: int
    retry_count: int
    fault: str
    exception_id: str
    questions: list[str]
    raw_answers: list[str]
    errors: list[str]


class LockedContracts(TypedDict):
    """Where the contract debate ended; it continues from here if it is reopened (design: debate)."""

    version_id: str
    round: int
    retry_count: int


class ResumedDebate(TypedDict):
    """Where a person's answer enters a module's debate, with no revision left (design: escalation)."""

    deliverable: str
    enter: str
    debate_id: str
    version_id: str
    round: int
    retry_count: int


class EngineeringState(TypedDict, total=False):
    """The state of one task in the engineering loop."""

    schema_version: int
    task_id: str
    plan_id: str
    deliverable: str
    version_id: str
    shipped: dict[str, str]
    failed: dict[str, str]
    debates: dict[str, str]
    locked: LockedContracts
    reopened_by: HaltedDebate
    resumed: ResumedDebate
    halted: HaltedDebate
    plan_fault: HaltedDebate
    exception_id: str
    halt_reason: str
    questions: list[str]
    raw_answers: list[str]
    errors: list[str]
    outcome: str
    escalation: str
    module_refs: list[str]
    module_ref: str
