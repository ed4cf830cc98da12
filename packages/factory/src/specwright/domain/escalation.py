"""Escalations: the question to a person, with everything needed to answer it (design: escalation).

What a person may answer to an escalation: an action with its typed payload (design: escalation, task-states).

Free text alone is not an answer. A table says which actions an escalation accepts; `application.escalation.offers` checks
the answer against the project.
"""

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from ship_gate.base.record import Record, Text, Timestamp
from ship_gate.base.text import first_sentences
from specwright.domain.debate.records import Adjudication, Challenge, Proposal, is_counterexample
from specwright.domain.spec.product_spec import IoContractSketch


class DebateTrail(Record):
    """All rounds of all debates of the task so far."""

    proposals: list[Proposal] = Field(default_factory=list)
    challenges: list[Challenge] = Field(default_factory=list)
    adjudications: list[Adjudication] = Field(default_factory=list)


class FailedInvariant(Record):
    """What did not hold, and what shows it."""

    invariant: Text
    evidence: Text


OPERATOR = "human:operator"
"""The person who answers: sender of a decision, maker of what an answer brings along (design: escalation)."""


class Rationale(Record):
    """Why the task is given up (ABANDON_TASK), or why a criterion is accepted as it is or dropped."""

    rationale: Text


class ApproveOverride(Rationale):
    """Why it shall ship although the debate failed; the gate still decides (design: escalation). `module` where
    several failed."""

    module: str = ""


class Retry(Record):
    """The task runs again as it is, from the start; models are asked anew. With `corrections` of what was approved it goes
    on in place, with the failed module's last draft (design: escalation, contract-at-fault)."""

    rationale: str = ""
    corrections: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    """Titles of approved examples and properties with the fields that they are to have; null takes one out."""
    module: str = ""


class AmendSpec(Record):
    """Other acceptance criteria; the task runs again from the start (design: escalation, task-states)."""

    amended_acceptance_criteria: Annotated[list[Text], Field(min_length=2)]
    amendment_rationale: Text
    drop_depends_on: list[str] = Field(default_factory=list)
    """T- or TSK- ids that the task no longer waits for."""
    strike_examples: list[str] = Field(default_factory=list)
    """Titles of approved examples and properties that hold no more (design: executable-spec)."""


class NewTask(Record):
    """A part of a split task. What it leaves out of its last two fields is the original task's."""

    name: Text
    description: Text
    acceptance_criteria: Annotated[list[Text], Field(min_length=2)]
    depends_on: list[str]
    """Siblings by name, other tasks by T- or TSK- id."""
    subtasks: Annotated[list[Text], Field(min_length=2)] | None = None
    io_contract_sketch: IoContractSketch | None = None


class SplitTask(Record):
    """The tasks that replace this one."""

    new_tasks: Annotated[list[NewTask], Field(min_length=1)]


class ShortModule(Record):
    """A module of a person's plan in docs/design.md#escalation's short form (design: planning)."""

    module_id: Text
    """`MM-` and 8 hex digits of a module that is known, or any other word: then it is a local name."""
    description: Text
    depends_on: list[str] = Field(default_factory=list)
    name: str = ""
    """Only for an `MM-...` that is new."""


class RevisePlan(Record):
    """A person's plan: the short form, for which the planner fills in the contracts, or a whole answer of the
    planner (design: planning)."""

    revised_micro_plan: Annotated[list[ShortModule], Field(min_length=1, max_length=20)] | dict[str, Any]


class ProvideFix(Record):
    """A person's implementation, which is challenged and judged like any other."""

    fix_description: Text
    fix_artifacts: Annotated[dict[str, str], Field(min_length=1)]
    """Paths below the module's directory (`implementation/__init__.py`) to their content."""
    removed_artifacts: list[str] = Field(default_factory=list)
    """Paths of the last version that the module is to have no more."""
    module: str = ""


class RewordCriterion(Rationale):
    """What the criterion ought to say; this release does not show it (design: unshown-criteria)."""

    reworded_criterion: Text


class AttestShipped(Rationale):
    """An already sealed module that does what the task asks for (design: escalation)."""

    module_ref: Annotated[str, Field(pattern=r"^MM-[0-9a-f]{8}@[0-9]+\.[0-9]+\.[0-9]+$")]


