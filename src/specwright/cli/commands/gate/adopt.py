"""The command that makes module directories of functions that exist: `adopt` (design: adoption, command-line)."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specwright.cli.commands import AsJson
from specwright.errors import InputError
from specwright.gate.terminal.output import counted, note, show

if TYPE_CHECKING:
    from specwright.domain.adoption.report import AdoptedFunction

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="file.py:function, a file, the folder of a package, or an installed package, package.module:function.",
    ),
]
Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Where a directory for each function is made.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Functions at a time; as many as cores if left out.")
]

Draft = Annotated[
    bool,
    typer.Option(
        "--draft", help="Have a model draft what is missing; what does not hold in the sandbox is dropped."
    ),
]
Model = Annotated[
    str, typer.Option("--model", metavar="NAME", help="With --draft: provider:model, or playbook:DIR.")
]
BudgetTokens = Annotated[
    int, typer.Option("--budget-tokens", min=0, help="With --draft: what all requests together may take.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(adopt)


def adopt(
    source: Source,
    out: Out = Path("adopted"),
    jobs: Jobs = None,
    draft: Draft = False,
    model: Model = "",
    budget_tokens: BudgetTokens = 0,
    as_json: AsJson = False,
) -> None:
    """Make a module directory of each public function of a source.

    Each gets a draft of its contract, which states what signature, docstring and source state, as far as runs
    in the sandbox bear it out. What it lacks is listed. Needs no project and no model; with --draft a model
    writes what is missing.
    """
    from specwright.bootstrap.gate.adoption import adopt_source, adoption_document
    from specwright.cli.pages.gate.adoption import print_adoption

    if not draft:
        if model or budget_tokens:
            raise InputError(
                "--model and --budget-tokens are for --draft", remedy="add --draft, or leave them out"
            )
        report = adopt_source(source, out, jobs=jobs, done=_tell)
    else:
        from specwright.bootstrap.gate.drafting import Drafting

        drafter = Drafting.of_folder(Path(), model, budget_tokens)
        report = adopt_source(source, out, jobs=jobs, complete=drafter.drafted, done=_tell)
        requests, sent, given = drafter.taken
        note(f"{counted(requests, 'request')} of a model: {sent:,} tokens in, {given:,} out")
    if as_json:
        show(adoption_document(report), "adoption")
    else:
        print_adoption(report, out)
    raise typer.Exit(0 if any(one.directory for one in report.functions) else 1)


def _tell(function: "AdoptedFunction") -> None:
    """Tells on a terminal of each function as it ends."""
    if sys.stderr.isatty():
        note(f"{function.status.ljust(13)}  {function.name}")
