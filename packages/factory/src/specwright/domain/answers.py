"""The answers of the roles: the schemas of records without ids, references and times, which the factory adds (design: ids).

Field descriptions and class docstrings are part of the prompt: a model reads them as the tool's schema.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from ship_gate.base.record import OmittedIfEmpty, Record, Text
from ship_gate.contract.contract import (
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    ModuleName,
    Output,
    RuntimeBudgets,
)
from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.contract.rules import DEFINITIONS
from ship_gate.contract.types import BOUNDARY_TYPES

CRITERIA = ("R1", "R2", "R3", "R4", "R5", "R6")
"""The Challenger's rubric (design: debate)."""

MAX_FALSIFYING_TESTS = 5
"""The limit on tests in one challenge (design: falsifying-tests)."""

Claim = Annotated[
    Text, Field(min_length=20, description="What it delivers and why it satisfies the contract.")
]
Checks = Annotated[
    list[Text], Field(min_length=1, description="For each criterion its number, and what shows it.")
]


class ContractFault(Record):
    """A statement of the locked contract that no test can show, as its Proposer says (design: contract-at-fault)."""

    pointer: Annotated[
        str,
        Field(pattern=r"^/\S", description="The statement: /outputs/0/invariants/0, /error_surfaces/0, ..."),
    ]
    finding: Annotated[
        Text, Field(description="The finding of your own earlier submission that shows it: `tests.boundary`.")
    ]
    where: Annotated[Text, Field(description="The place that stood there: `tests/test_x.py::test_y`.")]
    reason: Annotated[Text, Field(description="Why no test can show it, in five words or more.")]


class ProposerAnswer(Record):
    """What the Proposer says of the files in its workspace (design: debate)."""

    claim: Claim
    acceptance_checks: Checks
    contract_at_fault: Annotated[
        list[ContractFault],
        Field(
            description="Only if the locked contract asks for what no test can show; a false one is refused."
        ),
    ] = Field(default_factory=list)
    spec_at_fault: Annotated[
        dict[str, Text],
        Field(
            description="By title of a wrong approved example: the criterion that it contradicts, and why."
        ),
    ] = Field(default_factory=dict)


class Verdict(StrEnum):
    """Binary (design: debate)."""

    PASS = "PASS"  # noqa: S105 - a verdict, not a password
    FAIL = "FAIL"


class Assessment(Record):
    """One criterion of the rubric, judged."""

    criterion: Literal["R1", "R2", "R3", "R4", "R5", "R6"]
    assessment: Annotated[
        Literal["MET", "NOT_MET", "CANNOT_BE_SHOWN"],
        Field(description="CANNOT_BE_SHOWN: of R5 alone, with `unshown_criteria`; the others are met."),
    ]
    evidence: Annotated[
        str,
        StringConstraints(strip_whitespace=True),
        Field(
            description="Cite the test, contract field or example that shows it.",
            json_schema_extra={"minLength": 1},
        ),
    ]


class UnshownCriterion(Record):
    """An acceptance criterion that no test can show, by its number in the task (design: unshown-criteria)."""

    criterion: Annotated[int, Field(ge=1)]
    evidence: Annotated[
        Text, Field(description="Which limit of what a test can pass or see keeps it from being shown.")
    ]


class FaultOf(StrEnum):
    """Where a fault lies: who has to change something (design: debate)."""

    MODULE = "module"
    CONTRACT = "contract"
    PLAN = "plan"


class Amendment(Record):
    """One exact change (design: amendments)."""

    action: Literal["MODIFY", "ADD", "REMOVE"]
    target: Annotated[
        Text,
        Field(
            pattern=r"^((function|test|example|file):\S.*|contract:[a-z][a-z0-9_]*#(/.*)?)$",
            description="What is changed, in the form that your instructions give.",
        ),
    ]
    detail: Annotated[Text, Field(description="The exact change.")]


class _Failure(OmittedIfEmpty):
    invariant: Text
    evidence: Text
    required_change: Text


class ModuleFailure(_Failure):
    """A fault that a Challenger of a module found."""

    fault: Annotated[
        FaultOf,
        Field(
            description="module: this deliverable must change. contract: no implementation can be right, because the "
            "locked contract itself is wrong, incomplete or beyond what a test can show. plan: the task is cut into the "
            "wrong modules."
        ),
    ] = FaultOf.MODULE


class ContractFailure(_Failure):
    """A fault that a Challenger of contracts found."""

    omitted = ("exact_changes",)

    exact_changes: Annotated[
        list[Amendment],
        Field(description="The changes that mend it, word for word, where a few texts do; else empty."),
    ] = Field(default_factory=list)


