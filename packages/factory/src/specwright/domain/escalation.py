"""Escalations, and the actions with typed payloads by which a person answers them (design: escalation, task-states).

`actions_for` says which actions an escalation accepts; `application.escalation.offers` checks an answer against the
project.
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
    """A violated requirement, with evidence."""

    invariant: Text
    evidence: Text


OPERATOR = "human:operator"
"""The author of a decision and of the artifacts in an answer (design: escalation)."""


class Rationale(Record):
    """The reason to abandon a task, or to accept or drop a criterion."""

    rationale: Text


class ApproveOverride(Rationale):
    """The reason to ship although the debate failed; the gate still decides (design: escalation). `module` is needed if
    several failed."""

    module: str = ""


class Retry(Record):
    """Run the task again from the start, with new model calls. With `corrections` of approved examples the attempt resumes
    in place, with the failed module's last draft (design: escalation, contract-at-fault)."""

    rationale: str = ""
    corrections: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    """New fields of approved examples and properties, by title; null removes one."""
    module: str = ""


class AmendSpec(Record):
    """Change the acceptance criteria and run the task again from the start (design: escalation, task-states)."""

    amended_acceptance_criteria: Annotated[list[Text], Field(min_length=2)]
    amendment_rationale: Text
    drop_depends_on: list[str] = Field(default_factory=list)
    """T- or TSK- ids of tasks that this one no longer depends on."""
    strike_examples: list[str] = Field(default_factory=list)
    """Titles of approved examples and properties that no longer apply (design: executable-spec)."""


class NewTask(Record):
    """A part of a split task. Its last two fields default to those of the original task."""

    name: Text
    description: Text
    acceptance_criteria: Annotated[list[Text], Field(min_length=2)]
    depends_on: list[str]
    """Siblings by name, other tasks by T- or TSK- id."""
    subtasks: Annotated[list[Text], Field(min_length=2)] | None = None
    io_contract_sketch: IoContractSketch | None = None


class SplitTask(Record):
    """Replace the task by smaller ones."""

    new_tasks: Annotated[list[NewTask], Field(min_length=1)]


class ShortModule(Record):
    """A module of a person's plan, in the short form (design: escalation, planning)."""

    module_id: Text
    """The `MM-...` id of a known module; any other word is a local name."""
    description: Text
    depends_on: list[str] = Field(default_factory=list)
    name: str = ""
    """Needed only for a new `MM-...` id."""


class RevisePlan(Record):
    """Replace the plan: in the short form, to which the planner adds contracts, or in the form of a planner's answer
    (design: planning)."""

    revised_micro_plan: Annotated[list[ShortModule], Field(min_length=1, max_length=20)] | dict[str, Any]


class ProvideFix(Record):
    """Provide an implementation, which is challenged and judged like any other."""

    fix_description: Text
    fix_artifacts: Annotated[dict[str, str], Field(min_length=1)]
    """The files by path below the module's directory (`implementation/__init__.py`)."""
    removed_artifacts: list[str] = Field(default_factory=list)
    """Paths of the last version to remove."""
    module: str = ""


class RewordCriterion(Rationale):
    """Reword a criterion for the next version; this release does not show it (design: unshown-criteria)."""

    reworded_criterion: Text


class AttestShipped(Rationale):
    """Name a sealed module that fulfils the task (design: escalation)."""

    module_ref: Annotated[str, Field(pattern=r"^MM-[0-9a-f]{8}@[0-9]+\.[0-9]+\.[0-9]+$")]


