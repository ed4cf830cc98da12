"""Raising an escalation: what it says, and the record that a Wire names (design: escalation)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from specwright.application.factory import Factory
from specwright.application.tasks import Task
from specwright.domain.escalation import Action, DebateTrail, EscalationArtifact, FailedInvariant


class Halt(NamedTuple):
    """Why a task halts or stalls, or what a person is asked while it goes on.

    Args:
        cause: `planning`, `contracts`, `modules`, `plan`, `exception`, `journal`, `stalled`, `criterion` or `release`.
        reason: One sentence.
        decision: What a person must decide.
        recommended: The factory's best guess.
        context: What helps to decide.
        failed: The invariants that did not hold, with what shows it.
        details: Typed by the cause.
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
        task: That it is about.
        why: What it says.
        name: Its id.
        now: Its time, UTC.
        trail: The debates that led to it.
        snapshot: Of the state machine.

    Returns:
        The SHA-256 under which a Wire names it.
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
