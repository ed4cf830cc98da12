"""What is printed where: results on stdout, progress and errors on stderr, one JSON document with `--json`."""

import json
from typing import Any

import typer

from specwright.errors import SpecwrightError

__all__ = ["complain", "say", "show"]


def show(document: Any) -> None:
    """Print the one JSON document of a command."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def say(text: str = "") -> None:
    """Print a line of the result."""
    typer.echo(text)


def complain(error: SpecwrightError, *, as_json: bool) -> None:
    """Tell an error: what, where, what to do."""
    if as_json:
        show(
            {
                "error": {"what": error.what, "where": error.where, "do": error.remedy},
                "exit_code": error.exit_code,
            }
        )
    typer.echo(f"specwright: {error}", err=True)
