"""What runs next, what is blocked, and why a task does not run (F§3.3, F§4.2, D5, D7, D8).

Pure functions of the state: no clock, no randomness, every answer the same for the same state. All are
linear in tasks and dependencies. That a halted task stops the loop is `outcome`, not `next_task` (F§17.3).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

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
    "blocked",
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
    pending = [task_id for task_id, entry in tasks.items() if _blocks(entry)]
    if not pending:
        return frozenset()
    dependents = _dependents(tasks)
    while pending:
        for dependent in dependents.get(pending.pop(), ()):
            if dependent not in reached:
                reached.add(dependent)
                pending.append(dependent)
    return frozenset(task_id for task_id in reached if tasks[task_id].status in _WAITING)


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
                check_transition(task_id, entry.status, status)
                changed[task_id] = entry.model_copy(update=_as_waiting(status))
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
    chain = _chain(state.tasks, task_id)
    links = [f"waits for {link}" for link in chain[1:]]
    if len(links) > _LINKS_SHOWN:
        left_out = len(links) - _LINKS_SHOWN
        links[_LINKS_SHOWN - 1 : -1] = [f"waits for {left_out} more in a row"]
    return " which ".join((*links, _cause(state, chain)))


def _blocks(entry: TaskEntry) -> bool:
    return entry.status is _HALTED or _is_abandoned(entry)


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


def _as_waiting(status: TaskStatus) -> dict[str, object]:
    # an escalation that a blocked task had of its own (D8) is settled when it is no longer blocked
    return {"status": status} if status is _BLOCKED else {"status": status, "escalation_ref": None}


def _chain(tasks: Mapping[str, TaskEntry], task_id: str) -> list[str]:
    """From a waiting task to what holds it up: what blocks it, else a task that could run or is running."""
    if tasks[task_id].status not in _WAITING:
        return [task_id]

    def all_dependencies(current: str) -> Sequence[str]:
        return effective_dependencies(tasks, current)

    def open_dependencies(current: str) -> Sequence[str]:
        if tasks[current].status not in _WAITING:
            return ()
        return [ref for ref in effective_dependencies(tasks, current) if tasks[ref].status is not _SHIPPED]

    return (
        _shortest(task_id, all_dependencies, lambda current: _blocks(tasks[current]))
        or _shortest(task_id, open_dependencies, lambda current: not open_dependencies(current))
        or [task_id]
    )


def _shortest(
    start: str, edges: Callable[[str], Sequence[str]], is_end: Callable[[str], bool]
) -> list[str] | None:
    came_from: dict[str, str] = {}
    queue = deque([start])
    while queue:
        current = queue.popleft()
        if is_end(current):
            return _path(came_from, current)
        for ref in edges(current):
            if ref not in came_from and ref != start:
                came_from[ref] = current
                queue.append(ref)
    return None


def _path(came_from: Mapping[str, str], last: str) -> list[str]:
    path = [last]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    return path[::-1]


def _cause(state: ProjectState, chain: list[str]) -> str:
    """What is to be said of the last task in a chain."""
    entry = state.tasks[chain[-1]]
    match entry.status:
        case TaskStatus.SHIPPED:
            return f"has shipped as {entry.module_ref}"
        case TaskStatus.IN_PROGRESS:
            return f"is being worked on (attempt {entry.attempt})"
        case TaskStatus.HALTED:
            return f"waits for {entry.escalation_ref}"
        case TaskStatus.ABANDONED:
            return _given_up(entry, state.tasks[chain[-2]] if len(chain) > 1 else None)
        case TaskStatus.PENDING | TaskStatus.BLOCKED:
            return _turn(state, chain[-1])


def _given_up(entry: TaskEntry, dependent: TaskEntry | None) -> str:
    if entry.superseded_by:
        return f"was split into {', '.join(entry.superseded_by)}"
    asked = dependent.escalation_ref if dependent else None
    return f"was abandoned; {asked} asks what to do about it" if asked else "was abandoned"


def _turn(state: ProjectState, task_id: str) -> str:
    """What a task whose dependencies are shipped waits for."""
    if running := in_progress(state):
        return f"is ready and waits its turn; {running} is being worked on"
    for entry in state.tasks.values():
        if entry.status is _HALTED:
            return f"is ready; the project waits for {entry.escalation_ref}"
    first = next_task(state)
    return "is next" if first == task_id else f"is ready and waits its turn; {first} is next"
