"""A page for a person, drawn by rich: headings, labelled rows, tables, and lines to copy.

On a terminal a page has the terminal's width and colours; in a pipe it is plain text whose lines are not wrapped. Prose
is wrapped between words, or below its label where the terminal is narrow; a table that does not fit becomes a list.
Commands, paths and ids are printed whole, however long they are.

Findings stand on it each once, what they list in columns, and never what was listed before (design: command-line).
"""

import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from ship_gate.findings import Finding
from ship_gate.terminal.output import UNLIMITED, counted, printable, show, shows_colours, width_of, write

WIDTH = 100
"""The most columns that prose takes on a terminal."""
_NARROW_TEXT = 24
"""Columns that a text beside a label needs; with fewer it stands below the label."""
_NARROW_COLUMN = 12
"""Columns that a column of words needs in a table."""
_GAP = 2
_LABELS = 16
"""Columns that the labels of a page take."""
_BAR = 20
_REFERENCE = len("MM-00000000@1.0.0")

_GOOD = ("PASS", "SHIPPED", "APPROVE", "sealed", "✓")
_BAD = ("FAIL", "HALTED", "STALLED", "BLOCKED", "REJECT", "MISS", "✗")
_OF_PATCH = {"+": "green", "-": "red", "@@": "cyan"}


