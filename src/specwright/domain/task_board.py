"""The state as it changes, with the answers of `dispatch` kept up to date (F§3.3, D5, D7, D29, DESIGN §11).

`dispatch` says what is true of a state by walking it; a board says the same of ten thousand tasks without walking
them: a step costs what the changed task's own dependents cost. The rules of a change are those of `state_changes`.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from specwright.domain.dispatch import Outcome, as_waiting, blocks, rederive
from specwright.domain.project_state import (
    ProjectState,
    TaskEntry,
    TaskStatus,
    effective_dependencies,
    entry_of,
    expanded,
)

__all__ = ["Change", "TaskBoard"]

Change: TypeAlias = Callable[[ProjectState], ProjectState]
"""One of `state_changes`, all but the state filled in."""

_PENDING, _BLOCKED = TaskStatus.PENDING, TaskStatus.BLOCKED
_WAITING = (_PENDING, _BLOCKED)


class TaskBoard:
    """A project's tasks, what holds each up, and which can run.

    Args:
        state: Where it begins; BLOCKED is derived anew.
    """

    def __init__(self, state: ProjectState) -> None:
        self._snapshot: ProjectState | None = None
        self._fill(rederive(state))

    def __len__(self) -> int:
        return len(self._tasks)

    def entry(self, task_id: str) -> TaskEntry:
        """The entry of a task.

        Raises:
            InputError: no such task.
        """
        return self._tasks.get(task_id) or entry_of(self.state(), task_id)

    def count(self, status: TaskStatus) -> int:
        """How many tasks have a status."""
        return self._counts[status]

    def state(self) -> ProjectState:
        """The state now; it does not change with the board. For those who look at all tasks: it copies them."""
        if self._snapshot is None:
            update = {"tasks": dict(self._tasks), "updated_at": self._updated_at}
            self._snapshot = self._head.model_copy(update=update)
        return self._snapshot

    def next_task(self) -> str | None:
        """As `dispatch.next_task`."""
        while self._ready:
            task_id = self._ready[0][1]
            if self._is_ready(task_id):
                return task_id
            heapq.heappop(self._ready)  # it was ready once, and has moved on
        return None

    def in_progress(self) -> str | None:
        """As `dispatch.in_progress`."""
        return min(self._running, key=lambda task_id: self._tasks[task_id].declaration_order, default=None)

    def outcome(self) -> Outcome:
        """As `dispatch.outcome`."""
        if self._running:
            return Outcome.RUNNABLE
        if self._counts[TaskStatus.HALTED]:
            return Outcome.HALTED
        if not self._counts[_PENDING] and not self._counts[_BLOCKED]:
            return Outcome.COMPLETE
        return Outcome.STALLED if self.next_task() is None else Outcome.RUNNABLE

    def dependencies_of(self, task_id: str) -> Sequence[str]:
        """What a task depends on directly, each split task replaced by its parts (D7)."""
        return effective_dependencies(self._tasks, task_id)

    def modules_of(self, task_id: str) -> list[str]:
        """The modules that a task shipped, or that the parts did which it was split into (D7)."""
        parts = expanded(self._tasks, [task_id])
        return [ref for part in parts for ref in self._tasks[part].module_refs]

    def freed_by(self, task_id: str) -> list[str]:
        """The waiting tasks of which every dependency but perhaps this one is SHIPPED, in declaration order."""
        left = 0 if self._tasks[task_id].status is TaskStatus.SHIPPED else 1
        freed = [
            dependent
            for dependent in self._dependents[task_id]
            if self._unmet[dependent] == left and self._tasks[dependent].status in _WAITING
        ]
        return sorted(freed, key=lambda dependent: self._tasks[dependent].declaration_order)

    def change(self, task_id: str, change: Change) -> None:
        """Apply a change that concerns one task alone.

        Raises:
            InputError: no such task.
            RefusedError: the change is against the rules; the board is as it was.
        """
        before = self.entry(task_id)
        window = self._head.model_copy(update={"tasks": {task_id: before}})
        after = change(window)
        entry = after.tasks[task_id]
        if entry.depends_on != before.depends_on:
            update = {"tasks": {**self._tasks, task_id: entry}, "updated_at": after.updated_at}
            self._fill(rederive(self._head.model_copy(update=update)))
        else:
            self._updated_at = after.updated_at
            self._put(task_id, entry)

    def change_all(self, change: Change) -> None:
        """Apply a change that adds tasks or looks at several; it walks the whole state.

        Raises:
            RefusedError: the change is against the rules; the board is as it was.
        """
        self._fill(rederive(change(self.state())))

    def _fill(self, state: ProjectState) -> None:
        self._head = state.model_copy(update={"tasks": {}})
        self._updated_at = state.updated_at
        self._snapshot = None
        self._tasks = dict(state.tasks)
        self._dependents: dict[str, list[str]] = {task_id: [] for task_id in self._tasks}
        self._unmet = dict.fromkeys(self._tasks, 0)
        self._held = dict.fromkeys(self._tasks, 0)
        """What holds a task up: one for each dependency that blocks, one for each that is held up itself."""
        self._counts: Counter[TaskStatus] = Counter(entry.status for entry in self._tasks.values())
        self._running = {t for t, entry in self._tasks.items() if entry.status is TaskStatus.IN_PROGRESS}
        for task_id in self._tasks:
            for ref in effective_dependencies(self._tasks, task_id):
                self._dependents[ref].append(task_id)
                self._unmet[task_id] += self._tasks[ref].status is not TaskStatus.SHIPPED
        for task_id, entry in self._tasks.items():
            if blocks(entry):
                self._hold_dependents(task_id, 1)
        self._ready = [(e.declaration_order, t) for t, e in self._tasks.items() if self._is_ready(t)]
        heapq.heapify(self._ready)

    def _is_ready(self, task_id: str) -> bool:
        return self._tasks[task_id].status is _PENDING and not self._unmet[task_id]

    def _put(self, task_id: str, entry: TaskEntry) -> None:
        """Take in a task's new entry, and tell those that depend on it."""
        before = self._tasks[task_id]
        self._set(task_id, entry)
        self._rederive(task_id)
        if entry.status is TaskStatus.SHIPPED is not before.status:
            for dependent in self._dependents[task_id]:
                self._unmet[dependent] -= 1
                self._offer(dependent)
        if blocks(entry) is not blocks(before):
            self._hold_dependents(task_id, 1 if blocks(entry) else -1)

    def _set(self, task_id: str, entry: TaskEntry) -> None:
        before = self._tasks[task_id]
        self._counts[before.status] -= 1
        self._counts[entry.status] += 1
        self._running.discard(task_id)
        if entry.status is TaskStatus.IN_PROGRESS:
            self._running.add(task_id)
        self._tasks[task_id] = entry
        self._snapshot = None
        self._offer(task_id)

    def _offer(self, task_id: str) -> None:
        if self._is_ready(task_id):
            heapq.heappush(self._ready, (self._tasks[task_id].declaration_order, task_id))

    def _hold_dependents(self, task_id: str, by: int) -> None:
        """A task begins (1) or ceases (-1) to hold up those behind it: pass it on as far as it makes a difference."""
        pending = [task_id]
        while pending:
            for dependent in self._dependents[pending.pop()]:
                was_held = self._held[dependent] > 0
                self._held[dependent] += by
                if (self._held[dependent] > 0) is not was_held:
                    self._rederive(dependent)
                    pending.append(dependent)

    def _rederive(self, task_id: str) -> None:
        """Make BLOCKED true of a waiting task, or untrue; the rule is that of `dispatch.rederive`."""
        entry = self._tasks[task_id]
        status = _BLOCKED if self._held[task_id] else _PENDING
        if entry.status in _WAITING and entry.status is not status:
            self._set(task_id, as_waiting(task_id, entry, status))
