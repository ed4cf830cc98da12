"""The project's state: its tasks with their statuses, and the legal transitions (design: task-states, engineering).

These are pure values. `task_changes` has the changes of one task; `TaskBoard` applies them, derives BLOCKED and picks the
next task. The file `state_machine.json` is a projection of the log (design: projection).

A dependency on a split task is one on all its parts (design: task-states).
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from graphlib import TopologicalSorter
from typing import Annotated, Self

from pydantic import Field, model_validator

from ship_gate.base.ids import ModuleRefText, TaskId
from ship_gate.base.record import Record, SemVer, Timestamp
from specwright.domain.base import transitions
from specwright.domain.base.graph import reachable
from specwright.domain.spec.product_spec import SpecTaskId


class TaskStatus(StrEnum):
    """The six statuses of a task (design: task-states, escalation)."""

    PENDING = "PENDING"
    IN_PROGRESS = "IN_PROGRESS"
    SHIPPED = "SHIPPED"
    HALTED = "HALTED"
    BLOCKED = "BLOCKED"
    ABANDONED = "ABANDONED"


_S = TaskStatus

WAITING = (_S.PENDING, _S.BLOCKED)
"""The statuses of a task that has not started."""

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
    (_S.SHIPPED, _S.PENDING): "an approved change has it run again",
    (_S.SHIPPED, _S.ABANDONED): "an approved change removed it",
}
"""The twelve legal transitions, each with its cause (design: task-states)."""

_WHY_NOT: Mapping[TaskStatus, str] = {
    _S.PENDING: "a waiting task has done nothing that could ship, halt or be abandoned",
    _S.BLOCKED: "a blocked task first becomes PENDING, once nothing upstream is halted or abandoned",
    _S.IN_PROGRESS: "a running task either ships or halts",
    _S.HALTED: "only a person's resolution moves a halted task, and it cannot become BLOCKED",
    _S.SHIPPED: "only an approved change moves a shipped task",
    _S.ABANDONED: "ABANDONED is terminal",
}
"""For each status, the rule that an illegal transition from it breaks (design: task-states)."""


def check_transition(task_id: str, old: TaskStatus, new: TaskStatus) -> None:
    """Raise unless a change of status is legal (design: task-states).

    Raises:
        RefusedError: the change is not legal; the message names the task, both statuses and the rule.
    """
    transitions.check_transition(
        f"the task {task_id}", old, new, legal=TRANSITIONS.keys(), why_not=_WHY_NOT[old], where=task_id
    )


class TaskEntry(Record):
    """A task in the state (design: task-states).

    `pillar`, `epic`, `story`, `task` are the names in the spec. `attempt` counts from 1, as on the wire. If a change runs a
    task again, `module_refs` holds the modules of its last shipped attempt until it ships (design: change).
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

    @property
    def abandoned(self) -> bool:
        """Whether the task was abandoned rather than split."""
        return self.status is _S.ABANDONED and not self.superseded_by

    @property
    def blocks(self) -> bool:
        """Whether the task blocks its dependents. A split task does not, because they depend on its parts (design:
        task-states)."""
        return self.status is _S.HALTED or self.abandoned


class ProjectState(Record):
    """All tasks of a project: the content of `state_machine.json` (design: task-states)."""

    project_id: str
    spec_version: SemVer
    updated_at: Timestamp
    tasks: dict[TaskId, TaskEntry]

    @model_validator(mode="after")
    def _names_only_its_own_tasks(self) -> Self:
        for task_id, entry in self.tasks.items():
            for ref in (*entry.depends_on, *entry.superseded_by):
                if ref not in self.tasks:
                    raise ValueError(f"{task_id} names {ref}, which is not a task of the project")
        orders = {entry.declaration_order for entry in self.tasks.values()}
        if len(orders) != len(self.tasks):
            raise ValueError("two tasks have the same declaration_order")
        return self

    @property
    def ordered(self) -> list[str]:
        """The ids of the tasks in declaration order."""
        return sorted(self.tasks, key=lambda task_id: self.tasks[task_id].declaration_order)


def effective_dependencies(tasks: Mapping[str, TaskEntry], task_id: str) -> Sequence[str]:
    """Return the distinct dependencies of a task, with split tasks replaced by their parts, recursively
    (design: task-states)."""
    direct = tasks[task_id].depends_on
    for ref in direct:
        if tasks[ref].superseded_by:
            return expanded(tasks, direct)
    return direct


def shipped_modules(tasks: Mapping[str, TaskEntry]) -> list[tuple[str, str]]:
    """Return pairs of SHIPPED task and module, in declaration order."""
    ordered = sorted(tasks.items(), key=lambda one: one[1].declaration_order)
    shipped = [(task_id, entry) for task_id, entry in ordered if entry.status is TaskStatus.SHIPPED]
    return [(task_id, ref) for task_id, entry in shipped for ref in entry.module_refs]


def expanded(tasks: Mapping[str, TaskEntry], refs: Sequence[str]) -> Sequence[str]:
    """Return distinct tasks, with split ones replaced by their parts, recursively (design: task-states)."""
    pending = list(reversed(refs))
    seen: dict[str, bool] = {}
    while pending:
        ref = pending.pop()
        if ref not in seen:
            parts = tasks[ref].superseded_by
            seen[ref] = not parts
            pending.extend(reversed(parts))
    return [ref for ref, is_whole in seen.items() if is_whole]


def upstream(state: ProjectState, task_id: str) -> Iterator[str]:
    """Yield all direct and indirect dependencies of a task, and the parts of split ones; nearest first."""
    return reachable([task_id], lambda name: _upstream_of(state.tasks[name]))


def upstream_sizes(state: ProjectState) -> Mapping[str, int]:
    """Return the number of `upstream` tasks for each task, in one pass."""
    targets = {task_id: _upstream_of(entry) for task_id, entry in state.tasks.items()}
    bit = {task_id: 1 << number for number, task_id in enumerate(state.tasks)}
    reached = dict[str, int]()  # sets of tasks as bits of an integer, because their union is cheap
    for task_id in TopologicalSorter(targets).static_order():
        tasks = 0
        for ref in targets[task_id]:
            tasks |= reached[ref] | bit[ref]
        reached[task_id] = tasks
    return {task_id: tasks.bit_count() for task_id, tasks in reached.items()}


def _upstream_of(entry: TaskEntry) -> Sequence[str]:
    return [*entry.depends_on, *entry.superseded_by]
