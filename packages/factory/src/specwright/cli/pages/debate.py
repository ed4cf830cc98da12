"""A debate for a reader: by round, each claim beside what supports it or speaks against it (design: debate)."""

from collections.abc import Sequence

from ship_gate.terminal.page import Page, brief
from specwright.application.history.provenance import DebateRounds, ModuleDebates, Round
from specwright.domain.answers.answers import Failure, FaultOf
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal

_LONGEST_OBSERVATION = 240
"""Of a line that says what code observed; dozens of tests are named in the records."""


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
    words = [str(one.challenge.verdict)] if one.challenge else ["not challenged yet"]
    words += [str(one.adjudication.decision)] if one.adjudication else []
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
    page.row("ruling", f"{ruling.decision}  {ruling.adjudication_id}", 4)
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
