"""Escalations: the question to a person, with everything needed to answer it (design: escalation)."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from ship_gate.base.record import Record, Text, Timestamp
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal


class Resolution(StrEnum):
    """What the factory may recommend (design: escalation)."""

    APPROVE_OVERRIDE = "APPROVE_OVERRIDE"
    AMEND_SPEC = "AMEND_SPEC"
    SPLIT_TASK = "SPLIT_TASK"
    REVISE_PLAN = "REVISE_PLAN"
    PROVIDE_FIX = "PROVIDE_FIX"
    ABANDON_TASK = "ABANDON_TASK"
    ACCEPT_UNSHOWN = "ACCEPT_UNSHOWN"


class DebateTrail(Record):
    """All rounds of all debates of the task so far."""

    proposals: list[Proposal] = Field(default_factory=list)
    challenges: list[Challenge] = Field(default_factory=list)
    adjudications: list[Adjudication] = Field(default_factory=list)


class FailedInvariant(Record):
    """What did not hold, and what shows it."""

    invariant: Text
    evidence: Text


class EscalationArtifact(Record):
    """A halt, laid before a person (design: escalation); `details` is typed by its cause."""

    escalation_id: Annotated[str, Field(pattern=r"^ESC-[0-9a-f]{8}$")]
    task_id: str
    task_ref: str
    created_at: Timestamp
    debate_trail: DebateTrail
    failed_invariants: list[FailedInvariant]
    state_machine_snapshot: dict[str, Any]
    minimal_decision_required: Text
    recommended_resolution: Resolution
    resolution_context: str
    details: dict[str, Any] = Field(default_factory=dict)
