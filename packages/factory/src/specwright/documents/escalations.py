"""Documents about escalations (design: escalation, command-line)."""

from pathlib import Path
from typing import Any, Self

from ship_gate.base.record import Record
from specwright.application.criteria import open_questions
from specwright.application.escalation.halted import HaltedTask, recommended_action
from specwright.application.escalation.offers import DECISIONS, meaning, payload_draft, suited_actions
from specwright.application.factory import ProjectView
from specwright.application.interface_change import shown_sha256
from specwright.application.store import layout
from specwright.documents.commands import OTHER_SPEC, next_command
from specwright.documents.needs import Need, decision_command, escalation_need
from specwright.domain.base.document import Document
from specwright.domain.escalation import RELEASE, EscalationArtifact, FailedInvariant

FAILURES = 3
"""Failures whose statements of the contract are shown."""


_OTHER_PRODUCTS = (
    ("report example.md", "have one module corrected; costs its challenge and its ruling", ""),
    ("change", "ask for another spec; costs the tasks that it changes", OTHER_SPEC),
)
"""What answers a failed release beside an action: the command, what it does, and its arguments."""


class Answer(Record):
    """An answer, what it does and costs, and the command that gives it; empty where that of all answers does."""

    answer: str
    means: str
    command: str = ""


class Escalation(EscalationArtifact, Document, schema="escalation"):
    """An escalation for the person who decides about it.

    Args:
        actions: A payload to fill in for each action that suits it.
        sha256: Of what is shown.
        command: That gives the recommended answer.
        need: What waits, and the commands that answer it.
        failures: What failed, each once, in the order in which a person reads them.
        statements: Of the contract, where one of the first failures cites it.
        answers: What can be answered, the recommended one left out.
        file: The record.
        drafts: The directory of failed modules.
    """

    actions: dict[str, dict[str, Any]]
    sha256: str
    command: str
    need: Need
    failures: list[FailedInvariant]
    statements: list[str]
    answers: list[Answer]
    file: str
    drafts: str

    @classmethod
    def of(cls, view: ProjectView, record: EscalationArtifact, directory: Path) -> Self:
        """An escalation of a project."""
        name, shown, actions = record.escalation_id, record.shown_failures, suited_actions(view, record)
        halted = HaltedTask(view, record)
        need = escalation_need(view, record, directory, urgent=name not in open_questions(view))
        folder, _, file = layout.escalation(name).rpartition("/")
        return cls(
            **dict(record),
            actions={action.value: payload_draft(view, record, action) for action in actions},
            sha256=shown_sha256(view, name),
            command=need.steps[-1],
            need=need,
            failures=shown,
            statements=halted.contract_sentences(
                f"{one.invariant} {one.evidence}" for one in shown[:FAILURES]
            ),
            answers=_answers(view, record, directory),
            file=str(view.store.directory(folder) / file),
            drafts=str(view.store.directory(layout.DRAFTS)),
        )


def _answers(view: ProjectView, record: EscalationArtifact, directory: Path) -> list[Answer]:
    """What can be answered beside what is recommended; of an exception the decisions about it first."""
    exception: str = record.details.get("exception_id", "")
    recommended = None if exception else recommended_action(record)
    return [
        *(
            Answer(answer=name, means=means, command=decision_command(exception, name, directory))
            for name, means in (DECISIONS.items() if exception else ())
        ),
        *(
            Answer(answer=command.split()[0], means=means, command=next_command(command, directory, rest))
            for command, means, rest in (_OTHER_PRODUCTS if record.cause == RELEASE else ())
        ),
        *(
            Answer(answer=action.value, means=meaning(record, action))
            for action in suited_actions(view, record)
            if action is not recommended
        ),
    ]


class Escalations(Document, schema="escalations"):
    """What waits for a person."""

    escalations: list[Escalation]
