"""Rows of a page: a label, and beside it a text that is wrapped in its own column, at most 100 columns in all."""

import shutil
import textwrap
from collections.abc import Iterable

from specwright.domain.one_line import one_line

__all__ = ["brief", "bullets", "row", "uncut", "width"]

_WIDEST, _NARROWEST = 100, 50
_COLUMN = 16
"""Where the texts begin."""
_LONGEST_NAME = 60


def width() -> int:
    """Columns of a page: those of the terminal, within reason; 100 where there is none."""
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))


def brief(name: str) -> str:
    """A name as one line of a list: a model may have given it a thousand characters, and line ends."""
    shown = one_line(name)
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 3] + "..."


def row(label: str, text: str, depth: int = 2) -> list[str]:
    """A label and its text; lines that the text has are kept, long ones are wrapped, a word that fits nowhere is cut.

    Args:
        depth: Columns before the label.
    """
    head = f"{' ' * depth}{label}".ljust(_COLUMN)
    lines: list[str] = []
    for line in text.splitlines() or [""]:
        lines += textwrap.wrap(line, width() - _COLUMN, break_on_hyphens=False) or [""]
    first, *rest = lines
    return [f"{head}{first}".rstrip(), *(f"{' ' * _COLUMN}{line}".rstrip() for line in rest)]


def uncut(label: str, text: str, depth: int = 2) -> list[str]:
    """A label and a command or path that is copied whole, however long it is."""
    return [f"{' ' * depth}{label}".ljust(_COLUMN) + text]


def bullets(label: str, texts: Iterable[str], depth: int = 2) -> list[str]:
    """A label and its texts, one below the other; nothing if there are none."""
    lines: list[str] = []
    for text in texts:
        lines += row("" if lines else label, text, depth)
    return lines
