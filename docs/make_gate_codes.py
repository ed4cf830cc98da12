"""Writes the tables of docs/gate.md, of finding codes, of the boundary's limits and of a reader's, from the code that
enforces them.

Run by `make pages` after a change of either. What stands between `<!-- codes -->` and `<!-- end of codes -->` is replaced,
and likewise for `limits` and `reading limits`.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ship_gate.base.boundary_values import BoundaryLimit
from ship_gate.contract.rules import ReadingLimit
from ship_gate.findings import FindingCode, Severity

PAGE = Path(__file__).parent / "gate.md"


def page(written: str) -> str:
    """The page as it should be, from the page as it is."""
    limits = [(limit.about, limit.text) for limit in BoundaryLimit]
    reading = [(limit.about, f"{limit.most:,}") for limit in ReadingLimit]
    tables = {
        "codes": "\n\n".join(_codes(severity) for severity in Severity),
        "limits": _table(("what", "at most"), limits),
        "reading limits": _table(("what", "at most"), reading),
    }
    for name, table in tables.items():
        written = _replaced(written, name, f"\n{table}\n\n")
    return written


def _codes(severity: Severity) -> str:
    rows = [(f"`{code}`", code.remedy) for code in FindingCode if code.severity is severity]
    return _table((severity, "what to do"), rows)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head, *lines = ("| " + " | ".join(row) + " |" for row in (titles, *rows))
    return "\n".join([head, "|---" * len(titles) + "|", *lines])


def _replaced(written: str, name: str, table: str) -> str:
    block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    written, places = block.subn(lambda match: match[1] + table + match[2], written)
    if places != 1:
        raise ValueError(f"docs/gate.md has {places} places for the {name}")
    return written


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
