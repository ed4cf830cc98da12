"""What a person decides about an interface change exception (design: interface-changes)."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StrictBool, model_validator

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, Sha256, Timestamp
from specwright.domain.interface_change.exception import LONGEST_REASON, ExceptionId


class Decision(StrEnum):
    """The decisions."""

    APPROVE_CHANGE = "APPROVE_CHANGE"
    REJECT_CHANGE = "REJECT_CHANGE"
    DEFER = "DEFER"


class ExceptionStatus(StrEnum):
    """Where an exception is, by its last decision and what came of an approval."""

    RAISED = "RAISED"
    APPROVED = "APPROVED"
    RESOLVED = "RESOLVED"
    NOT_AGREED = "NOT_AGREED"
    DEFERRED = "DEFERRED"
    REJECTED = "REJECTED"
    CLOSED = "CLOSED"
    """Nothing was decided about it, and its task goes on by an answer to the escalation."""


class DecisionRequest(Record):
    """What a person says.

    Args:
        exception_id: `ICE-...`.
        decision: What becomes of it.
        reason: Why; a rejection needs one, since the next attempt must do without the change.
        requeue: Whether a rejection lets the task run again from the start; if not, it stays halted for another answer.
    """

    exception_id: ExceptionId
    decision: Decision
    reason: Annotated[str, Field(max_length=LONGEST_REASON)] = ""
    requeue: StrictBool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.decision is Decision.REJECT_CHANGE and not self.reason.strip():
            raise ValueError("a rejection needs a reason")
        if self.requeue and self.decision is not Decision.REJECT_CHANGE:
            raise ValueError("only a rejection runs the task again")
        return self


class ExceptionDecision(DecisionRequest):
    """The record: the decisions about an exception are numbered from 1 and never change."""

    number: Annotated[int, Field(ge=1)]
    decided_by: str
    decided_at: Timestamp

    def answers(self, request: DecisionRequest) -> bool:
        """Whether it is what a request asks for."""
        return all(getattr(self, name) == getattr(request, name) for name in DecisionRequest.model_fields)


class NewVersion(Record):
    """The version with the changed contract.

    Args:
        module_ref: The version.
        supersedes: The one before.
        sha256: Of its tree.
    """

    module_ref: ModuleRefText
    supersedes: ModuleRefText
    sha256: Sha256


class ExceptionOutcome(Record):
    """What came of an approval.

    Args:
        exception_id: The exception.
        number: Of the decision that approved it.
        reason: Why nothing was agreed; empty if it was.
        changes: The difference of the contracts, a line for each statement.
        version: What is sealed now; None if nothing was agreed.
        resolved_at: When.
    """

    exception_id: ExceptionId
    number: Annotated[int, Field(ge=1)]
    reason: str = ""
    changes: list[str]
    version: NewVersion | None = None
    resolved_at: Timestamp


_AFTER = {
    Decision.APPROVE_CHANGE: ExceptionStatus.APPROVED,
    Decision.REJECT_CHANGE: ExceptionStatus.REJECTED,
    Decision.DEFER: ExceptionStatus.DEFERRED,
}


def status_of(
    decisions: list[ExceptionDecision], outcomes: list[ExceptionOutcome], *, waits: bool
) -> ExceptionStatus:
    """Where an exception is.

    Args:
        decisions: In their order.
        outcomes: Of its approvals.
        waits: Whether its task still waits for an answer.
    """
    if outcomes and outcomes[-1].version:
        return ExceptionStatus.RESOLVED
    if waits and outcomes and outcomes[-1].number == len(decisions):
        return ExceptionStatus.NOT_AGREED
    if decisions and (decisions[-1].decision is Decision.REJECT_CHANGE or waits):
        return _AFTER[decisions[-1].decision]
    return ExceptionStatus.RAISED if waits else ExceptionStatus.CLOSED
