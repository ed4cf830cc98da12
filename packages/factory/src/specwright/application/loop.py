"""The loops of a task and of a deliverable, as tables of steps (design: overview, engineering, debate).

    task         plan -> debate the contracts and lock them -> for each module: debate -> gate -> seal -> finish or halt
    deliverable  propose -> challenge -> revise | adjudicate -> amend -> gate -> end | halt

A row has the step's name, the function that does it, and the next step, or a function that chooses it from the state
alone. `graphs.graphs` makes a graph of each table; each row is a node.

Every loop is bounded. A deliverable has `MAX_REVISIONS` revisions, whether the Challenger, the Arbiter or the gate asks
for them. The contract debate is reopened at most once per task. `roles` limits the attempts of a role at an answer, and
the repairs of a draft in the preflight.

A crash repeats the interrupted step. So every write of a step can be repeated: ids and times come from the journal, files
are published under these ids, and the log ignores a Wire that it already has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast, get_args, get_type_hints

from specwright.application.debate.debate import Debate
from specwright.application.loop_state import DebatePosition, DebateState, EngineeringState, HaltedDebate
from specwright.application.stages.engineering import Engineering
from specwright.domain.answers import Decision, FaultOf, Verdict
from specwright.domain.debate.records import CONTRACTS, MAX_REVISIONS
from specwright.domain.debate.reported_faults import MISSING_DEPENDENCY
from specwright.domain.escalation import Action, ResolutionRecord

Work = TypeVar("Work")
State = TypeVar("State")

END = "end"
"""The end of a loop."""


@dataclass(frozen=True)
class Step(Generic[Work, State]):
    """A step of a loop.

    Args:
        does: Does the work and returns the changes of the state; None for a step that only routes.
        then: The next step, or the function that chooses it, whose return type lists the choices.
        asks: Whether a role is asked; if it gives no usable answer, the next step is `halt` (design: debate).
    """

    does: Callable[[Work, State], State] | None
    then: str | Callable[[State], str]
    asks: bool = False

    @property
    def destinations(self) -> tuple[str, ...]:
        """The possible next steps."""
        return tuple(dict.fromkeys((*choices(self.then), *(("halt",) if self.asks else ()))))

    def next(self, state: State) -> str:
        """Return the next step."""
        return self.then if isinstance(self.then, str) else self.then(state)


class Leave(NamedTuple):
    """A step that leaves a loop for a step of the outer loop, with a report."""

    report: Callable[[Any], dict[str, Any]]
    to: str


def choices(then: str | Callable[..., str]) -> tuple[str, ...]:
    """Return the choices of a routing function, from its return type."""
    return (then,) if isinstance(then, str) else get_args(get_type_hints(then)["return"])


# --- The loop of a deliverable: the contracts of a plan, or the implementation of one module -------------------------


Entry = Literal["propose", "challenge", "revise", "adjudicate", "apply_amendments", "ship", "halt"]


def begin_debate(state: DebateState) -> Entry:
    """A reopened debate continues with a revision (design: debate). After a person's answer a debate begins where the
    answer says: a fix is challenged, an approval goes to the gate (design: escalation)."""
    if "enter" in state:
        return cast(Entry, state["enter"])
    return "revise" if "debate_id" in state else "propose"


def after_proposal(state: DebateState) -> Literal["challenge", "halt"]:
    """If code confirmed a fault of the contract, it is debated again before anybody judges the module (design:
    contract-at-fault)."""
    return "halt" if state.get("confirmed_fault") else "challenge"


def after_challenge(state: DebateState) -> Literal["revise", "adjudicate"]:
    """A FAIL is revised while a revision is left. A disputed one goes to the Arbiter first, who may overturn it or blame the
    contract (design: debate, falsifying-tests)."""
    failed = state["verdict"] == Verdict.FAIL and not state["disputed"]
    return "revise" if failed and _revision_left(state) else "adjudicate"


def after_adjudication(state: DebateState) -> Literal["ship", "apply_amendments", "revise", "halt"]:
    """A REJECT is revised while a revision is left, unless the contract or the plan is at fault, which no revision can
    correct (design: debate)."""
    decision = Decision(state["decision"])
    if decision is Decision.APPROVE:
        return "ship"
    if decision is Decision.APPROVE_WITH_AMENDMENTS:
        return "apply_amendments"
    return "revise" if _revision_left(state) and not state["confirmed_fault"] else "halt"


def after_amendments(state: DebateState) -> Literal["ship", "halt"]:
    """Every amendment must have been applied (design: amendments)."""
    return "halt" if state["halt_reason"] else "ship"


def after_gate(state: DebateState) -> Literal["end", "revise", "halt"]:
    """A version that the gate refuses is revised while a revision is left (design: debate, sealing)."""
    if not state["halt_reason"]:
        return "end"
    return "revise" if _revision_left(state) else "halt"


def _revision_left(state: DebateState) -> bool:
    return state["retry_count"] < MAX_REVISIONS


def halted_debate(state: DebateState) -> dict[str, Any]:
    """Return the report of a halted debate for the task's loop."""
    return {
        "halted": HaltedDebate(
            deliverable=state["deliverable"],
            reason=state["halt_reason"],
            debate_id=state.get("debate_id", ""),
            version_id=state.get("version_id", ""),
            round=state.get("round", 0),
            retry_count=state.get("retry_count", 0),
            fault=state.get("confirmed_fault", ""),
            exception_id=state.get("exception_id", ""),
            questions=state.get("questions", []),
            raw_answers=state.get("raw_answers", []),
            errors=state.get("errors", []),
        )
    }


