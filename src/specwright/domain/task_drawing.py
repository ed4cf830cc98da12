"""The task graph as an SVG image: left to right, one colour for each status (DESIGN §9).

A line that passes a column of boxes runs in the gap between two rows, so that it hides behind none.
"""

from collections import defaultdict
from html import escape

from specwright.domain.one_line import one_line
from specwright.domain.project_state import ProjectState, TaskEntry, effective_dependencies
from specwright.domain.task_graph import FILLS, MARKS, edges, levels_of

__all__ = ["svg"]

_BOX_WIDTH, _BOX_HEIGHT, _COLUMN, _ROW, _MARGIN = 220, 36, 280, 56, 20
_SHOWN_NAME = 24
_GAP = (_ROW - _BOX_HEIGHT) // 2
_BEND = _COLUMN - _BOX_WIDTH


def svg(state: ProjectState) -> str:
    """The DAG as an SVG image: each task right of all that it waits for."""
    places = _places(state)
    width = _MARGIN * 2 + _COLUMN * max((x for x, _ in places.values()), default=0) + _BOX_WIDTH
    height = _MARGIN * 2 + _ROW * (1 + max((y for _, y in places.values()), default=0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#fafafa"/>',
        '<g fill="none" stroke="#888">',
    ]
    parts += [_edge(places[before], places[after]) for before, after in edges(state)]
    parts.append("</g>")
    parts += [_box(task_id, state.tasks[task_id], place) for task_id, place in places.items()]
    return "\n".join((*parts, "</svg>")) + "\n"


def _places(state: ProjectState) -> dict[str, tuple[int, int]]:
    """Column and row of each task; a row near the middle of those that the task waits for."""
    levels = levels_of(state)
    columns: defaultdict[int, list[str]] = defaultdict(list)
    for task_id in sorted(state.tasks, key=lambda task_id: state.tasks[task_id].declaration_order):
        columns[levels[task_id]].append(task_id)
    places: dict[str, tuple[int, int]] = {}
    for level in sorted(columns):

        def middle(task_id: str) -> float:
            refs = effective_dependencies(state.tasks, task_id)
            return sum(places[ref][1] for ref in refs) / len(refs) if refs else 0.0

        for row, task_id in enumerate(sorted(columns[level], key=middle)):
            places[task_id] = (level, row)
    return places


def _edge(before: tuple[int, int], after: tuple[int, int]) -> str:
    x1 = _MARGIN + before[0] * _COLUMN + _BOX_WIDTH
    x2 = _MARGIN + after[0] * _COLUMN
    y1, y2 = (_MARGIN + row * _ROW + _BOX_HEIGHT // 2 for row in (before[1], after[1]))
    if after[0] - before[0] == 1:
        return f'<path d="M{x1} {y1} {_curve(x1, y1, x2, y2)}"/>'
    under = after[1] if before[1] > after[1] else before[1]
    gap = _MARGIN + under * _ROW + _BOX_HEIGHT + _GAP
    return (
        f'<path d="M{x1} {y1} {_curve(x1, y1, x1 + _BEND, gap)} H{x2 - _BEND} '
        f'{_curve(x2 - _BEND, gap, x2, y2)}"/>'
    )


def _curve(x1: int, y1: int, x2: int, y2: int) -> str:
    bend = (x2 - x1) // 2
    return f"C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"


def _box(task_id: str, entry: TaskEntry, place: tuple[int, int]) -> str:
    x, y = _MARGIN + place[0] * _COLUMN, _MARGIN + place[1] * _ROW
    name = one_line(entry.task)
    shown = name if len(name) <= _SHOWN_NAME else name[: _SHOWN_NAME - 1] + "…"
    label = escape(f"{MARKS[entry.status]} {entry.spec_task_id} {shown}")
    return (
        f"<g><title>{escape(f'{task_id}: {name}, {entry.status}')}</title>"
        f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" '
        f'fill="{FILLS[entry.status]}" stroke="#555"/>'
        f'<text x="{x + 10}" y="{y + 22}">{label}</text></g>'
    )
