"""The commands, and the parameters that most of them share."""

from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import typer

JSON_REQUESTED: ContextVar[bool | None] = ContextVar("json_requested", default=None)
"""Whether the command line has `--json`; None until its options are read."""


def _note_json(value: bool) -> bool:
    JSON_REQUESTED.set(value)
    return value


Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The project's directory; here if left out.")]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document on stdout.", is_eager=True, callback=_note_json),
]
