"""The project loop: folders, task files, dispatch, and the results of tasks (design: project-loop, task-states)."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from agent_wire import canonical_json
from agent_wire.envelope import task_stream_id
from ship_gate.base.ids import ModuleRef
from specwright.application import scopes
from specwright.application.announce import Announcement, announce, task_event
from specwright.application.factory import Factory, ProjectView
from specwright.application.pages import render_at_dispatch, render_at_init
from specwright.domain.acceptance.records import name_of
from specwright.domain.base.graph import reachable
from specwright.domain.escalation import ResolutionRecord
from specwright.domain.spec.completeness import validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from specwright.domain.tasks.project_state import ProjectState, TaskEntry, TaskStatus, expanded
from specwright.domain.tasks.task_board import Outcome, TaskBoard
from specwright.domain.tasks.task_file import (
    ShippedDependency,
    TaskDefinition,
    lay_out,
    parts_among,
)
from specwright.errors import CorruptionError, SpecwrightErrors
from specwright.ports import Place, Role, RunEvent, run_of


class Task(NamedTuple):
    """A task in the engineering loop."""

    task_id: str
    entry: TaskEntry
    definition: TaskDefinition
    answers: tuple[ResolutionRecord, ...] = ()
    """The answers that resumed this attempt in place, oldest first (design: wire)."""
    change: str = ""
    """The interface change in progress on one of its shipped modules (design: interface-changes)."""

    @property
    def run(self) -> str:
        """The id of this run, `TSK-003.1`, or `TSK-003.1r1` after a resumption: the first part of every place in it, so that
        answers from before a halt are not reused."""
        return run_of(self.entry.spec_task_id, self.entry.attempt, len(self.answers), self.change)

    @property
    def answer(self) -> ResolutionRecord | None:
        """The answer that resumed the present run; None if the attempt has not halted."""
        return self.answers[-1] if self.answers else None

    def place(self, deliverable: str, stage: str, role: Role) -> Place:
        """Return the place of a role's invocation in this run."""
        entry = self.entry
        return Place(
            entry.spec_task_id, entry.attempt, deliverable, stage, role, len(self.answers), self.change
        )

    @property
    def stream(self) -> str:
        """The Wire stream of this attempt, `task:TSK-003:attempt:1` (design: wire)."""
        return task_stream_id(self.entry.spec_task_id, self.entry.attempt)

    def event(self, kind: str, payload: dict[str, Any] | None = None) -> Announcement:
        """Build an event of this attempt."""
        return task_event(kind, self.entry.spec_task_id, self.entry.attempt, payload or {})

    @property
    def folder(self) -> str:
        """The slug of its pillar."""
        return self.definition.path.split("/")[0]

    @property
    def path(self) -> str:
        """Its task file, relative to the project's directory."""
        return f"project/{self.definition.path}"


def task_board(factory: ProjectView) -> TaskBoard:
    """Return the board of tasks, which follows the log.

    Raises:
        CorruptionError: the project has no tasks yet.
    """
    board = factory.projection.board
    if board is None:
        raise CorruptionError("the project has no tasks yet", remedy="run `specwright run`")
    return board


def project_state(factory: ProjectView) -> ProjectState:
    """Return a copy of the state with all tasks; the loop uses the board instead."""
    return task_board(factory).state()


def task_at(factory: ProjectView, task_id: str, change: str = "") -> Task:
    """Return a task by its id, optionally for an interface change to one of its shipped modules."""
    entry, projection = task_board(factory).entry(task_id), factory.projection
    answers = () if change else projection.answers(task_stream_id(entry.spec_task_id, entry.attempt))
    return Task(task_id, entry, projection.definitions[task_id], answers, change)


MAX_NEIGHBOURS = 50
"""The number of other tasks whose modules a context pack lists."""


def neighbours(factory: ProjectView, task: Task) -> list[str]:
    """Return the first few other tasks whose modules a role might expect to use: the dependencies, nearest first, then the
    others in declaration order."""
    nearest = islice(reachable([task.task_id], task_board(factory).dependencies_of), MAX_NEIGHBOURS)
    others = dict.fromkeys(nearest)
    for other in islice(factory.projection.definitions, 2 * MAX_NEIGHBOURS):
        if other != task.task_id and len(others) < MAX_NEIGHBOURS:
            others.setdefault(other)
    return list(others)