class Action(StrEnum):
    """What a halt can be answered with, and after that what a question about a criterion can (design: escalation,
    unshown-criteria). An escalation recommends one of them."""

    payload: type[Record]
    means: str

    def __new__(cls, value: str, payload: type[Record] = Record, means: str = "") -> Self:
        """An action as a text.

        Args:
            value: Its name.
            payload: The record that such an answer carries.
            means: What the answer does, and which model calls it costs.
        """
        action = str.__new__(cls, value)
        action._value_, action.payload, action.means = value, payload, means
        return action

    APPROVE_OVERRIDE = (
        "APPROVE_OVERRIDE",
        ApproveOverride,
        "overrule the debate; costs no call, the gate decides",
    )
    AMEND_SPEC = "AMEND_SPEC", AmendSpec, "change what it asks for; costs the whole task"
    SPLIT_TASK = "SPLIT_TASK", SplitTask, "put smaller tasks in its place; costs all of them"
    REVISE_PLAN = "REVISE_PLAN", RevisePlan, "say which modules there are; costs all their debates"
    PROVIDE_FIX = "PROVIDE_FIX", ProvideFix, "give the files yourself; costs a challenge and a ruling"
    ABANDON_TASK = "ABANDON_TASK", Rationale, "give it up for good, with what needs it; costs no call"
    ATTEST_SHIPPED = "ATTEST_SHIPPED", AttestShipped, "name a sealed module that does it; costs no call"
    RETRY = "RETRY", Retry, "the same inputs again, if answers vary; costs the whole task"
    ACCEPT_UNSHOWN = "ACCEPT_UNSHOWN", Rationale, "accept it although nothing shows it; costs no call"
    DROP_CRITERION = "DROP_CRITERION", Rationale, "take the criterion back; costs no call"
    REWORD_CRITERION = "REWORD_CRITERION", RewordCriterion, "reword it for the next version; costs no call"


CRITERION = "criterion"
"""The cause of a question about an acceptance criterion; no task waits for its answer (design: unshown-criteria)."""

RELEASE = "release"
"""The cause of the escalation of a release whose product breaks approved examples; no task waits for its answer (design:
executable-spec)."""

STALLED = "stalled"
"""The cause of the escalation of a task that waits for an abandoned one."""

QUESTION_ACTIONS = (Action.ACCEPT_UNSHOWN, Action.DROP_CRITERION, Action.REWORD_CRITERION)
"""The answers to it."""

_ALWAYS = (Action.AMEND_SPEC, Action.SPLIT_TASK, Action.ABANDON_TASK)
_HALTED = (Action.RETRY, *_ALWAYS, Action.REVISE_PLAN, Action.ATTEST_SHIPPED)


def actions_for(cause: str) -> tuple[Action, ...]:
    """The actions that an escalation can be answered with, by its `details.cause`.

    A stalled task has not run, so that there is nothing to go on with (design: task-states). Only where modules
    failed is there something to override or to fix (design: escalation).
    """
    if cause == CRITERION:
        return QUESTION_ACTIONS
    if cause == RELEASE:
        return (Action.AMEND_SPEC,)
    if cause == STALLED:
        return _ALWAYS
    if cause == "modules":
        return (*_HALTED, Action.APPROVE_OVERRIDE, Action.PROVIDE_FIX)
    return _HALTED


_SAID = 400
"""Characters of a ruling; the debate has the rest."""

_CAUSES = {
    "planning": "no sound plan was made",
    "contracts": "the contracts were not settled",
    "plan": "the plan itself is at fault",
    "modules": "modules could not be shipped",
    "exception": "a role found the contract of a dependency wrong",
    "journal": "the run cannot be repeated",
    STALLED: "it waits for a task that was abandoned",
    RELEASE: "the product breaks what was approved; nothing waits for the answer",
    CRITERION: "no test can show an acceptance criterion; nothing waits for the answer",
}