class Action(StrEnum):
    """The answers to a halt, and then those to a question about a criterion (design: escalation, unshown-criteria). An
    escalation recommends one of them."""

    payload: type[Record]
    means: str

    def __new__(cls, value: str, payload: type[Record] = Record, means: str = "") -> Self:
        """Create an action.

        Args:
            value: Its name.
            payload: The record type of its payload.
            means: What the answer does and which model calls it costs, for the user.
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
    SPLIT_TASK = "SPLIT_TASK", SplitTask, "replace it by smaller tasks; costs all of them"
    REVISE_PLAN = "REVISE_PLAN", RevisePlan, "give the plan yourself; costs all its debates"
    PROVIDE_FIX = "PROVIDE_FIX", ProvideFix, "give the files yourself; costs a challenge and a ruling"
    ABANDON_TASK = "ABANDON_TASK", Rationale, "abandon it and every task that needs it; costs no call"
    ATTEST_SHIPPED = "ATTEST_SHIPPED", AttestShipped, "name a sealed module that does it; costs no call"
    RETRY = "RETRY", Retry, "the same inputs again, if answers vary; costs the whole task"
    ACCEPT_UNSHOWN = "ACCEPT_UNSHOWN", Rationale, "accept it although nothing shows it; costs no call"
    DROP_CRITERION = "DROP_CRITERION", Rationale, "take the criterion back; costs no call"
    REWORD_CRITERION = "REWORD_CRITERION", RewordCriterion, "reword it for the next version; costs no call"


CRITERION = "criterion"
"""The cause of a question about an acceptance criterion; no task waits for its answer (design: unshown-criteria)."""

RELEASE = "release"
"""The cause of an escalation about a release that breaks approved examples; no task waits for its answer
(design: executable-spec)."""

STALLED = "stalled"
"""The cause of the escalation of a task that waits for an abandoned one."""

QUESTION_ACTIONS = (Action.ACCEPT_UNSHOWN, Action.DROP_CRITERION, Action.REWORD_CRITERION)
"""The actions that answer a question about a criterion."""

_ALWAYS = (Action.AMEND_SPEC, Action.SPLIT_TASK, Action.ABANDON_TASK)
_HALTED = (Action.RETRY, *_ALWAYS, Action.REVISE_PLAN, Action.ATTEST_SHIPPED)


def actions_for(cause: str) -> tuple[Action, ...]:
    """Return the actions that an escalation accepts, by its `details.cause`.

    A stalled task has not run, so it cannot be resumed (design: task-states). Only if modules failed is there something
    to override or fix (design: escalation).
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
"""The number of characters of a ruling to show; the debate's record has the rest."""

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
    """The record of a halt, for a person to answer (design: escalation). The keys of `details` depend on the cause."""

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
        """The name of the cause."""
        return str(self.details.get("cause", ""))

    @property
    def cause_in_words(self) -> str:
        """The cause of the halt, in a few words."""
        words, names = _CAUSES.get(self.cause, self.cause), ", ".join(self.failed)
        return f"{words}: {names}" if names else words

    @property
    def failed(self) -> dict[str, str]:
        """The modules that failed, each with the reason."""
        return self.details.get("failed", {})

    @property
    def left(self) -> dict[str, Any]:
        """The state from which the attempt can resume in place: plan, modules, and where each debate ended; empty if there
        is no plan."""
        return self.details.get("resume", {})

    @property
    def corrections(self) -> dict[str, Any]:
        """The `corrections` to answer RETRY with, if a module's draft proved that the spec is wrong; otherwise empty."""
        gates: dict[str, dict[str, Any]] = self.details.get("gate", {})
        return next(
            (observed["wrong"] for observed in gates.values() if "wrong" in observed), dict[str, Any]()
        )

    @property
    def last_words(self) -> list[str]:
        """The Arbiter's last rationale on each failed module, and the modules whose last draft the gate passes."""
        words: dict[str, str] = self.details.get("last_words", {})
        passing: list[str] = self.details.get("passing", [])
        return [
            *(f"The Arbiter on {name}: {first_sentences(said, _SAID)}" for name, said in words.items()),
            *(f"The gate passes the last draft of {name}; only the judges object." for name in passing),
        ]

    @property
    def distinct_failures(self) -> list[FailedInvariant]:
        """The failures, without the plain statement that a module did not ship if there is any other."""
        ships = {f"{name} ships" for name in self.failed}
        return [one for one in self.failed_invariants if one.invariant not in ships] or self.failed_invariants

    @property
    def shown_failures(self) -> list[FailedInvariant]:
        """The failures in reading order: first the smallest counterexample, without the others, then the rest."""
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
    """Describe the problems of a payload, without its values, which may be whole files."""
    return [
        f"`{'.'.join(map(str, fault['loc'])) or 'payload'}` "
        + _MESSAGES.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        for fault in error.errors(include_url=False)
    ]


class HumanResolution(Record):
    """The structured answer to an escalation (design: escalation).

    `escalation_id` may be left out if only one escalation waits.
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
    """The record of an answer, stored beside the escalation and bound by a review Wire (design: wire)."""

    escalation_id: Annotated[str, Field(pattern=r"^ESC-[0-9a-f]{8}$")]
    task_id: str
    action: Action
    payload: dict[str, Any]
    resolved_by: str
    resolved_at: Timestamp

    @property
    def rationale(self) -> str:
        """The reason that the person gave; empty for actions without one."""
        names = ("rationale", "fix_description", "amendment_rationale")
        return next((str(self.payload[name]) for name in names if self.payload.get(name)), "")
