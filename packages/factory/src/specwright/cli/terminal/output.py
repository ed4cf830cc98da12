"""What the commands of a project print: errors, questions, and commands that can be pasted."""

import re
import shlex
import shutil
import sys
import textwrap
from contextvars import ContextVar
from pathlib import Path

import typer

from ship_gate.terminal.output import note, printable
from ship_gate.terminal.program import note_error, show_error
from specwright.errors import AnswerError, AnyError, InterruptedRunError

PROJECT: ContextVar[Path] = ContextVar("project", default=Path())
"""The directory of the project that the command line names."""

_ANSWER_SHOWN = 800
"""Characters of a model's answer; the journal has the rest."""

_OF_A_PROJECT = re.compile(
    r"`specwright (run|status|tasks|modules|escalations|verify|release|approve|reject|amend|change|costs)"
    r"((?: --[a-z-]+(?: [A-Z0-9.:]+)?)*)`"
)
"""A command that works on a project and names none."""


def complain(error: AnyError, as_json: bool) -> None:
    """Print an error: what, where, what to do."""
    answer, directory = _last_answer(error), PROJECT.get()
    if as_json:
        message = {"what": error.what, "where": error.where, "do": pasteable(error.remedy, directory)}
        if answer:
            message["answer"] = answer
        show_error(message, error.exit_code)
    if isinstance(error, InterruptedRunError) and sys.stderr.isatty():
        note("")  # the cursor stands behind a question or a live line
    note_error("specwright", pasteable(str(error), directory))
    if answer:
        note(f"  the last answer of the model:\n{textwrap.indent(answer, '    ')}")


def note_opening(directory: Path) -> None:
    """Say on a terminal that a project is being opened: loading what drives it takes seconds."""
    if sys.stderr.isatty():
        note(f"Opening {directory.resolve()}")


def _last_answer(error: AnyError) -> str:
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


def _program() -> str:
    called = Path(sys.argv[0])
    on_path = shutil.which("specwright")
    if called.name != "specwright" or (on_path and called.exists() and Path(on_path).samefile(called)):
        return "specwright"
    return shlex.quote(str(called))
