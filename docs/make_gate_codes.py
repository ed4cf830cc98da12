"""Writes the table of finding codes in docs/gate.md from `specwright.gate.findings`.

Run by `make pages` after a change of a code. What stands between `<!-- codes -->` and `<!-- end of codes -->` is replaced.
"""

import re
from pathlib import Path

from specwright.gate.findings import finding_table

PAGE = Path(__file__).parent / "gate.md"


def page(written: str) -> str:
    """The page as it should be, from the page as it is."""
    block = re.compile(r"(<!-- codes -->\n).*?(<!-- end of codes -->)", re.DOTALL)
    table = f"\n{finding_table()}\n\n"
    written, places = block.subn(lambda match: match[1] + table + match[2], written)
    if places != 1:
        raise ValueError(f"docs/gate.md has {places} places for the codes")
    return written


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
