"""What happens to a task and to a deliverable, in order (design: overview, engineering, debate).

    task         plan -> debate the contracts and lock them -> for each module: debate -> gate -> seal -> finish or halt
    deliverable  propose -> challenge -> revise | adjudicate -> amend -> gate -> end | halt

Both loops are tables. A row has the step's name, the one function that does it, and what follows: the name of a step,
or a function that decides it from the state alone. `graphs.graphs` makes a graph of each table; each row is a node.

Every loop is bounded. A deliverable has `MAX_REVISIONS` revisions, whether the Challenger, the Arbiter or the gate asks
for them. The contract debate is reopened once per task. A role has a bounded number of attempts at an answer, and a
draft a bounded number of repairs in the preflight; both are counted where the role is asked (`roles`).

A crash repeats the step that it interrupted. Every step therefore writes only what may be written twice: ids and times
are drawn from the journal, files are published under those ids, and the log ignores a Wire that it has.
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
"""The loop is over."""


@dataclass(frozen=True)
class Step(Generic[Work, State]):
    """One step of a loop.

    Args:
        does: Does the work of the step and returns what changes in the state; None for a step that only routes.
        then: The next step, or the function that chooses it; its return type lists the choices.
        asks: Whether a role is asked; if it gives no usable answer, the next step is `halt` (design: debate).
    """

    does: Callable[[Work, State], State] | None
    then: str | Callable[[State], str]
    asks: bool = False

    @property
    def destinations(self) -> tuple[str, ...]:
        """The steps that can follow."""
        return tuple(dict.fromkeys((*choices(self.then), *(("halt",) if self.asks else ()))))

    def next(self, state: State) -> str:
        """The step that follows."""
        return self.then if isinstance(self.then, str) else self.then(state)


class Leave(NamedTuple):
    """The step that leaves a loop for a step of the loop around it, which gets a report."""

    report: Callable[[Any], dict[str, Any]]
    to: str


def choices(then: str | Callable[..., str]) -> tuple[str, ...]:
    """The steps between which a routing function chooses, by its return type."""
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
    """A contract whose fault code confirmed is debated again before anybody judges the module (design:
    contract-at-fault)."""
    return "halt" if state.get("confirmed_fault") else "challenge"


def after_challenge(state: DebateState) -> Literal["revise", "adjudicate"]:
    """A FAIL is revised while a revision is left. It goes to the Arbiter first where the Arbiter may find that it is no
    failure, or that the module cannot help it (design: debate, falsifying-tests)."""
    failed = state["verdict"] == Verdict.FAIL and not state["disputed"]
    return "revise" if failed and _revision_left(state) else "adjudicate"


def after_adjudication(state: DebateState) -> Literal["ship", "apply_amendments", "revise", "halt"]:
    """A REJECT is revised while a revision is left, unless the fault is the contract's or the plan's: no revision of
    this deliverable can correct that (design: debate)."""
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
    """What the task's loop learns of a debate that halted."""
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
    """An answer that brings something to ship or to challenge, or that corrects what was approved, resumes the task
    there; any other task is planned.

    The answer is read from the log, so a lost checkpoint changes nothing (design: escalation, journal).
    """
    return "micro_plan" if answer is None or answer.action is Action.REVISE_PLAN else "resume"


def after_plan(state: EngineeringState) -> Literal["debate", "select_module", "finish"]:
    """Without a sound plan the task halts; a plan of reused modules alone has no contract to debate (design: planning)."""
    if "halt_reason" in state:
        return "finish"
    return "debate" if state["deliverable"] else "select_module"


def after_resume(state: EngineeringState) -> Literal["debate", "select_module"]:
    """A fix that fails the preflight fails its module."""
    return "debate" if "resumed" in state else "select_module"


def debate(work: Engineering, state: EngineeringState) -> EngineeringState:
    """Run the deliverable's loop to its end; a halt in it leaves for `module_halted` instead."""
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
        # several modules may halt: the answers and errors of all are kept
        "raw_answers": [*state.get("raw_answers", []), *halted["raw_answers"]],
        "errors": [*state.get("errors", []), *halted["errors"]],
        "questions": halted.get("questions", []),
        "debates": dict(state.get("debates", {}))
        | ({name: halted["debate_id"]} if halted["debate_id"] else {}),
    }
    if raised := halted.get(
        "exception_id"
    ):  # somebody else's contract is wrong: the whole task waits for a person
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
    """Whether a module that found its contract at fault, or a dependency missing, reopens the contract debate: once per
    task, if there was one; a repair has none (design: change). Each debate then
    continues with its own next round, which costs neither a revision (design: contract-at-fault)."""
    amendable = halted["fault"] in {FaultOf.CONTRACT, MISSING_DEPENDENCY}
    return amendable and "reopened_by" not in state and "locked" in state


def debate_input(state: EngineeringState) -> DebateState:
    """The state in which the deliverable's debate begins, or continues."""
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
    """Modules come in topological order, until none is left that can be made (design: planning)."""
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