class Failure(ContractFailure, ModuleFailure):
    """A reproducible fault of the proposal."""


class UntestedCriterion(Record):
    """An acceptance criterion for which a Challenger was asked for a test and hands in none (design: falsifying-tests)."""

    criterion: Annotated[int, Field(ge=1)]
    reason: Annotated[Text, Field(description="Why it hands in none, in five words or more.")]


F = TypeVar("F", bound=_Failure)


def check_review(review: Any) -> Any:
    """Raise unless the parts of a review agree (design: debate). The Challenger's answer types do not use this validator,
    because a Challenger whose review does not comply is asked again."""
    if tuple(a.criterion for a in review.rubric_assessments) != CRITERIA:
        raise ValueError("rubric_assessments holds R1 to R6, each once, in order")
    if empty := [a.criterion for a in review.rubric_assessments if not a.evidence]:
        raise ValueError(f"{', '.join(empty)}: evidence is empty")
    unmet = [a.criterion for a in review.rubric_assessments if a.assessment == "NOT_MET"]
    if unmet and review.verdict is Verdict.PASS:
        raise ValueError(f"{', '.join(unmet)} NOT_MET forbids the verdict PASS")
    unshown = [a.criterion for a in review.rubric_assessments if a.assessment == "CANNOT_BE_SHOWN"]
    if unshown not in ([], ["R5"]) or bool(unshown) != bool(review.unshown_criteria):
        raise ValueError("CANNOT_BE_SHOWN is for R5, and comes with unshown_criteria")
    if (review.verdict is Verdict.FAIL) != bool(review.failures):
        raise ValueError("FAIL comes with at least one failure, PASS with none")
    return review


class _Review(Record, Generic[F]):
    rubric_assessments: Annotated[list[Assessment], Field(json_schema_extra={"minItems": 6, "maxItems": 6})]
    verdict: Verdict
    failures: list[F] = Field(default_factory=list[F])
    unshown_criteria: Annotated[
        list[UnshownCriterion],
        Field(description="With R5 CANNOT_BE_SHOWN: each criterion that no test can show, by its number."),
    ] = Field(default_factory=list)

    def whole(self) -> "ChallengerAnswer":
        """Return the verdict as the type that covers both kinds of debate.

        Raises:
            ValidationError: the parts of the review do not agree.
        """
        return ChallengerAnswer.model_validate(self.to_json())


class _Tests(Record):
    falsifying_tests: Annotated[
        list[FalsifyingTest],
        Field(
            max_length=MAX_FALSIFYING_TESTS,
            description="What you suspect and no listed test shows. One that fails is a counterexample; one that passes "
            "is kept with the module's tests.",
        ),
    ] = Field(default_factory=list)
    untested_criteria: Annotated[
        list[UntestedCriterion],
        Field(description="Each criterion that you were asked to test and that none of these tests tries."),
    ] = Field(default_factory=list)

    @model_validator(mode="after")
    def _named_apart(self) -> Self:
        names = [test.name for test in self.falsifying_tests]
        if len(set(names)) < len(names):
            raise ValueError("each falsifying test has a name of its own")
        return self


class ContractChallenge(_Review[ContractFailure]):
    """The Challenger's verdict (design: debate).

    On the contracts of a plan.
    """


class ModuleChallenge(_Tests, _Review[ModuleFailure]):
    """The Challenger's verdict (design: debate).

    On the implementation of a module.
    """


class ChallengerAnswer(_Tests, _Review[Failure]):
    """The Challenger's verdict on contracts or an implementation (design: debate)."""

    _consistent = model_validator(mode="after")(check_review)


class Decision(StrEnum):
    """The Arbiter's ruling (design: debate)."""

    APPROVE = "APPROVE"
    APPROVE_WITH_AMENDMENTS = "APPROVE_WITH_AMENDMENTS"
    REJECT = "REJECT"


class ShipDirective(StrEnum):
    """Agrees with the decision (design: debate)."""

    SHIP = "SHIP"
    NO_SHIP = "NO_SHIP"


class StruckTest(Record):
    """A falsifying test that the Arbiter takes out of the count (design: falsifying-tests)."""

    test: Annotated[Text, Field(description="The name of a falsifying test that failed.")]
    contract_pointer: Annotated[
        str,
        Field(
            pattern=r"^/\S", description="The contract's statement that the test contradicts or goes beyond."
        ),
    ]
    reason: Annotated[Text, Field(description="Why the contract does not ask for it, in five words or more.")]


