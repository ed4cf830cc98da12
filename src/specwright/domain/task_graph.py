"""What a person looks at: counts, the next task, and the DAG as text or Mermaid (DESIGN §9; F§3.3, F§4.2).

Pure functions of a state, linear in tasks and dependencies. Why a task does not run is told by `dispatch.Reasons`.
A dependency on a task that was split is drawn as one on its parts (D7).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from specwright.domain.dispatch import (
    Outcome,
    Reasons,
    in_progress,
    next_task,
    outcome,
    stuck_behind_abandoned,
)
from specwright.domain.one_line import one_line
from specwright.domain.project_state import ProjectState, TaskEntry, TaskStatus, effective_dependencies

__all__ = [
    "FILLS",
    "MARKS",
    "Overview",
    "edges",
    "levels_of",
    "mermaid",
    "overview",
    "stall_lines",
    "text_graph",
    "upstream",
    "upstream_sizes",
    "why_each",
]

MARKS: Mapping[TaskStatus, str] = {
    TaskStatus.SHIPPED: "✓",
    TaskStatus.IN_PROGRESS: "▶",
    TaskStatus.PENDING: "○",
    TaskStatus.BLOCKED: "◌",
    TaskStatus.HALTED: "✗",
    TaskStatus.ABANDONED: "–",
}
"""One sign for each status."""

FILLS: Mapping[TaskStatus, str] = {
    TaskStatus.SHIPPED: "#c8e6c9",
    TaskStatus.IN_PROGRESS: "#bbdefb",
    TaskStatus.PENDING: "#ffffff",
    TaskStatus.BLOCKED: "#ffe0b2",
    TaskStatus.HALTED: "#ffcdd2",
    TaskStatus.ABANDONED: "#e0e0e0",
}
"""One colour for each status."""

_DEEPEST = 12
"""Levels that the text indents before it begins a block of its own."""


class Overview(NamedTuple):
    """A state in a few numbers.

    Args:
        counts: Every status with how many tasks have it, in the order of the statuses, zeros included.
        total: All tasks.
        outcome: Where the loop stands.
        running: The task that is being worked on.
        next: The task that would be dispatched next; while a task halts, after that is resolved.
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
    found = Counter(entry.status for entry in state.tasks.values())
    counts = {status: found[status] for status in TaskStatus}
    return Overview(counts, len(state.tasks), outcome(state), in_progress(state), next_task(state))


def why_each(state: ProjectState) -> dict[str, str]:
    """For each task, in declaration order, why it is not running; as `why_not`, in one walk for all."""
    reasons = Reasons(state)
    return {task_id: reasons.of(task_id) for task_id in _ordered(state)}


def stall_lines(state: ProjectState) -> list[str]:
    """For a project that is STALLED, which tasks wait for what, a line each (D8)."""
    reasons = Reasons(state)
    return [f"{task_id} {reasons.of(task_id)}" for task_id in stuck_behind_abandoned(state)]


def text_graph(state: ProjectState) -> str:
    """The DAG as a tree, a line for each task, below the last of those that it waits for.

    The others are named behind it. Where the tree gets too deep for a line, it goes on in a block further down.
    """
    parents = _parents(state)
    children: defaultdict[str, list[str]] = defaultdict(list)
    roots: list[str] = []
    for task_id in _ordered(state):
        (children[parents[task_id]] if task_id in parents else roots).append(task_id)
    lines: list[str] = []
    blocks = [("", roots)]
    for title, tops in blocks:  # grows while it is read
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
    for task_id in _ordered(state):
        entry = state.tasks[task_id]
        label = f"{entry.spec_task_id} {one_line(entry.task)}"
        lines.append(f'  {_node(entry)}["{_mermaid_text(label)}"]:::{entry.status.lower()}')
    for before, after in edges(state):
        lines.append(f"  {_node(state.tasks[before])} --> {_node(state.tasks[after])}")
    for entry in state.tasks.values():
        lines += [f"  {_node(entry)} -.-> {_node(state.tasks[part])}" for part in entry.superseded_by]
    for status, fill in FILLS.items():
        lines.append(f"  classDef {status.lower()} fill:{fill},stroke:#555,color:#111")
    return "\n".join(lines) + "\n"


