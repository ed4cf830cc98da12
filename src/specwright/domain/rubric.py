"""Compliance of a challenge: a mild review is none (F§9.4, F§9.5)."""

import re
from collections.abc import Collection

from specwright.domain.answers import CRITERIA, Assessment, ChallengerAnswer, Failure, Verdict
from specwright.domain.contract import DIMENSIONS

__all__ = ["MIN_EVIDENCE_WORDS", "compliance_problems", "mild_review"]

MIN_EVIDENCE_WORDS = 5

_POINTER = re.compile(
    r"/(purpose|inputs|outputs|error_surfaces|effects|modes|error_cases|dependencies|runtime_budgets)\b"
)
_STOCK = re.compile(
    r"^(looks? (good|correct|fine|ok)|seems? (good|correct|fine|ok)|all good|no issues?)\b", re.IGNORECASE
)


def compliance_problems(answer: ChallengerAnswer, tests: Collection[str]) -> list[str]:
    """Why a challenge is a mild review; empty if it is none.

    Args:
        answer: Fits its schema.
        tests: The names in the proposal's test inventory; empty in a contract debate.
    """
    problems: list[str] = []
    missing = [name for name in DIMENSIONS if name not in _normal(answer.rubric_assessments[0].evidence)]
    if missing:
        problems.append(
            f"R1 (rubric_assessments.0.evidence): name each dimension; missing: {', '.join(missing)}"
        )
    for i, assessment in enumerate(answer.rubric_assessments):
        path = f"{assessment.criterion} (rubric_assessments.{i}.evidence)"
        if len(assessment.evidence.split()) < MIN_EVIDENCE_WORDS or _STOCK.match(assessment.evidence):
            problems.append(f"{path}: say what shows it, in {MIN_EVIDENCE_WORDS} words or more")
        elif assessment.assessment == "MET" and tests and not _cites(assessment, tests):
            problems.append(
                f"{path}: name a listed test, a contract pointer like /inputs/0 or /purpose, or an example"
            )
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
                invariant="mild_review_violation",
                evidence=why,
                required_change="The proposal is unchanged in fact; it is judged again in the next round.",
            )
        ],
    )


def _cites(assessment: Assessment, tests: Collection[str]) -> bool:
    evidence = assessment.evidence
    return (
        bool(_POINTER.search(evidence))
        or "example" in evidence.lower()
        or any(test in evidence for test in tests)
    )


def _normal(text: str) -> str:
    return re.sub(r"error[ -]surfaces?", "error_surfaces", text.lower())
