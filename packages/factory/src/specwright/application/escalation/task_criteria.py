"""The acceptance criteria that a failed module answers to, for the person who decides about it (design: escalation)."""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ship_gate.base.text import one_line
from specwright.application.factory import ProjectView
from specwright.application.history.criterion_checks import read_check
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import Task, task_at
from specwright.domain.debate.debate import CONTRACTS
from specwright.domain.escalation import CRITERION, RELEASE, EscalationArtifact

_NUMBERS = re.compile(r"\bcriteri(?:on|a)\s+(\d+(?:(?:,\s*|\s+and\s+)\d+)*)", re.IGNORECASE)


class TaskCriterion(NamedTuple):
    """A criterion of a halted task.

    Args:
        number: Of the criterion in its task.
        text: Its sentence.
        is_cited: Whether a finding names it, or what shows it.
    """

    number: int
    text: str
    is_cited: bool


class _Check(NamedTuple):
    """What is to show a criterion: the place in the contract of a module, or a test of it."""

    criterion: int
    module: str
    shows: str


def task_criteria(view: ProjectView, escalation: EscalationArtifact) -> list[TaskCriterion]:
    """The criteria of a halted task: those that findings cite come first, then those that a failed module is to show, then
    the others. None where the decision itself quotes the criteria that it is about.

    Args:
        view: The project.
        escalation: The halt.
    """
    if escalation.details.get("cause") in (CRITERION, RELEASE):
        return []
    task, failed = task_at(view, escalation.task_id), [*escalation.details.get("failed", {})]
    checks = [one for one in _checks(view, escalation, task) if one.module in failed]
    findings = [f"{one.invariant} {one.evidence}" for one in escalation.failed_invariants]
    cited = {*_cited(task, findings), *_cited_by_checks(checks, findings), *_tried(escalation, findings)}
    shown = {*(one.criterion for one in checks), *_naming(failed, task)}
    rows = [
        TaskCriterion(number, one_line(text), number in cited)
        for number, text in enumerate(task.definition.acceptance_criteria, start=1)
    ]
    return sorted(rows, key=lambda row: (not row.is_cited, row.number not in shown))


def _naming(modules: Iterable[str], task: Task) -> Iterator[int]:
    """Those whose sentence names a module."""
    for number, text in enumerate(task.definition.acceptance_criteria, start=1):
        if any(re.search(rf"\b{re.escape(name)}\b", text) for name in modules):
            yield number


def _cited(task: Task, findings: Iterable[str]) -> Iterator[int]:
    """Those that findings name by their number or their text, or by an approved example of them."""
    acceptance = task.definition.acceptance
    for said in findings:
        for numbers in _NUMBERS.findall(said):
            yield from map(int, re.findall(r"\d+", numbers))
        for number, text in enumerate(task.definition.acceptance_criteria, start=1):
            if text in said:
                yield number
        for item in acceptance.items if acceptance else ():
            if item.heading in said:
                yield from item.criteria


def _cited_by_checks(checks: Iterable[_Check], findings: Collection[str]) -> Iterator[int]:
    """Those of whose statement in the contract, or of whose test, a finding speaks."""
    for check in checks:
        place = re.compile(rf"(?<![\w/]){re.escape(check.shows)}(?!\w)")
        if any(place.search(said) for said in findings):
            yield check.criterion


def _tried(escalation: EscalationArtifact, findings: Collection[str]) -> Iterator[int]:
    """Those that a falsifying test tries of which a finding speaks."""
    for challenge in escalation.debate_trail.challenges:
        for tried in challenge.falsifying_tests:
            if any(re.search(rf"\b{tried.name}\b", said) for said in findings):
                yield from tried.criteria


def _checks(view: ProjectView, escalation: EscalationArtifact, task: Task) -> Iterator[_Check]:
    """What the last proposals of the plan and of the failed modules say that shows each criterion."""
    resume = escalation.details.get("resume", {})
    if "plan_id" not in resume:
        return
    names = [*load_plan(view.artifacts, task.folder, resume["plan_id"]).contracts]
    for name, debate in resume.get("debates", {}).items():
        proposals = view.debates.records(debate).history().proposals
        for said in proposals[-1].acceptance_checks if proposals else ():
            for number, module, shows in read_check(said, names, "" if name == CONTRACTS else name):
                yield _Check(number, module, shows)
