"""Task definitions, the content of task files: from a spec, an amended spec, or the parts of a split task
(design: ids, project-loop, escalation).

`lay_out` computes slugs, then ids, then definitions, and checks all of them before anything is written.

Parts of a split task are not in the spec, but in the definitions that their Wires reference (design: projection). They
join the original's story with the next free numbers, and come after all tasks in `declaration_order`.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from agent_wire import canonical_json
from ship_gate.base.ids import TaskId
from ship_gate.base.record import OmittedIfEmpty, Record, Text, Timestamp, validation_messages
from ship_gate.base.text import shortened
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.rules import own_statements
from ship_gate.contract.statements import text_for_callers
from specwright.domain.acceptance.records import TaskAcceptance, amended_acceptance
from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.base.slugs import sibling_slugs
from specwright.domain.escalation import NewTask
from specwright.domain.spec.product_spec import (
    Epic,
    IoContractSketch,
    Pillar,
    ProductSpec,
    SpecDifference,
    SpecTaskId,
    Story,
    TaskSpec,
)
from specwright.domain.tasks.project_state import TaskEntry
from specwright.errors import InputError


class Level(Record):
    """A pillar, epic or story above a task."""

    name: Text
    description: Text


class TaskAmendment(Record):
    """A person's change of the acceptance criteria, with the replaced ones (design: escalation)."""

    replaced_criteria: list[Text]
    rationale: Text
    escalation_ref: str
    amended_at: Timestamp


class TaskDefinition(OmittedIfEmpty):
    """The content of a task file without the dependency contracts; stored by its hash (design: projection)."""

    omitted = ("acceptance", "decisions")

    task_id: TaskId
    spec_task_id: SpecTaskId
    name: Text
    path: str
    declaration_order: int
    pillar: Level
    epic: Level
    story: Level
    description: Text
    subtasks: list[Text] = Field(min_length=1)
    acceptance_criteria: list[Text] = Field(min_length=1)
    depends_on: list[TaskId] = Field(default_factory=list)
    io_contract_sketch: IoContractSketch
    amendments: list[TaskAmendment] = Field(default_factory=list)
    acceptance: TaskAcceptance | None = None
    decisions: list[Text] = Field(default_factory=list)


class ShippedDependency(NamedTuple):
    """A module of a shipped dependency, for the task file.

    Args:
        dependency: The `T-` id in `depends_on`; for parts of a split task, that task's id (design: task-states).
        contract: The module's contract.
        examples: The text of its `examples.md`.
        spec_task_id: The `TSK-` id of the dependency.
        part: Whether only the dependency's own modules call it; then name and purpose are enough.
    """

    dependency: str
    contract: MicroModuleContract
    examples: str
    spec_task_id: str = ""
    part: bool = False


def parts_among(contracts: Sequence[MicroModuleContract], public: Iterable[str]) -> set[str]:
    """Return the references of a task's internal modules: its other modules call them, and callers of the task see none of
    their classes.

    Args:
        contracts: The contracts of the task's modules, each after its dependencies.
        public: The names that the task provides.
    """
    called = {dependency.ref for one in contracts for dependency in one.dependencies}
    parts, provided, met = set[str](), {*public}, set[str]()
    for one in reversed(contracts):
        if (
            one.ref in called
            and one.name not in provided
            and met.isdisjoint((*own_statements(one), *own_exceptions(one)))
        ):
            parts.add(one.ref)
        else:
            met.update(re.findall(r"\w+", text_for_callers(one)))
    return parts


def first_entry(definition: TaskDefinition) -> TaskEntry:
    """Return the initial entry of a task in the state."""
    return _entry(definition.to_json())


def stored_entry(data: bytes, where: str) -> tuple[str, TaskEntry]:
    """Return the id and initial entry of a task from its stored definition; the rest of it is not validated.

    Raises:
        InputError: the data is not the definition of a task.
    """
    try:
        fields = canonical_json.loads(data)
        return str(fields["task_id"]), _entry(fields)
    except ValidationError as error:
        problems = "; ".join(validation_messages(error))
        raise InputError(f"not a valid TaskDefinition: {problems}", where=where) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a valid TaskDefinition: {error!r}", where=where) from error


def _entry(fields: Mapping[str, Any]) -> TaskEntry:
    return TaskEntry(
        spec_task_id=fields["spec_task_id"],
        pillar=fields["pillar"]["name"],
        epic=fields["epic"]["name"],
        story=fields["story"]["name"],
        task=fields["name"],
        depends_on=fields["depends_on"],
        declaration_order=fields["declaration_order"],
    )


