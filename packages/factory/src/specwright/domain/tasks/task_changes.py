"""The changes of one task, each a new entry with the fields that its status needs (design: task-states, escalation).

`TaskBoard.change` applies one. What a person must supply for a resolution is checked by the application before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specwright.domain.tasks.project_state import TRANSITIONS, TaskEntry, TaskStatus, check_transition
from specwright.errors import RefusedError

_NO_HALT: Mapping[str, None] = {"halted_reason": None, "escalation_ref": None}
_S = TaskStatus

UNFINISHED = (_S.PENDING, _S.BLOCKED, _S.IN_PROGRESS, _S.HALTED)
"""The statuses of a task whose last attempt is not over."""

WITHDRAWN = "the change that added it was abandoned"

REMOVED = "removed"
"""Why a task is ABANDONED that an approved change took out of the spec."""


def start(task_id: str, entry: TaskEntry) -> TaskEntry:
    """PENDING -> IN_PROGRESS: dispatched."""
    _require(task_id, entry, _S.PENDING, _S.IN_PROGRESS)
    return _replaced(entry, status=_S.IN_PROGRESS)


def ship(
    task_id: str, entry: TaskEntry, module_ref: str, module_refs: Sequence[str], shipped_at: str
) -> TaskEntry:
    """IN_PROGRESS -> SHIPPED, or HALTED -> SHIPPED by attestation (design: escalation).

    Args:
        module_ref: The task-facing module, `MM-...@x.y.z`; one of `module_refs` (design: engineering).
        module_refs: All modules that the task shipped.
    """
    check_transition(task_id, entry.status, _S.SHIPPED)
    return _replaced(
        entry,
        status=_S.SHIPPED,
        module_ref=module_ref,
        module_refs=list(module_refs),
        shipped_at=shipped_at,
        **_NO_HALT,
    )


def halt(task_id: str, entry: TaskEntry, reason: str, escalation_ref: str) -> TaskEntry:
    """IN_PROGRESS -> HALTED, with the escalation that a person answers (design: escalation)."""
    check_transition(task_id, entry.status, _S.HALTED)
    return _replaced(entry, status=_S.HALTED, halted_reason=reason, escalation_ref=escalation_ref)


def requeue(task_id: str, entry: TaskEntry) -> TaskEntry:
    """HALTED -> PENDING: the next attempt (design: wire)."""
    _require(task_id, entry, _S.HALTED, _S.PENDING)
    return _replaced(entry, status=_S.PENDING, attempt=entry.attempt + 1, **_NO_HALT)


def reopen(task_id: str, entry: TaskEntry, changed: TaskEntry) -> TaskEntry:
    """SHIPPED -> PENDING: an approved change begins the next attempt, which starts from the sealed modules (design:
    change).

    Args:
        changed: The first entry of the changed definition: its names and dependencies.
    """
    _require(task_id, entry, _S.SHIPPED, _S.PENDING)
    kept = {"attempt": entry.attempt + 1, "module_refs": entry.module_refs}
    return _replaced(changed, declaration_order=entry.declaration_order, **kept)


def remove(task_id: str, entry: TaskEntry) -> TaskEntry:
    """SHIPPED -> ABANDONED: an approved change removed it (design: change)."""
    _require(task_id, entry, _S.SHIPPED, _S.ABANDONED)
    return _replaced(entry, status=_S.ABANDONED, module_ref=None, shipped_at=None, halted_reason=REMOVED)


def ship_again(
    task_id: str, entry: TaskEntry, module_ref: str, module_refs: Sequence[str], shipped_at: str
) -> TaskEntry:
    """A SHIPPED task that was migrated: what it has now is what its migration shipped (design: change)."""
    if entry.status is not _S.SHIPPED:
        raise RefusedError(f"the task {task_id} is {entry.status}; nothing of it was migrated", where=task_id)
    return _replaced(entry, module_ref=module_ref, module_refs=list(module_refs), shipped_at=shipped_at)


def withdraw(entry: TaskEntry, before: TaskEntry | None) -> TaskEntry:
    """The entry of a task after a change that was abandoned: as it was before, but for the number of its attempts, which
    is never given again (design: change).

    Args:
        before: Its entry when the change was approved; None if the change added it.
    """
    if before is not None:
        return before.model_copy(update={"attempt": entry.attempt})
    gone = {"module_ref": None, "shipped_at": None, "halted_reason": WITHDRAWN}
    return _replaced(entry, status=_S.ABANDONED, **gone)


def replace_modules(task_id: str, entry: TaskEntry, versions: Mapping[str, str]) -> TaskEntry:
    """A SHIPPED task whose modules have later versions (design: change).

    Args:
        versions: The later version by the one that it takes the place of.

    Raises:
        RefusedError: the task is not SHIPPED.
    """
    if entry.status is not _S.SHIPPED or entry.module_ref is None:
        raise RefusedError(f"the task {task_id} is {entry.status}; it has no shipped modules", where=task_id)
    refs = [versions.get(ref, ref) for ref in entry.module_refs]
    return _replaced(entry, module_ref=versions.get(entry.module_ref, entry.module_ref), module_refs=refs)


def resume(task_id: str, entry: TaskEntry) -> TaskEntry:
    """HALTED -> IN_PROGRESS: the same attempt goes on (design: wire)."""
    _require(task_id, entry, _S.HALTED, _S.IN_PROGRESS)
    return _replaced(entry, status=_S.IN_PROGRESS, **_NO_HALT)


def abandon(task_id: str, entry: TaskEntry, superseded_by: Sequence[str] = ()) -> TaskEntry:
    """HALTED or BLOCKED -> ABANDONED; reason and escalation stay for the record.

    Args:
        superseded_by: The parts that a split task becomes.
    """
    if entry.status is _S.SHIPPED:
        _require(task_id, entry, _S.HALTED, _S.ABANDONED)
    check_transition(task_id, entry.status, _S.ABANDONED)
    return _replaced(entry, status=_S.ABANDONED, superseded_by=list(superseded_by))


def block(task_id: str, entry: TaskEntry, *, blocked: bool) -> TaskEntry:
    """PENDING -> BLOCKED or back. An escalation of the blocked task is settled when it is no longer blocked (design:
    task-states)."""
    status = _S.BLOCKED if blocked else _S.PENDING
    check_transition(task_id, entry.status, status)
    # without validation: one halt may block thousands of tasks
    return entry.model_copy(
        update={"status": status} if blocked else {"status": status, "escalation_ref": None}
    )


def set_dependencies(
    task_id: str, entry: TaskEntry, depends_on: Sequence[str], parts: Sequence[str] = ()
) -> TaskEntry:
    """A task that has not run depends on fewer others (design: task-states, `drop_depends_on`).

    Args:
        parts: Those of what it depends on, where that was split.

    Raises:
        RefusedError: the task is running or finished, or would depend on something new.
    """
    if entry.status not in (_S.PENDING, _S.BLOCKED, _S.HALTED):
        raise RefusedError(f"the task {task_id} is {entry.status}; its dependencies are fixed", where=task_id)
    if added := [ref for ref in depends_on if ref not in (*entry.depends_on, *parts)]:
        raise RefusedError(
            f"dependencies can only be dropped; {task_id} never depended on {', '.join(added)}",
            where=task_id,
        )
    return _replaced(entry, depends_on=list(depends_on))


def set_escalation(task_id: str, entry: TaskEntry, escalation_ref: str | None) -> TaskEntry:
    """A BLOCKED task gets an escalation of its own (design: task-states), or loses it.

    Raises:
        RefusedError: the task is not BLOCKED; a halt sets its own escalation.
    """
    if entry.status is not _S.BLOCKED:
        raise RefusedError(f"the task {task_id} is {entry.status}, not BLOCKED", where=task_id)
    return _replaced(entry, escalation_ref=escalation_ref)


def _replaced(entry: TaskEntry, **fields: Any) -> TaskEntry:
    return TaskEntry.model_validate({**vars(entry), **fields})


def _require(task_id: str, entry: TaskEntry, old: TaskStatus, new: TaskStatus) -> None:
    """For a change that is one of several transitions to the same status."""
    check_transition(task_id, entry.status, new)
    if entry.status is not old:
        raise RefusedError(
            f"the task {task_id} cannot go from {entry.status} to {new} here: {TRANSITIONS[old, new]}, from {old}",
            where=task_id,
        )
