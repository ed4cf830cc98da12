"""Halts and stalls: the escalation that a person answers, written before the Wire that says so (design: planning,
escalation, task-states).

A stalled task has not run, so its escalation carries no debate. Of the state machine it carries the tasks that the task
waits for, the nearest of many, since thousands may stall behind one. The task is blocked already, so a review Wire
announces the stall, not a task Wire (design: wire).
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ship_gate.base.ids import ArtifactType, artifact_id
from specwright.application.announce import Announcement, announce, review
from specwright.application.factory import Factory, ProjectView
from specwright.application.tasks import Task, project_state, task_at, task_board
from specwright.domain.escalation import (
    DebateTrail,
    EscalationArtifact,
    FailedInvariant,
    Resolution,
)
from specwright.domain.interface_change import InterfaceChangeException
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import (
    ProjectState,
    TaskEntry,
    TaskStatus,
    effective_dependencies,
    upstream,
    upstream_sizes,
)
from specwright.domain.tasks.task_board import TaskBoard
from specwright.errors import NonDeterminismError
from specwright.ports.progress import Step

MAX_UPSTREAM = 20
"""Tasks that a stalled task waits for, of which its escalation shows the entries; the nearest."""


class Halt(NamedTuple):
    """Why a task halts or stalls.

    Args:
        cause: `planning`, `contracts`, `modules`, `plan`, `exception`, `journal` or `stalled`.
        reason: One sentence.
        decision: What a person must decide.
        recommended: The factory's best guess.
        context: What helps to decide.
        debates: The ids of the debates held so far.
        failed: The invariants that did not hold.
        details: Typed by the cause.
        raised: The interface change exception that halts it.
    """

    cause: str
    reason: str
    decision: str
    recommended: Resolution
    context: str
    debates: Sequence[str] = ()
    failed: Sequence[tuple[str, str]] = ()
    details: dict[str, Any] | None = None
    raised: InterfaceChangeException | None = None


def halt(factory: Factory, task: Task, why: Halt) -> str:
    """Write the escalation and halt the task.

    Returns:
        The escalation's id.
    """
    scope = factory.journal.scope(f"{task.run}/halt")
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    if factory.escalations.exists(name):  # this node runs again after a crash
        escalation = factory.escalations.escalation(name)
    else:
        board = TaskBoard(project_state(factory))
        board.change(task.task_id, now, task_changes.halt, why.decision, name)
        trail = _all_debates(factory, task, why.debates)
        escalation = _escalation(task, why, name, now, trail, board.state().to_json())
    sha256 = factory.escalations.add(escalation)
    payload = {"reason": "human_input", "reference": name, "definition_sha256": sha256}
    announce(
        factory,
        scope,
        factory.projection.project_id,
        [*_raised(factory, task, why), task.event("task.blocked", payload)],
    )
    factory.projection.write(now=True)
    factory.progress.note(Step("halted", task.entry.spec_task_id, f"{name}: {why.reason}"))
    return name


def _all_debates(factory: Factory, task: Task, debates: Sequence[str]) -> DebateTrail:
    """All debates of a task: those that its earlier escalations tell of, since another plan or attempt leaves them
    behind, and those held now (design: escalation)."""
    answered = [one for one in factory.projection.resolutions.values() if one.task_id == task.task_id]
    trails = [factory.escalations.escalation(one.escalation_id).debate_trail for one in answered]
    histories = [factory.debates.records(debate).history() for debate in debates]
    told = [*trails, *histories]
    return DebateTrail(
        proposals=list({p.proposal_id: p for one in told for p in one.proposals}.values()),
        challenges=list({c.challenge_id: c for one in told for c in one.challenges}.values()),
        adjudications=list({a.adjudication_id: a for one in told for a in one.adjudications}.values()),
    )


def _raised(factory: Factory, task: Task, why: Halt) -> list[Announcement]:
    """The Wire of an interface change exception (design: wire)."""
    if why.raised is None:
        return []
    sha256, name = factory.store.define(why.raised.to_bytes()), why.raised.exception_id
    return [review(factory.projection.project_id, "exception.raised", sha256, name, caused_by=task.stream)]


def halt_contradicted(factory: Factory, task: Task, error: NonDeterminismError) -> str:
    """Halt a task whose checkpoint was lost and that the journal does not lead back to where it was (design: journal).

    Returns:
        The escalation's id.
    """
    why = Halt(
        cause="journal",
        reason="its checkpoint is gone and the journal contradicts it",
        decision=f"Run {task.task_id} again as a new attempt, or give it up: {error.what}",
        recommended=Resolution.AMEND_SPEC,
        context=f"{error.where}. {error.remedy}".strip(". "),
        failed=[("a run that is repeated asks what it asked before", str(error))],
    )
    return halt(factory, task, why)


def raise_stalled(factory: Factory) -> None:
    """Give each task that depends directly on an abandoned one an escalation of its own; one has it at most once."""
    state = project_state(factory)
    behind = task_board(factory).stuck_behind_abandoned()
    stuck = [task_id for task_id in behind if state.tasks[task_id].escalation_ref is None]
    sizes = upstream_sizes(state) if stuck else dict[str, int]()
    for task_id in stuck:
        _raise(factory, state, task_at(factory, task_id), sizes[task_id])


def open_escalations(factory: ProjectView) -> list[str]:
    """The escalations that wait for a person, in declaration order of their tasks."""
    waiting = (TaskStatus.HALTED, TaskStatus.BLOCKED)
    entries = [entry for entry in project_state(factory).tasks.values() if entry.status in waiting]
    entries.sort(key=lambda entry: entry.declaration_order)
    return [entry.escalation_ref for entry in entries if entry.escalation_ref]


def _raise(factory: Factory, state: ProjectState, task: Task, waits_for: int) -> None:
    # a task may stall again after an answer that left it where it was
    count = factory.projection.escalations_raised.get(task.task_id, 0) + 1
    scope = factory.journal.scope(f"{task.run}/stalled-{count}")
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    why = _stall(state, task)
    escalation = _escalation(task, why, name, now, DebateTrail(), _excerpt(state, task.task_id, waits_for))
    sha256 = factory.escalations.add(escalation)
    project_id = factory.projection.project_id
    announce(factory, scope, project_id, [review(project_id, "escalation.raised", sha256, name)])
    factory.progress.note(Step("stalled", task.entry.spec_task_id, f"{name}: {why.decision}"))


def _escalation(
    task: Task, why: Halt, name: str, now: str, trail: DebateTrail, snapshot: dict[str, Any]
) -> EscalationArtifact:
    return EscalationArtifact(
        escalation_id=name,
        task_id=task.task_id,
        task_ref=task.path,
        created_at=now,
        debate_trail=trail,
        failed_invariants=[FailedInvariant(invariant=i, evidence=e) for i, e in why.failed],
        state_machine_snapshot=snapshot,
        minimal_decision_required=why.decision,
        recommended_resolution=why.recommended,
        resolution_context=why.context,
        details={"cause": why.cause, **(why.details or {})},
    )


def _stall(state: ProjectState, task: Task) -> Halt:
    """What the escalation of a stalled task says."""
    abandoned = [
        ref
        for ref in effective_dependencies(state.tasks, task.task_id)
        if state.tasks[ref].status is TaskStatus.ABANDONED
    ]
    one = len(abandoned) == 1
    names = f"{', '.join(abandoned)}, which {'was' if one else 'were'} abandoned"
    return Halt(
        cause="stalled",
        reason=f"it depends on {names}",
        decision=f"Decide what becomes of {task.task_id}: it depends on {names}",
        recommended=Resolution.AMEND_SPEC,
        context=(
            f"AMEND_SPEC with drop_depends_on lets it run without {'it' if one else 'them'}; "
            "SPLIT_TASK replaces it by tasks that do not need it; ABANDON_TASK gives it up as well"
        ),
        failed=[("every dependency of a task ships", _evidence(state.tasks, ref)) for ref in abandoned],
        details={"abandoned": abandoned},
    )


def _evidence(tasks: Mapping[str, TaskEntry], ref: str) -> str:
    reason = tasks[ref].halted_reason
    return f"{ref} ({tasks[ref].task}) is ABANDONED" + (f"; it had halted: {reason}" if reason else "")


def _excerpt(state: ProjectState, task_id: str, waits_for: int) -> dict[str, Any]:
    """The part of a state that a task waits for, itself included; of many tasks the nearest, and how many more."""
    shown = [task_id, *islice(upstream(state, task_id), MAX_UPSTREAM)]
    shown.sort(key=lambda ref: state.tasks[ref].declaration_order)
    excerpt = state.model_copy(update={"tasks": {ref: state.tasks[ref] for ref in shown}}).to_json()
    if (more := waits_for - MAX_UPSTREAM) > 0:
        excerpt["not_shown"] = f"and {more:,} more tasks that it waits for"
    return excerpt
