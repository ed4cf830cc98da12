"""The project stage: folders, task files, dispatch, and what becomes of each task (F§3.3, F§4)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from specwright.application.announcing import Announcement, announce, task_event
from specwright.application.factory import Factory, Reading
from specwright.domain.contract import MicroModuleContract
from specwright.domain.dispatch import Outcome
from specwright.domain.ids import ModuleRef
from specwright.domain.product_spec import ProductSpec
from specwright.domain.project_state import ProjectState, TaskEntry, TaskStatus, expanded
from specwright.domain.resolutions import ResolutionRecord
from specwright.domain.task_board import TaskBoard
from specwright.domain.task_file import (
    ShippedDependency,
    TaskDefinition,
    define,
    render_at_dispatch,
    render_at_init,
)
from specwright.domain.task_ids import lay_out
from specwright.errors import CorruptionError
from specwright.ports.progress import Step
from specwright.ports.roles import Place, Role, run_of
from specwright.wire.envelope import task_stream_id

__all__ = [
    "Task",
    "all_shipped",
    "begin",
    "completion",
    "initialise",
    "laid_out",
    "neighbours",
    "next_dispatch",
    "outcome",
    "project_state",
    "refreshed_file",
    "shipped",
    "task_at",
    "task_board",
]


class Task(NamedTuple):
    """A task as the engineering stage sees it."""

    task_id: str
    entry: TaskEntry
    definition: TaskDefinition
    answers: tuple[ResolutionRecord, ...] = ()
    """Those that resumed this attempt in place, oldest first (D33)."""

    @property
    def run(self) -> str:
        """Task, attempt and how often it was resumed, `TSK-003.1` and then `TSK-003.1r1`: the first part of every place
        of this run of it, so that what was answered before a halt is not answered again."""
        return run_of(self.entry.spec_task_id, self.entry.attempt, len(self.answers))

    @property
    def answer(self) -> ResolutionRecord | None:
        """What the run that goes on now was resumed with; None where nothing has halted it yet."""
        return self.answers[-1] if self.answers else None

    def place(self, subject: str, stage: str, role: Role) -> Place:
        """Where a role is invoked in this run."""
        entry = self.entry
        return Place(entry.spec_task_id, entry.attempt, subject, stage, role, len(self.answers))

    @property
    def stream(self) -> str:
        """The Wire stream of this attempt, `task:TSK-003:attempt:1` (D30)."""
        return task_stream_id(self.entry.spec_task_id, self.entry.attempt)

    @property
    def folder(self) -> str:
        """The slug of its pillar."""
        return self.definition.path.split("/")[0]

    @property
    def path(self) -> str:
        """Its task file, relative to the project's directory."""
        return f"project/{self.definition.path}"


def task_board(factory: Reading) -> TaskBoard:
    """The tasks, kept up to date; they exist once the project is initialised."""
    board = factory.projection.board
    if board is None:
        raise CorruptionError("the project has no tasks yet", remedy="run `specwright run`")
    return board


def project_state(factory: Reading) -> ProjectState:
    """The state at this moment, for those who look at all tasks; the loop asks the board."""
    return task_board(factory).state()


def task_at(factory: Reading, task_id: str) -> Task:
    """A task by its id."""
    entry, projection = task_board(factory).entry(task_id), factory.projection
    answers = projection.answers(task_stream_id(entry.spec_task_id, entry.attempt))
    return Task(task_id, entry, projection.definitions[task_id], answers)


MAX_NEIGHBOURS = 50
"""Other tasks that a context pack looks at (ADR 0039)."""


def neighbours(factory: Reading, task: Task) -> list[str]:
    """Other tasks whose results a reader of a task could take for given: those that it waits for, nearest first, then
    the others as they were declared; the first few, since there may be thousands."""
    nearest = islice(_upstream(factory, task), MAX_NEIGHBOURS)
    found = dict.fromkeys(nearest)
    for other in islice(factory.projection.definitions, 2 * MAX_NEIGHBOURS):
        if other != task.task_id and len(found) < MAX_NEIGHBOURS:
            found.setdefault(other)
    return list(found)


def _upstream(factory: Reading, task: Task) -> Iterator[str]:
    board, seen, waiting = task_board(factory), {task.task_id}, [task.task_id]
    for task_id in waiting:  # grows
        for ref in board.dependencies_of(task_id):
            if ref not in seen:
                seen.add(ref)
                waiting.append(ref)
                yield ref


def laid_out(spec: ProductSpec) -> dict[str, TaskDefinition]:
    """The three passes of validation: slugs, ids, and whether every task file can be filled (F§4.1).

    Returns:
        The definition of each task by its id, in declaration order.

    Raises:
        InputError: the spec cannot be laid out; the message names tasks, ids and fields.
    """
    return {place.task_id: define(place) for place in lay_out(spec)}