class EscalationArtifact(Record):
    """A halt, laid before a person (design: escalation); `details` is typed by its cause."""

    escalation_id: Annotated[str, Field(pattern=r"^ESC-[0-9a-f]{8}$")]
    task_id: str
    task_ref: str
    created_at: Timestamp
    debate_trail: DebateTrail
    failed_invariants: list[FailedInvariant]
    state_machine_snapshot: dict[str, Any]
    minimal_decision_required: Text
    recommended_resolution: Action
    resolution_context: str
    details: dict[str, Any] = Field(default_factory=dict)

    @property
    def cause(self) -> str:
        """Why the task halted, by its name."""
        return str(self.details.get("cause", ""))

    @property
    def cause_in_words(self) -> str:
        """Why the task halted, in a few words."""
        words, names = _CAUSES.get(self.cause, self.cause), ", ".join(self.failed)
        return f"{words}: {names}" if names else words

    @property
    def failed(self) -> dict[str, str]:
        """The modules that failed, each with the reason."""
        return self.details.get("failed", {})

    @property
    def left(self) -> dict[str, Any]:
        """What the halt left for a run that goes on in place: its plan, its modules, and where each debate ended; empty
        where no plan was made."""
        return self.details.get("resume", {})

    @property
    def corrections(self) -> dict[str, Any]:
        """What RETRY carries where a module's draft showed that the spec is at fault; empty for any other halt."""
        gates: dict[str, dict[str, Any]] = self.details.get("gate", {})
        return next(
            (observed["wrong"] for observed in gates.values() if "wrong" in observed), dict[str, Any]()
        )

    @property
    def last_words(self) -> list[str]:
        """What a person has to decide between: the Arbiter's last word on each failed module, and of which the gate passes
        the last draft."""
        words: dict[str, str] = self.details.get("last_words", {})
        passing: list[str] = self.details.get("passing", [])
        return [
            *(f"The Arbiter on {name}: {first_sentences(said, _SAID)}" for name, said in words.items()),
            *(f"The gate passes the last draft of {name}; only judges speak against it." for name in passing),
        ]

    @property
    def distinct_failures(self) -> list[FailedInvariant]:
        """What failed, each once: that a module could not ship is left out where something was found."""
        ships = {f"{name} ships" for name in self.failed}
        return [one for one in self.failed_invariants if one.invariant not in ships] or self.failed_invariants

    @property
    def shown_failures(self) -> list[FailedInvariant]:
        """The failures in the order in which a person reads them: of many counterexamples the smallest alone, and first."""
        found = self.distinct_failures
        tests = [one for one in found if is_counterexample(one.invariant)]
        smallest = [min(tests, key=lambda one: len(one.evidence))] if tests else []
        return [*smallest, *(one for one in found if one not in tests)]


_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not a field of this answer",
    "list_type": "must be a list",
    "string_type": "must be a text",
    "dict_type": "must be an object",
}


def _problems(error: ValidationError) -> list[str]:
    """The problems of a payload, for the person who wrote it; without the values, which may be whole files."""
    return [
        f"`{'.'.join(map(str, fault['loc'])) or 'payload'}` "
        + _MESSAGES.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        for fault in error.errors(include_url=False)
    ]


class HumanResolution(Record):
    """The structured input that answers an escalation (design: escalation).

    `escalation_id` may be left out where one escalation waits.
    """

    action: Action
    payload: dict[str, Any]
    escalation_id: str = ""

    @model_validator(mode="after")
    def _payload_is_the_actions(self) -> Self:
        try:
            self.action.payload.model_validate(self.payload)
        except ValidationError as error:
            raise ValueError(f"{self.action}: {'; '.join(_problems(error))}") from error
        return self


class ResolutionRecord(Record):
    """How an escalation was answered: kept beside it, and bound by a review Wire (design: wire)."""

    escalation_id: Annotated[str, Field(pattern=r"^ESC-[0-9a-f]{8}$")]
    task_id: str
    action: Action
    payload: dict[str, Any]
    resolved_by: str
    resolved_at: Timestamp

    @property
    def rationale(self) -> str:
        """Why, in the person's words; empty where none were asked for."""
        names = ("rationale", "fix_description", "amendment_rationale")
        return next((str(self.payload[name]) for name in names if self.payload.get(name)), "")
