"""Questions about acceptance criteria that no test can show, and the use of the rulings (design: unshown-criteria).

A ruling that sets a criterion aside raises a question to a person. No task waits for the answer. Later roles that judge
the same criterion, and the release, learn of the ruling from the question.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, artifact_id
from specwright.application.announce import announce, review
from specwright.application.context import Row
from specwright.application.factory import Factory, ProjectView
from specwright.application.raising import Halt, write_escalation
from specwright.application.store.records import DebateHistory
from specwright.application.tasks import Task
from specwright.domain.artifacts import Permission
from specwright.domain.debate.records import Adjudication
from specwright.domain.escalation import (
    CRITERION,
    Action,
    DebateTrail,
    EscalationArtifact,
    ResolutionRecord,
    RewordCriterion,
)
from specwright.domain.modules.release import UnshownInRelease
from specwright.ports import RunEvent, Scope


class CriterionRuling(NamedTuple):
    """A ruling that set a criterion aside: its reference, and a text with the person's answer."""

    ref: str
    text: str

    @property
    def row(self) -> Row:
        """The row in a context pack."""
        return self.ref, Permission.SUMMARY_ONLY, "its ruling on a criterion"


def open_questions(view: ProjectView) -> list[str]:
    """Return the unanswered questions that no task waits for, oldest first: those about criteria, and one about the last
    release if it breaks approved examples."""
    projection = view.projection
    last = projection.releases[-1] if projection.releases else ""
    failed = [name for name, one in projection.failed_releases.items() if one.details["release_id"] == last]
    return [name for name in (*projection.questions, *failed) if name not in projection.resolutions]


def raise_questions(factory: Factory, task: Task, ruling: Adjudication, history: DebateHistory) -> list[str]:
    """Ask a person about each criterion that a ruling sets aside; no task waits for the answers.

    Returns:
        The ids of the questions.
    """
    names: list[str] = []
    for one in ruling.set_aside:
        scope = factory.journal.scope(f"{ruling.adjudication_id}/criterion-{one.criterion}")
        name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
        text = task.definition.acceptance_criteria[one.criterion - 1]
        trail = DebateTrail(
            proposals=list(history.proposals[-1:]),
            challenges=list(history.challenges[-1:]),
            adjudications=[ruling],
        )
        why = Halt(
            cause=CRITERION,
            reason=one.reason,
            decision=f"Criterion {one.criterion} of {task.entry.spec_task_id} cannot be shown: {text}",
            recommended=Action.ACCEPT_UNSHOWN,
            context=f"The Arbiter set it aside: {one.reason} Nothing waits for your answer.",
            failed=[(text, one.reason)],
            details={
                "criterion": one.criterion,
                "text": text,
                "reason": one.reason,
                "ruling": ruling.adjudication_id,
                "run": task.run,
            },
        )
        sha256 = write_escalation(factory, task, why, name, now, trail)
        announce(factory, scope, [review("escalation.raised", sha256, name)])
        factory.progress.note(RunEvent("question", task.entry.spec_task_id, f"{name}: {one.reason}"))
        names.append(name)
    return names


def carried_rulings(
    factory: Factory, task: Task, raised: Sequence[str], place: str
) -> dict[int, CriterionRuling]:
    """Return the rulings on criteria of a task that were set aside, by number, for a role's request.

    Criteria are matched by text, so a ruling stays valid if others change. The answers are journalled, so that a repeated
    request has the same text.

    Args:
        factory: The ports.
        task: The task.
        raised: The questions of this run of the task so far; questions of earlier runs and other tasks count too.
        place: The `run_id` of the role's invocation.
    """
    known = factory.projection.questions
    names = [n for n, q in known.items() if q.details["run"] != task.run]
    criteria, found = task.definition.acceptance_criteria, dict[int, CriterionRuling]()
    questions = [known[name] for name in (*names, *raised) if known[name].details["text"] in criteria]
    if not questions:
        return {}
    ids: JsonValue = [question.escalation_id for question in questions]
    answers = factory.journal.scope(f"{place}/rulings").recall(
        "tool", {"tool": "rulings", "questions": ids}, lambda: [_answer(factory, q) for q in questions]
    )
    for question, answer in zip(questions, cast(list[str], answers), strict=True):
        number, details = criteria.index(question.details["text"]) + 1, question.details
        text = f"set aside by the Arbiter: {details['reason']}{answer and f' The person: {answer}'}"
        found[number] = CriterionRuling(f"{details['ruling']}@1.0.0", text)
    return found


def unshown_in_release(factory: Factory, scope: Scope, task_ids: Sequence[str]) -> list[UnshownInRelease]:
    """Return the criteria of shipped tasks that the release does not show, with a person's answers; journalled, because an
    answer may come at any time."""
    if not factory.projection.questions:
        return []
    rows = scope.recall(
        "tool", {"tool": "unshown"}, lambda: [one.to_json() for one in unshown_criteria(factory, task_ids)]
    )
    return [UnshownInRelease.model_validate(row) for row in cast(list[JsonValue], rows)]


def unshown_criteria(view: ProjectView, task_ids: Sequence[str]) -> Iterator[UnshownInRelease]:
    """Yield the criteria of tasks that rulings set aside, with a person's present answers."""
    for question in view.projection.questions.values():
        if question.task_id in task_ids:
            details = question.details
            yield UnshownInRelease(
                task_id=question.task_id,
                criterion=details["criterion"],
                text=details["text"],
                ruling=details["ruling"],
                reason=details["reason"],
                question=question.escalation_id,
                answer=_answer(view, question),
            )


def _answer(view: ProjectView, question: EscalationArtifact) -> str:
    """Return a person's answer as a sentence; empty if there is none."""
    record = view.projection.resolutions.get(question.escalation_id)
    return f"{_MEANING[record.action]}: {_reason(record)}" if record else ""


def _reason(record: ResolutionRecord) -> str:
    if record.action is not Action.REWORD_CRITERION:
        return str(record.payload["rationale"])
    payload = RewordCriterion.model_validate(record.payload)
    return f"{payload.reworded_criterion} ({payload.rationale})"


_MEANING = {
    Action.ACCEPT_UNSHOWN: "accepted without being shown",
    Action.DROP_CRITERION: "dropped",
    Action.REWORD_CRITERION: "reworded, for what has not shipped",
}
