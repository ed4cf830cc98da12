"""What may happen to a task, each as a new state with the fields that go with it (F§4.2, F§17.2, D6-D8).

After a change BLOCKED is derived anew: `dispatch.rederive`. What a person must give for a resolution is
checked by the application, before it comes here.
"""

from collections.abc import Mapping, Sequence

from specwright.domain.dependency_cycles import describe_cycle, find_cycles
from specwright.domain.project_state import (
    TRANSITIONS,
    ProjectState,
    TaskEntry,
    TaskStatus,
    check_transition,
    effective_dependencies,
    entry_of,
    new_entry,
    replaced,
    with_status,
)
from specwright.domain.task_ids import TaskPlace
from specwright.errors import RefusedError

__all__ = [
    "abandon",
    "halt",
    "requeue",
    "resume",
    "ship",
    "split",
    "split_into",
    "start",
    "with_dependencies",
    "with_escalation",
]

_NO_HALT: Mapping[str, None] = {"halted_reason": None, "escalation_ref": None}


def start(state: ProjectState, task_id: str, updated_at: str) -> ProjectState:
    """PENDING -> IN_PROGRESS: dispatched."""
    _require(state, task_id, TaskStatus.PENDING, TaskStatus.IN_PROGRESS)
    return with_status(state, task_id, TaskStatus.IN_PROGRESS, updated_at)


def ship(
    state: ProjectState, task_id: str, module_ref: str, module_refs: Sequence[str], shipped_at: str
) -> ProjectState:
    """IN_PROGRESS -> SHIPPED, or HALTED -> SHIPPED by attestation (D22).

    Args:
        module_ref: The task-facing module, `MM-...@x.y.z`; one of `module_refs` (D3).
        module_refs: All modules that the task shipped.
        shipped_at: Also the state's new `updated_at`.
    """
    changes = {
        "module_ref": module_ref,
        "module_refs": list(module_refs),
        "shipped_at": shipped_at,
        **_NO_HALT,
    }
    return with_status(state, task_id, TaskStatus.SHIPPED, shipped_at, changes)


def halt(
    state: ProjectState, task_id: str, reason: str, escalation_ref: str, updated_at: str
) -> ProjectState:
    """IN_PROGRESS -> HALTED, with the escalation that a person answers (F§17.3)."""
    changes = {"halted_reason": reason, "escalation_ref": escalation_ref}
    return with_status(state, task_id, TaskStatus.HALTED, updated_at, changes)


def requeue(state: ProjectState, task_id: str, updated_at: str) -> ProjectState:
    """HALTED -> PENDING: the next attempt (D33)."""
    _require(state, task_id, TaskStatus.HALTED, TaskStatus.PENDING)
    changes = {"attempt": entry_of(state, task_id).attempt + 1, **_NO_HALT}
    return with_status(state, task_id, TaskStatus.PENDING, updated_at, changes)


def resume(state: ProjectState, task_id: str, updated_at: str) -> ProjectState:
    """HALTED -> IN_PROGRESS: the same attempt goes on (D33)."""
    _require(state, task_id, TaskStatus.HALTED, TaskStatus.IN_PROGRESS)
    return with_status(state, task_id, TaskStatus.IN_PROGRESS, updated_at, _NO_HALT)


def abandon(state: ProjectState, task_id: str, updated_at: str) -> ProjectState:
    """HALTED or BLOCKED -> ABANDONED; reason and escalation stay for the record."""
    return with_status(state, task_id, TaskStatus.ABANDONED, updated_at)


def split(state: ProjectState, task_id: str, parts: Sequence[TaskPlace], updated_at: str) -> ProjectState:
    """HALTED or BLOCKED -> ABANDONED, superseded by new PENDING tasks (F§17.2, D7).

    Args:
        parts: From `task_ids.lay_out_parts`.

    Raises:
        RefusedError: the task may not be split now, there are no parts, an id or order is taken, or the parts
            would wait in a circle.
    """
    return split_into(state, task_id, {part.task_id: new_entry(part) for part in parts}, updated_at)


def split_into(
    state: ProjectState, task_id: str, parts: Mapping[str, TaskEntry], updated_at: str
) -> ProjectState:
    """As `split`, from the entries of the parts by their ids."""
    if not parts:
        raise RefusedError(f"the task {task_id} cannot be split into nothing", where=task_id)
    _check_new(state, parts)
    changes = {"superseded_by": list(parts)}
    abandoned = with_status(state, task_id, TaskStatus.ABANDONED, updated_at, changes)
    tasks = {**abandoned.tasks, **parts}
    _check_acyclic(tasks)
    return abandoned.model_copy(update={"tasks": tasks})


def with_dependencies(
    state: ProjectState, task_id: str, depends_on: Sequence[str], updated_at: str
) -> ProjectState:
    """The state in which a task that has not run depends on fewer others (D8, `drop_depends_on`).

    Raises:
        RefusedError: the task is running or finished, or would depend on something new.
    """
    entry = entry_of(state, task_id)
    if entry.status not in (TaskStatus.PENDING, TaskStatus.BLOCKED, TaskStatus.HALTED):
        raise RefusedError(f"the task {task_id} is {entry.status}; its dependencies are fixed", where=task_id)
    if added := [ref for ref in depends_on if ref not in entry.depends_on]:
        raise RefusedError(
            f"dependencies can only be dropped; {task_id} never depended on {', '.join(added)}",
            where=task_id,
        )
    return replaced(state, task_id, {"depends_on": list(depends_on)}, updated_at)


def with_escalation(
    state: ProjectState, task_id: str, escalation_ref: str | None, updated_at: str
) -> ProjectState:
    """The state in which a BLOCKED task has an escalation of its own (D8), or none any more.

    Raises:
        RefusedError: the task is not BLOCKED; a halt sets its own escalation.
    """
    entry = entry_of(state, task_id)
    if entry.status is not TaskStatus.BLOCKED:
        raise RefusedError(f"the task {task_id} is {entry.status}, not BLOCKED", where=task_id)
    return replaced(state, task_id, {"escalation_ref": escalation_ref}, updated_at)


def _require(state: ProjectState, task_id: str, old: TaskStatus, new: TaskStatus) -> None:
    """For the transitions that only one status may make by this road."""
    status = entry_of(state, task_id).status
    check_transition(task_id, status, new)
    if status is not old:
        raise RefusedError(
            f"the task {task_id} cannot go from {status} to {new} here: {TRANSITIONS[old, new]}, from {old}",
            where=task_id,
        )


def _check_new(state: ProjectState, parts: Mapping[str, TaskEntry]) -> None:
    last = max(entry.declaration_order for entry in state.tasks.values())
    spec_ids = {entry.spec_task_id for entry in state.tasks.values()}
    for order, (part_id, part) in enumerate(parts.items(), start=last + 1):
        if part_id in state.tasks or part.spec_task_id in spec_ids:
            raise RefusedError(f"the id {part_id} ({part.spec_task_id}) is already taken")
        if part.declaration_order != order:
            raise RefusedError(f"{part_id} has declaration_order {part.declaration_order}, not {order}")


def _check_acyclic(tasks: Mapping[str, TaskEntry]) -> None:
    edges = {task_id: effective_dependencies(tasks, task_id) for task_id in tasks}
    if cycle := next(find_cycles(edges), None):
        raise RefusedError(
            f"tasks would wait for each other in a circle: {describe_cycle(cycle)}",
            where=cycle[0],
            remedy="drop one of these dependencies",
        )