DELIVERABLE_LOOP: Mapping[str, Step[Debate, DebateState] | Leave] = {
    "propose": Step(Debate.propose, after_proposal, asks=True),
    "challenge": Step(Debate.challenge, "route", asks=True),
    "route": Step(None, after_challenge),
    "revise": Step(Debate.revise, after_proposal, asks=True),
    "adjudicate": Step(Debate.adjudicate, after_adjudication, asks=True),
    "apply_amendments": Step(Debate.apply_amendments, "validate_amendments", asks=True),
    "validate_amendments": Step(Debate.validate_amendments, after_amendments),
    "ship": Step(Debate.ship, after_gate),
    "halt": Leave(halted_debate, to="module_halted"),
}


# --- The loop of a task ----------------------------------------------------------------------------------------------


def begin_task(answer: ResolutionRecord | None) -> Literal["micro_plan", "resume"]:
    """Resume in place after an answer that approves, fixes or corrects something; plan in all other cases.

    The answer is read from the log, so a lost checkpoint does not matter (design: escalation, journal).
    """
    return "micro_plan" if answer is None or answer.action is Action.REVISE_PLAN else "resume"


def after_plan(state: EngineeringState) -> Literal["debate", "select_module", "finish"]:
    """Without a sound plan the task halts. A plan that only reuses modules has no contract to debate (design: planning)."""
    if "halt_reason" in state:
        return "finish"
    return "debate" if state["deliverable"] else "select_module"


def after_resume(state: EngineeringState) -> Literal["debate", "select_module"]:
    """A fix that fails the preflight fails its module."""
    return "debate" if "resumed" in state else "select_module"


def debate(work: Engineering, state: EngineeringState) -> EngineeringState:
    """Run the deliverable's loop to its end; a halt leads to `module_halted` instead."""
    result = work.hold_debate(debate_input(state))
    debates = {**state.get("debates", {}), state["deliverable"]: result["debate_id"]}
    learned: EngineeringState = {"debates": debates, "questions": result.get("questions", [])}
    if state["deliverable"] != CONTRACTS:
        return {**learned, "version_id": result["version_id"]}
    ended = DebatePosition(
        version_id=result["version_id"], round=result["round"], retry_count=result["retry_count"]
    )
    return {**learned, "locked": ended, **work.follow_plan(result["version_id"], state)}


def after_debate(state: EngineeringState) -> Literal["select_module", "ship"]:
    """The gate of a contract debate locks the plan; a module that passed its gate is sealed."""
    return "select_module" if state["deliverable"] == CONTRACTS else "ship"


