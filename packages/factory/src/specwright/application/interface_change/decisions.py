"""A person's decision about an interface change exception: checked, written, then appended as one batch of Wires (design:
interface-changes, wire).

No model is asked here. A decision can be taken as long as the task of the exception waits; one that a crash kept from the
log counts, and the next command that drives the project appends it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ship_gate.base.text import did_you_mean
from specwright.application.announce import Announcement, announce, review
from specwright.application.escalation.answers import next_attempt
from specwright.application.escalation.halt import open_escalations
from specwright.application.factory import Factory, ProjectView
from specwright.application.interface_change.impact import unapprovable
from specwright.application.tasks import Task, task_at
from specwright.domain.escalation.resolutions import OPERATOR
from specwright.domain.interface_change.decision import (
    Decision,
    DecisionRequest,
    ExceptionDecision,
    ExceptionOutcome,
    ExceptionStatus,
    status_of,
)
from specwright.domain.interface_change.exception import InterfaceChangeException
from specwright.errors import InputError, RefusedError
from specwright.ports.progress import Step


class KnownException(NamedTuple):
    """An exception with what became of it.

    Args:
        record: As it was raised.
        decisions: In their order.
        escalation: The escalation by which its task waits; empty if it waits no more.
        outcomes: What came of its approvals.
    """

    record: InterfaceChangeException
    decisions: list[ExceptionDecision]
    escalation: str
    outcomes: list[ExceptionOutcome]

    @property
    def status(self) -> ExceptionStatus:
        """Where it is."""
        return status_of(self.decisions, self.outcomes, waits=bool(self.escalation))


def exceptions(view: ProjectView) -> Iterator[KnownException]:
    """Every exception that the log knows, oldest first."""
    raised = view.projection.exceptions
    waiting = {} if not raised else _waiting(view)
    for name, record in raised.items():
        decisions = view.projection.exception_decisions.get(name, [])
        outcomes = view.projection.exception_outcomes.get(name, [])
        yield KnownException(record, decisions, waiting.get(name, ""), outcomes)


def decide(factory: Factory, request: DecisionRequest) -> ExceptionDecision:
    """Take a decision; the same one, repeated after a crash, changes nothing more.

    Raises:
        InputError: there is no such exception.
        RefusedError: its task does not wait any more, or a crash left another decision.
    """
    known = _waits(factory, request)
    approves = request.decision is Decision.APPROVE_CHANGE
    if approves and (why := unapprovable(factory, known.record)):
        raise RefusedError(
            f"{request.exception_id} cannot be approved: {why}",
            where=known.escalation,
            remedy="reject it, or answer the escalation otherwise",
        )
    number = len(known.decisions) + 1
    left = factory.exceptions.decision(request.exception_id, number)
    if left is not None and not left.answers(request):
        raise RefusedError(
            f"{request.exception_id} is decided already: {left.decision}; a crash came before it was carried out",
            where=known.escalation,
            remedy="`specwright exceptions list` says where it is now",
        )
    scope = factory.journal.scope(f"exception/{request.exception_id}/{number}")
    decided = ExceptionDecision(
        **request.to_json(), number=number, decided_by=OPERATOR, decided_at=scope.now()
    )
    task = task_at(factory, factory.escalations.escalation(known.escalation).task_id)
    factory.exceptions.decide(decided)
    sha256, project_id = factory.store.define(decided.to_bytes()), factory.projection.project_id
    wire = review(project_id, "exception.decided", sha256, request.exception_id, OPERATOR)
    events = _requeued(factory, task, known.escalation, wire) if decided.requeue else []
    announce(factory, scope, project_id, [wire, *events])
    factory.projection.write(now=True)
    factory.progress.note(
        Step("decided", task.entry.spec_task_id, f"{request.exception_id}: {decided.decision}")
    )
    return decided


def finish_decisions(factory: Factory) -> None:
    """Append the decisions that a crash kept from the log."""
    for known in [*exceptions(factory)]:
        left = factory.exceptions.decision(known.record.exception_id, len(known.decisions) + 1)
        if left is not None and known.escalation:
            decide(factory, DecisionRequest(**left.model_dump(include=set(DecisionRequest.model_fields))))


def _waits(view: ProjectView, request: DecisionRequest) -> KnownException:
    """The exception that a decision is about, whose task waits."""
    every = {one.record.exception_id: one for one in exceptions(view)}
    known = every.get(request.exception_id)
    if known is None:
        raise InputError(
            f"there is no interface change exception {request.exception_id}",
            remedy=f"{did_you_mean(request.exception_id, every)}`specwright exceptions list` lists them",
        )
    if not known.escalation:
        raise RefusedError(
            f"{request.exception_id} cannot be decided any more: its task has gone on",
            where=known.record.raised_by.run_id,
            remedy="`specwright exceptions list` says where it is now",
        )
    return known


def _waiting(view: ProjectView) -> dict[str, str]:
    """The open escalations of exceptions, by the exception."""
    escalations = [view.escalations.escalation(name) for name in open_escalations(view)]
    return {
        str(one.details["exception_id"]): one.escalation_id
        for one in escalations
        if "exception_id" in one.details
    }


def _requeued(factory: Factory, task: Task, escalation: str, wire: Announcement) -> list[Announcement]:
    """The events by which a task runs again; the decision caused the end of its attempt (design: wire)."""
    first, *rest = next_attempt(factory, task, task.definition, escalation)
    return [first._replace(caused_by=wire.stream_id), *rest]
