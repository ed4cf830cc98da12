"""Writes the tables of docs/gate.md, of finding codes, of the boundary's limits and of a reader's, from the code that
enforces them.

Run by `make pages` after a change of either. What stands between `<!-- codes -->` and `<!-- end of codes -->` is replaced,
and likewise for `limits` and `reading limits`.
"""

import re
from pathlib import Path

from ship_gate.base.reading_limits import reading_table
from ship_gate.contract.boundary.limits import limit_table
from ship_gate.findings import finding_table

PAGE = Path(__file__).parent / "gate.md"


def page(written: str) -> str:
    """The page as it should be, from the page as it is."""
    tables = {"codes": finding_table(), "limits": limit_table(), "reading limits": reading_table()}
    for name, table in tables.items():
        written = _replaced(written, name, f"\n{table}\n\n")
    return written


def _replaced(written: str, name: str, table: str) -> str:
    block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    written, places = block.subn(lambda match: match[1] + table + match[2], written)
    if places != 1:
        raise ValueError(f"docs/gate.md has {places} places for the {name}")
    return written


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
