"""What runs next, what is blocked, and why a task does not run (F§3.3, F§4.2, D5, D7, D8).

Pure functions of the state: no clock, no randomness, every answer the same for the same state. All are
linear in tasks and dependencies; `task_board` keeps the answers of a state that changes, without walking it.
That a halted task stops the loop is `outcome`, not `next_task` (F§17.3).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from specwright.domain.project_state import (
    ProjectState,
    TaskEntry,
    TaskStatus,
    check_transition,
    effective_dependencies,
    entry_of,
)

__all__ = [
    "Outcome",
    "Reasons",
    "as_waiting",
    "blocked",
    "blocks",
    "in_progress",
    "next_task",
    "outcome",
    "rederive",
    "stuck_behind_abandoned",
    "why_not",
]

# Bound once: looking a member up on its class costs more than the comparison, ten thousand times a decision.
_PENDING, _BLOCKED = TaskStatus.PENDING, TaskStatus.BLOCKED
_HALTED, _ABANDONED = TaskStatus.HALTED, TaskStatus.ABANDONED
_SHIPPED, _IN_PROGRESS = TaskStatus.SHIPPED, TaskStatus.IN_PROGRESS
_WAITING = (_PENDING, _BLOCKED)
_LINKS_SHOWN = 6


class Outcome(StrEnum):
    """Where the loop stands (D8)."""

    RUNNABLE = "RUNNABLE"
    COMPLETE = "COMPLETE"
    HALTED = "HALTED"
    STALLED = "STALLED"


def blocked(state: ProjectState) -> frozenset[str]:
    """The waiting tasks that have a halted or abandoned task in their transitive dependencies (D5).

    A task that was split blocks nobody: who depended on it depends on its parts (D7).
    """
    tasks = state.tasks
    reached: set[str] = set()
    pending = [task_id for task_id, entry in tasks.items() if blocks(entry)]
    if not pending:
        return frozenset()
    dependents = _dependents(tasks)
    while pending:
        for dependent in dependents.get(pending.pop(), ()):
            if dependent not in reached:
                reached.add(dependent)
                pending.append(dependent)
    return frozenset(task_id for task_id in reached if tasks[task_id].status in _WAITING)


def blocks(entry: TaskEntry) -> bool:
    """Whether a task blocks those behind it: HALTED, or ABANDONED and not split (D5, D7)."""
    return entry.status is _HALTED or _is_abandoned(entry)


def as_waiting(task_id: str, entry: TaskEntry, status: TaskStatus) -> TaskEntry:
    """A waiting task's entry as PENDING or BLOCKED."""
    check_transition(task_id, entry.status, status)
    # an escalation that a blocked task had of its own (D8) is settled when it is no longer blocked
    update = {"status": status} if status is _BLOCKED else {"status": status, "escalation_ref": None}
    return entry.model_copy(update=update)


def rederive(state: ProjectState) -> ProjectState:
    """The state in which BLOCKED is true of exactly the blocked tasks; the same object if it was already.

    Only a task that becomes or ceases to be HALTED or ABANDONED, or whose dependencies change, can change it.
    """
    now_blocked = blocked(state)
    changed: dict[str, TaskEntry] = {}
    for task_id, entry in state.tasks.items():
        if entry.status in _WAITING:
            status = _BLOCKED if task_id in now_blocked else _PENDING
            if status is not entry.status:
                changed[task_id] = as_waiting(task_id, entry, status)
    return state.model_copy(update={"tasks": {**state.tasks, **changed}}) if changed else state


def next_task(state: ProjectState) -> str | None:
    """The PENDING task of lowest `declaration_order` whose dependencies are all SHIPPED, or None (F§3.3)."""
    tasks = state.tasks
    best: str | None = None
    best_order = -1
    for task_id, entry in tasks.items():
        if (
            entry.status is _PENDING
            and (best is None or entry.declaration_order < best_order)
            and _satisfied(tasks, task_id)
        ):
            best, best_order = task_id, entry.declaration_order
    return best


def in_progress(state: ProjectState) -> str | None:
    """The task that is being worked on, or None; after a crash it is run again (D9)."""
    running = [task_id for task_id, entry in state.tasks.items() if entry.status is _IN_PROGRESS]
    return min(running, key=lambda task_id: state.tasks[task_id].declaration_order, default=None)


def outcome(state: ProjectState) -> Outcome:
    """Whether the loop goes on, and if not, why (D8, F§17.3).

    A task in progress is finished first; then any halted task stops the loop, whatever else could run.
    """
    statuses = [entry.status for entry in state.tasks.values()]
    if _IN_PROGRESS in statuses:
        return Outcome.RUNNABLE
    if _HALTED in statuses:
        return Outcome.HALTED
    if _PENDING not in statuses and _BLOCKED not in statuses:
        return Outcome.COMPLETE
    return Outcome.STALLED if next_task(state) is None else Outcome.RUNNABLE


def stuck_behind_abandoned(state: ProjectState) -> tuple[str, ...]:
    """The waiting tasks that depend directly on an abandoned one, in order: each needs an escalation (D8)."""
    tasks = state.tasks
    stuck = [
        task_id
        for task_id, entry in tasks.items()
        if entry.status in _WAITING
        and any(_is_abandoned(tasks[ref]) for ref in effective_dependencies(tasks, task_id))
    ]
    return tuple(sorted(stuck, key=lambda task_id: tasks[task_id].declaration_order))


