"""Writes what README.md and docs/tutorial.md show of runs: the run of examples/nameplate and its results.

Run by `.venv/bin/python docs/make_recording.py` after a change of a page, a message or this example. What stands
between `<!-- NAME -->` and `<!-- end of NAME -->` is replaced.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "tutorial.md")
EXAMPLE = ROOT / "examples" / "nameplate"
_REMINDER = " at work for "
"""In the lines about a role that takes long, which depend on how busy this machine is."""


def recording() -> dict[str, str]:
    """The blocks about the run, by name; it takes some seconds."""
    with TemporaryDirectory() as temporary:
        place = Path(temporary)
        _said(place, "init", "nameplate", "--example", "nameplate")
        run = _said(place, "run", "nameplate", "--approve")
        evidence = _said(place, "module", "initials", "nameplate")
        verified = _said(place, "verify", "nameplate")
        (function,) = place.glob("nameplate/state_store/modules/*/*/implementation/__init__.py")
        return {
            "spec": _block("markdown", (EXAMPLE / "SPEC.md").read_text(encoding="utf-8")),
            "run": _block("text", run),
            "function": _block("python", function.read_text(encoding="utf-8")),
            "evidence": _block("text", f"$ specwright module initials nameplate\n{evidence}")
            + _block("text", f"$ specwright verify nameplate\n{verified}"),
        }


def pages(blocks: Mapping[str, str]) -> dict[Path, str]:
    """The pages with their blocks replaced.

    Raises:
        ValueError: a block has no place, or more than one.
    """
    written = {path: path.read_text(encoding="utf-8") for path in PAGES}
    for name, block in blocks.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        places = 0
        for path, text in written.items():
            written[path], found = marked.subn(lambda match, block=block: match[1] + block + match[2], text)
            places += found
        if places != 1:
            raise ValueError(f"there are {places} places for `{name}`")
    return written


def _said(place: Path, *arguments: str) -> str:
    """What a command prints, progress first, as it is printed into a file; the directory is named as a person's."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPECWRIGHT_", "COLUMNS"))
    }
    ended = subprocess.run(
        [sys.executable, "-m", "specwright", *arguments],
        cwd=place,
        env={**kept, "PYTHONUTF8": "1", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    lines = [line for line in ended.stdout.splitlines(keepends=True) if _REMINDER not in line]
    return "".join(lines).replace(f"{place.resolve()}/", "")


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    for path, text in pages(recording()).items():
        path.write_text(text, encoding="utf-8")
