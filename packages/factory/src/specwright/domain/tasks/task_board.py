"""A project's tasks: which are blocked, which runs next, and when the loop ends (design: project-loop, task-states).

The cost of a change depends on the dependents of the changed task, not on the size of the project. Decisions use no clock
and no randomness; equal states give equal answers.

`Reasons` explains why tasks do not run: "waits for T-a which waits for ESC-1a2b3c4d".
"""

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import (
    WAITING,
    ProjectState,
    TaskEntry,
    TaskStatus,
    effective_dependencies,
    expanded,
    shipped_modules,
)
from specwright.domain.tasks.task_changes import REMOVED, WITHDRAWN
from specwright.errors import InputError, RefusedError

Change: TypeAlias = Callable[..., TaskEntry]
"""A function of `task_changes`: takes the id and entry of a task, then its own arguments."""


class Outcome(StrEnum):
    """Whether the project loop continues, and if not, why (design: task-states)."""

    RUNNABLE = "RUNNABLE"
    COMPLETE = "COMPLETE"
    HALTED = "HALTED"
    STALLED = "STALLED"


class TaskBoard:
    """A project's tasks, their blockers, and the tasks that can run.

    A waiting task is BLOCKED if and only if a halted or abandoned task is among its transitive dependencies.

    Args:
        state: The initial state; BLOCKED is derived again.
    """

    def __init__(self, state: ProjectState) -> None:
        self._snapshot: ProjectState | None = None
        self._fill(state)

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def tasks(self) -> Mapping[str, TaskEntry]:
        """The present entries, by task id."""
        return MappingProxyType(self._tasks)

    def entry(self, task_id: str) -> TaskEntry:
        """Return the entry of a task.

        Raises:
            InputError: there is no such task.
        """
        if task_id not in self._tasks:
            raise InputError(
                f"there is no task {task_id}",
                where=self._head.project_id,
                remedy="`specwright tasks` lists them",
            )
        return self._tasks[task_id]

    def count(self, status: TaskStatus) -> int:
        """Count the tasks with a status."""
        return self._counts[status]

    def state(self) -> ProjectState:
        """Return a copy of the present state with all tasks."""
        if self._snapshot is None:
            update = {"tasks": dict(self._tasks), "updated_at": self._updated_at}
            self._snapshot = self._head.model_copy(update=update)
        return self._snapshot

    def next_task(self) -> str | None:
        """Return the first PENDING task in declaration order whose dependencies are all SHIPPED, or None (design:
        project-loop). Halted tasks are not considered; `outcome` does that."""
        while self._ready:
            task_id = self._ready[0][1]
            if self._is_ready(task_id):
                return task_id
            heapq.heappop(self._ready)  # no longer ready
        return None

    def in_progress(self) -> str | None:
        """Return the task in progress, or None; after a crash it runs again (design: journal)."""
        return min(self._running, key=self._order, default=None)

    def outcome(self) -> Outcome:
        """Return whether the loop continues, and if not, why (design: task-states, escalation).

        A task in progress is finished first. Then any halted task stops the loop, even if others could run.
        """
        if self._running:
            return Outcome.RUNNABLE
        if self._counts[TaskStatus.HALTED]:
            return Outcome.HALTED
        if not any(self._counts[status] for status in WAITING):
            return Outcome.COMPLETE
        return Outcome.STALLED if self.next_task() is None else Outcome.RUNNABLE

    def dependencies_of(self, task_id: str) -> Sequence[str]:
        """Return the direct dependencies of a task, with split tasks replaced by their parts (design: task-states)."""
        return effective_dependencies(self._tasks, task_id)

    def dependents_of(self, task_id: str) -> Sequence[str]:
        """Return the tasks that depend directly on a task, or on the split task that it is a part of."""
        return self._dependents[task_id]

    def is_ready(self, task_id: str) -> bool:
        """Whether all dependencies of a task are SHIPPED."""
        return not self._unmet[task_id]

    def modules_of(self, task_id: str) -> list[str]:
        """Return the modules of a task, or of its parts if it was split (design: task-states)."""
        parts = expanded(self._tasks, [task_id])
        return [ref for part in parts for ref in self._tasks[part].module_refs]

    def holders(self, ref: str) -> list[str]:
        """Return the SHIPPED tasks that have a module, in declaration order; the first one sealed it."""
        return [task_id for task_id, one in shipped_modules(self._tasks) if one == ref]

    def freed_by(self, task_id: str) -> list[str]:
        """Return the waiting tasks that only this task still holds up, in declaration order."""
        left = 0 if self._tasks[task_id].status is TaskStatus.SHIPPED else 1
        freed = [
            dependent
            for dependent in self._dependents[task_id]
            if self._unmet[dependent] == left and self._tasks[dependent].status in WAITING
        ]
        return sorted(freed, key=self._order)

    def stuck_behind_abandoned(self) -> list[str]:
        """Return the waiting tasks that depend directly on an abandoned one, in declaration order. Each needs an escalation
        (design: task-states)."""
        stuck = {
            dependent
            for task_id, entry in self._tasks.items()
            if entry.abandoned
            for dependent in self._dependents[task_id]
            if self._tasks[dependent].status in WAITING
        }
        return sorted(stuck, key=self._order)

    def change(self, task_id: str, at: str, change: Change, *args: object) -> None:
        """Apply one of `task_changes` to a task.

        Args:
            task_id: The task.
            at: The state's new `updated_at`.
            change: The change.
            args: The change's own arguments.

        Raises:
            InputError: there is no such task.
            RefusedError: the change breaks a rule; the board is unchanged.
        """
        before = self.entry(task_id)
        entry = change(task_id, before, *args)
        if entry.depends_on != before.depends_on:
            update = {"tasks": {**self._tasks, task_id: entry}, "updated_at": at}
            self._fill(self._head.model_copy(update=update))
        else:
            self._updated_at = at
            self._put(task_id, entry)

    def add(self, task_id: str, at: str, entry: TaskEntry) -> None:
        """Add a task of an approved change (design: change).

        Raises:
            RefusedError: the id is taken, or a dependency does not exist.
        """
        self._check_free(task_id, entry)
        if unknown := [ref for ref in entry.depends_on if ref not in self._tasks]:
            raise RefusedError(
                f"{task_id} depends on {', '.join(unknown)}, which does not exist", where=task_id
            )
        self.restore({**self._tasks, task_id: entry}, at)

    def restore(self, tasks: Mapping[str, TaskEntry], at: str, spec_version: str = "") -> None:
        """Replace all entries, and the spec's version if one is given; derive BLOCKED again."""
        version = {"spec_version": spec_version} if spec_version else {}
        self._fill(self._head.model_copy(update={"tasks": dict(tasks), "updated_at": at, **version}))

    def split(self, task_id: str, at: str, parts: Mapping[str, TaskEntry]) -> None:
        """HALTED or BLOCKED -> ABANDONED, superseded by new PENDING tasks (design: escalation, task-states).

        Args:
            at: The state's new `updated_at`.
            parts: Their entries by task id.

        Raises:
            RefusedError: the task may not be split now, there are no parts, an id or order is taken, or the dependencies
                would form a cycle; the board is unchanged.
        """
        if not parts:
            raise RefusedError(f"the task {task_id} cannot be split into nothing", where=task_id)
        self._check_new(parts)
        entry = task_changes.abandon(task_id, self.entry(task_id), list(parts))
        tasks = {**self._tasks, task_id: entry, **parts}
        if cycle := next(find_cycles({name: effective_dependencies(tasks, name) for name in tasks}), None):
            raise RefusedError(
                f"the dependencies would form a cycle: {describe_cycle(cycle)}",
                where=cycle[0],
                remedy="drop one of these dependencies",
            )
        self._fill(self._head.model_copy(update={"tasks": tasks, "updated_at": at}))

    def _check_new(self, parts: Mapping[str, TaskEntry]) -> None:
        last = max(entry.declaration_order for entry in self._tasks.values())
        for order, (part_id, part) in enumerate(parts.items(), start=last + 1):
            self._check_free(part_id, part)
            if part.declaration_order != order:
                raise RefusedError(f"{part_id} has declaration_order {part.declaration_order}, not {order}")

    def _check_free(self, task_id: str, entry: TaskEntry) -> None:
        """Raise if another task has the id."""
        spec_ids = {other.spec_task_id for other in self._tasks.values()}
        if task_id in self._tasks or entry.spec_task_id in spec_ids:
            raise RefusedError(f"the id {task_id} ({entry.spec_task_id}) is already taken")

    def _order(self, task_id: str) -> int:
        return self._tasks[task_id].declaration_order

    def _fill(self, state: ProjectState) -> None:
        self._head = state.model_copy(update={"tasks": {}})
        self._updated_at = state.updated_at
        self._snapshot = None
        self._tasks = dict(state.tasks)
        self._dependents: dict[str, list[str]] = {task_id: [] for task_id in self._tasks}
        self._unmet = dict.fromkeys(self._tasks, 0)
        """The number of each task's dependencies that are not SHIPPED."""
        self._blockers = dict.fromkeys(self._tasks, 0)
        """The number of each task's dependencies that block it or are blocked themselves."""
        self._counts: Counter[TaskStatus] = Counter(entry.status for entry in self._tasks.values())
        self._running = {t for t, entry in self._tasks.items() if entry.status is TaskStatus.IN_PROGRESS}
        self._ready: list[tuple[int, str]] = []
        for task_id in self._tasks:
            for ref in effective_dependencies(self._tasks, task_id):
                self._dependents[ref].append(task_id)
                self._unmet[task_id] += self._tasks[ref].status is not TaskStatus.SHIPPED
        for task_id, entry in list(self._tasks.items()):
            if entry.blocks:
                self._change_blockers(task_id, 1)
        for task_id in self._tasks:
            self._derive_blocked(task_id)
        self._ready = [(self._order(task_id), task_id) for task_id in self._tasks if self._is_ready(task_id)]
        heapq.heapify(self._ready)

    def _is_ready(self, task_id: str) -> bool:
        return self._tasks[task_id].status is TaskStatus.PENDING and not self._unmet[task_id]

    def _put(self, task_id: str, entry: TaskEntry) -> None:
        """Set a task's new entry, and update its dependents."""
        before = self._tasks[task_id]
        self._set(task_id, entry)
        self._derive_blocked(task_id)
        shipped = entry.status is TaskStatus.SHIPPED
        if shipped is not (before.status is TaskStatus.SHIPPED):
            for dependent in self._dependents[task_id]:
                self._unmet[dependent] += -1 if shipped else 1
                self._offer(dependent)
        if entry.blocks is not before.blocks:
            self._change_blockers(task_id, 1 if entry.blocks else -1)

    def _set(self, task_id: str, entry: TaskEntry) -> None:
        self._counts[self._tasks[task_id].status] -= 1
        self._counts[entry.status] += 1
        self._running.discard(task_id)
        if entry.status is TaskStatus.IN_PROGRESS:
            self._running.add(task_id)
        self._tasks[task_id] = entry
        self._snapshot = None
        self._offer(task_id)

    def _offer(self, task_id: str) -> None:
        if self._is_ready(task_id):
            heapq.heappush(self._ready, (self._order(task_id), task_id))

    def _change_blockers(self, task_id: str, by: int) -> None:
        """Propagate that a task begins (1) or ceases (-1) to block its dependents, as far as it makes a difference."""
        pending = [task_id]
        while pending:
            for dependent in self._dependents[pending.pop()]:
                was_blocked = self._blockers[dependent] > 0
                self._blockers[dependent] += by
                if (self._blockers[dependent] > 0) is not was_blocked:
                    self._derive_blocked(dependent)
                    pending.append(dependent)

    def _derive_blocked(self, task_id: str) -> None:
        entry, blocked = self._tasks[task_id], self._blockers[task_id] > 0
        if entry.status in WAITING and (entry.status is TaskStatus.BLOCKED) is not blocked:
            self._set(task_id, task_changes.block(task_id, entry, blocked=blocked))


