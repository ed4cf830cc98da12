"""Debate records: proposal, challenge, adjudication (design: debate), and the bound on revisions (design: debate).

A challenge is the Challenger's answer and the results of its falsifying tests: one that failed means FAIL (design:
falsifying-tests).
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from ship_gate.base.ids import ArtifactId
from ship_gate.base.record import OmittedIfEmpty, Record, Text
from specwright.domain.answers import (
    Amendment,
    ArbiterAnswer,
    Assessment,
    ChallengerAnswer,
    ContractFault,
    Decision,
    Failure,
    FaultOf,
    SetAsideCriterion,
    ShipDirective,
    StruckTest,
    UnshownCriterion,
    UntestedCriterion,
    Verdict,
    check_review,
    check_ruling,
)
from specwright.domain.debate.falsifying import TriedTest, counterexample, named_in

CONTRACTS = "contracts"
"""The deliverable of a contract debate; an implementation debate has the module's name. No module may have this name."""

MAX_REVISIONS = 2
"""Revisions per deliverable, whatever asks for them (design: debate)."""


class Proposal(Record):
    """A claim about a deliverable, without its source (design: debate, role-access)."""

    proposal_id: ArtifactId
    target_artifact_id: ArtifactId
    claim: Text
    deliverable_ref: str
    acceptance_checks: list[Text]
    test_inventory: dict[str, list[str]] = Field(default_factory=dict)
    tests: str = ""
    contract_changes: list[str] = Field(default_factory=list)
    examples: str = ""
    preflight: list[str] = Field(default_factory=list)
    contract_at_fault: list[ContractFault] = Field(default_factory=list)

    @property
    def ref(self) -> str:
        """`id@version` of its artifact."""
        return f"{self.proposal_id}@1.0.0"


class Challenge(OmittedIfEmpty):
    """The Challenger's verdict on a deliverable (design: debate, falsifying-tests).

    Args:
        mendable: Whether all its failures have exact changes that code can make (design: amendments).
    """

    omitted = ("untested_criteria", "mendable")

    challenge_id: ArtifactId
    target_artifact_id: ArtifactId
    verdict: Verdict
    failures: list[Failure]
    rubric_assessments: Annotated[list[Assessment], Field(max_length=6)]
    optional_alternative_ref: str | None = None
    unshown_criteria: list[UnshownCriterion] = Field(default_factory=list)
    falsifying_tests: list[TriedTest] = Field(default_factory=list)
    untested_criteria: list[UntestedCriterion] = Field(default_factory=list)
    mendable: bool = False

    _consistent = model_validator(mode="after")(check_review)

    @property
    def ref(self) -> str:
        """`id@version` of its artifact."""
        return f"{self.challenge_id}@1.0.0"

    @property
    def counterexamples(self) -> list[TriedTest]:
        """The falsifying tests that failed."""
        return [tried for tried in self.falsifying_tests if tried.failed]

    @property
    def rests_on_tests(self) -> bool:
        """Whether it is a FAIL because of failed falsifying tests alone (design: falsifying-tests)."""
        failed = self.counterexamples
        if not failed or any(a.assessment == "NOT_MET" for a in self.rubric_assessments):
            return False
        shown, names = [counterexample(tried) for tried in failed], [tried.name for tried in failed]
        return all(named_in(failure, names) for failure in self.failures if failure not in shown)

    def faults(self, of: FaultOf) -> list[Failure]:
        """The failures with this cause (design: debate)."""
        return [failure for failure in self.failures if failure.fault is of]

    def without(self, struck: Sequence[StruckTest]) -> list[Failure]:
        """Its failures, except those that rest on struck tests."""
        failed, struck_names = self.counterexamples, {one.test for one in struck}
        active = [tried.name for tried in failed if tried.name not in struck_names]
        dropped = [counterexample(tried) for tried in failed if tried.name in struck_names]
        return [
            f
            for f in self.failures
            if f not in dropped and (named_in(f, active) or not named_in(f, struck_names))
        ]


class Adjudication(Record):
    """The Arbiter's, or a person's, decision (design: debate)."""

    adjudication_id: ArtifactId
    target_artifact_id: ArtifactId
    decision: Decision
    amendments: list[Amendment]
    rationale: Text
    ship_directive: ShipDirective
    struck_tests: list[StruckTest] = Field(default_factory=list)
    set_aside: list[SetAsideCriterion] = Field(default_factory=list)
    confirmed_fault: FaultOf | None = None

    _consistent = model_validator(mode="after")(check_ruling)

    @property
    def ref(self) -> str:
        """`id@version` of its artifact."""
        return f"{self.adjudication_id}@1.0.0"


def challenge(
    answer: ChallengerAnswer,
    challenge_id: str,
    target: str,
    tried: Sequence[TriedTest] = (),
    *,
    mendable: bool = False,
) -> Challenge:
    """The record of a Challenger's answer.

    Args:
        answer: As it was accepted.
        challenge_id: `CHAL-...`.
        target: What it is about.
        tried: Its falsifying tests, run; one that failed makes the verdict FAIL.
        mendable: Whether code can make the exact changes of all its failures.
    """
    failed = [counterexample(one) for one in tried if one.failed]
    written: dict[str, Any] = {
        **dict(answer),
        "verdict": Verdict.FAIL if failed else answer.verdict,
        "failures": [*answer.failures, *failed],
        "falsifying_tests": list(tried),
        "mendable": mendable,
    }
    return Challenge(challenge_id=challenge_id, target_artifact_id=target, **written)


def adjudication(answer: ArbiterAnswer, adjudication_id: str, target: str) -> Adjudication:
    """The record of an Arbiter's answer; what it takes over by number stands among its amendments."""
    written = {name: value for name, value in dict(answer).items() if name != "accepted_changes"}
    return Adjudication(adjudication_id=adjudication_id, target_artifact_id=target, **written)


def approval(adjudication_id: str, target: str, rationale: str) -> Adjudication:
    """A person's decision in place of the Arbiter's: it ships if the gate passes it (design: escalation)."""
    return Adjudication(
        adjudication_id=adjudication_id,
        target_artifact_id=target,
        decision=Decision.APPROVE,
        amendments=[],
        rationale=rationale,
        ship_directive=ShipDirective.SHIP,
    )
