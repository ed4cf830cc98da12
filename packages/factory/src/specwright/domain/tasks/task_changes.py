"""The changes of one task; each returns a new entry with the fields that its status needs (design: task-states, escalation).

`TaskBoard.change` applies one. The application checks a person's answer before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from specwright.domain.tasks.project_state import TRANSITIONS, TaskEntry, TaskStatus, check_transition
from specwright.errors import RefusedError

_NO_HALT: Mapping[str, None] = {"halted_reason": None, "escalation_ref": None}
_S = TaskStatus

UNFINISHED = (_S.PENDING, _S.BLOCKED, _S.IN_PROGRESS, _S.HALTED)
"""The statuses of a task whose last attempt has not ended."""

WITHDRAWN = "the change that added it was abandoned"

REMOVED = "removed"
"""The reason of a task that is ABANDONED because an approved change removed it from the spec."""


def start(task_id: str, entry: TaskEntry) -> TaskEntry:
    """PENDING -> IN_PROGRESS: the task is dispatched."""
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
        task_id: The task.
        entry: Its entry.
        changed: The first entry of the changed definition, with its names and dependencies.
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
    """Set the modules of a SHIPPED task to those that its migration shipped (design: change)."""
    if entry.status is not _S.SHIPPED:
        raise RefusedError(f"the task {task_id} is {entry.status}; nothing of it was migrated", where=task_id)
    return _replaced(entry, module_ref=module_ref, module_refs=list(module_refs), shipped_at=shipped_at)


def withdraw(entry: TaskEntry, before: TaskEntry | None) -> TaskEntry:
    """Return the entry of a task after its change was abandoned: the earlier entry, but with the present number of attempts,
    because these numbers are never reused (design: change).

    Args:
        entry: The present entry.
        before: The entry when the change was approved; None if the change added the task.
    """
    if before is not None:
        return before.model_copy(update={"attempt": entry.attempt})
    gone = {"module_ref": None, "shipped_at": None, "halted_reason": WITHDRAWN}
    return _replaced(entry, status=_S.ABANDONED, **gone)


def replace_modules(task_id: str, entry: TaskEntry, versions: Mapping[str, str]) -> TaskEntry:
    """Replace modules of a SHIPPED task by later versions (design: change).

    Args:
        task_id: The task.
        entry: Its entry.
        versions: The later versions, by the version that each replaces.

    Raises:
        RefusedError: the task is not SHIPPED.
    """
    if entry.status is not _S.SHIPPED or entry.module_ref is None:
        raise RefusedError(f"the task {task_id} is {entry.status}; it has no shipped modules", where=task_id)
    refs = [versions.get(ref, ref) for ref in entry.module_refs]
    return _replaced(entry, module_ref=versions.get(entry.module_ref, entry.module_ref), module_refs=refs)


def resume(task_id: str, entry: TaskEntry) -> TaskEntry:
    """HALTED -> IN_PROGRESS: the same attempt resumes (design: wire)."""
    _require(task_id, entry, _S.HALTED, _S.IN_PROGRESS)
    return _replaced(entry, status=_S.IN_PROGRESS, **_NO_HALT)


def abandon(task_id: str, entry: TaskEntry, superseded_by: Sequence[str] = ()) -> TaskEntry:
    """HALTED or BLOCKED -> ABANDONED; reason and escalation stay on record.

    Args:
        task_id: The task.
        entry: Its entry.
        superseded_by: The parts of a split task.
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
    """Drop dependencies of a task that has not run (design: task-states, `drop_depends_on`).

    Args:
        task_id: The task.
        entry: Its entry.
        depends_on: The remaining dependencies.
        parts: The parts of split tasks that it depends on.

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
    """Set or clear the escalation of a BLOCKED task (design: task-states).

    Raises:
        RefusedError: the task is not BLOCKED; `halt` sets that of a halted task.
    """
    if entry.status is not _S.BLOCKED:
        raise RefusedError(f"the task {task_id} is {entry.status}, not BLOCKED", where=task_id)
    return _replaced(entry, escalation_ref=escalation_ref)


def _replaced(entry: TaskEntry, **fields: Any) -> TaskEntry:
    return TaskEntry.model_validate({**vars(entry), **fields})


def _require(task_id: str, entry: TaskEntry, old: TaskStatus, new: TaskStatus) -> None:
    """Raise unless the task has the status that this change starts from."""
    check_transition(task_id, entry.status, new)
    if entry.status is not old:
        raise RefusedError(
            f"the task {task_id} cannot go from {entry.status} to {new} here: {TRANSITIONS[old, new]}, from {old}",
            where=task_id,
        )
