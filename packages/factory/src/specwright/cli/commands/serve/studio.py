"""`specwright studio`: the projects in a browser. `specwright export-html`: the same pages as files (design: studio,
command-line)."""

from pathlib import Path
from typing import Annotated

import typer

from ship_gate.terminal.output import note, say
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory, nearest_project
from specwright.errors import InputError

_MISSING = "pip install 'specwright-factory[studio]'"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(studio)
    app.command(name="export-html")(export_html)


def studio(
    directories: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR ...]",
            help="Projects, or folders that hold some at most three levels below; the nearest project if left out.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 takes any free port.")] = 8750,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="For other machines; they need the token.")
    ] = "127.0.0.1",
    store: Annotated[
        str, typer.Option(metavar="URL", help="Also the projects of this Postgres database.")
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            metavar="TOKEN",
            envvar="SPECWRIGHT_STUDIO_TOKEN",
            show_envvar=False,
            help="What a browser must show, instead of a new one; better in SPECWRIGHT_STUDIO_TOKEN.",
        ),
    ] = "",
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let every user and program of this machine in.")
    ] = False,
) -> None:
    """See and decide everything in a browser.

    It listens on this machine alone, and the address that it prints holds a token. Ctrl-C ends it; a run that it started
    goes on.
    """
    try:
        from specwright.studio.server import serve
    except ImportError as error:
        raise _not_installed(error) from error
    given = directories or ([] if store else [nearest_project()])
    serve(
        given,
        store,
        host,
        port,
        None if no_token else token,
        lambda address: say(f"The studio is at {address}  (Ctrl-C ends it)"),
    )


def export_html(
    directory: Directory,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new directory.")],
    as_json: AsJson = False,
) -> None:
    """The studio's pages of a project as a folder of files.

    It needs no server, can be searched, and can be attached to a pull request.
    """
    try:
        from specwright.studio.export import export
    except ImportError as error:
        raise _not_installed(error) from error
    from ship_gate.terminal.page import Page, present

    made = export(directory, out)
    page = Page()
    page.line(f"{made.pages:,} pages, {made.bytes / 1_000_000:.1f} MB")
    page.line(str(out / "index.html"), "Open: ")
    if made.left_out:
        note(
            f"{made.left_out:,} pages of later entries of the log were left out; `specwright studio` shows them"
        )
    document = {"directory": str(out), "pages": made.pages, "bytes": made.bytes, "exit_code": 0}
    present({**document, "left_out": made.left_out}, "export-html", page, as_json=as_json)


def _not_installed(error: ImportError) -> InputError:
    return InputError(
        f"the studio needs the package {error.name}, which is not installed", where="studio", remedy=_MISSING
    )
