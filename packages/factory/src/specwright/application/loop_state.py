"""The states of the loops between two steps: names, ids and counters, as JSON primitives (design: engineering).

The content of a debate is in its records.
"""

from typing import TypedDict


class LoopState(TypedDict, total=False):
    """The common part of both states."""

    schema_version: int
    task_id: str
    plan_id: str
    deliverable: str
    version_id: str
    exception_id: str
    halt_reason: str
    questions: list[str]
    raw_answers: list[str]
    errors: list[str]


class DebateState(LoopState, total=False):
    """The state of one deliverable's debate."""

    sealed: dict[str, str]
    change: str
    baseline: str
    enter: str
    debate_id: str
    round: int
    retry_count: int
    verdict: str
    disputed: bool
    decision: str
    confirmed_fault: str
    source_of_failure: str
    cause_debate: str
    cause_round: int


class DebatePosition(TypedDict):
    """A position in a debate; the contract debate continues from it if it is reopened (design: debate)."""

    version_id: str
    round: int
    retry_count: int


class HaltedDebate(DebatePosition):
    """A debate that halted: its position, the reason, and what was at fault (design: debate)."""

    deliverable: str
    reason: str
    debate_id: str
    fault: str
    exception_id: str
    questions: list[str]
    raw_answers: list[str]
    errors: list[str]


class ResumedDebate(DebatePosition):
    """The position where a person's answer enters a module's debate, with no revision left (design: escalation)."""

    deliverable: str
    enter: str
    debate_id: str


class EngineeringState(LoopState, total=False):
    """The state of a task in the engineering loop."""

    shipped: dict[str, str]
    failed: dict[str, str]
    debates: dict[str, str]
    locked: DebatePosition
    reopened_by: HaltedDebate
    resumed: ResumedDebate
    halted: HaltedDebate
    plan_fault: HaltedDebate
    outcome: str
    escalation: str
    module_refs: list[str]
    module_ref: str