def amended(
    definition: TaskDefinition,
    criteria: Sequence[str],
    amendment: TaskAmendment,
    depends_on: Sequence[str],
    changes: Mapping[str, Any] = {},
) -> TaskDefinition:
    """Return the definition with other acceptance criteria; its history keeps the old ones (design: escalation).

    Args:
        definition: The present definition.
        criteria: The new criteria.
        amendment: The history entry; its `replaced_criteria` are the present ones.
        depends_on: The new dependencies (design: task-states, `drop_depends_on`).
        changes: Changes of approved examples and properties; see `amended_acceptance`.

    Raises:
        InputError: as `amended_acceptance`.
    """
    before = definition.acceptance_criteria
    return TaskDefinition.model_validate(
        {
            **dict(definition),
            "acceptance_criteria": list(criteria),
            "acceptance": amended_acceptance(definition.acceptance, before, criteria, changes),
            "depends_on": list(depends_on),
            "amendments": [*definition.amendments, amendment],
        }
    )


def without_dependencies(task_file: str) -> str:
    """Return a task file without its section Dependency Contracts."""
    head, found, rest = task_file.partition("\n## Dependency Contracts\n")
    _, cases, tail = rest.partition("\n## Error Cases\n")
    return f"{head}{cases}{tail}" if found else task_file


def without_examples(task_file: str) -> str:
    """Return a task file without its section Approved Examples."""
    head, found, rest = task_file.partition("\n## Approved Examples\n")
    _, following, tail = rest.partition("\n## ")
    return f"{head}{following}{tail}" if found else task_file


MAX_ID_LENGTH = 128
MAX_TASKS_PER_STORY = 999


class _Place(NamedTuple):
    """A task of the spec with the levels above it, its computed id, its path and its position."""

    task_id: str
    path: str
    order: int
    levels: tuple[Pillar, Epic, Story, TaskSpec]

    @property
    def task(self) -> TaskSpec:
        """The task in the spec."""
        return self.levels[-1]

    def __str__(self) -> str:
        pillar, epic, story, task = (shortened(level.name) for level in self.levels)
        return f"'{task}' ({self.task.task_id}, {pillar} / {epic} / {story})"


def lay_out(spec: ProductSpec) -> tuple[TaskDefinition, ...]:
    """Return the definitions of all tasks of the spec in declaration order, with ids and paths.

    Raises:
        InputError: a story has more than 999 tasks, an id is over 128 characters, two tasks have the same T- or TSK- id, a
            dependency is unknown or circular, or a required field is empty; the message names the tasks.
    """
    places = list(_places(spec))
    _check_ids(places)
    ids = _ids_by_spec_id(places)
    edges = {place.task_id: _dependencies(place, ids) for place in places}
    if cycle := next(find_cycles(edges), None):
        raise InputError(
            f"the dependencies form a cycle: {describe_cycle(cycle)}",
            where=cycle[0],
            remedy="drop one of these dependencies",
        )
    return tuple(_defined(place, edges[place.task_id]) for place in places)


def lay_out_change(
    spec: ProductSpec, difference: SpecDifference, definitions: Mapping[str, TaskDefinition]
) -> tuple[TaskDefinition, ...]:
    """Return the definitions of the tasks that an amended spec adds or changes, in its order (design: change).

    A changed task keeps its id, path and position. An added one gets the next numbers, as the parts of a split do.

    Args:
        spec: The amended spec.
        difference: Its difference from the approved one.
        definitions: The definitions of all tasks that the project ever had, by task id.

    Raises:
        InputError: as `lay_out`.
    """
    known = {definition.spec_task_id: definition for definition in definitions.values()}
    tasks = dict(known)
    places: list[_Place] = []
    for place in _places(spec):
        name = place.task.task_id
        if name in difference.changed:
            old = known[name]
            places.append(place._replace(task_id=old.task_id, path=old.path, order=old.declaration_order))
        elif name in difference.added:
            places.append(_next_place(place, tasks))
            tasks[name] = _defined(places[-1], [])
    _check_ids(places)
    ids = {name: definition.task_id for name, definition in tasks.items()}
    found = (_defined(place, _dependencies(place, ids)) for place in places)
    return tuple(_with_history(definition, known) for definition in found)