class Page:
    """What is printed, from the top down."""

    def __init__(self) -> None:
        self._parts: list[RenderableType] = []

    def heading(self, text: str = "") -> None:
        """A line that begins a section, after an empty one."""
        if self._parts:
            self.line()
        self._parts.append(Text(printable(text), "bold"))

    def line(self, text: str = "", label: str = "", *, labels: int = 0) -> None:
        """A line that is never wrapped or cut, as commands and paths need it.

        Args:
            text: The line.
            label: What stands before it.
            labels: The columns that the label takes.
        """
        self._parts.append(Text.assemble((label.ljust(labels), "bold"), coloured(text)))

    def patch(self, lines: Iterable[str], depth: int = 0) -> None:
        """The lines of a patch, none of them wrapped: added ones green, removed ones red."""
        for line in lines:
            colour = next((colour for sign, colour in _OF_PATCH.items() if line.startswith(sign)), "")
            self._parts.append(Text(" " * depth + printable(line), colour))

    def copy(self, label: str, text: str, depth: int = 2) -> None:
        """A command or path to copy, after its label."""
        self.line(text, f"{' ' * depth}{label}", labels=_LABELS)

    def prose(self, text: str, depth: int = 0, hanging: int = 0) -> None:
        """A paragraph; the lines after its first are indented by `hanging` columns more."""
        self._wrapped(" " * depth, depth + hanging, text)

    def labelled(self, label: str, text: str, *, labels: int) -> None:
        """A label and beside it a text, which is wrapped with its words whole."""
        self._wrapped(label.ljust(labels), labels, text)

    def row(self, label: str, text: str, depth: int = 2) -> None:
        """A label and beside it a text, wrapped in a column of its own; the lines that it has are retained."""
        if _text_width() - _LABELS >= _NARROW_TEXT:
            self._wrapped(f"{' ' * depth}{label}".ljust(_LABELS), _LABELS, text)
            return
        if label:
            self.line("", f"{' ' * depth}{label}")
        self._wrapped(" " * (depth + 2), depth + 2, text)

    def rows(self, label: str, texts: Iterable[str], depth: int = 2) -> None:
        """A label and its texts, one below the other; nothing if there are none."""
        for number, text in enumerate(texts):
            self.row("" if number else label, text, depth)

    def bar(self, label: str, done: int, every: int, text: str, *, labels: int) -> None:
        """How much is done, as a bar and in words; without colours or columns enough the words alone."""
        if _width() < labels + 3 * _BAR or not shows_colours(sys.stdout):
            self.labelled(label, text, labels=labels)
            return
        grid = Table.grid(Column(width=labels), Column(width=_BAR + 1), Column())
        grid.add_row(
            Text(label, "bold"),
            ProgressBar(max(1, every), done, width=_BAR, complete_style="green"),
            coloured(text),
        )
        self._parts.append(grid)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, whole: Sequence[str]) -> None:
        """A table.

        Args:
            columns: Their headers; what is in the last one begins with an id, if it has any.
            rows: A text for each column.
            whole: The columns of ids and numbers, which are never wrapped.
        """
        cells = [[printable(cell) for cell in row] for row in rows]
        if _least_width(columns, cells, whole) > _width():
            self._list(columns, cells)
            return
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
        for name in columns:
            table.add_column(name, no_wrap=name in whole, overflow="fold")
        if columns[-1] not in whole:
            table.columns[-1].min_width = _REFERENCE
        for row in cells:
            table.add_row(*map(coloured, row))
        self._parts.append(table)

    def _list(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table that does not fit, row by row."""
        for number, (first, *others) in enumerate(rows):
            if number:
                self.line()
            self.line(first)
            for name, cell in zip(columns[1:], others, strict=True):
                self.row(name.lower(), cell)

    def add(self, other: "Page") -> None:
        """The parts of another page."""
        self._parts += other._parts

    def render(self) -> str:
        """The page as text, with colours if standard output shows them."""
        encoding = sys.stdout.encoding or "utf-8"  # rich draws with the characters that it has
        text = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
        console = Console(
            file=text,
            width=_width(),
            force_terminal=shows_colours(sys.stdout),
            highlight=False,
            legacy_windows=False,
        )
        for part in self._parts:
            if isinstance(part, Text):  # wrapped already, or to be copied
                console.print(part, crop=False, no_wrap=True, overflow="ignore")
            else:
                console.print(part)
        text.seek(0)
        return "\n".join(line.rstrip() for line in text.read().splitlines())

    def print(self) -> None:
        """Print it on standard output."""
        if self._parts:
            write(self.render())

    def _wrapped(self, first: str, indent: int, text: str) -> None:
        width = _text_width() - indent
        lines = [line for part in printable(text).splitlines() or [""] for line in _item(part, width)]
        for number, line in enumerate(lines):
            before = " " * indent if number else first
            self._parts.append(Text.assemble((before, "bold"), coloured(line)))


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a paragraph; a word that is longer than a line stays whole."""
    lines = [""]
    for word in re.findall(r"\s*\S+", text):
        if lines[-1] and cell_len(lines[-1] + word) > width:
            lines.append(word.lstrip())
        else:
            lines[-1] += word
    return lines


def _item(text: str, width: int) -> list[str]:
    """The lines of a paragraph; those of a list's item hang below its words."""
    if not text.startswith("- "):
        return wrapped(text, width)
    first, *others = wrapped(text[2:], width - 2)
    return [f"- {first}", *(f"  {line}" for line in others)]


def coloured(text: str) -> Text:
    """A text without control characters, its verdicts in colour."""
    shown = Text(printable(text))
    shown.highlight_words(_GOOD, "green")
    shown.highlight_words(_BAD, "red")
    return shown


def brief(text: str, most: int = 60) -> str:
    """A text as one line of a list, its spaces kept: a model may have given a name a thousand characters, and line ends."""
    line = "".join(c if c.isprintable() else " " for c in text).strip()
    return line if len(line) <= most else line[: most - 3] + "..."


def present(document: Mapping[str, Any], schema: str, page: Page, *, as_json: bool) -> None:
    """Print the result of a command, for a program or for a person."""
    if as_json:
        show(document, schema)
    else:
        page.print()


def _width() -> int:
    return width_of(sys.stdout)


def _text_width() -> int:
    """The columns that prose takes."""
    return _width() if _width() == UNLIMITED else min(WIDTH, _width())


def _least_width(names: Sequence[str], rows: Sequence[Sequence[str]], whole: Sequence[str]) -> int:
    """The columns that a table needs so that no word breaks."""
    least = 0
    for number, name in enumerate(names):
        longest = max(len(name), *(len(row[number]) for row in rows)) if rows else len(name)
        room = _REFERENCE if number == len(names) - 1 else _NARROW_COLUMN
        least += _GAP + (longest if name in whole else min(longest, max(room, len(name))))
    return least - _GAP


ALL = 1_000_000

_ENTRY = re.compile(r"  (?P<file>[^\s:]+):(?P<line>\d+): (?P<text>.+)")
"""A line of a list: where in the source, and what."""

_MORE = re.compile(r"  and (\d+) more")
_PLACES = 5
"""Places of one finding that are named."""


class FindingsPage:
    """Findings below one another on a page.

    Args:
        page: Takes them.
        depth: Columns that they are indented by.
        lines: The most lines of a message, and entries of a list.
        file: Has what is left out.
    """

    def __init__(self, page: Page, depth: int = 0, lines: int = ALL, file: str = "") -> None:
        self._page = page
        self._depth = depth
        self._lines = lines
        self._file = file
        self._listed: set[tuple[str, ...]] = set()

    def add(self, findings: Iterable[Finding]) -> None:
        """Add findings; those that differ only in their place are one."""
        places: dict[tuple[str, str], list[str]] = {}
        for finding in findings:
            places.setdefault((finding.code, finding.message.strip()), []).append(finding.where)
        for (code, message), where in places.items():
            self._add_one(code, _named(where), message)

    def _add_one(self, code: str, where: str, message: str) -> None:
        head = "  ".join(part for part in (code, where) if part)
        lines = message.splitlines() or [""]
        entries = [tuple(found.groups()) for line in lines if (found := _ENTRY.fullmatch(line))]
        more = sum(int(found[1]) for line in lines if (found := _MORE.fullmatch(line)))
        said = [line for line in lines if not (_ENTRY.fullmatch(line) or _MORE.fullmatch(line))]
        kept, left = said[: self._lines], len(said) - self._lines
        self._page.prose("\n".join([f"{head}  {kept[0]}", *kept[1:]]), self._depth, 4)
        if left > 0:
            self._page.prose(f"and {counted(left, 'more line')}{self._in_file()}", self._depth + 4)
        new = [entry for entry in entries if entry not in self._listed]
        self._listed |= {*entries}
        if repeated := len(entries) - len(new):
            self._page.prose(f"{repeated} of those above", self._depth + 4)
        self._add_entries(new, more)

    def _add_entries(self, entries: Sequence[tuple[str, ...]], more: int) -> None:
        shown = entries[: self._lines]
        width, file = max((len(line) for _, line, _ in shown), default=0), ""
        for path, line, text in shown:
            if path != file:
                self._page.prose(path, self._depth + 4)
            file = path
            begin = self._depth + 6
            self._page.labelled(f"{' ' * begin}{line.rjust(width)}", text, labels=begin + width + 2)
        left = more + len(entries) - len(shown)
        if left:
            self._page.prose(f"and {left} more{self._in_file()}", self._depth + 6)

    def _in_file(self) -> str:
        return f" in {self._file}" if self._file else ""


def _named(places: Sequence[str]) -> str:
    named = list(dict.fromkeys(place for place in places if place))
    more = len(named) - _PLACES
    return ", ".join(named[:_PLACES]) + (f" and {more} more" if more > 0 else "")
