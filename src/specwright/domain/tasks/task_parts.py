"""The tasks that a split task becomes, each as complete as one of the approved spec (design: escalation SPLIT_TASK,
design: ids).

The spec does not change: parts are in the definitions that their Wires reference (design: projection). The layout of all
tasks is computed again from the spec and from the parts of earlier splits, so that new ids and slugs are unique among
all of them, abandoned ones included.
"""

from collections.abc import Iterator, Mapping, Sequence

from specwright.domain.escalation.resolutions import NewTask
from specwright.domain.spec.product_spec import ProductSpec, TaskSpec
from specwright.domain.tasks.task_file import TaskDefinition, define
from specwright.domain.tasks.task_ids import TaskPlace, lay_out, lay_out_parts
from specwright.errors import InputError


def parts_of(
    spec: ProductSpec, definitions: Mapping[str, TaskDefinition], task_id: str, parts: Sequence[NewTask]
) -> list[TaskDefinition]:
    """The definitions of the parts, in their order.

    Args:
        spec: The approved one.
        definitions: Of every task so far, by task id.
        task_id: The task that is split.
        parts: As the person wrote them; an omitted field is the original's.

    Raises:
        InputError: two parts of one name, a dependency that no task is, an id that is taken or too long, a part
            that lacks what a task file needs.
    """
    original = definitions[task_id]
    names = [part.name for part in parts]
    if twice := next((name for n, name in enumerate(names) if name in names[:n]), None):
        raise InputError(f"two parts are named {twice!r}", where=task_id, remedy="give each its own name")
    first = 1 + max(int(d.spec_task_id.removeprefix("TSK-")) for d in definitions.values())
    ids = {name: f"TSK-{number:03d}" for number, name in enumerate(names, start=first)}
    specs = [_task_spec(part, ids, definitions, original) for part in parts]
    places = list(_places(spec, definitions))
    whole = next(place for place in places if place.task_id == task_id)
    return [define(place) for place in lay_out_parts(places, whole, specs)]


def task_named(definitions: Mapping[str, TaskDefinition], text: str) -> TaskDefinition:
    """The task with a T- or TSK- id.

    Raises:
        InputError: there is none.
    """
    by_spec_id = (d for d in definitions.values() if d.spec_task_id == text)
    definition = definitions.get(text) or next(by_spec_id, None)
    if definition is None:
        raise InputError(f"there is no task {text}", remedy="`specwright tasks` lists them")
    return definition


def _task_spec(
    part: NewTask, ids: Mapping[str, str], definitions: Mapping[str, TaskDefinition], original: TaskDefinition
) -> TaskSpec:
    waits = [ids.get(text) or task_named(definitions, text).spec_task_id for text in part.depends_on]
    if original.spec_task_id in waits:
        raise InputError(
            f"the part {part.name!r} depends on {original.task_id}, which it replaces",
            where=original.task_id,
            remedy="name another part, or a task that the original depends on",
        )
    return TaskSpec(
        task_id=ids[part.name],
        name=part.name,
        description=part.description,
        subtasks=part.subtasks or original.subtasks,
        acceptance_criteria=part.acceptance_criteria,
        depends_on=waits,
        io_contract_sketch=part.io_contract_sketch or original.io_contract_sketch,
    )


def _places(spec: ProductSpec, definitions: Mapping[str, TaskDefinition]) -> Iterator[TaskPlace]:
    """Every task's place: the spec's, then those of the parts of earlier splits, in the story of their whole."""
    placed = lay_out(spec)
    yield from placed
    known = {place.task_id for place in placed}
    stories = {place.path.rsplit("/", 2)[0]: place for place in placed}
    for definition in definitions.values():
        if definition.task_id not in known:
            folder = definition.path.rsplit("/", 2)
            yield _part_place(definition, stories[folder[0]], folder[1])


def _part_place(definition: TaskDefinition, sibling: TaskPlace, slug: str) -> TaskPlace:
    names = {"task_id": definition.spec_task_id, "name": definition.name}
    return TaskPlace(
        task_id=definition.task_id,
        slugs=sibling.slugs._replace(task=slug),
        depends_on=tuple(definition.depends_on),
        declaration_order=definition.declaration_order,
        source=sibling.source._replace(task=sibling.source.task.model_copy(update=names)),
    )
