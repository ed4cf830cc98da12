"""Debate records: proposal, challenge, adjudication (F§9.2), and the bound on revisions (F§9.3, D11)."""

from typing import Annotated

from pydantic import Field

from specwright.domain.answers import (
    Amendment,
    ArbiterAnswer,
    Assessment,
    ChallengerAnswer,
    Decision,
    Failure,
    ShipDirective,
    Verdict,
)
from specwright.domain.ids import ArtifactId
from specwright.domain.record import Record, Text

__all__ = [
    "MAX_REVISIONS",
    "Adjudication",
    "Challenge",
    "Proposal",
    "adjudication",
    "challenge",
]

MAX_REVISIONS = 2
"""Revisions per deliverable, whatever asks for them (D11)."""


class Proposal(Record):
    """A claim about a deliverable, without its source (F§9.2, D12)."""

    proposal_id: ArtifactId
    target_artifact_id: ArtifactId
    claim: Text
    deliverable_ref: str
    acceptance_checks: list[Text]
    test_inventory: dict[str, list[str]] = Field(default_factory=dict)
    examples: str = ""
    preflight: list[str] = Field(default_factory=list)


class Challenge(Record):
    """The Challenger's verdict on a deliverable (F§9.2, F§9.4)."""

    challenge_id: ArtifactId
    target_artifact_id: ArtifactId
    verdict: Verdict
    failures: list[Failure]
    rubric_assessments: Annotated[list[Assessment], Field(max_length=6)]
    optional_alternative_ref: str | None = None


class Adjudication(Record):
    """The Arbiter's, or a person's, decision (F§9.2)."""

    adjudication_id: ArtifactId
    target_artifact_id: ArtifactId
    decision: Decision
    amendments: list[Amendment]
    rationale: Text
    ship_directive: ShipDirective


def challenge(answer: ChallengerAnswer, challenge_id: str, target: str) -> Challenge:
    """The record of a Challenger's answer."""
    return Challenge(
        challenge_id=challenge_id,
        target_artifact_id=target,
        verdict=answer.verdict,
        failures=answer.failures,
        rubric_assessments=answer.rubric_assessments,
    )


def adjudication(answer: ArbiterAnswer, adjudication_id: str, target: str) -> Adjudication:
    """The record of an Arbiter's answer."""
    return Adjudication(
        adjudication_id=adjudication_id,
        target_artifact_id=target,
        decision=answer.decision,
        amendments=answer.amendments,
        rationale=answer.rationale,
        ship_directive=answer.ship_directive,
    )
