"""What is printed where: results on stdout, progress and errors on stderr, one JSON document with `--json`.

Texts of models, files and providers reach the terminal here, so control characters stay out of it.
"""

import errno
import json
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from specwright.errors import InputError, SpecwrightError

__all__ = [
    "complain",
    "listed",
    "next_command",
    "note",
    "printable",
    "refused_by_system",
    "say",
    "show",
    "typed",
]

_STEER = (*range(32), *range(127, 160))
_REORDER = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Marks that make a text look like another one: direction overrides, line separators."""
_CONTROLS = {code: None for code in (*_STEER, *_REORDER) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """A text without the characters that steer a terminal or reorder what it shows."""
    return text.translate(_CONTROLS)


def show(document: Any) -> None:
    """Print the one JSON document of a command."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    _print(json.dumps(document, indent=2, ensure_ascii=not unicode))


def say(text: str = "") -> None:
    """Print a line of the result."""
    _print(printable(text))


def note(text: str) -> None:
    """Print a remark beside the result; where it cannot be printed, the result counts all the same."""
    with suppress(OSError):
        typer.echo(printable(text), err=True)


def complain(error: SpecwrightError, *, as_json: bool) -> None:
    """Tell an error: what, where, what to do. It never fails: standard output may be what is broken."""
    if as_json:
        told = {"what": error.what, "where": error.where, "do": typed(error.remedy)}
        with suppress(OSError):
            show({"error": told, "exit_code": error.exit_code})
    note(f"specwright: {typed(str(error))}")


def typed(text: str) -> str:
    """A text whose commands can be pasted: `specwright ...` as this program is called here."""
    return text.replace("`specwright ", f"`{_program()} ")


def refused_by_system(error: OSError, place: Path | None = None) -> InputError:
    """What the operating system refused, told like any other error."""
    names = " -> ".join(str(name) for name in (error.filename, error.filename2) if name)
    return InputError(
        f"the operating system refuses: {error.strerror or error}",
        where=names or str(place or ""),
        remedy="mend the disk or the rights and run again; what was done is kept",
    )


def next_command(command: str, directory: Path, rest: str = "") -> str:
    """A command as it can be pasted: with this program's path if it is not on PATH, and without DIR if that is here."""
    words = [_program(), *command.split()]
    if directory != Path():
        words.append(shlex.quote(str(directory)))
    return " ".join([*words, rest]).rstrip()


def listed(names: list[str], most: int = 12) -> str:
    """Names in a row; of many, the first ones."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f", and {more} more" if more > 0 else "")


def _print(text: str) -> None:
    """Print on standard output.

    Raises:
        OSError: it is broken; named, unless whoever reads it went away (`| head`).
    """
    try:
        typer.echo(text)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        raise OSError(error.errno, error.strerror, "standard output") from error


def _program() -> str:
    typed = Path(sys.argv[0])
    found = shutil.which("specwright")
    if typed.name != "specwright" or (found and typed.exists() and Path(found).samefile(typed)):
        return "specwright"
    return shlex.quote(str(typed))
