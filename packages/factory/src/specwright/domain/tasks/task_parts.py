"""The tasks that a split task becomes, each as complete as one of the approved spec (design: escalation SPLIT_TASK,
design: ids).

The spec does not change: parts are in the definitions that their Wires reference (design: projection). They join the
original's story: the next numbers there, `declaration_order` after the maximum of all tasks, abandoned ones included.
"""

from collections.abc import Mapping, Sequence

from specwright.domain.base.slugs import sibling_slugs
from specwright.domain.escalation.resolutions import NewTask
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.domain.tasks.task_ids import check_story_size
from specwright.errors import InputError


def parts_of(
    definitions: Mapping[str, TaskDefinition], task_id: str, parts: Sequence[NewTask]
) -> list[TaskDefinition]:
    """The definitions of the parts, in their order.

    Whether the new dependencies form a cycle is checked against the state: `TaskBoard.split`.

    Args:
        definitions: Of every task so far, by task id.
        task_id: The task that is split.
        parts: As the person wrote them; an omitted field is the original's.

    Raises:
        InputError: two parts of one name, a dependency that no task is, or a story with more than 999 tasks.
    """
    original = definitions[task_id]
    names = [part.name for part in parts]
    if twice := next((name for n, name in enumerate(names) if name in names[:n]), None):
        raise InputError(f"two parts are named {twice!r}", where=task_id, remedy="give each its own name")
    story = original.path.rsplit("/", 2)[0]
    siblings = [d for d in definitions.values() if d.path.rsplit("/", 2)[0] == story]
    seq = 1 + max(int(sibling.task_id[-3:]) for sibling in siblings)
    check_story_size(original.story.name, story, seq - 1 + len(parts))
    number = 1 + max(int(d.spec_task_id.removeprefix("TSK-")) for d in definitions.values())
    order = 1 + max(d.declaration_order for d in definitions.values())
    slugs = sibling_slugs(names, taken={sibling.path.split("/")[-2] for sibling in siblings})
    ids = {name: f"{task_id[:-3]}{seq + n:03d}" for n, name in enumerate(names)}
    return [
        TaskDefinition.model_validate(
            {
                **dict(original),
                **{field: value for field, value in dict(part).items() if value is not None},
                "task_id": ids[part.name],
                "spec_task_id": f"TSK-{number + n:03d}",
                "path": f"{story}/{slug}/{ids[part.name]}.md",
                "declaration_order": order + n,
                "depends_on": _dependencies(part, ids, definitions, original),
                "amendments": [],
            }
        )
        for n, (part, slug) in enumerate(zip(parts, slugs, strict=True))
    ]


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


def _dependencies(
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
