"""Changes of a project's state as functions from one state to the next, through a `TaskBoard`."""

from typing import Any

from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import ProjectState
from specwright.domain.tasks.task_board import TaskBoard
from specwright.domain.tasks.task_file import first_entry


def initial_state(project_id: Any, spec_version: Any, definitions: Any, updated_at: Any):
    """The state of a project that was just laid out."""
    return ProjectState(
        project_id=project_id,
        spec_version=spec_version,
        updated_at=updated_at,
        tasks={definition.task_id: first_entry(definition) for definition in definitions},
    )


def derived(state: Any):
    """The state in which BLOCKED is true of exactly the blocked tasks."""
    return TaskBoard(state).state()


def next_task(state: Any):
    """What runs next."""
    return TaskBoard(state).next_task()


def in_progress(state: Any):
    """What is being worked on."""
    return TaskBoard(state).in_progress()


def outcome(state: Any):
    """Whether the loop goes on."""
    return TaskBoard(state).outcome()


def blocked(state: Any):
    """The tasks that are BLOCKED."""
    return {task_id for task_id, entry in derived(state).tasks.items() if entry.status == "BLOCKED"}


def changed(state: Any, task_id: Any, at: Any, change: Any, *args: Any):
    """The state after one of `task_changes`."""
    board = TaskBoard(state)
    board.change(task_id, at, change, *args)
    return board.state()


def start(state: Any, task_id: Any, at: Any):
    """PENDING -> IN_PROGRESS."""
    return changed(state, task_id, at, task_changes.start)


def ship(state: Any, task_id: Any, module_ref: Any, module_refs: Any, at: Any):
    """IN_PROGRESS or HALTED -> SHIPPED."""
    return changed(state, task_id, at, task_changes.ship, module_ref, module_refs, at)


def halt(state: Any, task_id: Any, reason: Any, escalation_ref: Any, at: Any):
    """IN_PROGRESS -> HALTED."""
    return changed(state, task_id, at, task_changes.halt, reason, escalation_ref)


def requeue(state: Any, task_id: Any, at: Any):
    """HALTED -> PENDING."""
    return changed(state, task_id, at, task_changes.requeue)


def resume(state: Any, task_id: Any, at: Any):
    """HALTED -> IN_PROGRESS."""
    return changed(state, task_id, at, task_changes.resume)


def abandon(state: Any, task_id: Any, at: Any):
    """HALTED or BLOCKED -> ABANDONED."""
    return changed(state, task_id, at, task_changes.abandon)


def set_dependencies(state: Any, task_id: Any, depends_on: Any, at: Any):
    """A task depends on fewer others."""
    return changed(state, task_id, at, task_changes.set_dependencies, depends_on)


def set_escalation(state: Any, task_id: Any, escalation_ref: Any, at: Any):
    """A BLOCKED task gets an escalation."""
    return changed(state, task_id, at, task_changes.set_escalation, escalation_ref)


def split(state: Any, task_id: Any, parts: Any, at: Any):
    """HALTED or BLOCKED -> ABANDONED, superseded by parts: their entries by id."""
    board = TaskBoard(state)
    board.split(task_id, at, parts)
    return board.state()
