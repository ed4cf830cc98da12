"""The entry point: commands, exit codes, and the one place where errors become messages (design: command-line).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

from collections.abc import Sequence
from pathlib import Path

import typer

from ship_gate.terminal.program import Program
from specwright.cli.commands import (
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
    trust,
    verify,
    wire,
)
from specwright.cli.commands.serve import studio
from specwright.cli.commands.start import help as help_command
from specwright.cli.commands.start import init
from specwright.cli.terminal.output import PROJECT, complain
from specwright.errors import SpecwrightErrors

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
    trust,
    verify,
    wire,
    studio,
    help_command,
):
    commands.register(app)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from specwright import __version__

        typer.echo(__version__)
        raise typer.Exit


PROGRAM = Program(app, "specwright", SpecwrightErrors, complain)


def run() -> None:
    """Run the command line and exit with its code."""
    PROGRAM.run()


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    PROJECT.set(Path())
    return PROGRAM.main(arguments)