def laid_out(spec: ProductSpec) -> dict[str, TaskDefinition]:
    """Return the definition of each task of a spec by its id, in declaration order (design: ids).

    Raises:
        InputError: the spec cannot be laid out as folders and tasks; the message names tasks, ids and fields.
    """
    return {definition.task_id: definition for definition in lay_out(spec)}


def spec_errors(data: Any) -> Sequence[str]:
    """Return the errors of a draft: those of its spec (design: product-spec), and those that prevent laying it out as
    folders and task files (design: ids)."""
    if errors := validate(data).errors:
        return [str(error) for error in errors]
    draft = ProductSpecDraft.model_validate(data)
    try:
        laid_out(draft.stamped("2000-01-01T00:00:00Z", "2000-01-01T00:00:00Z"))
    except SpecwrightErrors as error:
        return [error.what]
    return []


def initialise(factory: Factory) -> None:
    """Lay out the approved spec, write its files, then append the Wires that declare the tasks.

    Raises:
        InputError: the spec cannot be laid out; nothing was written (design: ids).
    """
    spec = factory.projection.approved_spec
    if factory.projection.board is not None:
        return  # the Wires are appended last, all or none
    definitions = laid_out(spec)
    files = {d.path: render_at_init(d, definitions).encode() for d in definitions.values()}
    events: list[Announcement] = []
    for definition in definitions.values():
        factory.store.define(definition.to_bytes())
        events += attempt_events(definition, 1, definitions, ready=not definition.depends_on)
    for path, data in files.items():
        factory.folder.replace(f"project/{path}", data)
    announce(factory, factory.journal.scope(scopes.INITIALISE), events)
    factory.projection.write(now=True)


def attempt_events(
    definition: TaskDefinition,
    attempt: int,
    definitions: Mapping[str, TaskDefinition],
    *,
    ready: bool,
    parent: str = "",
    cause: str = "",
) -> list[Announcement]:
    """Build the events that begin an attempt at a task (design: wire).

    Args:
        definition: The definition for this attempt.
        attempt: The number of the attempt.
        definitions: The definitions of its dependencies, by task id.
        ready: Whether the dependencies are shipped.
        parent: The task that it is a part of or migrates.
        cause: The stream whose last Wire caused it.
    """
    name, waits = definition.spec_task_id, [definitions[ref].spec_task_id for ref in definition.depends_on]
    bound = {"definition_sha256": canonical_json.sha256(definition.to_bytes())}
    created = task_event("task.created", name, attempt, bound, [parent, *waits] if parent else waits)
    created = created._replace(parent=parent, caused_by=cause)
    return [created, task_event("task.available", name, attempt, {})] if ready else [created]


def outcome(factory: ProjectView) -> Outcome:
    """Return whether the loop can run, waits, or is done (design: task-states)."""
    return task_board(factory).outcome()


def next_dispatch(factory: ProjectView) -> Task | None:
    """Return the next task to run: one that a crash interrupted, else the first eligible one, or before it a migration of
    one of its dependencies (design: project-loop, journal, change)."""
    board = task_board(factory)
    if board.outcome() is not Outcome.RUNNABLE:
        return None
    task_id = board.in_progress() or board.next_task()
    return task_at(factory, _migration_before(factory, task_id) or task_id) if task_id else None


def _migration_before(factory: ProjectView, task_id: str) -> str | None:
    """Return a runnable migration of a direct or indirect dependency of a task, or None."""
    board, migrations = task_board(factory), factory.projection.migrations
    waiting = {
        whole: name
        for name, whole in migrations.items()
        if board.entry(name).status is TaskStatus.PENDING and board.is_ready(name)
    }
    needed = reachable([task_id], board.dependencies_of) if waiting else ()
    return next((waiting[ref] for ref in needed if ref in waiting), None)


