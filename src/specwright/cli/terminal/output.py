"""Printing: results on stdout, progress and errors on stderr, one JSON document with `--json`.

Texts of models, files and providers reach the terminal here, so control characters are removed.
"""

import errno
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import typer

from specwright.cli.terminal.screen import shows_colours
from specwright.errors import AnswerError, InputError, InterruptedRunError, SpecwrightError

DOCUMENT_VERSION = 1
"""Of the documents of `--json`; another one says that a key was renamed or taken away."""

PROJECT: ContextVar[Path] = ContextVar("project", default=Path())
"""The directory of the project that the command line names."""

_ANSWER_SHOWN = 800
"""Characters of a model's answer; the journal has the rest."""

_OF_A_PROJECT = re.compile(
    r"`specwright (run|status|tasks|modules|escalations|verify|release|approve|reject|amend|change|costs)"
    r"((?: --[a-z-]+(?: [A-Z0-9.:]+)?)*)`"
)
"""A command that works on a project and names none."""

_STEER = (*range(32), *range(127, 160))
_REORDER = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Marks that make a text look like another one: direction overrides, line separators."""
_CONTROLS = {code: None for code in (*_STEER, *_REORDER) if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """A text without the characters that control a terminal or reorder what it shows."""
    return text.translate(_CONTROLS)


def show(document: Mapping[str, Any], schema: str) -> None:
    """Print the one JSON document of a command.

    Args:
        document: Its content.
        schema: The name of its JSON Schema (`cli.documents`).
    """
    show_json({"schema": schema, "version": DOCUMENT_VERSION, **document})


def show_json(value: Any) -> None:
    """Print JSON that is no document of its own, as a payload to fill in."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    write(json.dumps(value, indent=2, ensure_ascii=not unicode))


def say(text: str = "") -> None:
    """Print a line of the result."""
    write(printable(text))


def note(text: str) -> None:
    """Print a remark on stderr; the command goes on if that fails."""
    with suppress(OSError):
        typer.echo(printable(text), err=True)


def complain(error: SpecwrightError, *, as_json: bool) -> None:
    """Print an error: what, where, what to do. It never fails, since standard output may be what is broken."""
    answer, directory = _last_answer(error), PROJECT.get()
    if as_json:
        message = {"what": error.what, "where": error.where, "do": pasteable(error.remedy, directory)}
        if answer:
            message["answer"] = answer
        with suppress(OSError):
            show({"error": message, "exit_code": error.exit_code}, "error")
    if isinstance(error, InterruptedRunError) and sys.stderr.isatty():
        note("")  # the cursor stands behind a question or a live line
    _note_error(pasteable(str(error), directory))
    if answer:
        note(f"  the last answer of the model:\n{textwrap.indent(answer, '    ')}")


def _note_error(text: str) -> None:
    name = typer.style("specwright:", fg="red", bold=True)
    with suppress(OSError):
        typer.echo(f"{name} {printable(text)}", err=True, color=shows_colours(sys.stderr))


def note_opening(directory: Path) -> None:
    """Say on a terminal that a project is being opened: loading what drives it takes seconds."""
    if sys.stderr.isatty():
        note(f"Opening {directory.resolve()}")


def _last_answer(error: SpecwrightError) -> str:
    """What a model said last where a role gave up, as much as fits a screen."""
    raw = error.raw_answers[-1].strip() if isinstance(error, AnswerError) and error.raw_answers else ""
    return raw if len(raw) <= _ANSWER_SHOWN else f"{raw[:_ANSWER_SHOWN]} ..."


def pasteable(text: str, directory: Path = Path()) -> str:
    """A text whose commands can be pasted: `specwright ...` as this program is called here, with the project it is about.

    Args:
        text: As the application says it, which knows no directory.
        directory: Of the project.
    """
    if directory != Path():
        place = shlex.quote(str(directory))
        text = _OF_A_PROJECT.sub(lambda found: f"`specwright {found[1]} {place}{found[2]}`", text)
    return text.replace("`specwright ", f"`{_program()} ")


def refused_by_system(error: OSError, place: Path | None = None) -> InputError:
    """An error of the operating system, as this program reports errors."""
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


def on_terminal() -> bool:
    """Whether a person can be asked: standard input and output are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def ask(question: str) -> str | None:
    """The line that a person types after a question; None at the end of the input."""
    try:
        typer.echo(printable(question), nl=False)
        line = sys.stdin.readline()
    except (OSError, UnicodeDecodeError):
        return None
    return line.strip() if line else None


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: list[str], most: int = 12) -> str:
    """Names in a row; of many, the first ones."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f", and {more} more" if more > 0 else "")


def write_new_file(path: Path, text: str) -> None:
    """Write a file that an option names; `-` is standard output.

    Raises:
        InputError: it is there already, or it cannot be written.
    """
    try:
        _write_file(path, text, "x")
    except FileExistsError as error:
        raise InputError(
            "the file is there already, and nothing is overwritten",
            where=str(path),
            remedy="name another one, or remove it; - is standard output",
        ) from error
    if str(path) != "-":
        note(f"Wrote {path}")


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
    _write_file(path, text, "w")


def _write_file(path: Path, text: str, mode: Literal["x", "w"]) -> None:
    if str(path) == "-":
        write(text.removesuffix("\n"))
        return
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise
    except OSError as error:
        raise InputError(f"the file cannot be written: {error.strerror}", where=str(path)) from error


def write(text: str) -> None:
    """Print on standard output; an error says that it is standard output that failed."""
    try:
        typer.echo(text)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        _discard_output()
        raise OSError(error.errno, error.strerror, "standard output") from error


def _discard_output() -> None:
    """Send what is buffered for a broken standard output to the null device, or Python fails at its end once more."""
    with suppress(OSError, ValueError), Path(os.devnull).open("w") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())


def _program() -> str:
    called = Path(sys.argv[0])
    on_path = shutil.which("specwright")
    if called.name != "specwright" or (on_path and called.exists() and Path(on_path).samefile(called)):
        return "specwright"
    return shlex.quote(str(called))
