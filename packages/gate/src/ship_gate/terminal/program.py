"""Running a command line: `--json`, exit codes, and the one place where errors become messages (design: command-line)."""

import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from itertools import takewhile
from typing import Annotated, Any, NamedTuple

import typer
from typer.exceptions import TyperException

from ship_gate.errors import InputError, InterruptedRunError, ShipGateError
from ship_gate.terminal.output import note, printable, refused_by_system, show, shows_colours, without_logins

INTERRUPTED = 130

TRACEBACK = "SPECWRIGHT_TRACEBACK"
"""The variable that has a traceback printed where the program itself fails."""

_JSON_REQUESTED: ContextVar[bool | None] = ContextVar("json_requested", default=None)
"""Whether the command line has `--json`; None until its options are read."""


def _note_json(value: bool) -> bool:
    _JSON_REQUESTED.set(value)
    return value


AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on stdout.", is_eager=True, callback=_note_json),
]


class Program(NamedTuple):
    """A command line.

    Args:
        app: Its commands, made once.
        name: As it is called.
        errors: The errors that are messages.
        complain: Prints one of them; the flag says whether as JSON.
    """

    app: Callable[..., Any]
    name: str
    errors: tuple[type[Exception], ...]
    complain: Callable[[Any, bool], None]

    def run(self) -> None:
        """Run the command line of this process and exit with its code."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # None if the caller closed it
                stream.reconfigure(errors="backslashreplace")
        sys.exit(self.main(sys.argv[1:]))

    def main(self, arguments: Sequence[str]) -> int:
        """Run a command and return its exit code; errors are printed here and nowhere else."""
        _JSON_REQUESTED.set(None)
        error: Any
        try:
            code = self.app(list(arguments), prog_name=self.name, standalone_mode=False)
            if code != INTERRUPTED:  # what typer makes of a KeyboardInterrupt
                return int(code or 0)
            error = InterruptedRunError("interrupted; nothing was changed")
        except TyperException as misuse:
            if type(misuse).__name__ == "NoArgsIsHelpError" and not _wants_json(arguments):
                note(misuse.format_message())
                return misuse.exit_code
            error = self._misuse(misuse)
        except self.errors as failure:
            error = failure
        except KeyboardInterrupt:
            error = InterruptedRunError("interrupted; nothing was changed")
        except Exception as failure:  # the last resort: one message, never a traceback
            error = _unforeseen(failure)
        self.complain(error, _wants_json(arguments))
        return error.exit_code

    def _misuse(self, error: TyperException) -> InputError:
        context: Any = getattr(error, "ctx", None)
        command, parameters = (
            (context.command_path, context.command.params) if context else (self.name, list[Any]())
        )
        what = (
            "no command is given"
            if type(error).__name__ == "NoArgsIsHelpError"
            else error.format_message().rstrip(".").replace("Value error, ", "")
        )
        required = [one for one in parameters if one.required]
        words = [(*one.get_usage_pieces(context), one.get_help_record(context)[0])[0] for one in required]
        usage = f"`{' '.join([command, *words])}`; " if words else ""
        remedy = f"{usage}`{command} --help` shows how"
        return InputError(what[:1].lower() + what[1:], where=command, remedy=remedy)


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the parsed command line has `--json`; if it cannot be parsed, whether it stands before any `--`."""
    requested = _JSON_REQUESTED.get()
    return "--json" in takewhile(lambda word: word != "--", arguments) if requested is None else requested


def _unforeseen(error: Exception) -> ShipGateError:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        return refused_by_system(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return ShipGateError(
        f"Specwright itself broke: {type(error).__name__}: {error}"[:500],
        where=f"{frame.filename}, line {frame.lineno}, in {frame.name}",
        remedy=f"this is a fault of Specwright, please report it; {TRACEBACK}=1 prints the traceback",
    )


def show_error(message: dict[str, str], exit_code: int) -> None:
    """Print an error as a JSON document; it never fails, since standard output may be what is broken."""
    with suppress(OSError):
        shown = {name: without_logins(text) for name, text in message.items()}
        show({"error": shown, "exit_code": exit_code}, "error")


def note_error(program: str, text: str) -> None:
    """Print an error on stderr."""
    name = typer.style(f"{program}:", fg="red", bold=True)
    with suppress(OSError):
        typer.echo(f"{name} {printable(without_logins(text))}", err=True, color=shows_colours(sys.stderr))
