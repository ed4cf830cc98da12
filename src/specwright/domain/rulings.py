"""What the Arbiter may rule, given the challenge and the revisions left (F§9.3, D10, D11, D13)."""

from collections.abc import Sequence

from specwright.domain.answers import ArbiterAnswer, Decision, FaultOf, StruckTest, Verdict
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Challenge
from specwright.domain.falsifying import strike_problems

__all__ = ["is_disputed", "overturns", "ruling_problems"]


def is_disputed(challenge: Challenge) -> bool:
    """Whether a FAIL goes to the Arbiter before it costs a revision: falsifying tests failed, which stand for good unless
    they are struck now (D13), or it says that the fault lies above the module (D10)."""
    above = challenge.faults(FaultOf.CONTRACT) or challenge.faults(FaultOf.PLAN)
    return challenge.verdict is Verdict.FAIL and bool(above or challenge.counterexamples)


def overturns(challenge: Challenge, struck: Sequence[StruckTest]) -> bool:
    """Whether nothing is left of a FAIL: it rests on falsifying tests alone, and all of them are struck (D13)."""
    return challenge.rests_on_tests and not challenge.without(struck)


def ruling_problems(
    answer: ArbiterAnswer,
    challenge: Challenge,
    contracts: Sequence[MicroModuleContract],
    revisions_left: int,
) -> list[str]:
    """Why a ruling that fits its schema is not taken.

    Args:
        answer: The Arbiter's.
        challenge: The last one.
        contracts: That of the module, or those in question.
        revisions_left: Of the deliverable's budget.
    """
    problems = strike_problems(answer.struck_tests, challenge.counterexamples, contracts[0])
    if answer.confirmed_fault and not challenge.faults(FaultOf(answer.confirmed_fault)):
        problems.append(f"confirmed_fault: no failure of this challenge is marked {answer.confirmed_fault}")
    if challenge.verdict is Verdict.PASS or overturns(challenge, answer.struck_tests):
        return problems
    if revisions_left and answer.decision is not Decision.REJECT:
        stand = " strike every failed test with a contract pointer, or" if challenge.rests_on_tests else ""
        problems.append(f"decision: the challenge is FAIL and a revision is left:{stand} rule REJECT")
    elif answer.decision is Decision.APPROVE:
        problems.append("decision: after a FAIL without revisions left APPROVE is refused; amend or reject")
    return problems
