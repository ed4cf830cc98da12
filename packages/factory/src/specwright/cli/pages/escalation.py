"""An escalation: short, on one screen, in full; and debates, by round, each claim beside what supports it or speaks
against it (design: escalation, debate, command-line)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ship_gate.findings import Finding
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import FindingsPage, Page, brief
from specwright.application.history.provenance import DebateRounds, ModuleDebates, Round
from specwright.documents.commands import next_command
from specwright.documents.needs import FAILURES, Escalation, Escalations, Need
from specwright.domain.answers import Failure, FaultOf
from specwright.domain.debate.records import Adjudication, Challenge, Proposal
from specwright.domain.escalation import Action, FailedInvariant

_LINES = 8
"""Of what is said of one failure, and of what it lists; the record has the rest."""

_LINES_SHOWN = 40
"""Of a raw answer; the file has the rest."""

_LONGEST_OBSERVATION = 240
"""Of a line that says what code observed; dozens of tests are named in the records."""


def add_need(page: Page, need: Need, mark: str = "") -> None:
    """What waits, since when and why, and what to type."""
    page.line(f"{mark}{need.about}")
    page.row("since", need.since)
    page.row("cause", need.cause)
    page.row("decide", need.question)
    page.rows("last word", need.last_words)
    page.rows("it said", filter(None, [need.answered]))
    page.row("recommended", need.recommended)
    for number, step in enumerate(need.steps):
        page.copy("then" if number else "type", step)
    for other in need.others:
        page.copy("or", other)
    page.copy("whole page", need.page)


def escalations_page(found: Escalations) -> Page:
    """What waits for a person."""
    page = Page()
    for number, one in enumerate(found.escalations):
        if number:
            page.line()
        add_need(page, one.need)
    return page


def escalation_page(escalation: Escalation) -> Page:
    """What failed, once, with what the contract says there; the recommended answer; what each other one does and costs.
    It fits a screen."""
    page, need = Page(), escalation.need
    page.heading(need.about)
    for text in (need.question, *need.last_words):
        page.prose(text, 2)
    page.heading("What failed")
    _add_failed(page, escalation)
    _add_answers(page, escalation)
    return page


def _add_failed(page: Page, escalation: Escalation) -> None:
    """The first failures; of many counterexamples the smallest."""
    if not escalation.failed_invariants:
        page.prose("nothing was tried", 2)
    most = max(FAILURES, len(escalation.corrections.get("corrections", ())))
    found, shown = escalation.distinct_failures, escalation.failures[:most]
    FindingsPage(page, 2, _LINES, escalation.file).add(_findings(shown))
    for text in escalation.statements:
        page.prose(text, 2, 4)
    if more := len(found) - len(shown):
        page.prose(f"and {counted(more, 'more failure')} in {escalation.file}", 2)
    page.rows("it said", filter(None, [escalation.need.answered]))


def _findings(failures: Sequence[FailedInvariant]) -> Iterator[Finding]:
    return (Finding(one.invariant, "", one.evidence) for one in failures)


def _add_answers(page: Page, escalation: Escalation) -> None:
    """The recommended answer with its commands, then what each other one does and costs."""
    need, name = escalation.need, escalation.escalation_id
    page.heading("Recommended")
    decisions = escalation.answers[:3] if "exception_id" in escalation.details else []
    for one in decisions:
        page.row(one.answer, one.means)
        page.copy("type", one.command)
    if not decisions:
        page.prose(need.recommended, 2)
        for number, command in enumerate([*need.steps, *need.others]):
            page.line(f"    {'or  ' if number >= len(need.steps) else ''}{command}")
    page.heading("Other answers")
    for one in escalation.answers[len(decisions) :]:
        if one.command:
            page.prose(f"{one.answer}: {one.means}", 2)
            page.line(f"    {one.command}")
        else:
            page.labelled(f"  {one.answer}", one.means, labels=len(Action.APPROVE_OVERRIDE) + 4)
    page.line(f"    {next_command(f'resolve {name} ACTION')}")
    page.prose("In a terminal it asks for the rest; elsewhere add --payload answer.json:", 2)
    page.line(f"    {next_command(f'escalations {name}', rest='--draft ACTION > answer.json')}")
    page.line(next_command(f"escalations {name}", rest="--full"), "Everything that was said: ")


def full_page(escalation: Escalation, debates: Sequence[DebateRounds], directory: Path) -> Page:
    """The decision first, then failures in full, modules, debates and raw answers."""
    page = escalation_page(escalation)
    page.heading("Record")
    page.row("since", escalation.created_at)
    page.row("cause", escalation.need.cause)
    page.row("context", escalation.resolution_context)
    page.copy("task file", str(directory / escalation.task_ref))
    page.copy("record", escalation.file)
    page.heading("Failures in full")
    FindingsPage(page, 2).add(_findings(escalation.distinct_failures))
    _add_modules(page, escalation)
    for debate in debates:
        over = "Contracts" if debate.over == "contracts" else f"Implementation of {debate.over}"
        add_debate(page, over, debate)
    _add_raw_answers(page, escalation)
    return page


def _add_modules(page: Page, escalation: Escalation) -> None:
    """The three groups of docs/design.md#engineering, if the plan got as far as modules."""
    details = escalation.details
    if "failed" not in details:
        return
    page.heading("Modules")
    reasons = ((name, reason.partition("\n")[0]) for name, reason in details["failed"].items())
    page.rows("failed", (f"{name}: {reason}" for name, reason in reasons))
    page.rows("abandoned", details.get("abandoned") or ["none"])
    page.rows("shipped", [f"{name}  {ref}" for name, ref in details.get("shipped", {}).items()] or ["none"])
    page.copy("drafts", escalation.drafts)


