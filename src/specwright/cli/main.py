"""The entry point: commands, exit codes, and the one place where errors become messages (design: command-line).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import typer
from typer.exceptions import TyperException

from specwright.cli.commands import (
    JSON_REQUESTED,
    change,
    costs,
    deprecation,
    doctor,
    drive,
    escalations,
    exceptions,
    inspect,
    mirror,
    stores,
    verify,
    wire,
)
from specwright.cli.commands.serve import mcp, studio
from specwright.cli.commands.start import help as help_command
from specwright.cli.commands.start import init
from specwright.cli.terminal.output import PROJECT, complain
from specwright.errors import InputError, InterruptedRunError, SpecwrightError
from specwright.gate.terminal.output import note, refused_by_system

INTERRUPTED = 130

TRACEBACK = "SPECWRIGHT_TRACEBACK"
"""The variable that has a traceback printed where Specwright itself fails."""

_HELP = """\
From a one-page SPEC.md to an installable package, with the evidence.

\b
  specwright demo          an example, from SPEC.md to wheel; needs no model
  specwright init DIR      then fill in SPEC.md, and name a model
  specwright run DIR       to the approval of the spec, then from stop to stop
  specwright status DIR    where it stands, what it cost, and what to do next
"""

_EXIT_CODES = """\
\b
Exit codes: 0 done, 1 failed or refused, 2 bad usage or input,
            3 waiting for you, 130 interrupted (`specwright run` goes on)
"""

app = typer.Typer(
    name="specwright",
    help=_HELP,
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for commands in (
    init,
    drive,
    change,
    inspect,
    mirror,
    costs,
    doctor,
    escalations,
    exceptions,
    deprecation,
    stores,
    verify,
    wire,
    studio,
    mcp,
    help_command,
):
    commands.register(app)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from specwright import __version__

        typer.echo(__version__)
        raise typer.Exit


def run() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None if the caller closed it
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; errors are printed here and nowhere else."""
    JSON_REQUESTED.set(None)
    PROJECT.set(Path())
    try:
        code = app(list(arguments), prog_name="specwright", standalone_mode=False)
        if code != INTERRUPTED:  # what typer makes of a KeyboardInterrupt
            return int(code or 0)
        error = InterruptedRunError("interrupted; nothing was changed")
    except TyperException as misuse:
        if type(misuse).__name__ == "NoArgsIsHelpError" and not _wants_json(arguments):
            note(misuse.format_message())
            return misuse.exit_code
        error = _misuse(misuse)
    except SpecwrightError as failure:
        error = failure
    except KeyboardInterrupt:
        error = InterruptedRunError("interrupted; nothing was changed")
    except Exception as failure:  # the last resort: one message, never a traceback
        error = _unforeseen(failure)
    complain(error, as_json=_wants_json(arguments))
    return error.exit_code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the parsed command line has `--json`; if it cannot be parsed, whether it stands before any `--`."""
    requested = JSON_REQUESTED.get()
    return "--json" in takewhile(lambda word: word != "--", arguments) if requested is None else requested


def _misuse(error: TyperException) -> InputError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "specwright"
    what = (
        "no command is given"
        if type(error).__name__ == "NoArgsIsHelpError"
        else error.format_message().rstrip(".").replace("Value error, ", "")
    )
    return InputError(what[:1].lower() + what[1:], where=command, remedy=f"`{command} --help` shows how")


def _unforeseen(error: Exception) -> SpecwrightError:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        return refused_by_system(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return SpecwrightError(
        f"Specwright itself broke: {type(error).__name__}: {error}"[:500],
        where=f"{frame.filename}, line {frame.lineno}, in {frame.name}",
        remedy=f"this is a fault of Specwright, please report it; {TRACEBACK}=1 prints the traceback",
    )
