"""A halt: the escalation that a person answers, written before the Wire that says so (design: planning, escalation)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from specwright.application import scopes
from specwright.application.announce import announce
from specwright.application.factory import Factory
from specwright.application.tasks import Task, project_state
from specwright.domain.base.ids import ArtifactType, artifact_id
from specwright.domain.escalation.escalation import (
    DebateTrail,
    EscalationArtifact,
    FailedInvariant,
    Resolution,
)
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.task_board import TaskBoard
from specwright.ports.progress import Step


class Halt(NamedTuple):
    """Why a task halts.

    Args:
        cause: `planning`, `contracts`, `modules` or `plan`.
        reason: One sentence.
        decision: What a person must decide.
        recommended: The factory's best guess.
        context: What helps to decide.
        debates: The ids of the debates held so far.
        failed: The invariants that did not hold.
        details: Typed by the cause.
    """

    cause: str
    reason: str
    decision: str
    recommended: Resolution
    context: str
    debates: Sequence[str] = ()
    failed: Sequence[tuple[str, str]] = ()
    details: dict[str, Any] | None = None


def halt(factory: Factory, task: Task, why: Halt) -> str:
    """Write the escalation and halt the task.

    Returns:
        The escalation's id.
    """
    scope = factory.journal.scope(scopes.halt(task.run))
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    if factory.escalations.exists(name):  # this node runs again after a crash
        escalation = factory.escalations.escalation(name)
    else:
        escalation = _escalation(factory, task, why, name, now)
    sha256 = factory.escalations.add(escalation)
    payload = {"reason": "human_input", "reference": name, "definition_sha256": sha256}
    announce(factory, scope, factory.projection.project_id, [task.event("task.blocked", payload)])
    factory.projection.write(now=True)
    factory.progress.note(Step("halted", task.entry.spec_task_id, f"{name}: {why.reason}"))
    return name


def _escalation(factory: Factory, task: Task, why: Halt, name: str, now: str) -> EscalationArtifact:
    histories = [factory.debates.records(debate).history() for debate in why.debates]
    board = TaskBoard(project_state(factory))
    board.change(task.task_id, now, task_changes.halt, why.decision, name)
    return EscalationArtifact(
        escalation_id=name,
        task_id=task.task_id,
        task_ref=task.path,
        created_at=now,
        debate_trail=DebateTrail(
            proposals=[p for history in histories for p in history.proposals],
            challenges=[c for history in histories for c in history.challenges],
            adjudications=[a for history in histories for a in history.adjudications],
        ),
        failed_invariants=[FailedInvariant(invariant=i, evidence=e) for i, e in why.failed],
        state_machine_snapshot=board.state().to_json(),
        minimal_decision_required=why.decision,
        recommended_resolution=why.recommended,
        resolution_context=why.context,
        details={"cause": why.cause, **(why.details or {})},
    )