def module_halted(_: Engineering, state: EngineeringState) -> EngineeringState:
    """Record that a deliverable failed, or reopen the contract debate for it (design: debate)."""
    halted = state["halted"]
    name, reason = halted["deliverable"], halted["reason"]
    changes: EngineeringState = {
        # several modules may halt; all their answers and errors are kept
        "raw_answers": [*state.get("raw_answers", []), *halted["raw_answers"]],
        "errors": [*state.get("errors", []), *halted["errors"]],
        "questions": halted.get("questions", []),
        "debates": dict(state.get("debates", {}))
        | ({name: halted["debate_id"]} if halted["debate_id"] else {}),
    }
    if raised := halted.get(
        "exception_id"
    ):  # a dependency's contract is wrong: the whole task waits for a person
        return {**changes, "exception_id": raised}
    if name == CONTRACTS:
        return {**changes, "halt_reason": reason}
    if may_reopen(state, halted):
        return {**changes, "deliverable": CONTRACTS, "reopened_by": halted}
    changes["failed"] = {**state.get("failed", {}), name: reason}
    above = halted["fault"] in {FaultOf.PLAN, MISSING_DEPENDENCY}
    return {**changes, "plan_fault": halted} if above else changes


def after_halt(state: EngineeringState) -> Literal["debate", "select_module", "finish"]:
    """The other modules continue, unless the contracts, the plan or the spec failed, or an interface change exception was
    raised; a reopened contract debate comes first."""
    halted = "halt_reason" in state or "plan_fault" in state or "exception_id" in state
    if halted or state["halted"]["fault"] == "spec":
        return "finish"
    return "debate" if state["deliverable"] == CONTRACTS else "select_module"


def may_reopen(state: EngineeringState, halted: HaltedDebate) -> bool:
    """Whether a module with a wrong contract or a missing dependency reopens the contract debate: once per task, and not in
    a repair, which has no contract debate (design: change). Both debates then continue with their next round, which costs no
    revision (design: contract-at-fault)."""
    amendable = halted["fault"] in {FaultOf.CONTRACT, MISSING_DEPENDENCY}
    return amendable and "reopened_by" not in state and "locked" in state


def debate_input(state: EngineeringState) -> DebateState:
    """Return the state in which the deliverable's debate begins or continues."""
    name = state["deliverable"]
    begins = DebateState(
        task_id=state["task_id"],
        deliverable=name,
        plan_id=state["plan_id"],
        schema_version=state["schema_version"],
        questions=state.get("questions", []),
    )
    resumed, cause = state.get("resumed"), state.get("reopened_by")
    if resumed and resumed["deliverable"] == name:
        return {**begins, **resumed}
    if cause and name == CONTRACTS:
        return {
            **begins,
            **state["locked"],
            "debate_id": state["debates"][CONTRACTS],
            "source_of_failure": "late",
            "cause_debate": cause["debate_id"],
            "cause_round": cause["round"],
            "sealed": state.get("shipped", {}),
        }
    if cause and name == cause["deliverable"]:
        return {
            **begins,
            "debate_id": cause["debate_id"],
            "version_id": cause["version_id"],
            "round": cause["round"],
            "retry_count": cause["retry_count"],
            "source_of_failure": "reopened",
        }
    return begins


def after_selection(state: EngineeringState) -> Literal["debate", "finish"]:
    """Modules are made in topological order, until none is left that can be made (design: planning)."""
    return "debate" if state["deliverable"] else "finish"


TASK_LOOP: Mapping[str, Step[Engineering, EngineeringState]] = {
    "micro_plan": Step(Engineering.make_plan, after_plan),
    "resume": Step(Engineering.resume, after_resume),
    "debate": Step(debate, after_debate),  # runs DELIVERABLE_LOOP
    "module_halted": Step(module_halted, after_halt),
    "select_module": Step(Engineering.select_module, after_selection),
    "ship": Step(Engineering.ship, "select_module"),
    "finish": Step(Engineering.finish, END),
}
