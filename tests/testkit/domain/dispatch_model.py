"""Dispatch by the definitions, walking the whole state each time: what `TaskBoard` is compared with."""

from typing import Any

from specwright.domain.tasks.project_state import TaskStatus

_WAITING = ("PENDING", "BLOCKED")


def closure(state: Any, task_id: Any, seen: Any = None) -> Any:
    """The transitive dependencies by the definition; a split task is replaced by its parts (D5, D7)."""
    seen = set() if seen is None else seen  # pyright: ignore
    for ref in state.tasks[task_id].depends_on:
        _add(state, ref, seen)
    return seen


def _add(state: Any, ref: Any, seen: Any):
    if parts := state.tasks[ref].superseded_by:
        for part in parts:
            _add(state, part, seen)
    elif ref not in seen:
        seen.add(ref)
        closure(state, ref, seen)


def should_be_blocked(state: Any):
    """The waiting tasks with a halted or abandoned task in their closure."""
    return {
        task_id
        for task_id, task in state.tasks.items()
        if task.status in _WAITING
        and any(state.tasks[ref].status in ("HALTED", "ABANDONED") for ref in closure(state, task_id))
    }


def with_blocked(state: Any):
    """The state in which BLOCKED is true of exactly those tasks."""
    names, tasks = should_be_blocked(state), {}
    for task_id, entry in state.tasks.items():
        update = {}
        if task_id in names:
            update = {"status": TaskStatus.BLOCKED}
        elif entry.status == "BLOCKED":
            update = {"status": TaskStatus.PENDING, "escalation_ref": None}
        tasks[task_id] = entry.model_copy(update=update)
    return state.model_copy(update={"tasks": tasks})


def ready(state: Any, ref: Any):
    """Whether a task is SHIPPED, or every part of it if it was split."""
    task = state.tasks[ref]
    if task.superseded_by:
        return all(ready(state, part) for part in task.superseded_by)
    return task.status == "SHIPPED"


def eligible(state: Any):
    """The dispatch algorithm as F§3.3 writes it down: filter, sort, select."""
    tasks = [
        (task.declaration_order, task_id)
        for task_id, task in state.tasks.items()
        if task.status == "PENDING" and all(ready(state, ref) for ref in task.depends_on)
    ]
    return [task_id for _, task_id in sorted(tasks)]


def outcome(state: Any):
    """Whether the loop goes on, by the statuses of all tasks (D8)."""
    statuses = {task.status for task in state.tasks.values()}
    if "IN_PROGRESS" in statuses:
        return "RUNNABLE"
    if "HALTED" in statuses:
        return "HALTED"
    if not statuses & set(_WAITING):
        return "COMPLETE"
    return "RUNNABLE" if eligible(state) else "STALLED"
