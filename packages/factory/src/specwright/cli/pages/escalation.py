"""An escalation for a person on one screen: what failed, the recommended answer, the others (design: escalation,
command-line)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ship_gate.terminal.findings import FindingsPage, FindingText
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import Page, brief
from specwright.application.escalation.actions import suited_actions
from specwright.application.escalation.last_answers import contract_sentences, last_answers
from specwright.application.escalation.payloads import DECISIONS, meaning, payload_draft
from specwright.application.escalation.retries import recommended_action
from specwright.application.escalation.summary import cause, failures, last_words, shown_failures
from specwright.application.escalation.task_criteria import TaskCriterion, task_criteria
from specwright.application.factory import ProjectView
from specwright.application.interface_change import shown_sha256
from specwright.application.store import layout
from specwright.cli.pages.answers import (
    OTHER_SPEC,
    command_for_same_model,
    decision_command,
    recommended_command,
    steps,
)
from specwright.cli.terminal.output import next_command
from specwright.domain.escalation import RELEASE, Action, EscalationArtifact

_LINES = 8
"""Of what is said of one failure, and of what it lists; the record has the rest."""

_SAID = 160
"""Characters of what a model said last."""

_FAILURES = 3
"""Failures that are shown; the record has the rest."""

_SCREEN = 40
"""Lines of the page at 80 columns; the acceptance criteria take what the rest of it leaves."""
_GAP = 1


def add_short_page(
    page: Page, view: ProjectView, escalation: EscalationArtifact, directory: Path, mark: str = ""
) -> None:
    """What waits, since when and why, and what to type."""
    page.line(f"{mark}{headline(view, escalation)}")
    page.row("since", escalation.created_at)
    page.row("cause", cause(escalation))
    page.row("decide", escalation.minimal_decision_required)
    page.rows("last word", last_words(escalation))
    add_last_answer(page, escalation)
    if name := escalation.details.get("exception_id"):
        page.row("recommended", f"decide about {name}: approve, reject or defer the change that it proposes")
        page.copy("type", recommended_command(view, escalation, directory))
    else:
        recommended = recommended_action(escalation)
        page.row("recommended", f"{recommended}: {meaning(escalation, recommended)}")
        for number, step in enumerate(steps(view, escalation, recommended, directory)):
            page.copy("then" if number else "type", step)
        if other := command_for_same_model(escalation, recommended, directory):
            page.copy("or", other)
    page.copy("whole page", next_command(f"escalations {escalation.escalation_id}", directory))


def escalation_page(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> Page:
    """What failed, once, with the criteria that it is about; the recommended answer; what each other one does and costs. It
    fits a screen."""
    page, rest = Page(), Page()
    page.heading(headline(view, escalation))
    page.prose(escalation.minimal_decision_required, 2)
    for said in last_words(escalation):
        page.prose(said, 2)
    page.heading("What failed")
    _add_failures(page, view, escalation)
    said_last = Page()
    for said in last_answers(view, escalation):
        said_last.prose(said, 2, 4)
    _add_answers(rest, view, escalation, directory)
    room = _SCREEN - page.height - said_last.height - _GAP - rest.height
    _add_criteria(page, task_criteria(view, escalation), room)
    page.add(said_last)
    page.line()
    page.add(rest)
    return page


def _add_criteria(page: Page, criteria: Sequence[TaskCriterion], lines: int) -> None:
    """As many criteria as fit the lines that are left; the first one in any case."""
    for place, one in enumerate(criteria):
        row, left = Page(), len(criteria) - place
        row.prose(f"Criterion {one.number}: {one.text}", 2, 4)
        lines -= row.height
        if place and lines < (left > 1):
            page.line(f"  and {left} more in the task file, which --full names")
            return
        page.add(row)


def _add_answers(page: Page, view: ProjectView, escalation: EscalationArtifact, directory: Path) -> None:
    """The recommended answer with its commands, then what each other one does and costs."""
    page.heading("Recommended")
    recommended = None if "exception_id" in escalation.details else recommended_action(escalation)
    if recommended is None:
        add_decisions(page, escalation.details["exception_id"], directory)
    else:
        page.prose(f"{recommended}: {meaning(escalation, recommended)}", 2)
        for step in steps(view, escalation, recommended, directory):
            page.line(f"    {step}")
        if other := command_for_same_model(escalation, recommended, directory):
            page.line(f"    or  {other}")
    page.heading("Other answers")
    if escalation.details.get("cause") == RELEASE:
        _add_other_products(page, directory)
    for action in suited_actions(view, escalation):
        if action is not recommended:
            page.labelled(f"  {action}", meaning(escalation, action), labels=len(Action.APPROVE_OVERRIDE) + 4)
    name = escalation.escalation_id
    page.line(f"    {next_command(f'resolve {name} ACTION', directory)}")
    page.prose("In a terminal it asks for the rest; elsewhere add --payload answer.json:", 2)
    page.line(f"    {next_command(f'escalations {name}', directory, '--draft ACTION > answer.json')}")
    page.line(next_command(f"escalations {name}", directory, "--full"), "Everything that was said: ")


def _add_other_products(page: Page, directory: Path) -> None:
    """What mends a product that breaks what was approved, beside an answer (design: executable-spec)."""
    page.prose("report: have one module mended; costs its challenge and its ruling", 2)
    page.line(f"    {next_command('report example.md', directory)}")
    page.prose("change: ask for another spec; costs the tasks that it changes", 2)
    page.line(f"    {next_command('change', directory, OTHER_SPEC)}")


def escalation_document(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> dict[str, Any]:
    """The record, with the actions that suit it, a payload for each, and the command of the recommended one."""
    actions = suited_actions(view, escalation)
    return {
        **escalation.to_json(),
        "actions": {action.value: payload_draft(view, escalation, action) for action in actions},
        "sha256": shown_sha256(view, escalation.escalation_id),
        "command": recommended_command(view, escalation, directory),
    }


def headline(view: ProjectView, escalation: EscalationArtifact) -> str:
    """Its id and its task."""
    state = view.projection.state
    entry = state.tasks.get(escalation.task_id) if state else None
    task = f"{entry.spec_task_id}  {brief(entry.task)}" if entry else escalation.task_id
    return f"{escalation.escalation_id}  {task}"


def record_file(view: ProjectView, escalation: EscalationArtifact) -> Path:
    """Where the record is."""
    folder, _, name = layout.escalation(escalation.escalation_id).rpartition("/")
    return view.store.directory(folder) / name


def add_decisions(page: Page, name: str, directory: Path) -> None:
    """The decisions about an interface change exception (design: interface-changes)."""
    for decision, does in DECISIONS.items():
        page.row(decision, does)
        page.copy("type", decision_command(name, decision, directory))


def add_last_answer(page: Page, escalation: EscalationArtifact) -> None:
    """What a model said last where none of its answers could be used and the gate saw nothing of them."""
    answers = escalation.details.get("raw_answers", [])
    if answers and not escalation.details.get("gate"):
        page.row("it said", brief(answers[-1], _SAID))


def _add_failures(page: Page, view: ProjectView, escalation: EscalationArtifact) -> None:
    """The first failures; of many counterexamples the smallest."""
    if not escalation.failed_invariants:
        page.prose("nothing was tried", 2)
    found = [*failures(escalation)]
    shown = [FindingText(one.invariant, "", one.evidence) for one in shown_failures(escalation)]
    file = str(record_file(view, escalation))
    FindingsPage(page, 2, _LINES, file).add(shown[:_FAILURES])
    texts = (f"{one.code} {one.message}" for one in shown[:_FAILURES])
    for said in contract_sentences(view, escalation, texts):
        page.prose(said, 2, 4)
    if more := len(found) - len(shown[:_FAILURES]):
        page.prose(f"and {counted(more, 'more failure')} in {file}", 2)
    add_last_answer(page, escalation)
