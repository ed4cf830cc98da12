"""Printing: results on stdout, remarks on stderr, one JSON document with `--json`.

Texts of models, files and providers reach the terminal here, so control characters are removed.

A terminal has a width; a pipe has none, unless COLUMNS sets one, so that a line there is a line of the text. Colours are
for terminals: NO_COLOR takes them away, FORCE_COLOR gives them to a pipe.
"""

import errno
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import typer

from ship_gate.errors import InputError

UNLIMITED = 100_000
"""Columns where lines are not wrapped."""
_NARROWEST = 20


class Stream(Protocol):
    """What is printed to."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        ...


def width_of(stream: Stream) -> int:
    """The columns of a stream, `UNLIMITED` where lines are not wrapped."""
    if not stream.isatty() and not os.environ.get("COLUMNS", "").isdecimal():
        return UNLIMITED
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def shows_colours(stream: Stream) -> bool:
    """Whether colours are wanted on a stream."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


DOCUMENT_VERSION = 1
"""Of the documents of `--json`; another one says that a key was renamed or taken away."""

_STEER = (*range(32), *range(127, 160))

_REORDER = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Marks that make a text look like another one: direction overrides, line separators."""

_CONTROLS = {code: None for code in (*_STEER, *_REORDER) if chr(code) not in "\n\t"}
_SECRET_IN_ADDRESS = re.compile(
    r"""(:/{1,2})[^/\s@'":]*:[^/\s@'"]*(?=@)|([?&][\w-]*(?:key|token|secret|password)=)[^&\s'"]+""",
    re.IGNORECASE,
)
_ESCAPED = {code: f"\\u{code:04x}" for code in _CONTROLS}
"""The same characters as JSON writes them."""


def printable(text: str) -> str:
    """A text without the characters that control a terminal or reorder what it shows."""
    return text.translate(_CONTROLS)


def without_logins(text: str) -> str:
    """A text without the logins with a password, and the keys, in its addresses."""
    return _SECRET_IN_ADDRESS.sub(r"\1\2***", text)


def show(document: Mapping[str, Any], schema: str) -> None:
    """Print the one JSON document of a command.

    Args:
        document: Its content.
        schema: The name of its JSON Schema (`specwright.documents`).
    """
    show_json({"schema": schema, "version": DOCUMENT_VERSION, **document})


def show_json(value: Any) -> None:
    """Print JSON that is no document of its own, as a payload to fill in."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    write(json.dumps(value, indent=2, ensure_ascii=not unicode).translate(_ESCAPED))


def say(text: str = "") -> None:
    """Print a line of the result."""
    write(printable(text))


def note(text: str) -> None:
    """Print a remark on stderr; the command goes on if that fails."""
    with suppress(OSError):
        typer.echo(printable(without_logins(text)), err=True)


def refused_by_system(error: OSError, place: Path | None = None) -> InputError:
    """An error of the operating system, as this program reports errors."""
    names = " -> ".join(str(name) for name in (error.filename, error.filename2) if name)
    return InputError(
        f"the operating system refuses: {error.strerror or error}",
        where=names or str(place or ""),
        remedy="mend the disk or the rights and run again; what was done is kept",
    )


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: list[str], most: int = 12) -> str:
    """Names in a row; of many, the first ones."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f", and {more} more" if more > 0 else "")


def check_report(path: Path, begins: str) -> None:
    """Check, before anything takes time, that a report can be written: to a new file, or in the place of one of its kind.

    Args:
        path: The file; `-` is standard output.
        begins: The characters with which all reports of its kind begin.

    Raises:
        InputError: something else is there, or the directory is not.
    """
    if str(path) == "-":
        return
    if not path.parent.is_dir():
        raise InputError("there is no such directory", where=str(path.parent), remedy="make it first")
    with suppress(FileNotFoundError):
        if path.is_dir() or not path.read_text(encoding="utf-8", errors="replace").startswith(begins):
            raise InputError(
                "something else is there, and is not overwritten",
                where=str(path),
                remedy="name another file, or remove it; - is standard output",
            )


def write_report(path: Path, text: str) -> None:
    """Write a report that `check_report` let pass; `-` is standard output.

    Raises:
        InputError: it cannot be written.
    """
    if str(path) == "-":
        write(printable(text.removesuffix("\n")))
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the file cannot be written: {error.strerror}", where=str(path)) from error


def write(text: str) -> None:
    """Print on standard output; an error says that it is standard output that failed."""
    try:
        typer.echo(text, color=shows_colours(sys.stdout))
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        _discard_output()
        raise OSError(error.errno, error.strerror, "standard output") from error


def _discard_output() -> None:
    """Send what is buffered for a broken standard output to the null device, or Python fails at its end once more."""
    with suppress(OSError, ValueError), Path(os.devnull).open("w") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())
