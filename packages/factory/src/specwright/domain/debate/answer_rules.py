"""Rules for the answers of Challenger and Arbiter (design: debate, falsifying-tests).

A challenge complies if each MET cites evidence; otherwise it is a mild review and is refused.

The cited evidence must exist: a pointer into the contract, a listed test, an example's heading; in a contract debate,
which has neither tests nor examples, at least a name from a contract. The Arbiter judges whether it shows what the
Challenger says. A NOT_MET or a failure may also cite a criterion, a value, or something that is missing.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from ship_gate.contract.contract import DIMENSIONS, MISSING, MicroModuleContract
from ship_gate.contract.examples import chapters
from specwright.domain.answers import (
    CRITERIA,
    MIN_WORDS,
    ArbiterAnswer,
    Assessment,
    ChallengerAnswer,
    Decision,
    Failure,
    FaultOf,
    StruckTest,
    UnshownCriterion,
    Verdict,
    is_vague,
)
from specwright.domain.debate.amendments import may_amend, uncorrected
from specwright.domain.debate.records import Challenge, strike_problems

MILD_REVIEW = "mild_review_violation"
"""The invariant of the one failure in a FAIL that replaces a missing review."""

CITED_BY_A_FAULT = "a pointer, test, example, part of the contract, value or criterion number"
"""The evidence of a NOT_MET or a failure must contain one of these; the prompt uses the same words."""

_FIELDS = (*DIMENSIONS, "purpose", "error_cases", "dependencies", "runtime_budgets", "tags")
_POINTER = re.compile(rf"(?<![\w/])/(?:{'|'.join(_FIELDS)})(?:/\w+)*")
_TEST = re.compile(r"(?<!\w)test_(?!inventory\b)\w+(?!\w*\.py\b)")
_VALUE = re.compile(r"(?<!\w)[\d'\"`]")
"""The start of a number or quotation: a value, or the number of a criterion."""
_CRITERIA = re.compile(r"(?i)\bcriteri(?:on|a)\s+(\d+(?:\s*(?:,|and|or)\s*\d+)*)")
NUMBERED_CHECK = re.compile(r"\s*(?:criterion\s+)?([0-9]+)\s*[:.)]\s*(\S.*)", re.DOTALL | re.IGNORECASE)
"""An acceptance check that begins with the number of a criterion, and its text."""


class Citable(NamedTuple):
    """The things that evidence may cite.

    Args:
        contracts: The contracts in question and those of their dependencies.
        tests: The names of test functions; empty in a contract debate.
        headings: The headings of the examples, in lower case.
        criteria: The number of the task's acceptance criteria.
    """

    contracts: Sequence[MicroModuleContract]
    tests: frozenset[str] = frozenset()
    headings: tuple[str, ...] = ()
    criteria: int = 0


def citable(
    contracts: Sequence[MicroModuleContract], tests: Collection[str], observed: Collection[str], examples: str
) -> Citable:
    """Return what a Challenger may cite from a proposal.

    Args:
        contracts: The contracts in question and those of their dependencies.
        tests: The names in the test inventory, `test_x` or `test_file.py::test_x`, and those of falsifying tests.
        observed: The observations about the draft, which also name tests.
        examples: The text of `examples.md`.
    """
    named = {name.rpartition("::")[2] for name in tests}
    named |= {name for line in observed for name in _TEST.findall(line)} if named else set()
    headings = tuple(heading.lower() for heading, _, _ in chapters(examples))
    return Citable(contracts, frozenset(named), headings)


def compliance_problems(answer: ChallengerAnswer, sources: Citable) -> list[str]:
    """Return why a challenge is a mild review; empty if it is not."""
    problems: list[str] = []
    evidence = re.sub(r"error[ -]surfaces?", "error_surfaces", answer.rubric_assessments[0].evidence.lower())
    said = set(re.findall(r"\w+", evidence))
    missing = [name for name in DIMENSIONS if name not in said]
    if missing:
        problems.append(
            f"R1 (rubric_assessments.0.evidence): name each dimension; missing: {', '.join(missing)}"
        )
    for i, assessment in enumerate(answer.rubric_assessments):
        evidence = assessment.evidence
        path = f"{assessment.criterion} (rubric_assessments.{i}.evidence)"
        if assessment.assessment != "NOT_MET" and _is_empty_dimension(evidence, sources.contracts):
            continue  # an empty dimension is evidence, as the prompt says
        if is_vague(re.sub(r"/[\w/]+", "this", evidence)):  # a pointer is one word
            problems.append(f"{path}: say what shows it, in {MIN_WORDS} words or more")
        elif assessment.assessment != "NOT_MET":
            traces = (assessment.criterion, assessment.assessment) == ("R5", "MET")
            found = _citation_problems(evidence, sources, traces=traces and bool(sources.tests))
            problems += [f"{path}: {problem}" for problem in found]
        elif not _shows_a_fault(evidence, sources):
            problems.append(f"{path}: name {CITED_BY_A_FAULT}")
    return [
        *problems,
        *_unshown_problems(answer.unshown_criteria, sources.criteria),
        *_vague_failures(answer.failures, sources),
    ]


def settled_problems(answer: ChallengerAnswer, settled: Collection[int]) -> list[str]:
    """Return why a FAIL costs no revision: every failure is about criteria that rulings set aside, and only R5 is NOT_MET
    (design: unshown-criteria)."""
    unmet = {one.criterion for one in answer.rubric_assessments if one.assessment == "NOT_MET"}
    named = [_criteria_of(failure) for failure in answer.failures]
    if not named or not unmet <= {"R5"} or not all(one and one.issubset(settled) for one in named):
        return []
    numbers = ", ".join(map(str, sorted(set[int]().union(*named))))
    return [
        f"failures: they are about criterion {numbers} alone, which a ruling set aside and which counts as met"
    ]


def _criteria_of(failure: Failure) -> set[int]:
    """Return the criteria that a failure is about: those in its invariant, or, unless that cites the contract, those in its
    evidence."""
    texts = (failure.invariant, "" if _POINTER.search(failure.invariant) else failure.evidence)
    found = next((found for text in texts if (found := _CRITERIA.findall(text))), list[str]())
    return {int(number) for numbers in found for number in re.findall(r"\d+", numbers)}


def _is_empty_dimension(evidence: str, contracts: Sequence[MicroModuleContract]) -> bool:
    """Whether evidence consists only of pointers to empty lists of the contracts."""
    pointers = _POINTER.findall(evidence)
    alone = not re.search(r"\w", _POINTER.sub("", evidence))
    return bool(pointers) and alone and all(any(one.at(p) == [] for one in contracts) for p in pointers)


def trace_problems(checks: Sequence[str], sources: Citable) -> list[str]:
    """Report pointers and tests in acceptance checks that do not exist."""
    return [
        f"acceptance_checks.{i}: {problem}"
        for i, check in enumerate(checks)
        for problem in _unknown(check, sources)
    ]


def named_tests(texts: Iterable[str]) -> list[str]:
    """Return the tests named in texts."""
    return [name for text in texts for name in _TEST.findall(text)]


def checked_criteria(checks: Iterable[str]) -> set[int]:
    """Return the numbers of the criteria in acceptance checks."""
    return {int(found[1]) for found in map(NUMBERED_CHECK.match, checks) if found}


def checks_still_shown(checks: Iterable[str], tests: Collection[str]) -> list[str]:
    """Return the acceptance checks of an earlier version that still name existing tests, reduced to these.

    Args:
        checks: The acceptance checks of the earlier version, `3: test_a, test_b`.
        tests: The names of the present tests.
    """
    found: list[str] = []
    for check in checks:
        number = NUMBERED_CHECK.match(check)
        named = list(dict.fromkeys(named_tests([check])))
        left = [test for test in named if _listed(test, tests)]
        if number and left == named:
            found.append(check)
        elif number and left:
            found.append(f"{number[1]}: {', '.join(left)}")
    return found


def _unshown_problems(unshown: Sequence[UnshownCriterion], count: int) -> Iterator[str]:
    for i, one in enumerate(unshown):
        if one.criterion > count:
            yield f"unshown_criteria.{i}.criterion: the task has {count} criteria, numbered from 1"
        if is_vague(one.evidence):
            yield f"unshown_criteria.{i}.evidence: say which limit forbids it, in {MIN_WORDS} words or more"


def _vague_failures(failures: Sequence[Failure], sources: Citable) -> Iterator[str]:
    """Report failures that are too vague to reproduce or correct."""
    for i, failure in enumerate(failures):
        if is_vague(failure.evidence):
            yield f"failures.{i}.evidence: say what happens or is missing, in {MIN_WORDS} words or more"
        elif not _shows_a_fault(failure.evidence, sources):
            yield f"failures.{i}.evidence: name {CITED_BY_A_FAULT}"
        if is_vague(failure.required_change) and not failure.exact_changes:
            yield f"failures.{i}.required_change: say exactly what has to change, in {MIN_WORDS} words or more"


def mild_review(why: str) -> ChallengerAnswer:
    """Return the FAIL that replaces the review of a Challenger that never complied (design: debate)."""
    return ChallengerAnswer(
        rubric_assessments=[
            Assessment.model_validate(
                {"criterion": name, "assessment": "NOT_MET", "evidence": "no compliant assessment was given"}
            )
            for name in CRITERIA
        ],
        verdict=Verdict.FAIL,
        failures=[
            Failure(
                invariant=MILD_REVIEW,
                evidence=why,
                required_change="Nothing: hand in the same work again, and it is judged anew.",
            )
        ],
    )


def for_proposer(failure: Failure) -> Failure:
    """Return a failure for the Proposer; the problems of a mild review are left out, because they name the rubric
    (design: role-access)."""
    if failure.invariant != MILD_REVIEW:
        return failure
    return failure.model_copy(
        update={"evidence": "No usable review was made of it; the fault is the review's."}
    )


def is_disputed(challenge: Challenge) -> bool:
    """Whether a FAIL goes to the Arbiter before it costs a revision: falsifying tests failed (design: falsifying-tests), it
    blames the contract or the plan (design: debate), or it brings its own corrections (design: amendments)."""
    above = challenge.faults(FaultOf.CONTRACT) or challenge.faults(FaultOf.PLAN)
    return challenge.verdict is Verdict.FAIL and bool(
        above or challenge.counterexamples or challenge.mendable
    )


def overturns(challenge: Challenge, struck: Sequence[StruckTest]) -> bool:
    """Whether strikes overturn a FAIL: it rests only on falsifying tests, and all of them are struck (design:
    falsifying-tests)."""
    return challenge.rests_on_tests and not challenge.without(struck)


def ruling_problems(
    answer: ArbiterAnswer,
    challenge: Challenge,
    contracts: Sequence[MicroModuleContract],
    revisions_left: int,
    settled: Collection[int] = (),
    *,
    disclaimed: bool = False,
) -> list[str]:
    """Return why a ruling that fits its schema is not accepted.

    Args:
        answer: The ruling.
        challenge: The challenge that it rules on.
        contracts: The contracts in question; strikes cite statements of the first.
        revisions_left: The number of revisions left for the deliverable.
        settled: The numbers of the criteria that were set aside before.
        disclaimed: Whether the Proposer blames its contract and code could not confirm it.
    """
    problems = strike_problems(answer.struck_tests, challenge.counterexamples, contracts[0])
    problems += _set_aside_problems(answer, challenge.unshown_criteria, settled)
    if disclaimed and answer.decision is not Decision.REJECT:
        problems.append(
            "decision: the proposal says that its contract is at fault, and does not show all of it: rule REJECT, with "
            "confirmed_fault `contract` if it is right"
        )
    by_proposer = disclaimed and answer.confirmed_fault == FaultOf.CONTRACT
    if answer.confirmed_fault and not by_proposer and not challenge.faults(FaultOf(answer.confirmed_fault)):
        problems.append(f"confirmed_fault: no failure of this challenge is marked {answer.confirmed_fault}")
    if challenge.verdict is Verdict.PASS or overturns(challenge, answer.struck_tests):
        return problems
    if revisions_left and answer.decision is not Decision.REJECT:
        if may_amend(answer, challenge):
            return problems
        if challenge.mendable:
            named = "; ".join(one.invariant for one in uncorrected(answer, challenge)) or "all of them"
            return [
                *problems,
                f"decision: mend every failure by its exact changes, or rule REJECT; left: {named}",
            ]
        strike = " strike every failed test with a contract pointer, or" if challenge.rests_on_tests else ""
        problems.append(f"decision: the challenge is FAIL and a revision is left:{strike} rule REJECT")
    elif answer.decision is Decision.APPROVE:
        problems.append("decision: after a FAIL without revisions left APPROVE is refused; amend or reject")
    return problems


def _set_aside_problems(
    answer: ArbiterAnswer, unshown: Sequence[UnshownCriterion], settled: Collection[int]
) -> Iterator[str]:
    """Report criteria that are set aside without a cause, and those that an approval leaves open."""
    open_criteria = {one.criterion for one in unshown} - set(settled)
    for i, one in enumerate(answer.set_aside):
        if one.criterion not in open_criteria:
            known = ", ".join(map(str, sorted(open_criteria))) or "none"
            yield f"set_aside.{i}.criterion: no judge says of {one.criterion} that it cannot be shown; of these: {known}"
        if is_vague(one.reason):
            yield f"set_aside.{i}.reason: say why no test can show it, in {MIN_WORDS} words or more"
    left = sorted(open_criteria - {one.criterion for one in answer.set_aside})
    if left and answer.decision is not Decision.REJECT:
        numbers = ", ".join(map(str, left))
        yield f"set_aside: the challenge says that {numbers} cannot be shown: set it aside with a reason, or rule REJECT"


def _citation_problems(evidence: str, sources: Citable, *, traces: bool) -> Iterator[str]:
    """Report citations that do not exist, and evidence without any. If it `traces` acceptance criteria, it must cite a test
    or an example."""
    yield from _unknown(evidence, sources)
    if (_POINTER.search(evidence) and not traces) or (sources.tests and _TEST.search(evidence)):
        return
    text = evidence.lower()
    if sources.tests and not any(heading in text for heading in sources.headings):
        pointer = "" if traces else ", a contract pointer like /inputs/0 or /purpose,"
        yield f"name a listed test{pointer} or the heading of an example"
    elif not sources.tests and not _names_a_part(text, sources):
        yield "name the module, and the contract pointer that shows it, like /inputs/0 or /purpose"


def _shows_a_fault(evidence: str, sources: Citable) -> bool:
    """Whether evidence names something that can be checked, even if it is missing."""
    text = evidence.lower()
    named = any(pattern.search(text) for pattern in (_POINTER, _TEST, _VALUE))
    return named or _names_a_part(text, sources) or any(heading in text for heading in sources.headings)


def _names_a_part(text: str, sources: Citable) -> bool:
    """Whether a lower-case text names a contract or a part of one."""
    return any(re.search(rf"(?<!\w){word}(?!\w)", text) for word in _words(sources))


def _unknown(text: str, sources: Citable) -> Iterator[str]:
    """Report pointers and tests in a text that do not exist."""
    for pointer in _POINTER.findall(text):
        if not any(contract.at(pointer) is not MISSING for contract in sources.contracts):
            yield f"the contract has no {pointer}; cite what is there"
    for test in _TEST.findall(text) if sources.tests else ():
        if not _listed(test, sources.tests):
            yield f"no test is called {test}; cite a listed one"


def _listed(test: str, tests: Collection[str]) -> bool:
    """Whether a test exists; a name that ends in `_` is a prefix, as in `test_refuses_*`."""
    return test in tests or (test.endswith("_") and any(name.startswith(test) for name in tests))


def _words(sources: Citable) -> Iterator[str]:
    """Yield the names in contracts: modules, fields, inputs, outputs and errors."""
    yield from (re.escape(field.replace("_", " ")) for field in _FIELDS)
    yield from _FIELDS
    for contract in sources.contracts:
        parts = (*contract.inputs, *contract.outputs, *contract.error_surfaces)
        yield from (re.escape(name.lower()) for name in (contract.name, *(part.name for part in parts)))
