"""`specwright resolve`: answer an escalation, and go on (F§17.2, DESIGN §9)."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from specwright.cli.answering import go_on
from specwright.cli.output import next_command
from specwright.cli.parameters import AsJson, Directory
from specwright.cli.spec_file import kept_spec
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.bootstrap import Opened
    from specwright.domain.resolutions import HumanResolution

__all__ = ["register"]

_LARGEST_PAYLOAD = 4_000_000
"""Bytes; a fix carries whole files."""

_REASON_ALONE = ("ABANDON_TASK", "APPROVE_OVERRIDE")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(resolve)


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
    APPROVE_OVERRIDE  --rationale TEXT; with several failed modules a payload
    ATTEST_SHIPPED, AMEND_SPEC, SPLIT_TASK, REVISE_PLAN, PROVIDE_FIX
                      --payload FILE.json

    \b
    The payload is written for you, to fill in:
    specwright escalations ESC-ID DIR --draft ACTION > answer.json

    To try again unchanged, with another model say: AMEND_SPEC with the criteria
    as they are.
    """
    if not kept_spec(directory).is_file():
        raise InputError(
            "no run has begun here",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` begins one",
        )
    given = _resolution(escalation, action, payload, rationale)
    from specwright.cli.driving import Answer

    go_on(directory, Answer(given.to_json(), partial(_fits, given)), as_json=as_json)


def _fits(given: "HumanResolution", opened: "Opened") -> None:
    from specwright.application.stops.resolving import check

    check(opened.factory, given)
    if opened.driver.waiting() is None:  # a crash came between the halt and the question
        opened.driver.advance()


def _resolution(escalation: str, action: str, payload: str, rationale: str) -> "HumanResolution":
    from pydantic import ValidationError

    from specwright.domain.record import validation_messages
    from specwright.domain.resolutions import Action, HumanResolution

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
            "; ".join(_words(line) for line in validation_messages(error)),
            where=payload or action,
            remedy=_what_to_type(escalation, action, fields),
        ) from error


def _what_to_type(escalation: str, action: str, fields: dict[str, Any]) -> str:
    if action in _REASON_ALONE and not fields:
        return 'say why: --rationale "..."'
    return f"`specwright escalations {escalation} DIR --draft {action}` prints what to fill in"


def _words(line: str) -> str:
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
