"""What the commands of a project print: errors, questions, and commands that can be pasted."""

import sys
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from ship_gate.terminal.output import note, printable, show
from ship_gate.terminal.program import note_error, show_error
from ship_gate.trust import record_trust
from specwright.documents.commands import pasteable
from specwright.errors import AnswerError, AnyError, InterruptedRunError, UntrustedError

if TYPE_CHECKING:
    from ship_gate.terminal.page import Page
    from specwright.domain.base.document import Document

D = TypeVar("D", bound="Document")

TRUSTED: ContextVar[bool] = ContextVar("trusted", default=False)
"""Whether a person has just trusted what a command refused, so that it can begin again."""

_ANSWER_SHOWN = 800
"""Characters of a model's answer; the journal has the rest."""


def complain(error: AnyError, as_json: bool) -> None:
    """Print an error: what, where, what to do."""
    answer = _last_answer(error)
    if as_json:
        more = {"answer": answer} if answer else {}
        show_error(
            {"what": error.what, "where": error.where, "do": pasteable(error.remedy), **more}, error.exit_code
        )
    if isinstance(error, InterruptedRunError) and sys.stderr.isatty():
        note("")  # the cursor stands behind a question or a live line
    note_error("specwright", pasteable(str(error)))
    if answer:
        note(f"  the last answer of the model:\n{textwrap.indent(answer, '    ')}")
    if isinstance(error, UntrustedError) and error.asked and not as_json:
        _ask_to_trust(*error.asked)


def _ask_to_trust(directory: str, values: Mapping[str, object]) -> None:
    """Ask a person at a terminal whether the settings that were just shown are to count."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return
    typer.echo("Trust what came with this directory? [y/N] ", nl=False, err=True)
    with suppress(OSError, UnicodeDecodeError):
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            record_trust(Path(directory), values)
            TRUSTED.set(True)


def present(document: D, page: "Callable[[D], Page] | None" = None, *, as_json: bool) -> None:
    """Print a document: as JSON, or as the page that is made of it."""
    if as_json:
        show(document.to_json(), document.schema_name)
    elif page:
        page(document).print()


def note_opening(directory: Path) -> None:
    """Say on a terminal that a project is being opened: loading what drives it takes seconds."""
    if sys.stderr.isatty():
        note(f"Opening {directory.resolve()}")


def _last_answer(error: AnyError) -> str:
    """What a model said last where a role gave up, as much as fits a screen."""
    raw = error.raw_answers[-1].strip() if isinstance(error, AnswerError) and error.raw_answers else ""
    return raw if len(raw) <= _ANSWER_SHOWN else f"{raw[:_ANSWER_SHOWN]} ..."


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
