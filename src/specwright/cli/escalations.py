"""`specwright escalations`: what waits for a person, and for one of them everything that helps to decide (F§17)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specwright.cli.output import next_command, note, say, show
from specwright.cli.parameters import AsJson
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.factory import Reading
    from specwright.domain.escalation import EscalationArtifact

__all__ = ["register"]

_Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ESC-ID] [DIR]", help="One escalation in full; the project's directory, here if left out."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(escalations)


def escalations(
    words: _Words = None,
    draft: Annotated[
        str, typer.Option(metavar="ACTION", help="Print only the payload of this answer, to fill in.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """What waits for a person, and the command that answers it.

    \b
    specwright escalations ESC-ID DIR --draft AMEND_SPEC > answer.json
    """
    from specwright.bootstrap import reading_project
    from specwright.cli import escalation_page
    from specwright.cli.stops import escalations as waiting

    wanted, directory = _told(words or [])
    if draft and not wanted:
        raise InputError(
            "--draft needs an ESC-ID", remedy=f"`{next_command('escalations', directory)}` lists them"
        )
    with reading_project(directory) as view:
        if wanted:
            one = _kept(view, wanted, directory)
            if draft:
                show(escalation_page.draft(view, one, draft))
                return
            if as_json:
                show(escalation_page.escalation_document(view, one, directory))
                return
            lines = escalation_page.escalation_page(view, one, directory)
        else:
            found = waiting(view)
            if as_json:
                show([escalation_page.escalation_document(view, one, directory) for one in found])
                return
            pages = [escalation_page.short_page(view, one, directory) for one in found]
            lines = [line for page in pages for line in [*page, ""]][:-1]
    if not lines:
        note(f"Nothing waits for you here. `{next_command('status', directory)}`")
    for line in lines:
        say(line)


def _told(words: list[str]) -> tuple[str, Path]:
    """The escalation, if one is named, and the directory, in either order."""
    wanted = next((word for word in words[:2] if word.startswith("ESC-")), "")
    rest = [word for word in words if word != wanted]
    if len(rest) > 1:
        raise InputError(
            f"{rest[1]!r} is one word too many",
            where="specwright escalations",
            remedy="it takes an ESC-ID and a directory, both may be left out",
        )
    return wanted, Path(*rest)


def _kept(view: "Reading", wanted: str, directory: Path) -> "EscalationArtifact":
    from specwright.domain.escalation import EscalationArtifact

    path = f"escalations/{wanted}.json"
    if f"{wanted}.json" not in view.store.names("escalations"):
        raise InputError(
            f"there is no escalation {wanted}",
            where=str(directory),
            remedy=f"`{next_command('escalations', directory)}` lists those that wait",
        )
    return EscalationArtifact.from_bytes(view.store.read(path), path)
