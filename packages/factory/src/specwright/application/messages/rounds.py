"""The rounds of a debate as text: what was proposed, what changed, why there is a round (design: role-access, debate).

None of it is source: what the gate quotes is left out for the roles that judge.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff

from ship_gate.contract.examples_file import examples_in_short
from specwright.application.messages.parts import as_amendments, as_fenced, as_list
from specwright.application.store.debates import Cause, DebateHistory
from specwright.domain.answers.answers import Failure
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal
from specwright.domain.debate.falsifying import TriedTest, counterexample
from specwright.domain.debate.test_outline import BEYOND, test_outline

_ABOUT = {
    "R1": "contract",
    "R2": "tests",
    "R3": "errors",
    "R4": "dependencies",
    "R5": "acceptance criteria",
    "R6": "decomposition",
}
"""What each criterion of the rubric is about, for those who do not see the rubric."""


_WHOLE_TESTS = "what each shows, its values, what it asserts"


def as_proposal(proposal: Proposal, tests: str = _WHOLE_TESTS) -> str:
    """The proposal that is judged, whole; its tests under a title that says what is told of them."""
    parts = [
        "# Proposal",
        f"Claim: {proposal.claim}",
        "Checks:\n" + "\n".join(f"- {check}" for check in proposal.acceptance_checks),
    ]
    if proposal.tests:
        parts.append(f"# Tests: {tests}\n\n{as_fenced(proposal.tests, 'text')}")
    if proposal.examples:
        parts.append(f"# Examples\n\n{as_fenced(examples_in_short(proposal.examples), 'markdown')}")
    if proposal.preflight:
        parts.append("# Observed by code\n\n" + "\n".join(f"- {line}" for line in proposal.preflight))
    return "\n\n".join(parts)


def as_claim(proposal: Proposal) -> str:
    """The proposal in short: its claim, what each test shows, what each example is of, what code observed."""
    short = {"tests": _unindented(proposal.tests), "examples": _headings(proposal.examples)}
    return as_proposal(proposal.model_copy(update=short), "what each shows")


def _unindented(outline: str) -> str:
    """Of an outline of tests the names, with what each shows."""
    return "\n".join(
        line.removesuffix(BEYOND) for line in outline.splitlines() if line.startswith(("test_", "and "))
    )


def _headings(examples: str) -> str:
    return "\n".join(line for line in examples.splitlines() if line.startswith("## "))


def earlier_rounds(history: DebateHistory) -> list[str]:
    """The rounds before the one that is judged, oldest first, and what has changed since each.

    Args:
        history: With the proposal that is judged as its last.
    """
    last = history.proposals[-1] if history.proposals else None
    rounds = (_round(number, history, last) for number in range(1, len(history.proposals)))
    causes = {cause.round: cause for cause in history.causes}
    blocks: list[str] = []
    for number, block in enumerate(rounds, start=1):
        blocks.append(block)
        if cause := causes.get(number + 1):
            blocks.append(_why(cause))
    return blocks


def as_challenge(challenge: Challenge) -> str:
    """The challenge that is ruled on, whole; of falsifying tests those that failed with their source."""
    return "\n\n".join(["# The challenge", *_challenge(challenge, assessments=True)])


def as_review(challenge: Challenge) -> str:
    """A challenge that found nothing, in short: of its falsifying tests the names alone."""
    passed = ", ".join(tried.name for tried in challenge.falsifying_tests)
    alone = challenge.model_copy(update={"falsifying_tests": []})
    return as_challenge(alone) + (f"\n\nFalsifying tests that the module passed: {passed}" if passed else "")


def without_source(failure: Failure) -> Failure:
    """What the gate found, for those who never see source: it quotes that in ticks, or from the second line on."""
    evidence, change = (
        _CODE.sub("...", text.partition("\n")[0]) for text in (failure.evidence, failure.required_change)
    )
    return failure.model_copy(update={"evidence": evidence, "required_change": change})


_CODE = re.compile(r"`[^`]*`")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


def _round(number: int, history: DebateHistory, last: Proposal | None) -> str:
    """A round that is over: its claim and its verdicts in short, and what the next proposal changed."""
    proposal, following = history.proposals[number - 1], history.proposals[number]
    about = proposal.target_artifact_id  # a round without a ruling must not take the next one's
    parts = [f"# Round {number}"]
    for challenge in history.challenges:
        if challenge.target_artifact_id == about:
            parts += _challenge(challenge, assessments=False)
    parts += [_ruling(ruling) for ruling in history.adjudications if ruling.target_artifact_id == about]
    changes = list(_changes(proposal, following))
    parts.append(f"Changed in round {number + 1}:\n" + ("\n".join(changes) or "- nothing that is shown here"))
    return "\n\n".join(parts)


def _challenge(challenge: Challenge, *, assessments: bool) -> Iterator[str]:
    shown = [a for a in challenge.rubric_assessments if assessments or a.assessment != "MET"]
    met = ", ".join(a.criterion for a in challenge.rubric_assessments if a not in shown)
    lines = [f"- {a.criterion} ({_ABOUT[a.criterion]}) {a.assessment}: {a.evidence}" for a in shown]
    yield "\n".join([f"Verdict: {challenge.verdict}", *lines, *([f"- {met} MET"] if met else [])])
    if challenge.unshown_criteria:
        yield "\n".join(
            f"No test can show criterion {u.criterion}: {u.evidence}" for u in challenge.unshown_criteria
        )
    shown_below = [counterexample(tried) for tried in challenge.counterexamples]
    if failures := [failure for failure in challenge.failures if failure not in shown_below]:
        yield "Failures:\n" + as_list(failures)
    for tried in challenge.counterexamples:
        yield _counterexample(tried)
    if passed := [tried for tried in challenge.falsifying_tests if not tried.failed]:
        outlines = [
            test_outline({"tests/test.py": t.source.encode()}, {t.name: [t.obligation]}) for t in passed
        ]
        yield "Falsifying tests that the module passed:\n" + as_fenced("\n".join(outlines), "text")


def _counterexample(tried: TriedTest) -> str:
    title = f"Falsifying test {tried.name} of {tried.obligation or 'the purpose'} failed: {tried.message}"
    return f"{title}\n\n{as_fenced(tried.source, 'python')}"


def _ruling(ruling: Adjudication) -> str:
    lines = [f"Ruling: {ruling.decision}. {ruling.rationale}"]
    if ruling.confirmed_fault:
        lines.append(f"The fault lies in the {ruling.confirmed_fault}.")
    lines += [f"Struck: {one.test}, by {one.contract_pointer}: {one.reason}" for one in ruling.struck_tests]
    lines += [f"Criterion {one.criterion} is set aside: {one.reason}" for one in ruling.set_aside]
    if ruling.amendments:
        lines.append(f"Amendments:\n{as_amendments(ruling.amendments)}")
    return "\n".join(lines)


def _changes(before: Proposal, after: Proposal) -> Iterator[str]:
    """What a proposal changed, by field; what it left as it was is not told again."""
    yield from (f"- contract {line}" for line in after.contract_changes)
    for what, old, new in (
        ("claim", _SENTENCE_END.sub("\n", before.claim), _SENTENCE_END.sub("\n", after.claim)),
        ("checks", "\n".join(before.acceptance_checks), "\n".join(after.acceptance_checks)),
        ("tests", before.tests, after.tests),
        ("examples", before.examples, after.examples),
    ):
        if old != new:
            yield f"- {what}:\n{as_fenced(_difference(old, new), 'diff')}"


def _difference(before: str, after: str) -> str:
    lines: Iterable[str] = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _why(cause: Cause) -> str:
    """Why there is a round that no challenge and no ruling of this debate asked for."""
    return f"# Why there is a round {cause.round}\n\n{cause.reason}\n\n{as_list(cause.failures)}"
