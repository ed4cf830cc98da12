"""Why tasks do not run, as predicates: "waits for T-a which waits for ESC-1a2b3c4d"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from specwright.domain.tasks.project_state import WAITING, ProjectState, TaskEntry, TaskStatus
from specwright.domain.tasks.task_board import TaskBoard
from specwright.domain.tasks.task_changes import REMOVED, WITHDRAWN

_LINKS_SHOWN = 6


class _Path(NamedTuple):
    """The path from a waiting task to what holds it up."""

    distance: int
    next: str
    cause: str
    before_cause: str


class Reasons:
    """Why tasks do not run: one walk for a state, then a few steps for each answer.

    A waiting task is held up by what blocks it, else by a task that is running or could run. Of several causes the
    nearest is reported; of several that are equally near, the one that `depends_on` names first.

    Args:
        state: Of the project.
        driven: Whether a process works on it; without one a task that was begun is interrupted.
    """

    def __init__(self, state: ProjectState, *, driven: bool = True) -> None:
        self._working = (
            "is being worked on" if driven else "was interrupted; `specwright run` goes on with it"
        )
        self._board = board = TaskBoard(state)
        self._tasks = tasks = board.tasks
        self._halted = next((entry for entry in tasks.values() if entry.status is TaskStatus.HALTED), None)
        self._to_blocker = self._paths([task_id for task_id, entry in tasks.items() if entry.blocks])
        self._to_end = self._paths([task_id for task_id in tasks if self._is_end(task_id)])

    def of(self, task_id: str) -> str:
        """Why a task is not running.

        Raises:
            InputError: no such task.
        """
        path, links = _Path(0, task_id, task_id, ""), list[str]()
        if self._board.entry(task_id).status in WAITING:
            paths = self._to_blocker if task_id in self._to_blocker else self._to_end
            path = paths[task_id]
            links = [f"waits for {link}" for link in _links(paths, task_id)]
        return " which ".join((*links, self._cause(path)))

    def _is_end(self, task_id: str) -> bool:
        """Whether a task that has not shipped waits for no other."""
        status = self._tasks[task_id].status
        return status is not TaskStatus.SHIPPED and (status not in WAITING or self._board.is_ready(task_id))

    def _paths(self, ends: Sequence[str]) -> Mapping[str, _Path]:
        """The shortest path to one of the ends, for every task that depends on one."""
        paths = {end: _Path(0, end, end, "") for end in ends}
        frontier: Sequence[str] = ends
        while frontier:
            reached = dict.fromkeys(
                dependent
                for task_id in frontier
                for dependent in self._board.dependents_of(task_id)
                if dependent not in paths
            )
            # those of its dependencies that have a path are in this frontier, or the task had been reached before
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
        """What holds up the last task of a path."""
        entry = self._tasks[path.cause]
        match entry.status:
            case TaskStatus.SHIPPED:
                return f"has shipped as {entry.module_ref}"
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
        """What a task whose dependencies are shipped waits for."""
        if running := self._board.in_progress():
            return f"is ready and waits its turn; {running} {self._working}"
        if self._halted:
            return f"is ready; the project waits for {self._halted.escalation_ref}"
        first = self._board.next_task()
        return "is next" if first == task_id else f"is ready and waits its turn; {first} is next"


def why_each(state: ProjectState, *, driven: bool = True) -> dict[str, str]:
    """For each task, in declaration order, why it is not running; see `Reasons`."""
    reasons = Reasons(state, driven=driven)
    return {task_id: reasons.of(task_id) for task_id in state.ordered}


def by_spec_id(state: ProjectState, text: str) -> str:
    """A text that names tasks as the spec does, TSK-001, and not as their folders do."""

    def spec_id(match: re.Match[str]) -> str:
        entry = state.tasks.get(match[0])
        return entry.spec_task_id if entry else match[0]

    return re.sub(r"T-[\w-]+", spec_id, text)


def _links(paths: Mapping[str, _Path], task_id: str) -> Iterator[str]:
    """The tasks on a path; of a long one the middle as a number."""
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
        return "was given up with the change that added it"
    escalation = dependent.escalation_ref if dependent else None
    return f"was abandoned; {escalation} asks what to do about it" if escalation else "was abandoned"
