"""The layout of a spec: the `T-` id of each task, its directory, its place in the order (design: project-loop, ids).

The first two validation passes of docs/design.md#ids (slugs, then ids and their uniqueness); the third, whether every task
file can be filled, is in `task_file`. Nothing is written before all three have passed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.base.slugs import sibling_slugs
from specwright.domain.base.text import shortened
from specwright.domain.spec.product_spec import Epic, Pillar, ProductSpec, SpecTask, Story, TaskSpec
from specwright.errors import InputError

MAX_ID_LENGTH = 128
MAX_TASKS_PER_STORY = 999


class Slugs(NamedTuple):
    """The directory names of a task's levels."""

    pillar: str
    epic: str
    story: str
    task: str

    @property
    def directory(self) -> tuple[str, str, str]:
        """The directory of the story."""
        return self.pillar, self.epic, self.story


class TaskPlace(NamedTuple):
    """A task of the spec with its computed id, directories, dependencies and place in the order.

    `depends_on` holds `T-` ids; `source` is the task in the spec with the levels above it.
    """

    task_id: str
    slugs: Slugs
    depends_on: tuple[str, ...]
    declaration_order: int
    source: SpecTask

    @property
    def spec_task_id(self) -> str:
        """The `TSK-` id."""
        return self.source.task.task_id

    @property
    def path(self) -> str:
        """Its task file, relative to `project/`."""
        return "/".join((*self.slugs, f"{self.task_id}.md"))

    def __str__(self) -> str:
        pillar, epic, story, task = (shortened(level.name) for level in self.source)
        return f"'{task}' ({self.spec_task_id}, {pillar} / {epic} / {story})"


def lay_out(spec: ProductSpec) -> tuple[TaskPlace, ...]:
    """Every task of the spec in declaration order, with its id and path.

    Raises:
        InputError: a story with more than 999 tasks, an id over 128 characters, two tasks with one id, a TSK
            id given twice, an unknown or circular dependency; the message names the tasks and their ids.
    """
    places = tuple(
        _place(source, slugs, seq, order) for order, (source, slugs, seq) in enumerate(_numbered(spec))
    )
    _check_ids(places)
    placed = _with_dependencies(places, _ids_by_spec_id(places))
    _check_acyclic(placed)
    return placed


def lay_out_parts(
    places: Sequence[TaskPlace], original: TaskPlace, parts: Sequence[TaskSpec]
) -> tuple[TaskPlace, ...]:
    """The places of the tasks that a split task becomes (design: escalation SPLIT_TASK).

    They join the original's story: the next sequence numbers there, `declaration_order` after the maximum.
    Whether the new dependencies form a cycle is checked against the state: `TaskBoard.split`.

    Args:
        places: Everything placed so far, abandoned tasks included.
        original: The task that is split.
        parts: Its parts, with new TSK ids; they may depend on each other.

    Raises:
        InputError: as `lay_out`, over the old places and the new, cycles apart.
    """
    directory = original.slugs.directory
    story = [place for place in places if place.slugs.directory == directory]
    seq = 1 + max(int(place.task_id[-3:]) for place in story)
    order = 1 + max(place.declaration_order for place in places)
    _check_story_size(original.source.story, seq - 1 + len(parts))
    slugs = sibling_slugs([part.name for part in parts], taken={place.slugs.task for place in story})
    new = tuple(
        _place(original.source._replace(task=part), Slugs(*directory, slug), seq + i, order + i)
        for i, (part, slug) in enumerate(zip(parts, slugs, strict=True))
    )
    # docs/design.md#escalation: against all ids, those of abandoned tasks included
    _check_ids((*places, *new))
    return _with_dependencies(new, _ids_by_spec_id((*places, *new)))


def _numbered(spec: ProductSpec) -> Iterator[tuple[SpecTask, Slugs, int]]:
    """Each task with its four slugs and its number within the story, depth first."""
    for pillar, pillar_slug in zip(spec.pillars, _slugs(spec.pillars), strict=True):
        for epic, epic_slug in zip(pillar.epics, _slugs(pillar.epics), strict=True):
            for story, story_slug in zip(epic.stories, _slugs(epic.stories), strict=True):
                _check_story_size(story, len(story.tasks))
                for seq, (task, task_slug) in enumerate(
                    zip(story.tasks, _slugs(story.tasks), strict=True), start=1
                ):
                    slugs = Slugs(pillar_slug, epic_slug, story_slug, task_slug)
                    yield SpecTask(pillar, epic, story, task), slugs, seq


def _slugs(siblings: Iterable[Pillar | Epic | Story | TaskSpec]) -> tuple[str, ...]:
    return sibling_slugs([sibling.name for sibling in siblings])


def _place(source: SpecTask, slugs: Slugs, seq: int, order: int) -> TaskPlace:
    task_id = "-".join(("T", *slugs.directory, f"{seq:03d}"))
    return TaskPlace(task_id, slugs, (), order, source)


def _check_story_size(story: Story, count: int) -> None:
    if count > MAX_TASKS_PER_STORY:
        raise InputError(
            f"the story '{shortened(story.name)}' has {count} tasks; their numbers end at {MAX_TASKS_PER_STORY}",
            where=story.story_id,
            remedy="divide the story into several",
        )


def _check_ids(places: Iterable[TaskPlace]) -> None:
    first: dict[str, TaskPlace] = {}
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


def _ids_by_spec_id(places: Iterable[TaskPlace]) -> dict[str, str]:
    first: dict[str, TaskPlace] = {}
    for place in places:
        other = first.setdefault(place.spec_task_id, place)
        if other is not place:
            raise InputError(
                f"two tasks have the spec id {place.spec_task_id}: {other}, which becomes {other.task_id}, "
                f"and {place}, which becomes {place.task_id}",
                where=place.spec_task_id,
                remedy="give one of them an id of its own",
            )
    return {spec_id: place.task_id for spec_id, place in first.items()}


def _with_dependencies(places: Iterable[TaskPlace], ids: Mapping[str, str]) -> tuple[TaskPlace, ...]:
    return tuple(place._replace(depends_on=_dependencies(place, ids)) for place in places)


def _dependencies(place: TaskPlace, ids: Mapping[str, str]) -> tuple[str, ...]:
    wanted = place.source.task.depends_on
    if unknown := [spec_id for spec_id in wanted if spec_id not in ids]:
        raise InputError(
            f"the task {place} depends on {', '.join(unknown)}, which no task of the spec is",
            where=place.task_id,
            remedy="name an existing task, or drop the dependency",
        )
    return tuple(dict.fromkeys(ids[spec_id] for spec_id in wanted))


def _check_acyclic(places: Iterable[TaskPlace]) -> None:
    edges = {place.task_id: place.depends_on for place in places}
    if cycle := next(find_cycles(edges), None):
        raise InputError(
            f"tasks wait for each other in a circle: {describe_cycle(cycle)}",
            where=cycle[0],
            remedy="drop one of these dependencies",
        )
