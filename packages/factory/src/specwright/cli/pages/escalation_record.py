"""Everything about an escalation: its one-screen page, the modules, the debates, the raw answers (design: escalation)."""

import json
from pathlib import Path

from ship_gate.terminal.findings import FindingsPage, FindingText
from ship_gate.terminal.page import Page, brief
from specwright.application.escalation.summary import cause, failures
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import debates_over
from specwright.application.store import layout
from specwright.cli.pages.debate import add_debate
from specwright.cli.pages.escalation import escalation_page, record_file
from specwright.domain.escalation import EscalationArtifact

_OBSERVED = 400
"""Characters of what the gate saw of a module; the file has the rest."""

_LINES_SHOWN = 40
"""Of a raw answer; the file has the rest."""


def full_page(view: ProjectView, escalation: EscalationArtifact, directory: Path) -> Page:
    """The decision first, then failures in full, modules, debates and raw answers."""
    page = escalation_page(view, escalation, directory)
    page.heading("Record")
    page.row("since", escalation.created_at)
    page.row("cause", cause(escalation))
    page.row("context", escalation.resolution_context)
    page.copy("task file", str(directory / escalation.task_ref))
    page.copy("record", str(record_file(view, escalation)))
    page.heading("Failures in full")
    FindingsPage(page, 2).add(FindingText(one.invariant, "", one.evidence) for one in failures(escalation))
    _add_modules(page, view, escalation)
    for debate in debates_over(view, escalation.debate_trail.proposals):
        add_debate(
            page, "Contracts" if debate.over == "contracts" else f"Implementation of {debate.over}", debate
        )
    _add_raw_answers(page, view, escalation)
    return page


def _add_modules(page: Page, view: ProjectView, escalation: EscalationArtifact) -> None:
    """The three groups of docs/design.md#engineering, if the plan got as far as modules."""
    details = escalation.details
    if "failed" not in details:
        return
    observed = (
        f"{name}: {json.dumps(findings, ensure_ascii=False)}"
        for name, findings in details.get("gate", {}).items()
    )
    page.heading("Modules")
    reasons = ((name, reason.partition("\n")[0]) for name, reason in details["failed"].items())
    page.rows("failed", (f"{name}: {reason}" for name, reason in reasons))
    page.rows("abandoned", details.get("abandoned") or ["none"])
    page.rows("shipped", [f"{name}  {ref}" for name, ref in details.get("shipped", {}).items()] or ["none"])
    page.rows("gate saw", (brief(line, _OBSERVED) for line in observed))
    page.copy("drafts", str(view.store.directory(layout.DRAFTS)))


def _add_raw_answers(page: Page, view: ProjectView, escalation: EscalationArtifact) -> None:
    """What was answered in vain; the same answer once."""
    answers: list[str] = escalation.details.get("raw_answers", [])
    times = {answer: answers.count(answer) for answer in answers}
    for number, (answer, count) in enumerate(times.items(), start=1):
        lines = answer.splitlines()
        page.heading(f"Raw answer {number} of {len(times)}" + (f", given {count} times" if count > 1 else ""))
        page.rows("", lines[:_LINES_SHOWN])
        if len(lines) > _LINES_SHOWN:
            rest = len(lines) - _LINES_SHOWN
            page.row("", f"... {rest} more lines in {record_file(view, escalation)}")
