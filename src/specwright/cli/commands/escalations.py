"""`specwright escalations`: what waits for a person, and for one of them everything that helps to decide.
`specwright resolve`: the answer to one (design: escalation, command-line)."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from specwright.bootstrap.spec_file import spec_copy
from specwright.cli.commands import AsJson, Directory
from specwright.cli.terminal.output import next_command, note, show
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.factory import ProjectView
    from specwright.domain.escalation.escalation import EscalationArtifact
    from specwright.domain.escalation.resolutions import HumanResolution

_LARGEST_PAYLOAD = 4_000_000
"""Bytes; a fix carries whole files."""

_REASON_ALONE = ("ABANDON_TASK", "APPROVE_OVERRIDE", "ACCEPT_UNSHOWN", "DROP_CRITERION")

_IdAndDirectory = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ESC-ID] [DIR]", help="One escalation in full; the project's directory, here if left out."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (escalations, resolve):
        app.command()(command)


def escalations(
    words: _IdAndDirectory = None,
    draft: Annotated[
        str, typer.Option(metavar="ACTION", help="Print only the payload of this answer, to fill in.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """What waits for a person, and the command that answers it.

    \b
    specwright escalations ESC-ID DIR --draft AMEND_SPEC > answer.json
    """
    from specwright.bootstrap.reading import reading_project
    from specwright.cli.pages import escalation as pages
    from specwright.cli.pages.page import Page
    from specwright.cli.pages.stop import escalations as waiting

    wanted, directory = _id_and_directory(words or [])
    if draft and not wanted:
        raise InputError(
            "--draft needs an ESC-ID", remedy=f"`{next_command('escalations', directory)}` lists them"
        )
    with reading_project(directory) as view:
        chosen = [_stored(view, wanted, directory)] if wanted else waiting(view)
        if draft:
            show(pages.draft(view, chosen[0], draft))
            return
        if as_json:
            documents = [pages.escalation_document(view, one, directory) for one in chosen]
            show(documents[0] if wanted else documents)
            return
        page = pages.escalation_page(view, chosen[0], directory) if wanted else Page()
        for number, one in enumerate([] if wanted else chosen):
            if number:
                page.line()
            pages.add_short_page(page, view, one, directory)
    if not chosen:
        note(f"Nothing waits for you here. `{next_command('status', directory)}`")
    page.print()


def resolve(
    escalation: Annotated[
        str, typer.Argument(metavar="ESC-ID", help="As `specwright escalations` lists it.")
    ],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What to do about it.")],
    directory: Directory = Path(),
    payload: Annotated[
        str,
        typer.Option(metavar="FILE.json", help="The fields that the action needs; - reads standard input."),
    ] = "",
    rationale: Annotated[
        str, typer.Option(metavar="TEXT", help="Why, for the actions that need no more than that.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Answer an escalation, and go on.

    \b
    ABANDON_TASK      --rationale TEXT
    ACCEPT_UNSHOWN, DROP_CRITERION   --rationale TEXT
    APPROVE_OVERRIDE  --rationale TEXT; with several failed modules a payload
    ATTEST_SHIPPED, AMEND_SPEC, SPLIT_TASK, REVISE_PLAN, PROVIDE_FIX,
    REWORD_CRITERION
                      --payload FILE.json

    \b
    The payload is written for you, to fill in:
    specwright escalations ESC-ID DIR --draft ACTION > answer.json

    To try again unchanged, for instance with another model, answer AMEND_SPEC and
    leave the criteria as they are.
    """
    if not spec_copy(directory).is_file():
        raise InputError(
            "no run has begun here",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` begins one",
        )
    resolution = _resolution(escalation, action, payload, rationale)
    from specwright.cli.session.runner import resume

    resume(directory, lambda project: project.resolve(resolution), as_json=as_json)


def _resolution(escalation: str, action: str, payload: str, rationale: str) -> "HumanResolution":
    from pydantic import ValidationError

    from specwright.domain.base.record import validation_messages
    from specwright.domain.escalation.resolutions import Action, HumanResolution

    action = action.upper().replace("-", "_")
    if action not in set(Action):
        raise InputError(f"there is no action {action!r}", remedy=f"choose one of {', '.join(Action)}")
    fields = _read(payload) if payload else {}
    if rationale:
        fields["rationale"] = rationale
    try:
        return HumanResolution(action=Action(action), payload=fields, escalation_id=escalation)
    except ValidationError as error:
        raise InputError(
            "; ".join(_without_value(line) for line in validation_messages(error)),
            where=payload or action,
            remedy=_what_to_type(escalation, action, fields),
        ) from error


def _what_to_type(escalation: str, action: str, fields: dict[str, Any]) -> str:
    if action in _REASON_ALONE and not fields:
        return 'say why: --rationale "..."'
    return f"`specwright escalations {escalation} DIR --draft {action}` prints what to fill in"


def _without_value(line: str) -> str:
    """A message without the prefixes of the validation and the value, which is the whole payload."""
    return line.removeprefix("(whole): ").removeprefix("Value error, ").rpartition(", got {")[0] or line


def _read(payload: str) -> dict[str, Any]:
    try:
        data = sys.stdin.buffer.read(_LARGEST_PAYLOAD + 1) if payload == "-" else Path(payload).read_bytes()
    except OSError as error:
        raise InputError(f"the payload cannot be read: {error.strerror}", where=payload) from error
    if len(data) > _LARGEST_PAYLOAD:
        raise InputError(f"the payload is longer than {_LARGEST_PAYLOAD:,} bytes", where=payload)
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the payload is no JSON: {error}", where=payload) from error
    if not isinstance(fields, dict):
        raise InputError(
            "the payload is no JSON object",
            where=payload,
            remedy="`specwright escalations ESC-ID --draft ACTION` prints one to fill in",
        )
    return cast("dict[str, Any]", fields)


def _id_and_directory(words: list[str]) -> tuple[str, Path]:
    """The escalation, if one is named, and the directory, in either order."""
    wanted = next((word for word in words[:2] if word.startswith("ESC-")), "")
    others = [word for word in words if word != wanted]
    if len(others) > 1:
        raise InputError(
            f"{others[1]!r} is one word too many",
            where="specwright escalations",
            remedy="it takes an ESC-ID and a directory; both may be left out",
        )
    return wanted, Path(*others)


def _stored(view: "ProjectView", wanted: str, directory: Path) -> "EscalationArtifact":
    if Path(wanted).name != wanted or not view.escalations.exists(wanted):
        raise InputError(
            f"there is no escalation {wanted}",
            where=str(directory),
            remedy=f"`{next_command('escalations', directory)}` lists those that wait",
        )
    return view.escalations.escalation(wanted)
