"""The entry point: commands, exit codes, and the one place where errors become messages (design: command-line).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from ship_gate import cli as ship_gate
from ship_gate.terminal.program import Program
from specwright.cli.commands import begin, drive, escalations, inspect, stores
from specwright.cli.output import TRUSTED, complain
from specwright.documents.commands import PROJECT
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
            3 waiting for you, 130 interrupted (`specwright run` goes on);
            4 key or model refused, 5 endpoint out of reach, 6 no credit
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
for command in (
    begin.init,
    begin.demo,
    drive.run,
    drive.approve,
    drive.reject,
    drive.amend,
    drive.release,
    drive.change,
    drive.report,
    inspect.status,
    inspect.tasks,
    inspect.modules,
    inspect.module,
    inspect.diff,
    inspect.trace,
    stores.mirror,
    inspect.costs,
    begin.doctor,
    escalations.escalations,
    escalations.resolve,
    drive.deprecate,
    stores.worker,
    begin.trust,
    ship_gate.package,
    ship_gate.explain,
    ship_gate.mcp,
    inspect.verify,
    stores.studio,
):
    app.command()(command)
for name, named in {
    "export": stores.export_project,
    "import": stores.import_project,
    "gate": ship_gate.judge,
    "export-html": stores.export_html,
    "help": begin.show_help,
}.items():
    app.command(name)(named)
for name, help_text, group in (
    ("index", "Look into the Code Index of shipped modules.", {"search": inspect.search}),
    ("hedera", "Mirror a project's log on a Hedera topic.", {"submit": stores.submit, "read": stores.read}),
    (
        "exceptions",
        "What roles found wrong with shipped contracts; answer it.",
        {
            "list": escalations.list_exceptions,
            "approve": escalations.approve,
            "reject": escalations.reject,
            "defer": escalations.defer,
        },
    ),
    (
        "wire",
        "Show a project's log of events, and check it.",
        {"log": inspect.show_log, "verify": inspect.verify_log},
    ),
):
    added = typer.Typer(help=help_text, no_args_is_help=True)
    added.callback()(lambda: None)  # without it a group of one command would be that command
    for word, member in group.items():
        added.command(word)(member)
    app.add_typer(added, name=name)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from specwright import __version__

        typer.echo(__version__)
        raise typer.Exit


PROGRAM = Program(typer.main.get_command(app), "specwright", SpecwrightErrors, complain)


def run() -> None:
    """Run the command line and exit with its code."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    PROJECT.set(Path())
    TRUSTED.set(False)
    code = PROGRAM.main(arguments)
    return main(arguments) if TRUSTED.get() else code
