"""What a planner answers: modules with their contracts, and why each is made or reused (design: ids, planning).

As in `answers`, the field descriptions are part of the prompt.
"""

import re
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from ship_gate.base.record import Record, Text
from ship_gate.contract.boundary.types import BOUNDARY_TYPES
from ship_gate.contract.contract import (
    ErrorSurface,
    Input,
    MicroModuleContract,
    Modes,
    ModuleName,
    Output,
    RuntimeBudgets,
)
from ship_gate.contract.rules import DEFINITIONS
from specwright.domain.answers.answers import Checks, Claim

NoneBecause = Annotated[Text, StringConstraints(pattern=r"^none: \S.*$")]
"""The explicit way to say that a dimension is empty: `none: pure` (design: contracts)."""


def _check_reason(value: object) -> object:
    if value == [] or (isinstance(value, str) and not _REASON.match(value)):
        raise ValueError('say why there is none: `"none: every text has an answer"`, or list what there is')
    return value


def _check_parameters(value: object) -> object:
    if value == [] or (isinstance(value, str) and not _REASON.match(value)):
        raise ValueError('list at least 1 parameter; only definitions take none, `"none: definitions"`')
    return value


_REASON = re.compile(r"\s*none: \S")
_SaidIfNone = BeforeValidator(_check_reason)
"""One plain line for a dimension that is empty and does not say why."""


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
    """An effect that a module may have (design: module-scope)."""

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
        BeforeValidator(_check_parameters),
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
        """A module as a contract has it."""
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