_LINKS_SHOWN = 6


class _Path(NamedTuple):
    """The path from a waiting task to the cause of its waiting."""

    distance: int
    next: str
    cause: str
    before_cause: str


class Reasons:
    """Explains why tasks do not run, after one pass over the state.

    A waiting task waits for its blocker, or else for a task that is running or could run. Of several causes the nearest is
    reported; of several equally near, the one that `depends_on` names first.

    Args:
        state: The project's state.
        driven: Whether a process drives the project; if not, a task in progress counts as interrupted.
    """

    def __init__(self, state: ProjectState, *, driven: bool = True) -> None:
        self._working = "is being worked on" if driven else "was interrupted; `specwright run` resumes it"
        self._board = board = TaskBoard(state)
        self._tasks = tasks = board.tasks
        self._halted = next((entry for entry in tasks.values() if entry.status is TaskStatus.HALTED), None)
        self._to_blocker = self._paths([task_id for task_id, entry in tasks.items() if entry.blocks])
        self._to_end = self._paths([task_id for task_id in tasks if self._is_end(task_id)])

    def of(self, task_id: str) -> str:
        """Explain why a task is not running.

        Raises:
            InputError: there is no such task.
        """
        path, links = _Path(0, task_id, task_id, ""), list[str]()
        if self._board.entry(task_id).status in WAITING:
            paths = self._to_blocker if task_id in self._to_blocker else self._to_end
            path = paths[task_id]
            links = [f"waits for {link}" for link in _links(paths, task_id)]
        return " which ".join((*links, self._cause(path)))

    def _is_end(self, task_id: str) -> bool:
        """Whether a task is not shipped and waits for no other task."""
        status = self._tasks[task_id].status
        return status is not TaskStatus.SHIPPED and (status not in WAITING or self._board.is_ready(task_id))

    def _paths(self, ends: Sequence[str]) -> Mapping[str, _Path]:
        """Return the shortest path to one of the ends for every task that depends on one."""
        paths = {end: _Path(0, end, end, "") for end in ends}
        frontier: Sequence[str] = ends
        while frontier:
            reached = dict.fromkeys(
                dependent
                for task_id in frontier
                for dependent in self._board.dependents_of(task_id)
                if dependent not in paths
            )
            # its dependencies with a path are in this frontier, or it would have been reached before
            steps = {
                task_id: next(ref for ref in self._board.dependencies_of(task_id) if ref in paths)
                for task_id in reached
            }
            for task_id, step in steps.items():
                distance, _, cause, before = paths[step]
                paths[task_id] = _Path(distance + 1, step, cause, before or task_id)
            frontier = list(reached)
        return paths

    def _cause(self, path: _Path) -> str:
        """Explain what the last task of a path waits for."""
        entry = self._tasks[path.cause]
        match entry.status:
            case TaskStatus.SHIPPED:
                return f"has shipped as {', '.join(entry.module_refs)}"
            case TaskStatus.IN_PROGRESS:
                again = f" (attempt {entry.attempt})" if entry.attempt > 1 else ""
                return f"{self._working}{again}"
            case TaskStatus.HALTED:
                return f"waits for {entry.escalation_ref}"
            case TaskStatus.ABANDONED:
                return _abandoned(entry, self._tasks[path.before_cause] if path.before_cause else None)
            case TaskStatus.PENDING | TaskStatus.BLOCKED:
                return self._turn(path.cause)

    def _turn(self, task_id: str) -> str:
        """Explain what a task waits for although its dependencies are shipped."""
        if running := self._board.in_progress():
            return f"is ready and waits its turn; {running} {self._working}"
        if self._halted:
            return f"is ready; the project waits for {self._halted.escalation_ref}"
        first = self._board.next_task()
        return "is next" if first == task_id else f"is ready and waits its turn; {first} is next"


