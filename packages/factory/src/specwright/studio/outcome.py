"""What came of an action: it was carried out, was refused, or somebody else was first (design: studio)."""

from typing import NamedTuple

from specwright.application.factory import ProjectView
from specwright.application.interface_change import shown_sha256
from specwright.application.stages.product import draft_history
from specwright.domain.escalation import Action, ResolutionRecord, payload_schema
from specwright.errors import SpecwrightErrors
from specwright.studio.actions import FormFields
from specwright.studio.forms import value_of
from specwright.studio.jobs import Failure, Job
from specwright.studio.projects import StudioProject


class ActionOutcome(NamedTuple):
    """What is known of an action.

    Args:
        known: Whether it is known what came of it.
        failure: Why it was refused.
        decided: What somebody else decided about the escalation.
    """

    known: bool
    failure: Failure | None = None
    decided: ResolutionRecord | None = None


def outcome_of(project: StudioProject, action: str, filled: FormFields, job: Job) -> ActionOutcome:
    """What is known of an action by now."""
    running = job.is_running
    failure = None if running else job.failure
    record = _decided(project, filled) if action == "resolve" else None
    if record is not None and not _is_same(record, filled):
        return ActionOutcome(True, failure, record)
    if not running:
        return ActionOutcome(True, failure)
    return ActionOutcome(record is not None or _is_in_log(project, action, filled))


def _decided(project: StudioProject, filled: FormFields) -> ResolutionRecord | None:
    try:
        with project.reading() as view:
            return view.projection.resolutions.get(filled.text("escalation"))
    except SpecwrightErrors:
        return None


def _is_same(record: ResolutionRecord, filled: FormFields) -> bool:
    """Whether the recorded answer is the one that was given here."""
    if record.action.value != filled.text("action"):
        return False
    return record.payload == value_of(payload_schema(Action(record.action)), filled.pairs)


def _is_in_log(project: StudioProject, action: str, filled: FormFields) -> bool:
    """Whether a decision that was taken here is recorded, so that what the command does now is the run."""
    if action not in _RECORDED:
        return False
    try:
        with project.reading() as view:
            return _RECORDED[action](view, filled)
    except SpecwrightErrors:
        return False


def _is_approved(view: ProjectView, filled: FormFields) -> bool:
    return not view.projection.awaits_approval and shown_sha256(view) == filled.text("sha256")


def _is_sent_back(view: ProjectView, filled: FormFields) -> bool:
    answers = draft_history(view).answers
    return bool(answers) and answers[-1].text == filled.comments and bool(filled.comments)


_RECORDED = {
    "approve": _is_approved,
    "amend": _is_sent_back,
    "reject": _is_sent_back,
}
"""Whether a decision is recorded, by the action; of the others the end of the command says it."""
