"""The entry point: commands, exit codes, and the one place where errors become messages (design: command-line).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

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


class _BySection(TyperGroup):
    """The commands in sections. Typer has panels for that, but only with Rich, whose boxes cannot be pasted."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        widest = max(map(len, self.commands))
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), self.commands[name].get_short_help_str(99)) for name in names]
                )


app = typer.Typer(
    name="specwright",
    cls=_BySection,
    help=_HELP,
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _group(about: str, members: Mapping[str, Callable[..., Any]]) -> typer.Typer:
    """A command with commands of its own."""
    group = typer.Typer(help=about, no_args_is_help=True)
    group.callback()(lambda: None)  # without it a group of one command would be that command
    for name, member in members.items():
        group.command(name)(member)
    return group


_SECTIONS: dict[str, dict[str, Callable[..., Any] | typer.Typer]] = {
    "Build": {
        "demo": begin.demo,
        "init": begin.init,
        "run": drive.run,
        "approve": drive.approve,
        "amend": drive.amend,
        "reject": drive.reject,
        "release": drive.release,
    },
    "Answer": {
        "escalations": escalations.escalations,
        "resolve": escalations.resolve,
        "exceptions": _group(
            "What roles found wrong with shipped contracts; answer it.",
            {
                "list": escalations.list_exceptions,
                "approve": escalations.approve,
                "reject": escalations.reject,
                "defer": escalations.defer,
            },
        ),
    },
    "After the release": {
        "change": drive.change,
        "report": drive.report,
        "diff": inspect.diff,
        "deprecate": drive.deprecate,
    },
    "Look": {
        "status": inspect.status,
        "tasks": inspect.tasks,
        "modules": inspect.modules,
        "module": inspect.module,
        "trace": inspect.trace,
        "costs": inspect.costs,
        "verify": inspect.verify,
        "index": _group("Look into the Code Index of shipped modules.", {"search": inspect.search}),
        "wire": _group(
            "Show a project's log of events, and check it.",
            {"log": inspect.show_log, "verify": inspect.verify_log},
        ),
        "studio": stores.studio,
        "export-html": stores.export_html,
    },
    "Set up, move and share": {
        "doctor": begin.doctor,
        "trust": begin.trust,
        "export": stores.export_project,
        "import": stores.import_project,
        "worker": stores.worker,
        "mirror": stores.mirror,
        "hedera": _group(
            "Mirror a project's log on a Hedera topic.", {"submit": stores.submit, "read": stores.read}
        ),
    },
    "The gate alone": {
        "gate": ship_gate.judge,
        "package": ship_gate.package,
        "explain": ship_gate.explain,
        "mcp": ship_gate.mcp,
    },
    "Help": {"help": begin.show_help},
}
for commands in _SECTIONS.values():
    for word, command in commands.items():
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=word)
        else:
            app.command(word)(command)


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
