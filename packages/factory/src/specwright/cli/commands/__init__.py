"""The commands, and the parameters that most of them share."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ship_gate.terminal.output import note
from specwright.application.store.layout import CONTRACT
from specwright.documents.commands import PROJECT
from specwright.errors import InputError

_BEGUN = (".specwright", "specwright.toml")
"""What a directory has in which a project was begun."""


def is_begun(place: Path) -> bool:
    """Whether a project was begun in a directory; a module that `escalations --checkout` laid out has settings too."""
    if (place / CONTRACT).exists() and not (place / ".specwright").exists():
        return False
    return any((place / name).exists() for name in _BEGUN)


def nearest_project() -> Path:
    """The project of the working directory: here, or the nearest directory above in which one was begun."""
    here = Path.cwd()
    if (here / "SPEC.md").exists():
        return Path()
    for place in (here, *here.parents):
        if is_begun(place):
            return Path(os.path.relpath(place, here))
    return Path()


def _chosen(context: typer.Context, directory: Path) -> Path:
    """The directory of the command line; if it has none, the nearest project, and a remark if that is not here."""
    source = context.get_parameter_source("directory")
    chosen = directory if source is None or source.name != "DEFAULT" else found_project()
    PROJECT.set(chosen)
    return chosen


def found_project() -> Path:
    """The nearest project, with a remark if that is not here."""
    if (found := nearest_project()) != Path():
        note(f"The project is {found.resolve()}")
    return found


def named(text: str) -> Path:
    """The path of an argument; an empty one, as of a variable that is not set, is none."""
    if not str(text).strip():
        raise InputError(
            "the path is empty", where="DIR", remedy="name a directory; `.` is the working directory"
        )
    return Path(text)


Directory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        parser=named,
        help="The project's directory; the nearest one if left out.",
        callback=_chosen,
        show_default=False,
    ),
]
