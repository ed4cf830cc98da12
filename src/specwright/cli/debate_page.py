"""A debate for a reader: by round, each claim beside what shows it or speaks against it (F§9)."""

import textwrap
from collections.abc import Iterator

from specwright.application.debate.rounds import Held, ModuleDebates, Round
from specwright.cli.columns import bullets, row, width
from specwright.domain.answers import Failure, FaultOf
from specwright.domain.debate import Adjudication, Challenge, Proposal

__all__ = ["debate_page", "held_page"]

_LONGEST_OBSERVATION = 240
"""Of a line that says what code observed; tests by the dozen are named in the records."""


def debate_page(found: ModuleDebates) -> list[str]:
    """The lines: first the debates over the contracts, then those over the implementation."""
    contract = found.contract
    lines = [f"{contract.name}  {contract.ref}  {found.standing}", *textwrap.wrap(contract.purpose, width())]
    for one in found.contracts:
        lines += ["", *held_page("Contracts", one)]
    for one in found.implementation:
        lines += ["", *held_page(f"Implementation of {one.over}", one)]
    if not found.implementation:
        lines += ["", "Implementation", "  No implementation was proposed."]
    return lines


def held_page(title: str, debate: Held) -> list[str]:
    """The lines of one debate."""
    lines = [f"{title} (debate {debate.debate_id})"]
    for one in debate.rounds:
        lines += [f"  Round {one.number}: {_outcome(one)}", *_round(one)]
    return lines


def _outcome(one: Round) -> str:
    said = [str(one.challenge.verdict)] if one.challenge else ["not challenged yet"]
    said += [str(one.adjudication.decision)] if one.adjudication else []
    said += ["refused by the gate" for _, failures in one.gate if failures]
    return ", ".join(said)


def _round(one: Round) -> Iterator[str]:
    yield from _proposal(one.proposal)
    if one.challenge:
        yield from _challenge(one.challenge)
    if one.adjudication:
        yield from _ruling(one, one.adjudication)
    for target, failures in one.gate:
        yield from row("gate", f"{'FAIL' if failures else 'PASS'}  {target}", 4)
        yield from _failures(failures)


def _proposal(proposal: Proposal) -> Iterator[str]:
    yield from row("proposal", f"{proposal.proposal_id} for {proposal.deliverable_ref}", 4)
    yield from row("claim", proposal.claim, 4)
    yield from bullets("checks", (f"- {check}" for check in proposal.acceptance_checks), 4)
    shown = (f"{test}: {_listed(pointers)}" for test, pointers in proposal.test_inventory.items())
    yield from bullets("shown by", shown, 4)
    seen = (textwrap.shorten(line, _LONGEST_OBSERVATION, placeholder=" ...") for line in proposal.preflight)
    yield from bullets("observed", seen, 4)


def _challenge(challenge: Challenge) -> Iterator[str]:
    yield from row("challenge", f"{challenge.verdict}  {challenge.challenge_id}", 4)
    for judged in challenge.rubric_assessments:
        met = "met" if judged.assessment == "MET" else "unmet"
        yield from row(f"{judged.criterion} {met}", judged.evidence, 6)
    held = [tried for tried in challenge.falsifying_tests if not tried.failed]
    yield from bullets(
        "held", (f"{tried.name}, against {tried.obligation or 'the purpose'}" for tried in held), 6
    )
    yield from _failures(challenge.failures)


def _failures(failures: "list[Failure] | tuple[Failure, ...]") -> Iterator[str]:
    for number, failure in enumerate(failures, start=1):
        higher = "" if failure.fault is FaultOf.MODULE else f" (a fault of the {failure.fault})"
        yield from row(f"fault {number}", f"{failure.invariant}{higher}", 6)
        yield from row("evidence", failure.evidence, 6)
        yield from row("required", failure.required_change, 6)


def _ruling(one: Round, ruling: Adjudication) -> Iterator[str]:
    yield from row("ruling", f"{ruling.decision}  {ruling.adjudication_id}", 4)
    yield from row("because", ruling.rationale, 6)
    for struck in ruling.struck_tests:
        yield from row("struck", f"{struck.test}, by {struck.contract_pointer}: {struck.reason}", 6)
    if ruling.confirmed_fault:
        yield from row("confirmed", f"the fault of the {ruling.confirmed_fault}", 6)
    told = {done.amendment_index: done for done in one.amended.applied} if one.amended else {}
    for number, amendment in enumerate(ruling.amendments):
        yield from row(f"amend {number}", f"{amendment.action} {amendment.target}: {amendment.detail}", 6)
        if done := told.get(number):
            yield from row("done" if done.applied else "NOT done", done.note, 6)


def _listed(pointers: list[str]) -> str:
    return ", ".join(pointer or "the happy path" for pointer in pointers)