class SetAsideCriterion(Record):
    """An acceptance criterion that the Arbiter takes out of the count; a person decides about it (design:
    unshown-criteria)."""

    criterion: Annotated[int, Field(ge=1, description="Its number in the task.")]
    reason: Annotated[Text, Field(description="Why no test can show it, in five words or more.")]


def check_ruling(ruling: Any) -> Any:
    """Raise unless the parts of a ruling agree with its decision (design: debate)."""
    if (ruling.decision is Decision.REJECT) == (ruling.ship_directive is ShipDirective.SHIP):
        raise ValueError("REJECT goes with NO_SHIP, an approval with SHIP")
    amends = bool(ruling.amendments or getattr(ruling, "accepted_changes", ()))
    if (ruling.decision is Decision.APPROVE_WITH_AMENDMENTS) != amends:
        raise ValueError("APPROVE_WITH_AMENDMENTS comes with amendments, the others with none")
    return ruling


class UndisputedRuling(Record):
    """The final decision of a round (design: debate), where the challenge found nothing."""

    decision: Decision
    ship_directive: ShipDirective
    rationale: Annotated[Text, Field(min_length=20)]
    amendments: list[Amendment] = Field(default_factory=list)

    _consistent = model_validator(mode="after")(check_ruling)

    def whole(self) -> "ArbiterAnswer":
        """Return the ruling as the type that covers both kinds of debate."""
        return ArbiterAnswer.model_validate(self.to_json())


class _DisputedRuling(UndisputedRuling):
    set_aside: Annotated[
        list[SetAsideCriterion],
        Field(
            description="Criteria that cannot be shown, as the challenge says; a person is asked about each."
        ),
    ] = Field(default_factory=list)


class ContractRuling(_DisputedRuling):
    """The final decision of a round over contracts (design: amendments)."""

    accepted_changes: Annotated[
        list[Annotated[int, Field(ge=1)]],
        Field(
            description="With APPROVE_WITH_AMENDMENTS: the exact changes that you take over as they stand, by number."
        ),
    ] = Field(default_factory=list)


class ModuleRuling(_DisputedRuling):
    """The final decision of a round over an implementation (design: debate, falsifying-tests)."""

    struck_tests: Annotated[
        list[StruckTest], Field(description="Failed falsifying tests that do not count; the others stand.")
    ] = Field(default_factory=list)
    confirmed_fault: Annotated[
        Literal["contract", "plan"] | None,
        Field(
            description="With REJECT: that a failure marked `contract` or `plan` is right, so that no implementation "
            "of this contract, or no module of this plan, can pass. Else null."
        ),
    ] = None

    @model_validator(mode="after")
    def _confirms_what_is_rejected(self) -> Self:
        if self.confirmed_fault and self.decision is not Decision.REJECT:
            raise ValueError(
                "confirmed_fault goes with REJECT: what is wrong above the module cannot be shipped"
            )
        return self


class ArbiterAnswer(ModuleRuling, ContractRuling):
    """The final decision of a round over contracts or an implementation (design: debate)."""


class AppliedAmendment(Record):
    """What became of one amendment (design: amendments)."""

    amendment_index: Annotated[int, Field(ge=0)]
    applied: bool
    note: Text


class AmendmentsAnswer(Record):
    """The Proposer's record after applying amendments (design: amendments)."""

    applied: Annotated[list[AppliedAmendment], Field(min_length=1)]
    claim: Claim
    acceptance_checks: Checks


NoneBecause = Annotated[Text, StringConstraints(pattern=r"^none: \S.*$")]
"""The explicit form of an empty dimension: `none: pure` (design: contracts)."""


def _said_if_none(advice: str) -> BeforeValidator:
    """Return a validator that rejects an empty dimension without a reason, in one plain line."""

    def check(value: object) -> object:
        if value == [] or (isinstance(value, str) and not re.match(r"\s*none: \S", value)):
            raise ValueError(advice)
        return value

    return BeforeValidator(check)


_SaidIfNone = _said_if_none(
    'say why there is none: `"none: every text has an answer"`, or list what there is'
)


class ReuseConclusion(StrEnum):
    """What the search of the Code Index led to (design: code-index)."""

    REUSE_EXISTING = "REUSE_EXISTING"
    CREATE_NEW = "CREATE_NEW"


