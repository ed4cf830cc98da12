"""An escalation for a person on one screen: what failed, the recommended answer, the others (design: escalation,
command-line)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specwright.application.escalation.actions import suited_actions
from specwright.application.factory import ProjectView
from specwright.application.store import layout
from specwright.cli.pages.answers import (
    DECISIONS,
    OTHER_SPEC,
    decision_command,
    meaning,
    payload_draft,
    recommended_command,
    steps,
)
from specwright.cli.pages.findings import FindingsPage, FindingText
from specwright.cli.pages.page import Page, brief
from specwright.cli.terminal.output import counted, next_command
from specwright.domain.debate.falsifying import is_counterexample
from specwright.domain.escalation.escalation import EscalationArtifact
from specwright.domain.escalation.resolutions import RELEASE, Action

_CAUSES = {
    "planning": "no sound plan was made",
    "contracts": "the contracts were not settled",
    "plan": "the plan itself is at fault",
    "modules": "modules could not be shipped",
    "exception": "a role found the contract of a dependency wrong",
    "journal": "the run cannot be repeated",
    "stalled": "it waits for a task that was abandoned",
    "release": "the product breaks what was approved; nothing waits for the answer",
    "criterion": "no test can show an acceptance criterion; nothing waits for the answer",
}

_LINES = 8
"""Of what is said of one failure, and of what it lists; the record has the rest."""

_SAID = 160
"""Characters of what a model said last."""

_FAILURES = 3
"""Failures that are shown; the record has the rest."""


def add_short_page(
    page: Page, view: ProjectView, escalation: EscalationArtifact, directory: Path, mark: str = ""
) -> None:
    """What waits, since when and why, and what to type."""
    page.line(f"{mark}{headline(view, escalation)}")
    page.row("since", escalation.created_at)
    page.row("cause", cause(escalation))
    page.row("decide", escalation.minimal_decision_required)
    add_last_answer(page, escalation)
    if name := escalation.details.get("exception_id"):
        page.row("recommended", f"decide about {name}: approve, reject or defer the change that it proposes")
        page.copy("type", recommended_command(view, escalation, directory))
    else:
        recommended = Action(escalation.recommended_resolution)
        page.row("recommended", f"{recommended}: {meaning(escalation, recommended)}")
        for number, step in enumerate(steps(view, escalation, recommended, directory)):
            page.copy("then" if number else "type", step)
    page.copy("whole page", next_command(f"escalations {escalation.escalation_id}", directory))


def escalation_page(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> Page:
    """What failed, once; the recommended answer; what each other one does and costs. It fits a screen."""
    page = Page()
    page.heading(headline(view, escalation))
    page.prose(escalation.minimal_decision_required, 2)
    page.heading("What failed")
    _add_failures(page, view, escalation)
    page.heading("Recommended")
    recommended = None if "exception_id" in escalation.details else Action(escalation.recommended_resolution)
    if recommended is None:
        add_decisions(page, escalation.details["exception_id"], directory)
    else:
        page.prose(f"{recommended}: {meaning(escalation, recommended)}", 2)
        for step in steps(view, escalation, recommended, directory):
            page.line(f"    {step}")
    page.heading("Other answers")
    if escalation.details.get("cause") == RELEASE:
        _add_other_products(page, directory)
    for action in suited_actions(view, escalation):
        if action is not recommended:
            page.labelled(f"  {action}", meaning(escalation, action), labels=len(Action.APPROVE_OVERRIDE) + 4)
    name = escalation.escalation_id
    page.line(f"    {next_command(f'resolve {name} ACTION', directory)}")
    page.prose(
        "In a terminal it asks for what the answer needs; elsewhere it takes --payload answer.json:", 2
    )
    page.line(f"    {next_command(f'escalations {name}', directory, '--draft ACTION > answer.json')}")
    page.line()
    page.line(next_command(f"escalations {name}", directory, "--full"), "Everything that was said: ")
    return page


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
        "command": recommended_command(view, escalation, directory),
    }


def headline(view: ProjectView, escalation: EscalationArtifact) -> str:
    """Its id and its task."""
    state = view.projection.state
    entry = state.tasks.get(escalation.task_id) if state else None
    task = f"{entry.spec_task_id}  {brief(entry.task)}" if entry else escalation.task_id
    return f"{escalation.escalation_id}  {task}"


def cause(escalation: EscalationArtifact) -> str:
    """Why the task halted, in a few words."""
    kind = str(escalation.details.get("cause", ""))
    names = ", ".join(escalation.details.get("failed", {}))
    return f"{_CAUSES.get(kind, kind)}: {names}" if names else _CAUSES.get(kind, kind)


def record_file(view: ProjectView, escalation: EscalationArtifact) -> Path:
    """Where the record is."""
    folder, _, name = layout.escalation(escalation.escalation_id).rpartition("/")
    return view.store.directory(folder) / name


def failures(escalation: EscalationArtifact) -> Iterator[FindingText]:
    """What failed, each once: that a module could not ship is left out where it repeats what was found of it."""
    rows = [*escalation.failed_invariants]
    ships = {f"{name} ships": why for name, why in escalation.details.get("failed", {}).items()}
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        is_told = following is not None and following.evidence in row.evidence
        if not (row.invariant in ships and is_told):
            yield FindingText(row.invariant, "", row.evidence)


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
    shown = [one for one in found if not is_counterexample(one.code)]
    if tests := sorted((one for one in found if is_counterexample(one.code)), key=_size):
        shown.insert(0, tests[0])
    file = str(record_file(view, escalation))
    FindingsPage(page, 2, _LINES, file).add(shown[:_FAILURES])
    if more := len(found) - len(shown[:_FAILURES]):
        page.prose(f"and {counted(more, 'more failure')} in {file}", 2)
    add_last_answer(page, escalation)


def _size(failure: FindingText) -> int:
    return len(failure.message)
