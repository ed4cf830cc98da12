"""Writes the table of commands in docs/command-line.md, from the command line itself.

Run by `make pages` after a change of a command. What stands between `<!-- commands -->` and `<!-- end of commands -->` is
replaced.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import typer

from specwright.cli.main import app

PAGE = Path(__file__).parent / "command-line.md"
_BLOCK = re.compile(r"(<!-- commands -->\n).*?(<!-- end of commands -->)", re.DOTALL)


def page(written: str) -> str:
    """The page as it should be, from the page as it is."""
    rows = [f"| `{name}` | {summary} |" for name, summary in commands()]
    table = "\n".join(["| `specwright` | |", "|---|---|", *rows])
    written, places = _BLOCK.subn(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", written)
    if places != 1:
        raise ValueError(f"docs/command-line.md has {places} places for the commands")
    return written


def commands() -> Iterator[tuple[str, str]]:
    """Each command with the first sentence of its help, those of groups by both names."""
    for name, command in cast(Any, typer.main.get_command(app)).commands.items():
        for part, one in getattr(command, "commands", {"": command}).items():
            yield f"{name} {part}".strip(), one.get_short_help_str(200)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
