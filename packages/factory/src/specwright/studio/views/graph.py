"""The task graph as a drawing: places of nodes and edges, from left to right in the order of the work (design: studio).

A large project is drawn by its pillars. The drawing is made here and not in the browser, so that it needs no library, and a
page of it can be saved.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ship_gate.base.text import one_line
from specwright.domain.tasks.project_state import ProjectState, TaskStatus, effective_dependencies
from specwright.domain.tasks.why_not import Reasons, by_spec_id

MOST_NODES = 120
"""Tasks that are drawn one by one."""

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 196, 46, 52, 14, 8
_NAME = 24
_SWEEPS = 3


class Node(NamedTuple):
    """A box: where it is, what stands in it, where it leads."""

    x: int
    y: int
    label: str
    name: str
    status: str
    page: str
    title: str


class Drawing(NamedTuple):
    """Boxes and the lines between them, with the size of the whole."""

    width: int
    height: int
    nodes: list[Node]
    edges: list[str]
    box: tuple[int, int]
    collapsed: bool


class _Box(NamedTuple):
    label: str
    name: str
    status: str
    page: str
    title: str


def drawing(state: ProjectState, *, driven: bool) -> Drawing:
    """The graph of a project's tasks, each with why it is not running; of many, of its pillars.

    Args:
        state: Of the project.
        driven: Whether a process works on it.
    """
    collapsed = len(state.tasks) > MOST_NODES
    boxes, before = _pillars(state) if collapsed else _tasks(state, Reasons(state, driven=driven))
    columns = _columns(before)
    places: dict[str, tuple[int, int]] = {}
    for number, column in enumerate(columns):
        for row, name in enumerate(column):
            places[name] = (_EDGE + number * (_WIDTH + _GAP_X), _EDGE + row * (_HEIGHT + _GAP_Y))
    nodes = [Node(*places[name], *boxes[name]) for column in columns for name in column]
    edges = [_edge(places[one], places[name]) for name, refs in before.items() for one in refs]
    width = len(columns) * (_WIDTH + _GAP_X) - _GAP_X + 2 * _EDGE
    height = max((len(c) for c in columns), default=0) * (_HEIGHT + _GAP_Y) - _GAP_Y + 2 * _EDGE
    return Drawing(max(width, 1), max(height, 1), nodes, edges, (_WIDTH, _HEIGHT), collapsed)


def _tasks(state: ProjectState, reasons: Reasons) -> tuple[dict[str, _Box], dict[str, list[str]]]:
    """A box for each task, and what each depends on."""
    boxes, before = dict[str, _Box](), dict[str, list[str]]()
    for task_id in state.ordered:
        entry = state.tasks[task_id]
        name = one_line(entry.task)
        short = f"{name[:_NAME]}…" if len(name) > _NAME + 1 else name
        why = by_spec_id(state, reasons.of(task_id))
        title = f"{entry.spec_task_id} {name}: {entry.status}, {why}"
        boxes[task_id] = _Box(entry.spec_task_id, short, entry.status, f"task/{entry.spec_task_id}", title)
        before[task_id] = list(effective_dependencies(state.tasks, task_id))
    return boxes, before


def _pillars(state: ProjectState) -> tuple[dict[str, _Box], dict[str, list[str]]]:
    """A box for each pillar, and the pillars that it depends on; of a circle between two the later line is left out."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    order = dict[str, int]()
    before: dict[str, list[str]] = {}
    for task_id in state.ordered:
        entry = state.tasks[task_id]
        counts[entry.pillar][entry.status] += 1
        order.setdefault(entry.pillar, len(order))
        refs = before.setdefault(entry.pillar, [])
        for ref in effective_dependencies(state.tasks, task_id):
            other = state.tasks[ref].pillar
            if order.get(other, len(order)) < order[entry.pillar] and other not in refs:
                refs.append(other)
    shown = list(order)[:MOST_NODES]
    boxes = {name: _pillar(name, counts[name]) for name in shown}
    return boxes, {name: [ref for ref in before[name] if ref in boxes] for name in shown}


def _pillar(name: str, counts: Counter[str]) -> _Box:
    done, total = counts[TaskStatus.SHIPPED], counts.total()
    urgent = (TaskStatus.HALTED, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED, TaskStatus.PENDING)
    status = next((one for one in urgent if counts[one]), TaskStatus.SHIPPED)
    short = f"{name[:_NAME]}…" if len(name) > _NAME + 1 else name
    told = ", ".join(f"{number:,} {one}" for one, number in counts.most_common())
    return _Box(f"{done:,} of {total:,} shipped", short, status, "tasks", f"{name}: {told}")


def _columns(before: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The boxes by how many stand before them in a row; within a column near to what they depend on."""
    depth: dict[str, int] = {}
    for start in before:
        stack = [start]
        while stack:
            name = stack[-1]
            waiting = [one for one in before[name] if one not in depth]
            if waiting:
                stack += waiting
                continue
            depth[name] = 1 + max((depth[one] for one in before[name]), default=-1)
            stack.pop()
    columns: list[list[str]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for name in before:
        columns[depth[name]].append(name)
    for _ in range(_SWEEPS):
        row = {name: number for column in columns for number, name in enumerate(column)}
        for column in columns:
            column.sort(key=lambda name: _middle([row[one] for one in before[name]], row[name]))
            row |= {name: number for number, name in enumerate(column)}
    return columns


def _middle(rows: Sequence[int], own: int) -> float:
    return sum(rows) / len(rows) if rows else own


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    """The path of a line from one box to another."""
    x1, y1 = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    x2, y2 = end[0], end[1] + _HEIGHT // 2
    bend = max(20, (x2 - x1) // 2)
    return f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
