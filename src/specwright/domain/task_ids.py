"""Where every task of a spec stands: its `T-` id, its directory, its place in the order (F§3.3, F§4.1, D1).

The first two validation passes of F§4.1 (slugs, then ids and their uniqueness); the third, whether every task
file can be filled, is in `task_file`. Nothing is written before all three have passed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from specwright.domain.dependency_cycles import describe_cycle, find_cycles
from specwright.domain.one_line import shortened
from specwright.domain.product_spec import Epic, Pillar, ProductSpec, SpecTask, Story, TaskSpec
from specwright.domain.slugs import sibling_slugs
from specwright.errors import InputError

__all__ = ["MAX_ID_LENGTH", "MAX_TASKS_PER_STORY", "TaskPlace", "lay_out", "lay_out_parts"]

MAX_ID_LENGTH = 128
MAX_TASKS_PER_STORY = 999

Slugs: TypeAlias = tuple[str, str, str, str]
"""Pillar, epic, story, task."""


class TaskPlace(NamedTuple):
    """A task with its computed names.

    `pillar`, `epic`, `story`, `task` are the human names; `path` is relative to `project/`; `depends_on`
    holds `T-` ids; `source` is the task in the spec with the levels above it.
    """

    task_id: str
    spec_task_id: str
    pillar: str
    epic: str
    story: str
    task: str
    pillar_slug: str
    epic_slug: str
    story_slug: str
    task_slug: str
    path: str
    depends_on: tuple[str, ...]
    declaration_order: int
    source: SpecTask

    def __str__(self) -> str:
        levels = " / ".join(map(shortened, (self.pillar, self.epic, self.story)))
        return f"'{shortened(self.task)}' ({self.spec_task_id}, {levels})"


def lay_out(spec: ProductSpec) -> tuple[TaskPlace, ...]:
    """Every task of the spec in declaration order, ids and paths settled.

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
    """The places of the tasks that a split task becomes (F§17.2 SPLIT_TASK).

    They join the original's story: the next sequence numbers there, `declaration_order` after the maximum.
    Whether the new dependencies run in a circle is seen where they meet the state: `project_state.split`.

    Args:
        places: Everything placed so far, abandoned tasks included.
        original: The task that is split.
        parts: Its parts, with new TSK ids; they may depend on each other.

    Raises:
        InputError: as `lay_out`, over the old places and the new, cycles apart.
    """
    story = [place for place in places if _directory(place) == _directory(original)]
    seq = 1 + max(int(place.task_id[-3:]) for place in story)
    order = 1 + max(place.declaration_order for place in places)
    _check_story_size(original.source.story, seq - 1 + len(parts))
    slugs = sibling_slugs([part.name for part in parts], taken={place.task_slug for place in story})
    new = tuple(
        _place(original.source._replace(task=part), (*_directory(original), slug), seq + i, order + i)
        for i, (part, slug) in enumerate(zip(parts, slugs, strict=True))
    )
    _check_ids((*places, *new))  # F§17.2: against all ids, those of abandoned tasks included
    return _with_dependencies(new, _ids_by_spec_id((*places, *new)))


def _directory(place: TaskPlace) -> tuple[str, str, str]:
    return place.pillar_slug, place.epic_slug, place.story_slug


def _numbered(spec: ProductSpec) -> Iterator[tuple[SpecTask, Slugs, int]]:
    """Each task with its four slugs and its number within the story, depth first."""
    for pillar, pillar_slug in zip(spec.pillars, _slugs(spec.pillars), strict=True):
        for epic, epic_slug in zip(pillar.epics, _slugs(pillar.epics), strict=True):
            for story, story_slug in zip(epic.stories, _slugs(epic.stories), strict=True):
                _check_story_size(story, len(story.tasks))
                for seq, (task, task_slug) in enumerate(
                    zip(story.tasks, _slugs(story.tasks), strict=True), start=1
                ):
                    slugs = (pillar_slug, epic_slug, story_slug, task_slug)
                    yield SpecTask(pillar, epic, story, task), slugs, seq


def _slugs(siblings: Iterable[Pillar | Epic | Story | TaskSpec]) -> tuple[str, ...]:
    return sibling_slugs([sibling.name for sibling in siblings])


def _place(source: SpecTask, slugs: Slugs, seq: int, order: int) -> TaskPlace:
    pillar_slug, epic_slug, story_slug, task_slug = slugs
    task_id = f"T-{pillar_slug}-{epic_slug}-{story_slug}-{seq:03d}"
    return TaskPlace(
        task_id=task_id,
        spec_task_id=source.task.task_id,
        pillar=source.pillar.name,
        epic=source.epic.name,
        story=source.story.name,
        task=source.task.name,
        pillar_slug=pillar_slug,
        epic_slug=epic_slug,
        story_slug=story_slug,
        task_slug=task_slug,
        path=f"{pillar_slug}/{epic_slug}/{story_slug}/{task_slug}/{task_id}.md",
        depends_on=(),
        declaration_order=order,
        source=source,
    )


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
