"""Compliance of a challenge: a mild review is none (F§9.4, F§9.5).

What a MET cites must be there: a pointer into the contract, a listed test, an example's heading; in a contract debate,
which has neither tests nor examples, at least a name out of a contract. R4, where nothing is called, needs no
citation. Whether it shows what it is said to show is for the Arbiter.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from specwright.domain.answers import CRITERIA, Assessment, ChallengerAnswer, Failure, Verdict
from specwright.domain.contract import DIMENSIONS, MicroModuleContract
from specwright.domain.examples_file import chapters
from specwright.domain.json_pointer import resolve

__all__ = ["MIN_EVIDENCE_WORDS", "Citable", "as_told", "citable", "compliance_problems", "mild_review"]

MIN_EVIDENCE_WORDS = 5

_MILD = "mild_review_violation"

_FIELDS = (*DIMENSIONS, "purpose", "error_cases", "dependencies", "runtime_budgets", "tags")
_POINTER = re.compile(rf"(?<![\w/])/(?:{'|'.join(_FIELDS)})(?:/\w+)*")
_TEST = re.compile(r"(?<!\w)test_(?!inventory\b)\w+(?!\w*\.py\b)")
_STOCK = re.compile(
    r"^(looks? (good|correct|fine|ok)|seems? (good|correct|fine|ok)|all good|no issues?)\b", re.IGNORECASE
)


class Citable(NamedTuple):
    """What evidence may cite.

    Args:
        contracts: That of the module, or those of the plan, and those of what they call.
        tests: The names of test functions; empty in a contract debate.
        headings: Of the examples, in lower case.
    """

    contracts: Sequence[MicroModuleContract]
    tests: frozenset[str] = frozenset()
    headings: tuple[str, ...] = ()


def citable(
    contracts: Sequence[MicroModuleContract], tests: Collection[str], observed: Collection[str], examples: str
) -> Citable:
    """What a proposal gives a Challenger to cite.

    Args:
        contracts: In question, and those of what they call.
        tests: The names in the test inventory, `test_x` or `test_file.py::test_x`, and those of falsifying tests.
        observed: What code says of the draft; it names tests as well.
        examples: The text of `examples.md`.
    """
    named = {name.rpartition("::")[2] for name in tests}
    named |= {name for line in observed for name in _TEST.findall(line)} if named else set()
    headings = tuple(heading.lower() for heading, _, _ in chapters(examples))
    return Citable(contracts, frozenset(named), headings)


def compliance_problems(answer: ChallengerAnswer, given: Citable) -> list[str]:
    """Why a challenge is a mild review; empty if it is none.

    Args:
        answer: Fits its schema.
        given: What it may cite.
    """
    problems: list[str] = []
    missing = [name for name in DIMENSIONS if name not in _normal(answer.rubric_assessments[0].evidence)]
    if missing:
        problems.append(
            f"R1 (rubric_assessments.0.evidence): name each dimension; missing: {', '.join(missing)}"
        )
    alone = not any(contract.dependencies for contract in given.contracts)
    for i, assessment in enumerate(answer.rubric_assessments):
        if assessment.criterion == "R4" and alone and not _STOCK.match(assessment.evidence):
            continue
        path = f"{assessment.criterion} (rubric_assessments.{i}.evidence)"
        if len(assessment.evidence.split()) < MIN_EVIDENCE_WORDS or _STOCK.match(assessment.evidence):
            problems.append(f"{path}: say what shows it, in {MIN_EVIDENCE_WORDS} words or more")
        elif assessment.assessment == "MET":
            problems += [f"{path}: {problem}" for problem in _citation_problems(assessment.evidence, given)]
    return problems


def mild_review(why: str) -> ChallengerAnswer:
    """The verdict that stands in for a Challenger who never complied: FAIL (F§9.5, D15)."""
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
                invariant=_MILD,
                evidence=why,
                required_change="Nothing: hand in the same work again, and it is judged anew.",
            )
        ],
    )


def as_told(failure: Failure) -> Failure:
    """A failure as its Proposer is told it: what is wrong with a review names the rubric, which it never sees (F§9.7)."""
    if failure.invariant != _MILD:
        return failure
    return failure.model_copy(
        update={"evidence": "No usable review was made of it; the fault is the review's."}
    )


def _citation_problems(evidence: str, given: Citable) -> Iterator[str]:
    """What evidence cites that is not there; and whether it cites anything."""
    pointers, tests = _POINTER.findall(evidence), _TEST.findall(evidence) if given.tests else []
    for pointer in pointers:
        if not any(resolve(c.to_json(), pointer, _NOTHING) is not _NOTHING for c in given.contracts):
            yield f"the contract has no {pointer}; cite what is there"
    for test in tests:
        if not _listed(test, given.tests):
            yield f"no test is called {test}; cite a listed one"
    if pointers or tests:
        return
    said = evidence.lower()
    if given.tests and not any(heading in said for heading in given.headings):
        yield "name a listed test, a contract pointer like /inputs/0 or /purpose, or the heading of an example"
    elif not given.tests and not any(re.search(rf"(?<!\w){word}(?!\w)", said) for word in _words(given)):
        yield "name the module, and the contract pointer that shows it, like /inputs/0 or /purpose"


_NOTHING = object()


def _listed(test: str, tests: Collection[str]) -> bool:
    """Whether there is such a test; a name that ends in `_` stands for those that begin so, as in `test_refuses_*`."""
    return test in tests or (test.endswith("_") and any(name.startswith(test) for name in tests))


def _words(given: Citable) -> Iterator[str]:
    """The names of a contract debate: its modules, their fields, what goes in, comes out and goes wrong."""
    yield from (re.escape(field.replace("_", " ")) for field in _FIELDS)
    yield from _FIELDS
    for contract in given.contracts:
        parts = (*contract.inputs, *contract.outputs, *contract.error_surfaces)
        yield from (re.escape(name.lower()) for name in (contract.name, *(part.name for part in parts)))


def _normal(text: str) -> str:
    return re.sub(r"error[ -]surfaces?", "error_surfaces", text.lower())
