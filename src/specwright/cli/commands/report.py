"""`specwright report`: a bug report, an example that a sealed module fails (design: bug-reports, command-line)."""

from pathlib import Path
from typing import Annotated

import typer

from specwright.cli.commands import AsJson, Directory


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(report)


def report(
    module: Annotated[
        str, typer.Argument(metavar="MODULE", help="The module's name, MM-ID or MM-ID@VERSION.")
    ],
    example: Annotated[
        Path, typer.Option(metavar="FILE", help="One example, written as in a module's examples.md.")
    ],
    directory: Directory = Path(),
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
    request.
    """
    from specwright.cli.session import runner

    runner.report(directory, module, example, pointer, as_json=as_json)
