"""What the roles answer: the records' schemas without ids, references and times (D4).

The factory adds those. The field descriptions are part of the prompt: a model reads them as the tool's schema.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from specwright.domain.contract import (
    ErrorSurface,
    Input,
    Modes,
    ModuleName,
    Output,
    RuntimeBudgets,
)
from specwright.domain.record import Record, Text

__all__ = [
    "CRITERIA",
    "Amendment",
    "AmendmentsAnswer",
    "AppliedAmendment",
    "ArbiterAnswer",
    "Assessment",
    "ChallengerAnswer",
    "Decision",
    "Failure",
    "PlanAnswer",
    "PlannedModule",
    "ProposerAnswer",
    "ReuseAnswer",
    "ReuseCandidate",
    "ReuseConclusion",
    "ShipDirective",
    "Verdict",
]

CRITERIA = ("R1", "R2", "R3", "R4", "R5", "R6")
"""The Challenger's rubric (F§9.4)."""

NoneBecause = Annotated[str, StringConstraints(pattern=r"^none: \S.*$")]
"""The explicit way to say that a dimension is empty: `none: pure` (D19)."""

Claim = Annotated[
    Text, Field(min_length=20, description="What it delivers and why it satisfies the contract.")
]
Checks = Annotated[list[Text], Field(min_length=1, description="Objective checks, one sentence each.")]


class ReuseConclusion(StrEnum):
    """What the search of the Code Index led to (F§14.3)."""

    REUSE_EXISTING = "REUSE_EXISTING"
    CREATE_NEW = "CREATE_NEW"


class ReuseCandidate(Record):
    """A module that the search found and that was not taken."""

    module_ref: Annotated[str, Field(description="MM-...@x.y.z as the search returned it.")]
    why_rejected: Text


class ReuseAnswer(Record):
    """The reuse search report of one module (F§14.3)."""

    query: Annotated[Text, Field(description="The query you gave to search_code_index.")]
    candidates_considered: list[ReuseCandidate] = Field(default_factory=list)
    conclusion: ReuseConclusion
    justification: Text
    reuse_ref: str | None = Field(
        default=None, description="With REUSE_EXISTING: the MM-...@x.y.z to use as it is; else null."
    )

    @model_validator(mode="after")
    def _reference_goes_with_reuse(self) -> Self:
        if (self.conclusion is ReuseConclusion.REUSE_EXISTING) != (self.reuse_ref is not None):
            raise ValueError("reuse_ref is given with REUSE_EXISTING, and only then")
        return self


class DependencyAnswer(Record):
    """A module that a planned module calls."""

    module: Annotated[
        str, Field(description="The name of a module of this plan, or MM-...@x.y.z from a search.")
    ]
    why: Text


class PlannedEffect(Record):
    """An effect that a module may have (D23)."""

    type: Annotated[
        Literal["WRITE", "CALL", "MUTATION"],
        Field(
            description="WRITE: files; CALL: reads files, environment, clock, randomness, or prints; "
            "MUTATION: environment or process state."
        ),
    ]
    target: Annotated[Text, Field(description="What is written, read or changed, in a few words.")]
    description: Text


class PlannedModule(Record):
    """One micro module of a plan, with its whole contract (F§10.1, F§11.1)."""

    name: Annotated[ModuleName, Field(description="snake_case; also the name of its one public function.")]
    purpose: Annotated[
        Text, Field(min_length=10, description="One sentence: a single input to output behaviour.")
    ]
    tags: Annotated[list[Text], Field(min_length=1, description="Words by which others will search for it.")]
    inputs: Annotated[
        list[Input],
        Field(
            min_length=1,
            description="The parameters in order. type: a Python annotation of JSON types, bytes, tuple, set, "
            "frozenset, Literal, Decimal, datetime, date, time, timedelta, UUID, Path, by bare name. constraints: "
            "one testable statement each; a default is the last one, `defaults to <literal>`.",
        ),
    ]
    outputs: Annotated[
        list[Output] | NoneBecause,
        Field(description="What is returned; several outputs are a tuple. `none: <why>` if nothing is."),
    ]
    error_surfaces: Annotated[
        list[ErrorSurface] | NoneBecause,
        Field(
            description="Every way it fails: the exception's class name and when. `none: <why>` if it cannot."
        ),
    ]
    effects: Annotated[
        list[PlannedEffect] | NoneBecause,
        Field(description="What happens beside the return value, or `none: pure`."),
    ]
    modes: Modes
    error_cases: Annotated[
        list[Text],
        Field(min_length=1, description="Concrete scenarios that the tests must show, with their values."),
    ]
    depends_on: list[DependencyAnswer] = Field(default_factory=list)
    runtime_budgets: RuntimeBudgets = RuntimeBudgets()
    reuse: ReuseAnswer