def initialise(factory: Factory) -> None:
    """Lay out the approved spec, write its files, then append the Wires that declare the tasks.

    Raises:
        InputError: the spec cannot be laid out; nothing was written (F§4.1).
    """
    spec = factory.projection.spec
    if spec is None:
        raise CorruptionError("no approved spec is in the log", remedy="run `specwright approve`")
    if factory.projection.board is not None:
        return  # the Wires are appended all or none, after everything else
    definitions = laid_out(spec)
    files = {d.path: render_at_init(d, definitions).encode() for d in definitions.values()}
    events: list[Announcement] = []
    for definition in definitions.values():
        sha256 = factory.store.define(definition.to_bytes())
        references = [definitions[ref].spec_task_id for ref in definition.depends_on]
        events.append(_event("task.created", definition, {"definition_sha256": sha256}, references))
        if not definition.depends_on:
            events.append(_event("task.available", definition, {}))
    for path, data in files.items():
        factory.folder.replace(f"project/{path}", data)
    announce(factory, factory.journal.scope("project/init"), factory.projection.project_id, events)
    factory.projection.write(now=True)


def outcome(factory: Reading) -> Outcome:
    """Where the loop stands (D8)."""
    return task_board(factory).outcome()


def next_dispatch(factory: Reading) -> Task | None:
    """The task that runs next: one that a crash interrupted, else the first that is eligible (F§3.3, D9)."""
    board = task_board(factory)
    if board.outcome() is not Outcome.RUNNABLE:
        return None
    task_id = board.in_progress() or board.next_task()
    return task_at(factory, task_id) if task_id else None


def begin(factory: Factory, task: Task) -> bool:
    """Dispatch a task: refresh its file with what its dependencies shipped (D2), then say that it runs.

    Returns:
        Whether it began now. If not, a crash interrupted it and lost its checkpoint: it runs again from the
        journal (D9).
    """
    if task.entry.status is TaskStatus.IN_PROGRESS:
        return False
    modules = list(_shipped_dependencies(factory, task.definition))
    text = render_at_dispatch(task.definition, modules)
    factory.folder.replace(task.path, text.encode())
    events = [
        _event(
            "task.claimed",
            task.definition,
            {"claimed_by": "agent:engineering-loop"},
            attempt=task.entry.attempt,
        ),
        _event("task.started", task.definition, {}, attempt=task.entry.attempt),
    ]
    scope = factory.journal.scope(f"{task.run}/dispatch")
    announce(factory, scope, factory.projection.project_id, events)
    factory.progress.note(Step("task", task.entry.spec_task_id, task.definition.name))
    return True


def shipped(factory: Factory, task: Task, module_refs: Sequence[str], task_facing: str) -> None:
    """Complete a task, and make available what waited for it alone."""
    scope = factory.journal.scope(f"{task.run}/shipped")
    events = completion(factory, task, module_refs, task_facing)
    announce(factory, scope, factory.projection.project_id, events)
    factory.progress.note(Step("shipped", task.entry.spec_task_id, task.definition.name))


def completion(
    factory: Reading, task: Task, module_refs: Sequence[str], task_facing: str
) -> list[Announcement]:
    """What says that a task is shipped, and which tasks that makes available (D33)."""
    payload: dict[str, object] = {
        "artifact_ids": [ModuleRef.parse(ref).module_id for ref in module_refs],
        "primary_artifact_id": ModuleRef.parse(task_facing).module_id,
        "verification": {"mechanical": "pass"},
    }
    done = _event("task.complete", task.definition, payload, attempt=task.entry.attempt)
    freed = [event._replace(caused_by=task.stream) for event in _freed(factory, task.task_id)]
    return [done, *freed]


def all_shipped(factory: Reading, depends_on: Sequence[str]) -> bool:
    """Whether every one of some tasks is SHIPPED; a split task is when its parts are (D7). One that the project
    does not have yet is not."""
    tasks = project_state(factory).tasks
    there = all(ref in tasks for ref in depends_on)
    return there and all(tasks[ref].status is TaskStatus.SHIPPED for ref in expanded(tasks, depends_on))


def refreshed_file(factory: Reading, definition: TaskDefinition) -> str:
    """The text of a waiting task's file: from what its dependencies shipped, or from their sketches (D2)."""
    if all_shipped(factory, definition.depends_on):
        return render_at_dispatch(definition, list(_shipped_dependencies(factory, definition)))
    return render_at_init(definition, factory.projection.definitions)


def _freed(factory: Reading, task_id: str) -> Iterable[Announcement]:
    for other in task_board(factory).freed_by(task_id):
        freed = task_at(factory, other)
        yield _event("task.available", freed.definition, {}, attempt=freed.entry.attempt)


def _shipped_dependencies(factory: Reading, definition: TaskDefinition) -> Iterable[ShippedDependency]:
    board = task_board(factory)
    for dependency in definition.depends_on:
        spec_task_id = board.entry(dependency).spec_task_id
        for ref in board.modules_of(dependency):
            base = "modules/{}/{}".format(*ModuleRef.parse(ref))
            contract = MicroModuleContract.from_bytes(factory.store.read(f"{base}/contract.json"), base)
            examples = factory.store.read(f"{base}/examples.md").decode()
            yield ShippedDependency(dependency, contract, examples, spec_task_id)


def _event(
    kind: str,
    definition: TaskDefinition,
    payload: dict[str, object],
    references: Sequence[str] = (),
    attempt: int = 1,
) -> Announcement:
    return task_event(kind, definition.spec_task_id, attempt, payload, references)
