"""An escalation or an exception for the person who decides about it (design: escalation, interface-changes, studio)."""

import shlex
from typing import NamedTuple

from specwright.application.escalation.actions import suited_actions
from specwright.application.escalation.fix import failed_drafts
from specwright.application.escalation.last_answers import contract_sentences, last_answers
from specwright.application.escalation.payloads import DECISIONS, meaning, payload_draft
from specwright.application.escalation.retries import recommended_action
from specwright.application.escalation.summary import cause, shown_failures
from specwright.application.escalation.task_criteria import TaskCriterion, task_criteria
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import DebateRounds, debates_over
from specwright.application.interface_change import KnownException, exceptions, shown_sha256
from specwright.domain.escalation import (
    Action,
    EscalationArtifact,
    FailedInvariant,
    ResolutionRecord,
    payload_schema,
)
from specwright.domain.tasks.project_state import TaskEntry
from specwright.errors import InputError, InputErrors, RefusedErrors
from specwright.studio.forms import Field, fields_of

_FAILURES = 5


class Answer(NamedTuple):
    """An answer that the escalation takes.

    Args:
        action: Its name.
        means: What it does and costs.
        fields: Of its form.
        recommended: Whether the factory recommends it.
        command: That gives it.
    """

    action: str
    means: str
    fields: list[Field]
    recommended: bool
    command: str


class EscalationPage(NamedTuple):
    """An escalation for a person.

    Args:
        record: It.
        entry: Of its task, if that is known.
        cause: In words.
        failures: What failed, the smallest counterexample first.
        more: How many further failures the record has.
        answers: What can be answered, the recommended one first; none if it does not wait.
        decided: The answer that was given.
        waits: Whether it waits.
        sha256: Of what is shown.
        debates: That were held.
        said: What a model said last where no answer of it could be used.
        proposed: What the Proposer answered last of each failed module.
        contract: What the contract says, where a failure cites it.
        criteria: Of the task, those that failures cite first.
    """

    record: EscalationArtifact
    entry: TaskEntry | None
    cause: str
    failures: list[FailedInvariant]
    more: int
    answers: list[Answer]
    decided: ResolutionRecord | None
    waits: bool
    sha256: str
    debates: list[DebateRounds]
    said: str
    proposed: list[str]
    contract: list[str]
    criteria: list[TaskCriterion]


class ExceptionPage(NamedTuple):
    """An interface change exception for a person: the record with its decisions, what each decision does, the hash."""

    known: KnownException
    decisions: dict[str, str]
    delta: list[tuple[str, str]]
    waits: bool
    sha256: str


def escalation_page(view: ProjectView, name: str, directory: str) -> EscalationPage:
    """An escalation by its id.

    Raises:
        InputError: there is none.
    """
    record = view.escalations.escalation(name)
    state, decided = view.projection.state, view.projection.resolutions.get(name)
    open_ = _is_open(view, record) and decided is None
    shown = shown_failures(record)
    answers = [_answer(view, record, action, directory) for action in suited_actions(view, record)]
    raw = record.details.get("raw_answers", [])
    return EscalationPage(
        record,
        state.tasks.get(record.task_id) if state else None,
        cause(record),
        shown[:_FAILURES],
        len(shown) - len(shown[:_FAILURES]),
        sorted(answers, key=lambda one: not one.recommended) if open_ else [],
        decided,
        open_,
        shown_sha256(view, name),
        debates_over(view, record.debate_trail.proposals),
        str(raw[-1]) if raw and not record.details.get("gate") else "",
        last_answers(view, record),
        contract_sentences(view, record, (f"{one.invariant} {one.evidence}" for one in shown[:_FAILURES])),
        task_criteria(view, record),
    )


def _is_open(view: ProjectView, record: EscalationArtifact) -> bool:
    name, state = record.escalation_id, view.projection.state
    asked = name in view.projection.questions or name in view.projection.failed_releases
    return asked or (state is not None and any(e.escalation_ref == name for e in state.tasks.values()))


def _answer(view: ProjectView, record: EscalationArtifact, action: Action, directory: str) -> Answer:
    draft = payload_draft(view, record, action)
    if action is Action.PROVIDE_FIX:
        draft = _with_files(view, record, draft)
    fields = fields_of(payload_schema(action), draft)
    return Answer(
        action.value,
        meaning(record, action),
        fields,
        action is recommended_action(record) and "exception_id" not in record.details,
        f"specwright resolve {record.escalation_id} {action} {shlex.quote(directory)} --payload answer.json",
    )


def _with_files(view: ProjectView, record: EscalationArtifact, draft: dict[str, object]) -> dict[str, object]:
    """The draft of a fix with the files that are to be mended."""
    try:
        drafts = failed_drafts(view, record)
    except (*InputErrors, *RefusedErrors):
        return draft
    name, first = next(iter(drafts.items()))
    files = {path: data.decode(errors="replace") for path, data in first.files.items()}
    return {**draft, "fix_artifacts": files, "module": name}


def exception_page(view: ProjectView, name: str) -> ExceptionPage:
    """An interface change exception by its id.

    Raises:
        InputError: there is none.
    """
    known = next((one for one in exceptions(view) if one.record.exception_id == name), None)
    if known is None:
        raise InputError(
            f"there is no exception {name[:40]}", remedy="`specwright exceptions list` lists them"
        )
    delta = known.record.proposed_contract_delta.to_json().items()
    return ExceptionPage(
        known,
        DECISIONS,
        [(field.replace("_", " "), str(value)) for field, value in delta if value],
        bool(known.escalation),
        shown_sha256(view, name),
    )
