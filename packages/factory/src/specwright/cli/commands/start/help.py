"""`specwright help`: the same pages as `--help` (design: command-line)."""

from typing import Annotated, Any, cast

import typer

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import say
from specwright.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("help")(show_help)


def show_help(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]", help="For instance `run`, or `wire log`.")
    ] = None,
) -> None:
    """The help of a command, or the list of all."""
    page = cast(Any, context.parent)
    for name in command or ():
        known: dict[str, Any] = getattr(page.command, "commands", {})
        if name not in known:
            raise InputError(
                f"there is no command {name!r}",
                where=page.command_path,
                remedy=f"{did_you_mean(name, known)}`specwright help` lists them",
            )
        page = type(context)(known[name], parent=page, info_name=name)
    say(page.get_help())