def why_not(state: ProjectState, task_id: str) -> str:
    """Why a task is not running, as a predicate: "waits for T-a which waits for ESC-1a2b3c4d".

    Raises:
        InputError: no such task.
    """
    entry_of(state, task_id)
    return Reasons(state).of(task_id)


class _Way(NamedTuple):
    """The way from a waiting task to what holds it up."""

    distance: int
    next: str
    cause: str
    before_cause: str


class Reasons:
    """Why tasks do not run: one walk for a state, then a few steps for each answer.

    A waiting task is held up by what blocks it, else by a task that is running or could run. Of several causes
    the nearest is told, of several as near the one that `depends_on` names first.
    """

    def __init__(self, state: ProjectState) -> None:
        self._tasks = tasks = state.tasks
        self._next = next_task(state)
        self._running = in_progress(state)
        self._halted = next((entry for entry in tasks.values() if entry.status is _HALTED), None)
        dependents = _dependents(tasks)
        self._to_blocker = _ways(tasks, dependents, [t for t, entry in tasks.items() if blocks(entry)])
        self._to_open = _ways(tasks, dependents, [t for t in tasks if _is_open_end(tasks, t)])

    def of(self, task_id: str) -> str:
        """Why one of the tasks is not running."""
        way = _Way(0, task_id, task_id, "")
        if self._tasks[task_id].status in _WAITING:
            ways = self._to_blocker if task_id in self._to_blocker else self._to_open
            way = ways[task_id]
            links = [f"waits for {link}" for link in _links(ways, task_id)]
        else:
            links = []
        return " which ".join((*links, self._cause(way)))

    def _cause(self, way: _Way) -> str:
        """What is to be said of the last task in a chain."""
        entry = self._tasks[way.cause]
        match entry.status:
            case TaskStatus.SHIPPED:
                return f"has shipped as {entry.module_ref}"
            case TaskStatus.IN_PROGRESS:
                return f"is being worked on (attempt {entry.attempt})"
            case TaskStatus.HALTED:
                return f"waits for {entry.escalation_ref}"
            case TaskStatus.ABANDONED:
                return _given_up(entry, self._tasks[way.before_cause] if way.before_cause else None)
            case TaskStatus.PENDING | TaskStatus.BLOCKED:
                return self._turn(way.cause)

    def _turn(self, task_id: str) -> str:
        """What a task whose dependencies are shipped waits for."""
        if self._running:
            return f"is ready and waits its turn; {self._running} is being worked on"
        if self._halted:
            return f"is ready; the project waits for {self._halted.escalation_ref}"
        return "is next" if self._next == task_id else f"is ready and waits its turn; {self._next} is next"


def _is_abandoned(entry: TaskEntry) -> bool:
    return entry.status is _ABANDONED and not entry.superseded_by


def _dependents(tasks: Mapping[str, TaskEntry]) -> Mapping[str, list[str]]:
    edges: defaultdict[str, list[str]] = defaultdict(list)
    for task_id, entry in tasks.items():
        if entry.depends_on:
            for dependency in effective_dependencies(tasks, task_id):
                edges[dependency].append(task_id)
    return edges


def _satisfied(tasks: Mapping[str, TaskEntry], task_id: str) -> bool:
    for ref in effective_dependencies(tasks, task_id):  # noqa: SIM110 - all() costs twice as much
        if tasks[ref].status is not _SHIPPED:
            return False
    return True


def _is_open_end(tasks: Mapping[str, TaskEntry], task_id: str) -> bool:
    """Whether a task that has not shipped waits for none that has not."""
    status = tasks[task_id].status
    return status is not _SHIPPED and (status not in _WAITING or _satisfied(tasks, task_id))


def _ways(
    tasks: Mapping[str, TaskEntry], dependents: Mapping[str, Sequence[str]], ends: Sequence[str]
) -> Mapping[str, _Way]:
    """The shortest way to one of the ends, for every task that depends on one."""
    ways = {end: _Way(0, end, end, "") for end in ends}
    frontier: Sequence[str] = ends
    while frontier:
        reached = dict.fromkeys(
            dependent
            for task_id in frontier
            for dependent in dependents.get(task_id, ())
            if dependent not in ways
        )
        # whatever of its dependencies has a way lies in this frontier, or the task had been reached before
        steps = {
            task_id: next(ref for ref in effective_dependencies(tasks, task_id) if ref in ways)
            for task_id in reached
        }
        for task_id, step in steps.items():
            distance, _, cause, before = ways[step]
            ways[task_id] = _Way(distance + 1, step, cause, before or task_id)
        frontier = list(reached)
    return ways


def _links(ways: Mapping[str, _Way], task_id: str) -> Iterator[str]:
    """The tasks on the way, the middle of a long one as its number."""
    distance, _, cause, _ = ways[task_id]
    long = distance > _LINKS_SHOWN
    for _ in range(_LINKS_SHOWN - 1 if long else distance):
        task_id = ways[task_id].next
        yield task_id
    if long:
        yield f"{distance - _LINKS_SHOWN} more in a row"
        yield cause


def _given_up(entry: TaskEntry, dependent: TaskEntry | None) -> str:
    if entry.superseded_by:
        return f"was split into {', '.join(entry.superseded_by)}"
    asked = dependent.escalation_ref if dependent else None
    return f"was abandoned; {asked} asks what to do about it" if asked else "was abandoned"
