"""The answer to an escalation, as a person gives it on the command line (design: escalation)."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ship_gate.base.text import did_you_mean
from specwright.documents.commands import next_command
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.factory import ProjectView
    from specwright.domain.escalation import EscalationArtifact, HumanResolution

_LARGEST_PAYLOAD = 4_000_000
"""Bytes; a fix carries whole files."""

_REASON_ALONE = ("ABANDON_TASK", "APPROVE_OVERRIDE", "ACCEPT_UNSHOWN", "DROP_CRITERION")


class AnswerOptions(NamedTuple):
    """What the options of `resolve` give.

    Args:
        payload: A file with the fields of the answer, `-` for standard input; empty if there is none.
        files: The directory of a corrected module.
        rationale: Why, or what a fix does.
        asks: Whether a person can be asked.
    """

    payload: str = ""
    files: Path | None = None
    rationale: str = ""
    asks: bool = False


def answer_of(directory: Path, escalation: str, action: str, options: AnswerOptions) -> "HumanResolution":
    """The answer that a command line gives.

    Raises:
        InputError: it is none: what is wrong, and what to type.
        NotAnsweredError: a person who was asked ended the questions.
    """
    action = _known_action(directory, escalation, action)
    if options.files:
        return _fix(directory, escalation, action, options.files, options.rationale)
    drafted = action == "RETRY" and not options.payload
    if drafted or (options.asks and not (options.payload or options.rationale)):
        return _from_person(directory, escalation, action, options.rationale)
    draft = _draft_to_fill_in(directory, escalation, action)
    fields = _read(options.payload, draft) if options.payload else {}
    return _resolution(directory, escalation, action, fields, options.payload, options.rationale)


def _from_person(directory: Path, escalation: str, action: str, rationale: str) -> "HumanResolution":
    """The answer that a person gives to questions, or writes into a draft; RETRY as it is drafted."""
    from specwright.bootstrap.views import reading_project
    from specwright.cli.session.questions import asked, edited
    from specwright.documents.needs import FIX, draft

    with reading_project(directory) as view:
        record = stored_escalation(view, escalation, directory)
        payload = draft(view, record, action)

    def read(fields: dict[str, Any]) -> "HumanResolution":
        return _resolution(directory, escalation, action, fields, action, rationale)

    def read_files(fields: dict[str, Any]) -> "HumanResolution":
        return _fix(directory, escalation, action, Path(fields["directory"]), fields["description"])

    if "fix_artifacts" in payload:
        return asked({"directory": FIX, "description": "..."}, read_files)
    if action == "RETRY":
        return read(payload)
    by_text = all(isinstance(value, str) for value in payload.values())
    return asked(payload, read) if by_text else edited(payload, read)


def _fix(directory: Path, escalation: str, action: str, files: Path, description: str) -> "HumanResolution":
    """The answer that brings corrected files."""
    from specwright.bootstrap.gate_answers import read_fix
    from specwright.bootstrap.views import reading_project

    if action != "PROVIDE_FIX":
        raise InputError("--files belongs to PROVIDE_FIX", where=action, remedy="leave it out")
    if not description.strip():
        raise InputError("a fix needs a word on what it does", remedy='say it: --rationale "..."')
    with reading_project(directory) as view:
        fields = read_fix(view, stored_escalation(view, escalation, directory), files, description)
    return _resolution(directory, escalation, action, fields, str(files))


def _known_action(directory: Path, escalation: str, typed: str) -> str:
    """The action that was typed; what is none is refused, and those that can help this escalation are named."""
    from specwright.bootstrap.views import reading_project
    from specwright.documents.needs import draft
    from specwright.domain.escalation import Action

    action = typed.upper().replace("-", "_")
    if action not in set(Action):
        with reading_project(directory) as view:
            draft(view, stored_escalation(view, escalation, directory), action)
    return action


def _resolution(
    directory: Path, escalation: str, action: str, fields: dict[str, Any], where: str, rationale: str = ""
) -> "HumanResolution":
    from pydantic import ValidationError

    from ship_gate.base.record import validation_messages
    from specwright.domain.escalation import Action, HumanResolution

    if rationale:
        fields = {**fields, "rationale": rationale}
    try:
        return HumanResolution(action=Action(action), payload=fields, escalation_id=escalation)
    except ValidationError as error:
        raise InputError(
            "; ".join(_without_value(line) for line in validation_messages(error)),
            where=where or action,
            remedy=_what_to_type(directory, escalation, action, fields),
        ) from error


def _what_to_type(directory: Path, escalation: str, action: str, fields: dict[str, Any]) -> str:
    if action in _REASON_ALONE and not fields:
        return 'say why: --rationale "..."'
    return _draft_to_fill_in(directory, escalation, action)


def _draft_to_fill_in(directory: Path, escalation: str, action: str) -> str:
    drafting = next_command(f"escalations {escalation}", directory, f"--draft {action}")
    return f"`{drafting}` prints what to fill in"


def _without_value(line: str) -> str:
    """A message without the prefixes of the validation and the value, which is the whole payload."""
    return line.removeprefix("(whole): ").removeprefix("Value error, ").rpartition(", got {")[0] or line


def _read(payload: str, draft: str) -> dict[str, Any]:
    """The fields in a file; `draft` says where one to fill in comes from."""
    try:
        data = sys.stdin.buffer.read(_LARGEST_PAYLOAD + 1) if payload == "-" else Path(payload).read_bytes()
    except OSError as error:
        raise InputError(
            f"the payload cannot be read: {error.strerror}", where=payload, remedy=draft
        ) from error
    if len(data) > _LARGEST_PAYLOAD:
        raise InputError(f"the payload is longer than {_LARGEST_PAYLOAD:,} bytes", where=payload)
    if not data.strip():
        raise InputError("the payload is empty", where=payload, remedy=draft)
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the payload is no JSON: {error}", where=payload, remedy=draft) from error
    if not isinstance(fields, dict):
        raise InputError("the payload is no JSON object", where=payload, remedy=draft)
    return cast("dict[str, Any]", fields)


def stored_escalation(view: "ProjectView", wanted: str, directory: Path) -> "EscalationArtifact":
    """The record of an escalation.

    Raises:
        InputError: there is none of that id.
    """
    if Path(wanted).name != wanted or not view.escalations.exists(wanted):
        raise InputError(
            f"there is no escalation {wanted}",
            where=str(directory),
            remedy=did_you_mean(wanted, view.escalations.ids())
            + f"`{next_command('escalations', directory)}` lists those that wait",
        )
    return view.escalations.escalation(wanted)
