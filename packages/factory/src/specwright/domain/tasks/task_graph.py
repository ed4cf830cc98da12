"""What a person looks at: the DAG as text or Mermaid (design: command-line, project-loop).

A dependency on a task that was split is drawn as one on its parts (design: task-states).
"""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter

from ship_gate.base.text import one_line
from specwright.domain.base.graph import reachable
from specwright.domain.tasks.project_state import ProjectState, TaskEntry, TaskStatus, effective_dependencies

MARKS: Mapping[TaskStatus, str] = {
    TaskStatus.SHIPPED: "✓",
    TaskStatus.IN_PROGRESS: "▶",
    TaskStatus.PENDING: "○",
    TaskStatus.BLOCKED: "◌",
    TaskStatus.HALTED: "✗",
    TaskStatus.ABANDONED: "–",
}
"""A sign for each status."""

_FILLS: Mapping[TaskStatus, str] = {
    TaskStatus.SHIPPED: "#c8e6c9",
    TaskStatus.IN_PROGRESS: "#bbdefb",
    TaskStatus.PENDING: "#ffffff",
    TaskStatus.BLOCKED: "#ffe0b2",
    TaskStatus.HALTED: "#ffcdd2",
    TaskStatus.ABANDONED: "#e0e0e0",
}
"""A colour for each status."""


def text_graph(state: ProjectState) -> str:
    """The DAG as a line for each task in declaration order, with the tasks that it depends on."""
    return "".join(_text_line(state, task_id) + "\n" for task_id in state.ordered)


def mermaid(state: ProjectState) -> str:
    """The DAG as a Mermaid flowchart, coloured by status."""
    lines = ["flowchart LR"]
    for task_id in state.ordered:
        entry = state.tasks[task_id]
        label = f"{entry.spec_task_id} {one_line(entry.task)}"
        lines.append(f'  {_node(entry)}["{_mermaid_text(label)}"]:::{entry.status.lower()}')
    for before, after in _edges(state):
        lines.append(f"  {_node(state.tasks[before])} --> {_node(state.tasks[after])}")
    for entry in state.tasks.values():
        lines += [f"  {_node(entry)} -.-> {_node(state.tasks[part])}" for part in entry.superseded_by]
    for status, fill in _FILLS.items():
        lines.append(f"  classDef {status.lower()} fill:{fill},stroke:#555,color:#111")
    return "\n".join(lines) + "\n"


def upstream(state: ProjectState, task_id: str) -> Iterator[str]:
    """Every task that a task depends on, directly or not, and the parts of those that were split; nearest first."""
    return reachable([task_id], lambda name: _upstream_of(state.tasks[name]))


def upstream_sizes(state: ProjectState) -> Mapping[str, int]:
    """How many tasks `upstream` has for each task, in one walk for all."""
    targets = {task_id: _upstream_of(entry) for task_id, entry in state.tasks.items()}
    bit = {task_id: 1 << number for number, task_id in enumerate(state.tasks)}
    reached = dict[str, int]()  # a set of tasks as the bits of a number, because a union of those is cheap
    for task_id in TopologicalSorter(targets).static_order():
        tasks = 0
        for ref in targets[task_id]:
            tasks |= reached[ref] | bit[ref]
        reached[task_id] = tasks
    return {task_id: tasks.bit_count() for task_id, tasks in reached.items()}


def _edges(state: ProjectState) -> Iterator[tuple[str, str]]:
    """Each dependency with the task that depends on it."""
    for task_id in state.ordered:
        for ref in effective_dependencies(state.tasks, task_id):
            yield ref, task_id


def _upstream_of(entry: TaskEntry) -> Sequence[str]:
    return [*entry.depends_on, *entry.superseded_by]


def _text_line(state: ProjectState, task_id: str) -> str:
    entry = state.tasks[task_id]
    line = f"{MARKS[entry.status]} {entry.spec_task_id} {one_line(entry.task)}  {entry.status}"
    for word, refs in (
        ("after", effective_dependencies(state.tasks, task_id)),
        ("split into", entry.superseded_by),
    ):
        if refs:
            line += f"  ({word} {', '.join(state.tasks[ref].spec_task_id for ref in refs)})"
    return line


def _node(entry: TaskEntry) -> str:
    return f"t{entry.declaration_order}"


def _mermaid_text(text: str) -> str:
    # entities are Mermaid's own escape; a lone `#` or a quote would end the label
    return "".join(c if c.isalnum() or c in " -_.,:()/" else f"#{ord(c)};" for c in text)
