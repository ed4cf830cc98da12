"""What a person looks at: counts, the next task, and the DAG as text or Mermaid (design: command-line, project-loop).

A dependency on a task that was split is drawn as one on its parts (design: task-states).
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from specwright.domain.base.graph import levels, reachable
from specwright.domain.base.text import one_line
from specwright.domain.tasks.project_state import ProjectState, TaskEntry, TaskStatus, effective_dependencies
from specwright.domain.tasks.task_board import Outcome, TaskBoard

_MARKS: Mapping[TaskStatus, str] = {
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

_DEEPEST = 12
"""Levels that the text indents before it begins a block of its own."""


class Overview(NamedTuple):
    """A state in a few numbers.

    Args:
        counts: Every status with how many tasks have it, in the order of the statuses, zeros included.
        total: All tasks.
        outcome: Whether the loop goes on.
        running: The task that is being worked on.
        next: The task that would be dispatched next, if no task were halted.
    """

    counts: Mapping[TaskStatus, int]
    total: int
    outcome: Outcome
    running: str | None
    next: str | None

    @property
    def shipped(self) -> int:
        """How many tasks have shipped."""
        return self.counts[TaskStatus.SHIPPED]


def overview(state: ProjectState) -> Overview:
    """The numbers for `status`."""
    board = TaskBoard(state)
    counts = {status: board.count(status) for status in TaskStatus}
    return Overview(counts, len(board), board.outcome(), board.in_progress(), board.next_task())


def text_graph(state: ProjectState) -> str:
    """The DAG as a tree with a line for each task, below the deepest of its dependencies.

    Its other dependencies are named at the end of the line. Where the tree gets too deep for a line, it continues in a
    block further down.
    """
    parents = _parents(state)
    children: defaultdict[str, list[str]] = defaultdict(list)
    roots: list[str] = []
    for task_id in state.ordered:
        (children[parents[task_id]] if task_id in parents else roots).append(task_id)
    lines: list[str] = []
    blocks = deque([("", roots)])
    while blocks:
        title, tops = blocks.popleft()
        lines += ["", title] if title else []
        for task_id, prefix, indent, depth in _walk(tops, children):
            lines.append(prefix + _text_line(state, task_id, parents.get(task_id)))
            if depth == _DEEPEST and children[task_id]:
                name = state.tasks[task_id].spec_task_id
                lines.append(f"{indent}└─ … see below, after {name}")
                blocks.append((f"after {name}:", children[task_id]))
    return "\n".join(lines) + "\n"


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


def _parents(state: ProjectState) -> dict[str, str]:
    """For each task that depends on others, the deepest of them; of several the last declared."""
    tasks = state.tasks
    edges = {task_id: effective_dependencies(tasks, task_id) for task_id in tasks}
    level = levels(edges)
    return {
        task_id: max(refs, key=lambda ref: (level[ref], tasks[ref].declaration_order))
        for task_id, refs in edges.items()
        if refs
    }


def _walk(tops: Sequence[str], children: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str, int]]:
    """Tasks depth first, each with its line's prefix, that of the lines below it, and its depth."""
    pending = [(task_id, "", "", 0) for task_id in reversed(tops)]
    while pending:
        task_id, prefix, indent, depth = pending.pop()
        yield task_id, prefix, indent, depth
        below = children.get(task_id, ()) if depth < _DEEPEST else ()
        branch = ("└─ ", "   ")  # of the last child, which is put aside first
        for child in reversed(below):
            pending.append((child, indent + branch[0], indent + branch[1], depth + 1))
            branch = ("├─ ", "│  ")


def _text_line(state: ProjectState, task_id: str, parent: str | None) -> str:
    entry = state.tasks[task_id]
    others = [ref for ref in effective_dependencies(state.tasks, task_id) if ref != parent]
    line = f"{_MARKS[entry.status]} {entry.spec_task_id} {one_line(entry.task)}  {entry.status}"
    if others:
        line += f"  (also after {', '.join(state.tasks[ref].spec_task_id for ref in others)})"
    if entry.superseded_by:
        line += f"  (split into {', '.join(state.tasks[ref].spec_task_id for ref in entry.superseded_by)})"
    return line


def _node(entry: TaskEntry) -> str:
    return f"t{entry.declaration_order}"


def _mermaid_text(text: str) -> str:
    # entities are Mermaid's own escape; a lone `#` or a quote would end the label
    return "".join(c if c.isalnum() or c in " -_.,:()/" else f"#{ord(c)};" for c in text)
