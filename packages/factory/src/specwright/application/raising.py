"""Write the record of an escalation (design: escalation)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from specwright.application.factory import Factory
from specwright.application.tasks import Task
from specwright.domain.escalation import Action, DebateTrail, EscalationArtifact, FailedInvariant


class Halt(NamedTuple):
    """The content of an escalation: a halt, a stall, or a question for which no task waits.

    Args:
        cause: `planning`, `contracts`, `modules`, `plan`, `exception`, `journal`, `stalled`, `criterion` or `release`.
        reason: The reason, in one sentence.
        decision: The decision that a person must make.
        recommended: The recommended action.
        context: Information that helps to decide.
        failed: The violated requirements, with evidence.
        details: Further data, whose keys depend on the cause.
    """

    cause: str
    reason: str
    decision: str
    recommended: Action
    context: str
    failed: Sequence[tuple[str, str]] = ()
    details: Mapping[str, Any] = MappingProxyType({})


def write_escalation(
    factory: Factory,
    task: Task,
    why: Halt,
    name: str,
    now: str,
    trail: DebateTrail | None = None,
    snapshot: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Write an escalation.

    Args:
        factory: The ports.
        task: The task.
        why: The content.
        name: The escalation's id.
        now: The time, UTC.
        trail: The debates that led to it.
        snapshot: An excerpt of the state.

    Returns:
        The SHA-256 by which a Wire refers to it.
    """
    return factory.escalations.add(
        EscalationArtifact(
            escalation_id=name,
            task_id=task.task_id,
            task_ref=task.path,
            created_at=now,
            debate_trail=trail or DebateTrail(),
            failed_invariants=[FailedInvariant(invariant=i, evidence=e) for i, e in why.failed],
            state_machine_snapshot=dict(snapshot),
            minimal_decision_required=why.decision,
            recommended_resolution=why.recommended,
            resolution_context=why.context,
            details={"cause": why.cause, **why.details},
        )
    )
