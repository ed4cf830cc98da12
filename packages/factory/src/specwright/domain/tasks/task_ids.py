"""The tasks of a spec: the `T-` id of each, its path, its place in the order (design: project-loop, ids).

Three validation passes: slugs, then ids and their uniqueness, then whether every task file can be filled. Nothing is
written before all three have passed.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from ship_gate.base.text import shortened
from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.base.slugs import sibling_slugs
from specwright.domain.spec.product_spec import Epic, Pillar, ProductSpec, Story, TaskSpec
from specwright.domain.spec.spec_changes import SpecDifference
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import InputError

MAX_ID_LENGTH = 128
MAX_TASKS_PER_STORY = 999


class _Place(NamedTuple):
    """A task of the spec with the levels above it, its computed id, its path and its place in the order."""

    task_id: str
    path: str
    order: int
    levels: tuple[Pillar, Epic, Story, TaskSpec]

    @property
    def task(self) -> TaskSpec:
        """As the spec has it."""
        return self.levels[-1]

    def __str__(self) -> str:
        pillar, epic, story, task = (shortened(level.name) for level in self.levels)
        return f"'{task}' ({self.task.task_id}, {pillar} / {epic} / {story})"


def lay_out(spec: ProductSpec) -> tuple[TaskDefinition, ...]:
    """Every task of the spec in declaration order, with its id and path.

    Raises:
        InputError: a story with more than 999 tasks, an id over 128 characters, two tasks with one id, a TSK id given
            twice, an unknown or circular dependency, a field that the task file needs and the spec leaves empty; the
            message names the tasks and their ids.
    """
    places = list(_places(spec))
    _check_ids(places)
    ids = _ids_by_spec_id(places)
    edges = {place.task_id: _dependencies(place, ids) for place in places}
    if cycle := next(find_cycles(edges), None):
        raise InputError(
            f"tasks wait for each other in a circle: {describe_cycle(cycle)}",
            where=cycle[0],
            remedy="drop one of these dependencies",
        )
    return tuple(_defined(place, edges[place.task_id]) for place in places)


def lay_out_change(
    spec: ProductSpec, difference: SpecDifference, definitions: Mapping[str, TaskDefinition]
) -> tuple[TaskDefinition, ...]:
    """The tasks that an amended spec adds or changes, in its order (design: change).

    A changed task keeps its id, its path and its place in the order. An added one gets the next numbers, as the parts of a
    split do.

    Args:
        definitions: Of every task that the project ever had, by task id.

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
    """Where an added task goes: behind the others of its story, and of the project."""
    siblings = [tasks[task.task_id] for task in place.levels[2].tasks if task.task_id in tasks]
    prefix = siblings[0].task_id[:-4] if siblings else place.task_id[:-4]
    folder = (siblings[0].path if siblings else place.path).rsplit("/", 2)[0]
    there = [one for one in tasks.values() if one.path.rsplit("/", 2)[0] == folder]
    numbers = (int(one.task_id[-3:]) for one in tasks.values() if one.task_id[:-4] == prefix)
    seq = 1 + max(numbers, default=0)
    check_story_size(place.levels[2].name, place.levels[2].story_id, seq)
    (slug,) = sibling_slugs([place.task.name], taken={one.path.split("/")[-2] for one in there})
    task_id = f"{prefix}-{seq:03d}"
    order = 1 + max((one.declaration_order for one in tasks.values()), default=-1)
    return place._replace(task_id=task_id, path=f"{folder}/{slug}/{task_id}.md", order=order)


def _with_history(definition: TaskDefinition, known: Mapping[str, TaskDefinition]) -> TaskDefinition:
    """With the amendments that a person made to an earlier version."""
    before = known.get(definition.spec_task_id)
    return definition.model_copy(update={"amendments": before.amendments}) if before else definition


def check_story_size(name: str, where: str, count: int) -> None:
    """Refuse a story whose tasks cannot be numbered.

    Raises:
        InputError: it has more than 999.
    """
    if count > MAX_TASKS_PER_STORY:
        raise InputError(
            f"the story '{shortened(name)}' has {count} tasks; their numbers end at {MAX_TASKS_PER_STORY}",
            where=where,
            remedy="divide the story into several",
        )


def _places(spec: ProductSpec) -> Iterator[_Place]:
    """Each task with its id and path, depth first."""
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
            f"the task {place} depends on {', '.join(unknown)}, which no task of the spec is",
            where=place.task_id,
            remedy="name an existing task, or drop the dependency",
        )
    return list(dict.fromkeys(ids[spec_id] for spec_id in wanted))


def _defined(place: _Place, depends_on: Sequence[str]) -> TaskDefinition:
    """The third pass: whether the task file can be filled."""
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
            f"the task {place.task_id}, {place}, cannot be written down; missing: {', '.join(gaps)}",
            where=place.path,
            remedy="complete these fields in the spec and have it approved again",
        ) from error
