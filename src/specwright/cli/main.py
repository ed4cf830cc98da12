"""The entry point: commands, exit codes, and the one place where errors become words (DESIGN §9).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

import io
import os
import sys
import traceback
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from specwright.cli import escalations, look, prove, resolve, steer, wire_commands
from specwright.cli.output import complain, note, refused_by_system
from specwright.errors import InputError, InterruptedRunError, SpecwrightError

__all__ = ["app", "main", "run"]

INTERRUPTED = 130

TRACEBACK = "SPECWRIGHT_TRACEBACK"
"""A variable that shows where Specwright itself broke."""

_HELP = """\
From a one-page SPEC.md to an installable package, with the evidence.

\b
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
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
steer.register(app)
look.register(app)
escalations.register(app)
resolve.register(app)
prove.register(app)
wire_commands.register(app)


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
    """Run a command and return its exit code; errors are told here and nowhere else."""
    as_json = "--json" in arguments
    try:
        code = app(list(arguments), prog_name="specwright", standalone_mode=False)
    except TyperException as error:
        return _misused(error, as_json=as_json)
    except SpecwrightError as error:
        complain(error, as_json=as_json)
        return error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:  # the last resort: one message, never a traceback
        told = _unforeseen(error)
        complain(told, as_json=as_json)
        return told.exit_code
    if code == INTERRUPTED:  # typer makes this of a KeyboardInterrupt
        complain(InterruptedRunError("interrupted; nothing was changed"), as_json=as_json)
    return int(code or 0)


def _misused(error: TyperException, *, as_json: bool) -> int:
    context = getattr(error, "ctx", None)
    asked = context.command_path if context is not None else "specwright"
    if type(error).__name__ == "NoArgsIsHelpError" and not as_json:
        note(error.format_message())
        return error.exit_code
    what = "no command is given" if type(error).__name__ == "NoArgsIsHelpError" else error.format_message()
    told = InputError(
        what[:1].lower() + what[1:].rstrip("."), where=asked, remedy=f"`{asked} --help` shows how"
    )
    complain(told, as_json=as_json)
    return told.exit_code


def _unforeseen(error: Exception) -> SpecwrightError:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, OSError):
        return refused_by_system(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return SpecwrightError(
        f"Specwright itself broke: {type(error).__name__}: {error}"[:500],
        where=f"{frame.filename}, line {frame.lineno}, in {frame.name}",
        remedy=f"this is a fault of Specwright, please report it; {TRACEBACK}=1 shows the whole way",
    )