def _next_place(place: _Place, tasks: Mapping[str, TaskDefinition]) -> _Place:
    """Return the place of an added task: after the others of its story, and of the project."""
    siblings = [tasks[task.task_id] for task in place.levels[2].tasks if task.task_id in tasks]
    at = (siblings[0].task_id, siblings[0].path) if siblings else (place.task_id, place.path)
    story = place.levels[2]
    ((task_id, path, order),) = _added_places(
        *at, [place.task.name], (story.name, story.story_id), tasks.values()
    )
    return place._replace(task_id=task_id, path=path, order=order)


def _added_places(
    task_id: str, path: str, names: Sequence[str], story: tuple[str, str], tasks: Collection[TaskDefinition]
) -> list[tuple[str, str, int]]:
    """Return id, path and position of tasks that are added to a story.

    Args:
        task_id: The id of a task in the story.
        path: The path of the same task.
        names: The names of the added tasks.
        story: The story's name, and its place for messages.
        tasks: All tasks that the project ever had.

    Raises:
        InputError: the story would have more than 999 tasks.
    """
    prefix, folder = task_id[:-3], path.rsplit("/", 2)[0]
    seq = 1 + max((int(one.task_id[-3:]) for one in tasks if one.task_id[:-3] == prefix), default=0)
    order = 1 + max((one.declaration_order for one in tasks), default=-1)
    check_story_size(*story, seq - 1 + len(names))
    slugs = sibling_slugs(
        names, taken={one.path.split("/")[-2] for one in tasks if one.path.rsplit("/", 2)[0] == folder}
    )
    ids = [f"{prefix}{seq + n:03d}" for n in range(len(names))]
    return [
        (made, f"{folder}/{slug}/{made}.md", order + n)
        for n, (made, slug) in enumerate(zip(ids, slugs, strict=True))
    ]


def _with_history(definition: TaskDefinition, known: Mapping[str, TaskDefinition]) -> TaskDefinition:
    """Return a definition with the amendments that a person made to its earlier version."""
    before = known.get(definition.spec_task_id)
    return definition.model_copy(update={"amendments": before.amendments}) if before else definition


def check_story_size(name: str, where: str, count: int) -> None:
    """Raise if a story has too many tasks to number.

    Raises:
        InputError: it has more than 999.
    """
    if count > MAX_TASKS_PER_STORY:
        raise InputError(
            f"the story '{shortened(name)}' has {count} tasks; the limit is {MAX_TASKS_PER_STORY}",
            where=where,
            remedy="divide the story into several",
        )


def _places(spec: ProductSpec) -> Iterator[_Place]:
    """Yield each task with its id and path, depth first."""
    order = itertools.count()
    for pillar, pillar_slug in zip(spec.pillars, _slugs(spec.pillars), strict=True):
        for epic, epic_slug in zip(pillar.epics, _slugs(pillar.epics), strict=True):
            for story, story_slug in zip(epic.stories, _slugs(epic.stories), strict=True):
                check_story_size(story.name, story.story_id, len(story.tasks))
                folders = (pillar_slug, epic_slug, story_slug)
                for seq, (task, slug) in enumerate(
                    zip(story.tasks, _slugs(story.tasks), strict=True), start=1
                ):
                    task_id = f"T-{'-'.join(folders)}-{seq:03d}"
                    path = "/".join((*folders, slug, f"{task_id}.md"))
                    yield _Place(task_id, path, next(order), (pillar, epic, story, task))


def _slugs(siblings: Iterable[Pillar | Epic | Story | TaskSpec]) -> tuple[str, ...]:
    return sibling_slugs([sibling.name for sibling in siblings])


def _check_ids(places: Iterable[_Place]) -> None:
    first: dict[str, _Place] = {}
    for place in places:
        if len(place.task_id) > MAX_ID_LENGTH:
            raise InputError(
                f"the id of the task {place} would be {len(place.task_id)} characters long, "
                f"more than {MAX_ID_LENGTH}",
                where=place.task_id,
                remedy="shorten the name of its pillar, epic or story",
            )
        other = first.setdefault(place.task_id, place)
        if other is not place:
            raise InputError(
                f"two tasks would have the id {place.task_id}: {other} and {place}",
                where=place.task_id,
                remedy="rename a pillar, epic or story of one of them",
            )


