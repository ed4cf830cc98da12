"""Product specs and project states for tests: small named ones, and ones drawn at random."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks.project_state import ProjectState, TaskEntry, TaskStatus

__all__ = [
    "NOW",
    "draft_data",
    "entry",
    "epic_data",
    "graphs",
    "pillar_data",
    "spec_data",
    "spec_of",
    "spec_of_graph",
    "spec_of_stories",
    "state_of",
    "states",
    "story_data",
    "task_data",
]

NOW = "2026-05-06T16:00:00Z"
Story = tuple[str, Sequence[str]]
Tree = Sequence[tuple[str, Sequence[tuple[str, Sequence[Story]]]]]
"""Pillars with epics with stories with tasks, each by its name."""
LATER = "2026-05-06T17:00:00Z"
REF = "MM-1a2b3c4d@1.0.0"


def task_data(
    number: int = 1, name: str = "Parse the header", depends_on: Sequence[str] = (), **changes: Any
) -> dict[str, Any]:
    """A complete task without any deficiency."""
    data = {
        "task_id": f"TSK-{number:03d}",
        "name": name,
        "description": "Reads the first row of the file into column names.",
        "subtasks": ["Read the first row", "Refuse a file without one"],
        "acceptance_criteria": ["Returns the column names in order", "Raises ValueError for an empty file"],
        "depends_on": list(depends_on),
        "io_contract_sketch": {
            "inputs": "text: str, the whole file",
            "outputs": "names: list[str], in the order of the file",
            "error_surfaces": "ValueError if the file is empty; KeyError if a name stands twice",
            "effects": "none: pure",
            "modes": "sync, because nothing waits",
        },
    }
    return {**data, **changes}


def story_data(tasks: list[dict[str, Any]], name: str = "Import", number: int = 1) -> dict[str, Any]:
    """A story around some tasks."""
    return {
        "story_id": f"STR-{number:03d}",
        "name": name,
        "description": "The user brings a file of their own.",
        "user_facing_behavior": "The table appears with its column names.",
        "tasks": tasks,
    }


def epic_data(stories: list[dict[str, Any]], name: str = "Tables", number: int = 1) -> dict[str, Any]:
    """An epic around some stories."""
    return {
        "epic_id": f"EPC-{number:03d}",
        "name": name,
        "description": "Everything that is done with one table.",
        "success_criteria": ["A file of a million rows opens"],
        "stories": stories,
    }


def pillar_data(epics: list[dict[str, Any]], name: str = "Core", number: int = 1) -> dict[str, Any]:
    """A pillar around some epics."""
    return {
        "pillar_id": f"PIL-{number:03d}",
        "name": name,
        "description": "What every other part builds on.",
        "rationale": "Without tables there is nothing to show.",
        "epics": epics,
    }


def draft_data(pillars: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A complete spec as the researcher answers it, by default with three tasks."""
    tasks = [
        task_data(1),
        task_data(2, "Parse the rows", ["TSK-001"]),
        task_data(3, "Sort the rows", ["TSK-002", "TSK-001"]),
    ]
    return {
        "spec_id": "SPEC-001",
        "spec_version": "1.0.0",
        "title": "Table keeper",
        "description": "Keeps tables in plain files and sorts them.",
        "pillars": pillars or [pillar_data([epic_data([story_data(tasks)])])],
    }