def why_each(state: ProjectState, *, driven: bool = True) -> dict[str, str]:
    """Explain for each task, in declaration order, why it is not running; see `Reasons`."""
    reasons = Reasons(state, driven=driven)
    return {task_id: reasons.of(task_id) for task_id in state.ordered}


def by_spec_id(state: ProjectState, text: str) -> str:
    """Replace the T- ids in a text by the ids of the spec, such as TSK-001."""

    def spec_id(match: re.Match[str]) -> str:
        entry = state.tasks.get(match[0])
        return entry.spec_task_id if entry else match[0]

    return re.sub(r"T-[\w-]+", spec_id, text)


def _links(paths: Mapping[str, _Path], task_id: str) -> Iterator[str]:
    """Yield the tasks on a path; the middle of a long one is only counted."""
    distance, _, cause, _ = paths[task_id]
    long = distance > _LINKS_SHOWN
    for _ in range(_LINKS_SHOWN - 1 if long else distance):
        task_id = paths[task_id].next
        yield task_id
    if long:
        yield f"{distance - _LINKS_SHOWN} more in a row"
        yield cause


def _abandoned(entry: TaskEntry, dependent: TaskEntry | None) -> str:
    if entry.superseded_by:
        return f"was split into {', '.join(entry.superseded_by)}"
    if entry.halted_reason == REMOVED:
        return "was removed by a change"
    if entry.halted_reason == WITHDRAWN:
        return "was abandoned with the change that added it"
    escalation = dependent.escalation_ref if dependent else None
    return f"was abandoned; {escalation} asks what to do about it" if escalation else "was abandoned"
