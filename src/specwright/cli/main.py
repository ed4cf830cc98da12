"""The entry point: commands, exit codes, and the one place where errors become words (DESIGN §9).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

import sys

import typer

from specwright.cli import look, steer
from specwright.cli.output import complain
from specwright.errors import SpecwrightError

__all__ = ["app", "run"]

INTERRUPTED = 130

app = typer.Typer(
    name="specwright",
    help="From a one-page SPEC.md to an installable package, with the evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
steer.register(app)
look.register(app)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from specwright import __version__

        typer.echo(__version__)
        raise typer.Exit


def run() -> None:
    """Run the command line and exit with its code."""
    as_json = "--json" in sys.argv[1:]
    try:
        app(standalone_mode=True)
    except SpecwrightError as error:
        complain(error, as_json=as_json)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Everything answered so far is kept; `specwright run` goes on.", err=True)
        sys.exit(INTERRUPTED)