def spec_data(pillars: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A complete spec as it is stored."""
    return {**draft_data(pillars), "created_at": NOW, "updated_at": NOW}


def spec_of(tree: Tree) -> ProductSpec:
    """A spec from names alone: `{pillar: {epic: {story: [task, ...]}}}`, each level a list of pairs."""
    number = iter(range(1, 100_000))
    pillars = [
        pillar_data(
            [
                epic_data(
                    [
                        story_data([task_data(next(number), task) for task in tasks], story)
                        for story, tasks in stories
                    ],
                    epic,
                )
                for epic, stories in epics
            ],
            pillar,
        )
        for pillar, epics in tree
    ]
    return ProductSpec.model_validate(spec_data(pillars))


def spec_of_stories(*stories: Story) -> ProductSpec:
    """A spec with one pillar "Core" and one epic "Tables"; the stories are pairs of name and task names."""
    return spec_of([("Core", [("Tables", stories)])])


_FIELDS: dict[TaskStatus, dict[str, Any]] = {
    TaskStatus.SHIPPED: {"module_ref": REF, "module_refs": [REF], "shipped_at": NOW},
    TaskStatus.HALTED: {"halted_reason": "REJECT by the Arbiter", "escalation_ref": "ESC-00000001"},
}


def entry(
    order: int, status: str = TaskStatus.PENDING, depends_on: Sequence[str] = (), **changes: Any
) -> TaskEntry:
    """An entry with the fields that its status asks for."""
    fields: dict[str, Any] = {
        "spec_task_id": f"TSK-{order + 1:03d}",
        "pillar": "Core",
        "epic": "Tables",
        "story": "Import",
        "task": f"Task {order}",
        "status": TaskStatus(status),
        "depends_on": list(depends_on),
        "declaration_order": order,
        **_FIELDS.get(TaskStatus(status), {}),
        **changes,
    }
    return TaskEntry.model_validate(fields)


def state_of(**tasks: str | Sequence[str]) -> ProjectState:
    """A state of tasks `T-<name>`: `state_of(x="HALTED", y=("PENDING", "x"))`; dependencies by name."""
    entries: dict[str, TaskEntry] = {}
    for order, (name, value) in enumerate(tasks.items()):
        status, *depends_on = (value,) if isinstance(value, str) else value
        entries[f"T-{name}"] = entry(order, status, [f"T-{ref}" for ref in depends_on])
    return ProjectState(project_id="p", spec_version="1.0.0", updated_at=NOW, tasks=entries)


@st.composite
def states(
    draw: st.DrawFn, statuses: Sequence[TaskStatus] = tuple(TaskStatus), max_tasks: int = 12
) -> ProjectState:
    """A state over a random DAG with any statuses, some abandoned tasks split into others."""
    count = draw(st.integers(1, max_tasks))
    names = [f"T-{index:02d}" for index in range(count)]
    orders = draw(st.permutations(range(count)))
    entries: dict[str, TaskEntry] = {}
    for index, name in enumerate(names):
        status = draw(st.sampled_from(statuses))
        refs = draw(st.lists(st.sampled_from(names[:index]), unique=True, max_size=4)) if index else []
        changes: dict[str, Any] = {}
        if status is TaskStatus.ABANDONED and index and draw(st.booleans()):
            # parts come before what depends on the split task, so that the graph stays acyclic
            changes["superseded_by"] = draw(
                st.lists(st.sampled_from(names[:index]), unique=True, min_size=1, max_size=3)
            )
        entries[name] = entry(orders[index], status, refs, **changes)
    shuffled = draw(st.permutations(names))
    return ProjectState(
        project_id="p", spec_version="1.0.0", updated_at=NOW, tasks={name: entries[name] for name in shuffled}
    )


def spec_of_graph(waits_for: Sequence[Sequence[int]]) -> ProductSpec:
    """A spec of tasks that wait for each other: `[[], [0], [0, 1]]`."""
    tasks = [
        task_data(n, f"Task {n}", [f"TSK-{ref + 1:03d}" for ref in refs])
        for n, refs in enumerate(waits_for, start=1)
    ]
    return ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))


@st.composite
def graphs(draw: st.DrawFn, most: int = 5) -> list[list[int]]:
    """For each task, those before it that it waits for."""
    count = draw(st.integers(1, most))
    return [draw(st.lists(st.integers(0, n - 1), unique=True, max_size=3)) if n else [] for n in range(count)]
