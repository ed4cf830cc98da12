"""The project's state machine: entries, legal transitions, and new states made from old ones (F§4.2, D3, D6).

Pure values: a function returns a new state and leaves the old one alone. The moves of a task are in
`state_changes`; which tasks are BLOCKED and what runs next is derived in `dispatch`. The file is a
projection of the log (D29) and is written by the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from specwright.domain.ids import ModuleRefText, TaskId
from specwright.domain.product_spec import SpecTaskId
from specwright.domain.record import Record, SemVer, Timestamp
from specwright.domain.task_ids import TaskPlace
from specwright.errors import InputError, RefusedError

__all__ = [
    "TRANSITIONS",
    "ProjectState",
    "TaskEntry",
    "TaskStatus",
    "check_transition",
    "effective_dependencies",
    "entry_of",
    "expanded",
    "initial_state",
    "new_entry",
    "replaced",
    "with_status",
]


class TaskStatus(StrEnum):
    """The six statuses of a task (F§4.2, F§17.2)."""

    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    SHIPPED = "SHIPPED"
    HALTED = "HALTED"
    BLOCKED = "BLOCKED"
    ABANDONED = "ABANDONED"


_S = TaskStatus

TRANSITIONS: Mapping[tuple[TaskStatus, TaskStatus], str] = {
    (_S.PENDING, _S.IN_PROGRESS): "dispatched to the engineering loop",
    (_S.PENDING, _S.BLOCKED): "an upstream task was halted or abandoned",
    (_S.BLOCKED, _S.PENDING): "no upstream task is halted or abandoned any more",
    (_S.IN_PROGRESS, _S.SHIPPED): "all its modules were sealed by the ship gate",
    (_S.IN_PROGRESS, _S.HALTED): "the debate, the gate or a budget stopped it",
    (_S.HALTED, _S.PENDING): "a person re-queued it",
    (_S.HALTED, _S.IN_PROGRESS): "a person resumed it in place",
    (_S.HALTED, _S.SHIPPED): "a person attested a sealed module",
    (_S.HALTED, _S.ABANDONED): "a person abandoned or split it",
    (_S.BLOCKED, _S.ABANDONED): "a person abandoned or split it",
}
"""The ten legal transitions, each with what causes it (D6)."""

_WHY_NOT: Mapping[TaskStatus, str] = {
    _S.PENDING: "a waiting task has done nothing that could ship, halt or be given up",
    _S.BLOCKED: "a blocked task first becomes PENDING, once nothing upstream is halted or abandoned",
    _S.IN_PROGRESS: "a running task either ships or halts",
    _S.HALTED: "only a person's resolution moves a halted task, and it cannot become BLOCKED",
    _S.SHIPPED: "SHIPPED is terminal: a shipped task is immutable",
    _S.ABANDONED: "ABANDONED is terminal",
}
"""For each status, the rule that a transition outside the table breaks (F§4.2)."""


def check_transition(task_id: str, old: TaskStatus, new: TaskStatus) -> None:
    """Refuse a change of status that the table does not hold (D6).

    Raises:
        RefusedError: names the task, both statuses and the rule.
    """
    if (old, new) in TRANSITIONS:
        return
    legal = ", ".join(target for source, target in TRANSITIONS if source is old)
    raise RefusedError(
        f"the task {task_id} cannot go from {old} to {new}: {_WHY_NOT[old]}",
        where=task_id,
        remedy=f"from {old} it may become {legal}" if legal else "",
    )


class TaskEntry(Record):
    """A task as the state machine sees it (F§4.2).

    `pillar`, `epic`, `story`, `task` are the human names. `attempt` counts from 1 and is the wire's (D30).
    """

    spec_task_id: SpecTaskId
    pillar: str
    epic: str
    story: str
    task: str
    status: TaskStatus = TaskStatus.PENDING
    depends_on: list[TaskId] = Field(default_factory=list)
    module_ref: ModuleRefText | None = None
    module_refs: list[ModuleRefText] = Field(default_factory=list)
    shipped_at: Timestamp | None = None
    halted_reason: str | None = None
    escalation_ref: Annotated[str, Field(pattern=r"^ESC-[0-9a-f]{8}$")] | None = None
    declaration_order: Annotated[int, Field(ge=0)]
    superseded_by: list[TaskId] = Field(default_factory=list)
    attempt: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _status_has_its_fields(self) -> Self:
        shipped = self.status is TaskStatus.SHIPPED
        if shipped != (self.module_ref is not None) or shipped != (self.shipped_at is not None):
            raise ValueError("module_ref and shipped_at are set when a task is SHIPPED, and only then")
        if self.module_ref is not None and self.module_ref not in self.module_refs:
            raise ValueError("module_ref is one of module_refs")
        if self.status is TaskStatus.HALTED and not (self.halted_reason and self.escalation_ref):
            raise ValueError("a HALTED task has a halted_reason and an escalation_ref")
        if self.superseded_by and self.status is not TaskStatus.ABANDONED:
            raise ValueError("only an ABANDONED task is superseded")
        return self


class ProjectState(Record):
    """All tasks of a project: the content of `state_machine.json` (F§4.2)."""

    project_id: str
    spec_version: SemVer
    updated_at: Timestamp
    tasks: dict[TaskId, TaskEntry]

    @model_validator(mode="after")
    def _names_only_its_own_tasks(self) -> Self:
        for task_id, entry in self.tasks.items():
            for ref in (*entry.depends_on, *entry.superseded_by):
                if ref not in self.tasks:
                    raise ValueError(f"{task_id} names {ref}, which is no task of the project")
        orders = {entry.declaration_order for entry in self.tasks.values()}
        if len(orders) != len(self.tasks):
            raise ValueError("two tasks have the same declaration_order")
        return self


def initial_state(
    project_id: str, spec_version: str, places: Iterable[TaskPlace], updated_at: str
) -> ProjectState:
    """The state after `init_state_machine`: every task PENDING, in declaration order (F§3.3)."""
    return ProjectState(
        project_id=project_id,
        spec_version=spec_version,
        updated_at=updated_at,
        tasks={place.task_id: new_entry(place) for place in places},
    )


def entry_of(state: ProjectState, task_id: str) -> TaskEntry:
    """The entry of a task.

    Raises:
        InputError: no such task.
    """
    if task_id not in state.tasks:
        raise InputError(
            f"there is no task {task_id}",
            where=state.project_id,
            remedy="`specwright tasks` lists them",
        )
    return state.tasks[task_id]


def effective_dependencies(tasks: Mapping[str, TaskEntry], task_id: str) -> Sequence[str]:
    """What a task depends on, each split task replaced by its parts, and theirs (D7); each once."""
    direct = tasks[task_id].depends_on
    for ref in direct:
        if tasks[ref].superseded_by:
            return expanded(tasks, direct)
    return direct


def expanded(tasks: Mapping[str, TaskEntry], refs: Sequence[str]) -> Sequence[str]:
    """The tasks that stand for some tasks: themselves, or the parts that they were split into (D7); each once."""
    pending = list(reversed(refs))
    seen: dict[str, bool] = {}
    while pending:
        ref = pending.pop()
        if ref not in seen:
            parts = tasks[ref].superseded_by
            seen[ref] = not parts
            pending.extend(reversed(parts))
    return [ref for ref, counts in seen.items() if counts]


def with_status(
    state: ProjectState,
    task_id: str,
    status: TaskStatus,
    updated_at: str,
    changes: Mapping[str, Any] | None = None,
) -> ProjectState:
    """The state in which one task has another status. `state_changes` sets the fields that go with it.

    Raises:
        InputError: no such task.
        RefusedError: the transition is not in the table.
    """
    entry = entry_of(state, task_id)
    check_transition(task_id, entry.status, status)
    return replaced(state, task_id, {"status": status, **(changes or {})}, updated_at)


def replaced(state: ProjectState, task_id: str, changes: Mapping[str, Any], updated_at: str) -> ProjectState:
    """The state with some fields of one entry changed; for `state_changes`, which knows the rules."""
    # The one entry is validated; copying the other ten thousand unvalidated keeps a step cheap.
    entry = TaskEntry.model_validate({**vars(state.tasks[task_id]), **changes})
    tasks = {**state.tasks, task_id: entry}
    return state.model_copy(update={"tasks": tasks, "updated_at": updated_at})


def new_entry(place: TaskPlace) -> TaskEntry:
    """The entry of a task that has not run."""
    return TaskEntry(
        spec_task_id=place.spec_task_id,
        pillar=place.pillar,
        epic=place.epic,
        story=place.story,
        task=place.task,
        depends_on=list(place.depends_on),
        declaration_order=place.declaration_order,
    )
