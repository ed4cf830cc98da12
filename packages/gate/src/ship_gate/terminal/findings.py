"""Findings for a person: each once, what they list in columns, and never what was listed before (design: command-line)."""

import re
from collections.abc import Iterable, Sequence

from ship_gate.findings import Finding
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import Page

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
