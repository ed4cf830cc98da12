"""Commands about a released product: `change` makes its next version, `report` tells of a bug (design: change,
bug-reports, command-line)."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ship_gate.terminal.program import AsJson
from specwright.bootstrap.spec_file import read_spec, spec_copy
from specwright.cli.commands import Directory
from specwright.cli.terminal.output import next_command, note_opening
from specwright.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(change)
    app.command()(report)


def change(
    directory: Directory = Path(),
    request: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What is to change, in a sentence.")
    ] = None,
    abandon: Annotated[bool, typer.Option("--abandon", help="Give up the change that is under way.")] = False,
    as_json: AsJson = False,
) -> None:
    """Change a released product, by SPEC.md or in a sentence.

    What a person approves then is built again and released as the next version; everything else stays as it is. A
    change that is given up leads back to the last release.
    """
    if abandon:
        _abandon(directory, request, as_json=as_json)
        return
    if request is not None and not request.strip():
        raise InputError(
            "--request is empty", remedy=next_command("change", directory, '--request "what is to change"')
        )
    copy, original = spec_copy(directory), directory / "SPEC.md"
    if not copy.exists:
        raise InputError(
            "there is no product here to change",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` builds one",
        )
    before = copy.text()
    text = read_spec(original) if os.path.lexists(original) else before
    note_opening(directory)
    from specwright.cli.session.runner import resume

    asked = (request or "").strip()
    resume(directory, lambda project: project.change(asked, before, text), as_json=as_json, spec_text=text)


def _abandon(directory: Path, request: str | None, *, as_json: bool) -> None:
    if request is not None:
        raise InputError(
            "--abandon and --request exclude each other",
            remedy="give up the change that is under way first, then ask for another one",
        )
    note_opening(directory)
    from specwright.cli.session import runner
    from specwright.settings import load_settings

    runner.abandon(directory, load_settings(directory), as_json=as_json)


def report(
    module: Annotated[
        str, typer.Argument(metavar="MODULE", help="The module's name, MM-ID or MM-ID@VERSION.")
    ],
    directory: Directory = Path(),
    example: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One example, written as in a module's examples.md.")
    ] = None,
    pointer: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="What the example breaks: a JSON pointer into the contract, or `criterion N`; `?` lists them.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Report a bug of a released module by an example.

    The example is run against the sealed module. If it fails and breaks the statement of the contract or the criterion
    that --pointer names, the module is repaired, and must give the example for ever. Without --pointer it becomes a change
    request. `--pointer "?"`, with an example or without, lists what can be named, and nothing else is done.
    """
    if example is None:
        _show_statements(directory, module, pointer, as_json=as_json)
        return
    note_opening(directory)
    from specwright.cli.session import runner

    runner.report(directory, module, example, pointer, as_json=as_json)


def _show_statements(directory: Path, module: str, pointer: str, *, as_json: bool) -> None:
    """What a report of a module may point at."""
    if pointer != "?":
        shown = next_command(f"report {module}", directory, '--pointer "?"')
        raise InputError(
            "a report needs its example",
            where="--example FILE",
            remedy=f"write the call and the value that it should give; `{shown}` lists what it may break",
        )
    from ship_gate.terminal.page import present
    from specwright.application.change import reportable
    from specwright.bootstrap.views.reading import reading_project
    from specwright.cli.pages.report import statements_document, statements_page

    with reading_project(directory) as view:
        contract, statements = reportable(view, module)
    page = statements_page(contract, statements, directory)
    present(statements_document(contract, statements), "statements", page, as_json=as_json)