class ReuseCandidate(Record):
    """A module that the search found and that was not taken."""

    module_ref: Annotated[str, Field(description="MM-...@x.y.z as the search returned it.")]
    why_rejected: Text


class ReuseAnswer(Record):
    """The reuse search report of one module (design: code-index)."""

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
    """An effect that a module may have (design: contracts)."""

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
    """One micro module of a plan, with its whole contract (design: planning, contracts)."""

    name: Annotated[ModuleName, Field(description="snake_case; also the name of its one public function.")]
    purpose: Annotated[
        Text, Field(min_length=10, description="One sentence: a single input to output behaviour.")
    ]
    tags: Annotated[list[Text], Field(min_length=1, description="Words by which others will search for it.")]
    inputs: Annotated[
        Annotated[list[Input], Field(min_length=1)] | NoneBecause,
        _said_if_none('list at least 1 parameter; only definitions take none, `"none: definitions"`'),
        Field(
            description=f"The parameters in order. type: a Python annotation of {', '.join(BOUNDARY_TYPES)}, by bare "
            "name. constraints: one testable statement each; a default is the last one, `defaults to <constant>`. "
            "`none: <why>` of definitions.",
        ),
    ]
    outputs: Annotated[
        Annotated[list[Output], Field(min_length=1)] | NoneBecause,
        _SaidIfNone,
        Field(description="What is returned; several outputs are a tuple. `none: <why>` if nothing is."),
    ]
    error_surfaces: Annotated[
        Annotated[list[ErrorSurface], Field(min_length=1)] | NoneBecause,
        _SaidIfNone,
        Field(
            description="Every way it fails: the exception's class name and when. `none: <why>` if it cannot."
        ),
    ]
    effects: Annotated[
        Annotated[list[PlannedEffect], Field(min_length=1)] | NoneBecause,
        _SaidIfNone,
        Field(description="What happens beside the return value, or `none: pure`."),
    ]
    modes: Modes
    error_cases: Annotated[
        list[Text],
        Field(
            description="Concrete scenarios that the tests must show beyond the criteria, with their values."
        ),
    ] = Field(default_factory=list)
    depends_on: list[DependencyAnswer] = Field(default_factory=list)
    runtime_budgets: RuntimeBudgets = RuntimeBudgets()
    reuse: ReuseAnswer

    @model_validator(mode="after")
    def _functions_take_something(self) -> Self:
        if isinstance(self.inputs, str) and self.modes.notes != DEFINITIONS:
            raise ValueError(
                f"a function takes at least one input; only definitions, with modes.notes {DEFINITIONS!r}, do not"
            )
        return self

    @classmethod
    def of_contract(cls, contract: MicroModuleContract, reuse: ReuseAnswer) -> Self:
        """Build the planned module of a contract."""
        return cls(
            name=contract.name,
            purpose=contract.purpose,
            tags=contract.tags or [contract.name],
            inputs=contract.inputs or "none: nothing is called",
            outputs=contract.outputs or "none: nothing is returned",
            error_surfaces=contract.error_surfaces or "none: it cannot fail",
            effects=[PlannedEffect.model_validate(one.to_json()) for one in contract.effects] or "none: pure",
            modes=contract.modes,
            error_cases=contract.error_cases,
            depends_on=[DependencyAnswer(module=one.ref, why=one.why) for one in contract.dependencies],
            runtime_budgets=contract.runtime_budgets,
            reuse=reuse,
        )


class PlanAnswer(Record):
    """A micro plan and the proposal of its contracts (design: planning, debate)."""

    modules: Annotated[list[PlannedModule], Field(min_length=1, max_length=20)]
    task_facing: str | None = Field(
        default=None,
        description="The module that users of this task call first; null means the last one that no other calls.",
    )
    claim: Claim
    acceptance_checks: Checks


MIN_WORDS = 5
"""The minimum length of evidence, reasons and details of changes (F§9.5, F§9.6)."""

_STOCK = """a all and any appropriate are as at be better cases clean cleaner cleanup clearer code correct correctly
documentation edge error errors everything exception exceptions expected fine fix for function good handle handling
implementation improve improved in is it its looks make makes me module more necessary needed nice nicer of ok please
possible properly quality readability readable refactor refactored restructure right robust robustness seems should simplify
simpler some that the this to up well where works"""
"""Words that say nothing about a particular module."""


def is_vague(text: str) -> bool:
    """Whether a text has too few words, or only words without content."""
    words = re.findall(r"[^\W_]+", text.lower())
    return len(words) < MIN_WORDS or {*_STOCK.split()}.issuperset(words)
