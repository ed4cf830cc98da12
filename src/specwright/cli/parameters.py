"""Parameters that most commands share."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Directory"]

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The project's directory; here if left out.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