class PlanAnswer(Record):
    """A micro plan and the proposal of its contracts (F§10.1, D10)."""

    modules: Annotated[list[PlannedModule], Field(min_length=1, max_length=20)]
    task_facing: str | None = Field(
        default=None,
        description="The module that users of this task call first; null means the last one that no other calls.",
    )
    claim: Claim
    acceptance_checks: Checks


class ProposerAnswer(Record):
    """What the Proposer says of the files in its workspace (F§9.2)."""

    claim: Claim
    acceptance_checks: Checks


class Verdict(StrEnum):
    """Binary (F§9.1)."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"


class Assessment(Record):
    """One criterion of the rubric, judged."""

    criterion: Literal["R1", "R2", "R3", "R4", "R5", "R6"]
    assessment: Literal["MET", "NOT_MET"]
    evidence: Annotated[Text, Field(description="Cite the test, contract field or example that shows it.")]


class Failure(Record):
    """A reproducible fault of the proposal."""

    invariant: Text
    evidence: Text
    required_change: Text


class ChallengerAnswer(Record):
    """The Challenger's verdict (F§9.2, F§9.4)."""

    rubric_assessments: Annotated[list[Assessment], Field(min_length=6, max_length=6)]
    verdict: Verdict
    failures: list[Failure] = Field(default_factory=list)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if tuple(a.criterion for a in self.rubric_assessments) != CRITERIA:
            raise ValueError("rubric_assessments holds R1 to R6, each once, in order")
        unmet = [a.criterion for a in self.rubric_assessments if a.assessment == "NOT_MET"]
        if unmet and self.verdict is Verdict.PASS:
            raise ValueError(f"{', '.join(unmet)} NOT_MET forbids the verdict PASS")
        if (self.verdict is Verdict.FAIL) != bool(self.failures):
            raise ValueError("FAIL comes with at least one failure, PASS with none")
        return self


class Decision(StrEnum):
    """The Arbiter's ruling (F§9.2)."""

    APPROVE = "APPROVE"
    APPROVE_WITH_AMENDMENTS = "APPROVE_WITH_AMENDMENTS"
    REJECT = "REJECT"


class ShipDirective(StrEnum):
    """Agrees with the decision (D11)."""

    SHIP = "SHIP"
    NO_SHIP = "NO_SHIP"


class Amendment(Record):
    """One exact change (F§9.6)."""

    action: Literal["MODIFY", "ADD", "REMOVE"]
    target: Annotated[
        Text,
        Field(
            pattern=r"^((function|test|example|file):\S.*|contract:[a-z][a-z0-9_]*#(/.*)?)$",
            description="function:<name>, test:<name>, example:<heading>, file:<path>; of a contract "
            "contract:<name>#<json pointer>.",
        ),
    ]
    detail: Annotated[Text, Field(description="The exact change, at least five words.")]


class ArbiterAnswer(Record):
    """The final decision of a round (F§9.2)."""

    decision: Decision
    ship_directive: ShipDirective
    rationale: Annotated[Text, Field(min_length=20)]
    amendments: list[Amendment] = Field(default_factory=list)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.decision is Decision.REJECT) == (self.ship_directive is ShipDirective.SHIP):
            raise ValueError("REJECT goes with NO_SHIP, an approval with SHIP")
        if (self.decision is Decision.APPROVE_WITH_AMENDMENTS) != bool(self.amendments):
            raise ValueError("APPROVE_WITH_AMENDMENTS comes with amendments, the others with none")
        return self


class AppliedAmendment(Record):
    """What became of one amendment (F§9.6)."""

    amendment_index: Annotated[int, Field(ge=0)]
    applied: bool
    note: Text


class AmendmentsAnswer(Record):
    """The Proposer's record after applying amendments (F§9.6)."""

    applied: Annotated[list[AppliedAmendment], Field(min_length=1)]
    claim: Claim
    acceptance_checks: Checks
