"""The acceptance criteria that a failed module answers to, for the person who decides about it (design: escalation)."""

from collections.abc import Iterator

from ship_gate.base.record import Record
from ship_gate.base.text import one_line
from specwright.application.factory import ProjectView
from specwright.application.history.criterion_evidence import read_check
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import Task, task_at
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.escalation import CRITERION, RELEASE, EscalationArtifact


class TaskCriterion(Record):
    """A criterion of a halted task.

    Args:
        number: Of the criterion in its task.
        text: Its sentence.
    """

    number: int
    text: str


def task_criteria(view: ProjectView, escalation: EscalationArtifact) -> list[TaskCriterion]:
    """The criteria of a halted task: first those that a failed module is to show, then the others. None where the decision
    itself quotes the criteria that it is about.

    Args:
        view: The project.
        escalation: The halt.
    """
    if escalation.details.get("cause") in (CRITERION, RELEASE):
        return []
    task = task_at(view, escalation.task_id)
    shown = {*_shown_by_failed(view, escalation, task)}
    rows = [
        TaskCriterion(number=number, text=one_line(text))
        for number, text in enumerate(task.definition.acceptance_criteria, start=1)
    ]
    return sorted(rows, key=lambda row: row.number not in shown)


def _shown_by_failed(view: ProjectView, escalation: EscalationArtifact, task: Task) -> Iterator[int]:
    """The criteria that a failed module shows by the last proposals of the plan and of the module."""
    resume, failed = escalation.details.get("resume", {}), escalation.details.get("failed", {})
    if "plan_id" not in resume:
        return
    names = [*load_plan(view.artifacts, task.folder, resume["plan_id"]).contracts]
    for name, debate in resume.get("debates", {}).items():
        proposals = view.debates.records(debate).history().proposals
        for said in proposals[-1].acceptance_checks if proposals else ():
            for number, module, _ in read_check(said, names, "" if name == CONTRACTS else name):
                if module in failed:
                    yield number