def _ids_by_spec_id(places: Iterable[_Place]) -> dict[str, str]:
    first: dict[str, _Place] = {}
    for place in places:
        other = first.setdefault(place.task.task_id, place)
        if other is not place:
            raise InputError(
                f"two tasks have the spec id {place.task.task_id}: {other}, which becomes {other.task_id}, "
                f"and {place}, which becomes {place.task_id}",
                where=place.task.task_id,
                remedy="give one of them an id of its own",
            )
    return {spec_id: place.task_id for spec_id, place in first.items()}


def _dependencies(place: _Place, ids: Mapping[str, str]) -> list[str]:
    wanted = place.task.depends_on
    if unknown := [spec_id for spec_id in wanted if spec_id not in ids]:
        raise InputError(
            f"the task {place} depends on {', '.join(unknown)}, which is not in the spec",
            where=place.task_id,
            remedy="name an existing task, or drop the dependency",
        )
    return list(dict.fromkeys(ids[spec_id] for spec_id in wanted))


def _defined(place: _Place, depends_on: Sequence[str]) -> TaskDefinition:
    """Build the definition of a task, and check that no required field is empty."""
    *above, task = place.levels
    levels = [{"name": level.name, "description": level.description} for level in above]
    try:
        return TaskDefinition.model_validate(
            {
                **task.model_dump(exclude={"task_id"}),
                "task_id": place.task_id,
                "spec_task_id": task.task_id,
                "path": place.path,
                "declaration_order": place.order,
                **dict(zip(("pillar", "epic", "story"), levels, strict=True)),
                "depends_on": depends_on,
            }
        )
    except ValidationError as error:
        gaps = [".".join(map(str, fault["loc"])) for fault in error.errors(include_url=False)]
        raise InputError(
            f"the task {place.task_id}, {place}, is incomplete; missing: {', '.join(gaps)}",
            where=place.path,
            remedy="complete these fields in the spec and have it approved again",
        ) from error


def parts_of(
    definitions: Mapping[str, TaskDefinition], task_id: str, parts: Sequence[NewTask]
) -> list[TaskDefinition]:
    """Return the definitions of a split task's parts, in order.

    `TaskBoard.split` checks that the new dependencies form no cycle.

    Args:
        definitions: The definitions of all tasks so far, by task id.
        task_id: The task to split.
        parts: The person's parts; omitted fields default to the original's.

    Raises:
        InputError: two parts have the same name, a dependency does not exist, or the story would have more than 999 tasks.
    """
    original = definitions[task_id]
    names = [part.name for part in parts]
    if twice := next((name for n, name in enumerate(names) if name in names[:n]), None):
        raise InputError(f"two parts are named {twice!r}", where=task_id, remedy="give each its own name")
    number = 1 + max(int(d.spec_task_id.removeprefix("TSK-")) for d in definitions.values())
    story = (original.story.name, original.path.rsplit("/", 2)[0])
    places = _added_places(task_id, original.path, names, story, definitions.values())
    ids = {name: made for name, (made, _, _) in zip(names, places, strict=True)}
    return [
        TaskDefinition.model_validate(
            {
                **dict(original),
                **{field: value for field, value in dict(part).items() if value is not None},
                "task_id": made,
                "spec_task_id": f"TSK-{number + n:03d}",
                "path": path,
                "declaration_order": order,
                "depends_on": _dependencies_of_part(part, ids, definitions, original),
                "amendments": [],
            }
        )
        for n, (part, (made, path, order)) in enumerate(zip(parts, places, strict=True))
    ]


def task_named(definitions: Mapping[str, TaskDefinition], text: str) -> TaskDefinition:
    """Return the task with a T- or TSK- id.

    Raises:
        InputError: there is no such task.
    """
    by_spec_id = (d for d in definitions.values() if d.spec_task_id == text)
    definition = definitions.get(text) or next(by_spec_id, None)
    if definition is None:
        raise InputError(f"there is no task {text}", remedy="`specwright tasks` lists them")
    return definition


def _dependencies_of_part(
    part: NewTask, ids: Mapping[str, str], definitions: Mapping[str, TaskDefinition], original: TaskDefinition
) -> list[str]:
    waits = [ids.get(text) or task_named(definitions, text).task_id for text in part.depends_on]
    if original.task_id in waits:
        raise InputError(
            f"the part {part.name!r} depends on {original.task_id}, which it replaces",
            where=original.task_id,
            remedy="name another part, or a task that the original depends on",
        )
    return list(dict.fromkeys(waits))
