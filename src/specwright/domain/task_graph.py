"""What a person looks at: counts, the next task, and the DAG as text, Mermaid or SVG (DESIGN §9; F§3.3, F§4.2).

Pure functions of a state, linear in tasks and dependencies. Why a task does not run is told by `dispatch.Reasons`.
A dependency on a task that was split is drawn as one on its parts (D7).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from specwright.domain.dispatch import (
    Outcome,
    Reasons,
    in_progress,
    next_task,
    outcome,
    stuck_behind_abandoned,
)
from specwright.domain.project_state import ProjectState, TaskEntry, TaskStatus, effective_dependencies

__all__ = ["MARKS", "Overview", "mermaid", "overview", "stall_lines", "svg", "text_graph", "why_each"]

MARKS: Mapping[TaskStatus, str] = {
    TaskStatus.SHIPPED: "✓",
    TaskStatus.IN_PROGRESS: "▶",
    TaskStatus.PENDING: "○",
    TaskStatus.BLOCKED: "◌",
    TaskStatus.HALTED: "✗",
    TaskStatus.ABANDONED: "–",
}
"""One sign for each status."""

_FILL: Mapping[TaskStatus, str] = {
    TaskStatus.SHIPPED: "#c8e6c9",
    TaskStatus.IN_PROGRESS: "#bbdefb",
    TaskStatus.PENDING: "#ffffff",
    TaskStatus.BLOCKED: "#ffe0b2",
    TaskStatus.HALTED: "#ffcdd2",
    TaskStatus.ABANDONED: "#e0e0e0",
}
_DEEPEST = 12
"""Levels that the text indents before it begins a block of its own."""

_BOX_WIDTH, _BOX_HEIGHT, _COLUMN, _ROW, _MARGIN = 220, 36, 280, 52, 20
_SHOWN_NAME = 24


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
        label = f"{entry.spec_task_id} {_one_line(entry.task)}"
        lines.append(f'  {_node(entry)}["{_mermaid_text(label)}"]:::{entry.status.lower()}')
    for before, after in _edges(state):
        lines.append(f"  {_node(state.tasks[before])} --> {_node(state.tasks[after])}")
    for entry in state.tasks.values():
        lines += [f"  {_node(entry)} -.-> {_node(state.tasks[part])}" for part in entry.superseded_by]
    for status, fill in _FILL.items():
        lines.append(f"  classDef {status.lower()} fill:{fill},stroke:#555,color:#111")
    return "\n".join(lines) + "\n"


def svg(state: ProjectState) -> str:
    """The DAG as an SVG image: from left to right, each task right of all that it waits for."""
    places = _places(state)
    width = _MARGIN * 2 + _COLUMN * max((x for x, _ in places.values()), default=0) + _BOX_WIDTH
    height = _MARGIN * 2 + _ROW * max((y for _, y in places.values()), default=0) + _BOX_HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fafafa"/>',
        '<g fill="none" stroke="#888">',
    ]
    parts += [_svg_edge(places[before], places[after]) for before, after in _edges(state)]
    parts.append("</g>")
    parts += [_svg_box(task_id, state.tasks[task_id], place) for task_id, place in places.items()]
    return "\n".join((*parts, "</svg>")) + "\n"


def _ordered(state: ProjectState) -> list[str]:
    return sorted(state.tasks, key=lambda task_id: state.tasks[task_id].declaration_order)


def _edges(state: ProjectState) -> Iterator[tuple[str, str]]:
    for task_id in _ordered(state):
        for ref in effective_dependencies(state.tasks, task_id):
            yield ref, task_id


def _levels(state: ProjectState) -> dict[str, int]:
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


def _parents(state: ProjectState) -> dict[str, str]:
    """For each task that waits for others, the one of them that stands deepest; of several the last declared."""
    tasks, levels = state.tasks, _levels(state)
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
    told = f"{MARKS[entry.status]} {entry.spec_task_id} {_one_line(entry.task)}  {entry.status}"
    if others:
        told += f"  (also after {', '.join(state.tasks[ref].spec_task_id for ref in others)})"
    if entry.superseded_by:
        told += f"  (split into {', '.join(state.tasks[ref].spec_task_id for ref in entry.superseded_by)})"
    return told


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _node(entry: TaskEntry) -> str:
    return f"t{entry.declaration_order}"


def _mermaid_text(text: str) -> str:
    # entities are Mermaid's own escape; a lone `#` or a quote would end the label
    return "".join(c if c.isalnum() or c in " -_.,:()/" else f"#{ord(c)};" for c in text)


def _places(state: ProjectState) -> dict[str, tuple[int, int]]:
    """Column and row of each task; a row near the middle of those that the task waits for."""
    levels = _levels(state)
    columns: defaultdict[int, list[str]] = defaultdict(list)
    for task_id in _ordered(state):
        columns[levels[task_id]].append(task_id)
    places: dict[str, tuple[int, int]] = {}
    for level in sorted(columns):

        def middle(task_id: str) -> float:
            refs = effective_dependencies(state.tasks, task_id)
            return sum(places[ref][1] for ref in refs) / len(refs) if refs else 0.0

        for row, task_id in enumerate(sorted(columns[level], key=middle)):
            places[task_id] = (level, row)
    return places


def _svg_edge(before: tuple[int, int], after: tuple[int, int]) -> str:
    x1 = _MARGIN + before[0] * _COLUMN + _BOX_WIDTH
    x2 = _MARGIN + after[0] * _COLUMN
    y1, y2 = (_MARGIN + row * _ROW + _BOX_HEIGHT // 2 for row in (before[1], after[1]))
    bend = (x2 - x1) // 2 if after[0] - before[0] == 1 else 40
    return f'<path d="M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"/>'


def _svg_box(task_id: str, entry: TaskEntry, place: tuple[int, int]) -> str:
    x, y = _MARGIN + place[0] * _COLUMN, _MARGIN + place[1] * _ROW
    name = _one_line(entry.task)
    shown = name if len(name) <= _SHOWN_NAME else name[: _SHOWN_NAME - 1] + "…"
    label = escape(f"{MARKS[entry.status]} {entry.spec_task_id} {shown}")
    return (
        f"<g><title>{escape(f'{task_id}: {name}, {entry.status}')}</title>"
        f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" '
        f'fill="{_FILL[entry.status]}" stroke="#555"/>'
        f'<text x="{x + 10}" y="{y + 22}">{label}</text></g>'
    )