def _add_raw_answers(page: Page, escalation: Escalation) -> None:
    """What was answered in vain; the same answer once."""
    answers: list[str] = escalation.details.get("raw_answers", [])
    for answer in dict.fromkeys(answers):
        lines = answer.splitlines()
        page.heading(f"Raw answer, given {counted(answers.count(answer), 'time')}")
        page.rows("", lines[:_LINES_SHOWN])
        if len(lines) > _LINES_SHOWN:
            page.row("", f"... {len(lines) - _LINES_SHOWN} more lines in {escalation.file}")


def debate_page(debates: ModuleDebates) -> Page:
    """First the debates over the contracts, then those over the implementation."""
    page = Page()
    page.heading(f"{debates.name}  {debates.module_ref}  {debates.standing}")
    page.prose(debates.purpose)
    for debate in debates.contract_debates:
        add_debate(page, "Contracts", debate)
    for debate in debates.implementation_debates:
        add_debate(page, f"Implementation of {debate.over}", debate)
    if not debates.implementation_debates:
        page.heading("Implementation")
        page.prose("No implementation was proposed.", 2)
    return page


def add_debate(page: Page, title: str, debate: DebateRounds) -> None:
    """One debate, by round."""
    page.heading(f"{title} (debate {debate.debate_id})")
    for one in debate.rounds:
        page.line(f"  Round {one.number}: {_outcome(one)}")
        _add_proposal(page, one.proposal)
        if one.challenge:
            _add_challenge(page, one.challenge)
        if one.adjudication:
            _add_ruling(page, one, one.adjudication)
        for found in one.gate:
            page.row("gate", f"{'FAIL' if found.failures else 'PASS'}  {found.target}", 4)
            _add_failures(page, found.failures)


def _outcome(one: Round) -> str:
    words = [str(one.challenge.verdict)] if one.challenge else [] if one.overruled else ["not challenged yet"]
    by = " by a person" if one.overruled else ""
    words += [f"{one.adjudication.decision}{by}"] if one.adjudication else []
    words += ["refused by the gate" for found in one.gate if found.failures]
    return ", ".join(words)


def _add_proposal(page: Page, proposal: Proposal) -> None:
    page.row("proposal", f"{proposal.proposal_id} for {proposal.deliverable_ref}", 4)
    page.row("claim", proposal.claim, 4)
    page.rows("checks", (f"- {check}" for check in proposal.acceptance_checks), 4)
    tests = proposal.test_inventory.items()
    page.rows(
        "shown by", (f"{test}: {', '.join(p or 'the happy path' for p in ptrs)}" for test, ptrs in tests), 4
    )
    page.rows("observed", (brief(line, _LONGEST_OBSERVATION) for line in proposal.preflight), 4)


def _add_challenge(page: Page, challenge: Challenge) -> None:
    page.row("challenge", f"{challenge.verdict}  {challenge.challenge_id}", 4)
    for assessment in challenge.rubric_assessments:
        met = "met" if assessment.assessment == "MET" else "unmet"
        page.row(f"{assessment.criterion} {met}", assessment.evidence, 6)
    passed = [test for test in challenge.falsifying_tests if not test.failed]
    page.rows("held", (f"{test.name}, against {test.obligation or 'the purpose'}" for test in passed), 6)
    _add_failures(page, challenge.failures)


def _add_failures(page: Page, failures: Sequence[Failure]) -> None:
    for number, failure in enumerate(failures, start=1):
        level = "" if failure.fault is FaultOf.MODULE else f" (a fault of the {failure.fault})"
        page.row(f"fault {number}", f"{failure.invariant}{level}", 6)
        page.row("evidence", failure.evidence, 6)
        page.row("required", failure.required_change, 6)


def _add_ruling(page: Page, one: Round, ruling: Adjudication) -> None:
    by = f", by {one.overruled}, in place of the Arbiter" if one.overruled else ""
    page.row("ruling", f"{ruling.decision}  {ruling.adjudication_id}{by}", 4)
    page.row("because", ruling.rationale, 6)
    for struck in ruling.struck_tests:
        page.row("struck", f"{struck.test}, by {struck.contract_pointer}: {struck.reason}", 6)
    if ruling.confirmed_fault:
        page.row("confirmed", f"the fault of the {ruling.confirmed_fault}", 6)
    applied = {done.amendment_index: done for done in one.amended.applied} if one.amended else {}
    for number, amendment in enumerate(ruling.amendments):
        page.row(f"amend {number}", f"{amendment.action} {amendment.target}: {amendment.detail}", 6)
        if done := applied.get(number):
            page.row("done" if done.applied else "NOT done", done.note, 6)