def begin(factory: Factory, task: Task) -> bool:
    """Dispatch a task: refresh its file with the contracts of its dependencies (design: project-loop), then append the Wire.

    Returns:
        Whether it began now. If not, it was interrupted and its checkpoint is lost: it runs again from the journal
        (design: journal).
    """
    if task.entry.status is TaskStatus.IN_PROGRESS:
        return False
    modules = list(_shipped_dependencies(factory, task.definition))
    text = render_at_dispatch(task.definition, modules)
    factory.folder.replace(task.path, text.encode())
    events = [
        task.event("task.claimed", {"claimed_by": "agent:engineering-loop"}),
        task.event("task.started"),
    ]
    scope = factory.journal.scope(f"{task.run}/dispatch")
    announce(factory, scope, events)
    factory.progress.note(RunEvent("task", task.entry.spec_task_id, task.definition.name))
    return True


def shipped(factory: Factory, task: Task, module_refs: Sequence[str], task_facing: str) -> None:
    """Complete a task, and make the tasks available that waited only for it."""
    scope = factory.journal.scope(f"{task.run}/shipped")
    events = completion(factory, task, module_refs, task_facing)
    announce(factory, scope, events)
    factory.progress.note(RunEvent("shipped", task.entry.spec_task_id, task.definition.name))


def completion(
    factory: ProjectView, task: Task, module_refs: Sequence[str], task_facing: str
) -> list[Announcement]:
    """Build the events that a task is shipped, and that other tasks become available (design: wire)."""
    payload: dict[str, Any] = {
        "artifact_ids": [ModuleRef.parse(ref).module_id for ref in module_refs],
        "primary_artifact_id": ModuleRef.parse(task_facing).module_id,
        "verification": {"mechanical": "pass"},
    }
    freed = [task_at(factory, other) for other in task_board(factory).freed_by(task.task_id)]
    available = [other.event("task.available")._replace(caused_by=task.stream) for other in freed]
    return [task.event("task.complete", payload), *available]


def all_shipped(factory: ProjectView, depends_on: Sequence[str]) -> bool:
    """Whether all tasks of a list are SHIPPED; for a split task, all its parts (design: task-states). An unknown task counts
    as not shipped."""
    tasks = project_state(factory).tasks
    declared = all(ref in tasks for ref in depends_on)
    return declared and all(tasks[ref].status is TaskStatus.SHIPPED for ref in expanded(tasks, depends_on))


def refreshed_file(factory: ProjectView, definition: TaskDefinition) -> str:
    """Return the text of a waiting task's file, from its dependencies' contracts, or their sketches until they are shipped
    (design: project-loop)."""
    if all_shipped(factory, definition.depends_on):
        return render_at_dispatch(definition, list(_shipped_dependencies(factory, definition)))
    return render_at_init(definition, factory.projection.definitions)


def dispatched_file(factory: ProjectView, definition: TaskDefinition) -> str | None:
    """Return the text of a task's file at its last dispatch, with the dependencies' versions of that time (design: change);
    None if it was never dispatched."""
    modules = factory.projection.dispatched.get(definition.task_id)
    if modules is None:
        return None
    return render_at_dispatch(definition, list(_shipped_dependencies(factory, definition, modules)))


def _shipped_dependencies(
    factory: ProjectView, definition: TaskDefinition, modules: Mapping[str, Sequence[str]] | None = None
) -> Iterable[ShippedDependency]:
    """Yield the shipped modules of a task's dependencies: the present ones, or given ones."""
    board = task_board(factory)
    for dependency in definition.depends_on:
        spec_task_id = board.entry(dependency).spec_task_id
        refs = board.modules_of(dependency) if modules is None else modules.get(dependency, ())
        contracts = [factory.modules.contract(ref) for ref in refs]
        acceptance = factory.projection.definitions[dependency].acceptance
        parts = parts_among(contracts, map(name_of, acceptance.provides if acceptance else ()))
        for one in contracts:
            examples = factory.modules.examples(one.ref)
            yield ShippedDependency(dependency, one, examples, spec_task_id, part=one.ref in parts)