def _ordered(state: ProjectState) -> list[str]:
    return sorted(state.tasks, key=lambda task_id: state.tasks[task_id].declaration_order)


def edges(state: ProjectState) -> Iterator[tuple[str, str]]:
    """Who is waited for, and who waits."""
    for task_id in _ordered(state):
        for ref in effective_dependencies(state.tasks, task_id):
            yield ref, task_id


def levels_of(state: ProjectState) -> dict[str, int]:
    """How many tasks stand before each in the longest row of those that wait for each other."""
    tasks = state.tasks
    waits_for = {task_id: list(effective_dependencies(tasks, task_id)) for task_id in tasks}
    open_count = {task_id: len(refs) for task_id, refs in waits_for.items()}
    dependents: defaultdict[str, list[str]] = defaultdict(list)
    for task_id, refs in waits_for.items():
        for ref in refs:
            dependents[ref].append(task_id)
    levels = {task_id: 0 for task_id, count in open_count.items() if count == 0}
    for task_id in (queue := list(levels)):  # grows while it is read
        for dependent in dependents[task_id]:
            levels[dependent] = max(levels.get(dependent, 0), levels[task_id] + 1)
            open_count[dependent] -= 1
            if open_count[dependent] == 0:
                queue.append(dependent)
    return levels


def upstream(state: ProjectState, task_id: str) -> Iterator[str]:
    """Every task that a task depends on, directly or not, and the parts of those that were split; nearest first."""
    seen, pending = {task_id}, [task_id]
    for waiting in pending:  # grows while it is read
        for ref in _upstream_of(state.tasks[waiting]):
            if ref not in seen:
                seen.add(ref)
                pending.append(ref)
                yield ref


def upstream_sizes(state: ProjectState) -> Mapping[str, int]:
    """How many tasks `upstream` has for each task, in one walk for all."""
    waits = {task_id: _upstream_of(entry) for task_id, entry in state.tasks.items()}
    place = {task_id: 1 << number for number, task_id in enumerate(state.tasks)}
    reached = dict[str, int]()  # a set of tasks as the bits of a number: joining two costs next to nothing
    for task_id in TopologicalSorter(waits).static_order():
        found = 0
        for ref in waits[task_id]:
            found |= reached[ref] | place[ref]
        reached[task_id] = found
    return {task_id: found.bit_count() for task_id, found in reached.items()}


def _upstream_of(entry: TaskEntry) -> Sequence[str]:
    return [*entry.depends_on, *entry.superseded_by]


def _parents(state: ProjectState) -> dict[str, str]:
    """For each task that waits for others, the one of them that stands deepest; of several the last declared."""
    tasks, levels = state.tasks, levels_of(state)
    return {
        task_id: max(refs, key=lambda ref: (levels[ref], tasks[ref].declaration_order))
        for task_id in tasks
        if (refs := effective_dependencies(tasks, task_id))
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
    told = f"{MARKS[entry.status]} {entry.spec_task_id} {one_line(entry.task)}  {entry.status}"
    if others:
        told += f"  (also after {', '.join(state.tasks[ref].spec_task_id for ref in others)})"
    if entry.superseded_by:
        told += f"  (split into {', '.join(state.tasks[ref].spec_task_id for ref in entry.superseded_by)})"
    return told


def _node(entry: TaskEntry) -> str:
    return f"t{entry.declaration_order}"


def _mermaid_text(text: str) -> str:
    # entities are Mermaid's own escape; a lone `#` or a quote would end the label
    return "".join(c if c.isalnum() or c in " -_.,:()/" else f"#{ord(c)};" for c in text)
