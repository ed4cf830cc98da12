"""The engineering stage of one task: plan, lock, module by module, then shipped or halted (F§3.4, F§10).

Each function is what one node of the engineering graph does. The graph's state holds names and ids only.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from specwright import canonical_json
from specwright.application.contract_set import ContractSet
from specwright.application.debate_records import DebateRecords
from specwright.application.deliverable import CONTRACTS, Deliverable
from specwright.application.factory import Factory
from specwright.application.halting import Halt, halt, set_draft_aside
from specwright.application.implementation import Implementation
from specwright.application.planning import first_plan
from specwright.application.project_stage import Task, task_at
from specwright.application.shipping import announce_reused, seal
from specwright.application.stored_plans import Plan, Reopened, load_plan
from specwright.domain.answers import FaultOf
from specwright.domain.debate import MAX_REVISIONS
from specwright.domain.escalation import Resolution
from specwright.domain.falsifying import standing
from specwright.domain.micro_plan import downstream, execution_order
from specwright.errors import AnswerError

__all__ = [
    "EngineeringState",
    "Left",
    "Locked",
    "debate_of",
    "deliverable",
    "finish",
    "lost",
    "make_plan",
    "may_reopen",
    "next_module",
    "ship_module",
]


class Left(TypedDict):
    """Where a debate was left without a result: whose, at which round, why, and whose fault it was (D10)."""

    subject: str
    reason: str
    debate_id: str
    target: str
    round: int
    retry_count: int
    fault: str
    raw_answers: list[str]
    errors: list[str]


class Locked(TypedDict):
    """Where the contract debate ended: it goes on from there if it is reopened (D10)."""

    target: str
    round: int
    retry_count: int


class EngineeringState(TypedDict, total=False):
    """JSON primitives only (DESIGN §5)."""

    schema_version: int
    task_id: str
    plan_id: str
    subject: str
    target: str
    shipped: dict[str, str]
    failed: dict[str, str]
    debates: dict[str, str]
    locked: Locked
    reopened_by: Left
    plan_fault: Left
    halt_reason: str
    raw_answers: list[str]
    errors: list[str]
    outcome: str
    escalation: str
    module_refs: list[str]
    module_ref: str


def make_plan(factory: Factory, state: EngineeringState) -> EngineeringState:
    """Ask for a plan; without a sound one the task halts (F§10.1)."""
    task = task_at(factory, state["task_id"])
    try:
        return {"plan_id": first_plan(factory, task), "subject": CONTRACTS}
    except AnswerError as error:
        raw_answers, errors = list(error.raw_answers), list(error.problems)
        return {"halt_reason": error.what, "raw_answers": raw_answers, "errors": errors}


def deliverable(
    factory: Factory, task_id: str, subject: str, plan_id: str, sealed: Mapping[str, str] | None = None
) -> Deliverable:
    """What is debated under a subject.

    Args:
        factory: The ports.
        task_id: The task.
        subject: A module's name, or the contracts.
        plan_id: The locked plan, or the first one.
        sealed: In a reopened contract debate the modules that have shipped, by name with their references.
    """
    task = task_at(factory, task_id)
    if subject == CONTRACTS:
        return ContractSet(factory, task, plan_id, None if sealed is None else Reopened(plan_id, sealed))
    return _implementation(factory, task, load_plan(factory, task, plan_id), subject)


def may_reopen(state: EngineeringState, left: Left) -> bool:
    """Whether a module that found its contract at fault opens the contract debate again: once per task, and while both
    debates have a revision left, since each goes on with the next round of its own (D10, D11)."""
    budgets = (state["locked"]["retry_count"], left["retry_count"])
    return left["fault"] == FaultOf.CONTRACT and "reopened_by" not in state and max(budgets) < MAX_REVISIONS


def debate_of(state: EngineeringState) -> dict[str, Any]:
    """The state in which the next debate begins, or goes on."""
    asked: dict[str, Any] = {
        key: state.get(key) for key in ("task_id", "subject", "plan_id", "schema_version")
    }
    cause = state.get("reopened_by")
    if cause is None or state.get("subject") not in (CONTRACTS, cause["subject"]):
        return asked
    if state.get("subject") == CONTRACTS:
        asked |= state["locked"]
        asked |= {"debate_id": state["debates"][CONTRACTS], "source_of_failure": "late"}
        asked |= {"cause_debate": cause["debate_id"], "cause_round": cause["round"]}
        return {**asked, "sealed": state.get("shipped", {})}
    asked |= {key: cause[key] for key in ("debate_id", "target", "round", "retry_count")}
    return {**asked, "source_of_failure": "reopened"}


def next_module(factory: Factory, state: EngineeringState) -> str | None:
    """The next module that is neither done nor abandoned, in topological order (F§10.2)."""
    plan = _plan(factory, state)
    done = {*state.get("shipped", {}), *state.get("failed", {}), *lost(factory, state)}
    return next(
        (name for name in execution_order(plan.plan) if name in plan.contracts and name not in done), None
    )


def lost(factory: Factory, state: EngineeringState) -> set[str]:
    """The modules that are abandoned because one that they depend on failed (F§3.4)."""
    return downstream(_plan(factory, state).plan, state.get("failed", {}))


def ship_module(factory: Factory, state: EngineeringState) -> EngineeringState:
    """Seal the module whose debate and gate are passed."""
    task = task_at(factory, state["task_id"])
    module = _implementation(factory, task, _plan(factory, state), state["subject"])
    tried, struck = DebateRecords(factory.store, state["debates"][state["subject"]]).falsified()
    (contract,) = module.contracts(state["target"])
    stand = standing(tried, struck, canonical_json.digest(contract.to_json()))
    ref = seal(factory, task, module, state["target"], stand, struck)
    return {"shipped": {**state.get("shipped", {}), state["subject"]: ref}}


def finish(factory: Factory, state: EngineeringState) -> EngineeringState:
    """The task's result: SHIPPED with its modules, or HALTED with its escalation."""
    task = task_at(factory, state["task_id"])
    if reason := state.get("halt_reason", ""):
        return {"outcome": "HALTED", "escalation": halt(factory, task, _without_modules(task, state, reason))}
    if state.get("plan_fault"):
        return {
            "outcome": "HALTED",
            "escalation": halt(factory, task, _with_plan_fault(factory, task, state)),
        }
    plan = _plan(factory, state)
    if state.get("failed"):
        return {"outcome": "HALTED", "escalation": halt(factory, task, _with_modules(factory, task, state))}
    for ref in plan.reused.values():
        announce_reused(factory, task, ref)
    refs = [_ref(plan, module.name, state) for module in plan.plan.modules]
    return {"outcome": "SHIPPED", "module_refs": refs, "module_ref": _ref(plan, plan.plan.task_facing, state)}


def _plan(factory: Factory, state: EngineeringState) -> Plan:
    return load_plan(factory, task_at(factory, state["task_id"]), state["plan_id"])


def _implementation(factory: Factory, task: Task, plan: Plan, name: str) -> Implementation:
    siblings = [contract.ref for other, contract in plan.contracts.items() if other != name]
    return Implementation(factory, task, plan.contracts[name], plan.contract_ids[name], siblings)


def _ref(plan: Plan, name: str, state: EngineeringState) -> str:
    return state.get("shipped", {}).get(name) or plan.reused[name]


def _without_modules(task: Task, state: EngineeringState, reason: str) -> Halt:
    planning = "plan_id" not in state
    return Halt(
        cause="planning" if planning else "contracts",
        reason=reason,
        decision=f"Revise the plan of {task.task_id}, or simplify what it asks for: {reason}",
        recommended=Resolution.REVISE_PLAN if planning else Resolution.AMEND_SPEC,
        context="revise task decomposition, or simplify task scope",
        debates=list(state.get("debates", {}).values()),
        failed=[("a sound plan with testable contracts", reason)],
        details={**_said(state), "task_file": task.path, "shipped": dict(state.get("shipped", {}))},
    )


def _with_modules(factory: Factory, task: Task, state: EngineeringState) -> Halt:
    failed = state.get("failed", {})
    abandoned = sorted(lost(factory, state))
    shipped = state.get("shipped", {})
    _keep_drafts(factory, task, state)
    names = ", ".join(failed)
    return Halt(
        cause="modules",
        reason=f"{names} could not be shipped",
        decision=f"Decide how {names} of {task.task_id} goes on: {'; '.join(failed.values())}",
        recommended=Resolution.PROVIDE_FIX,
        context=f"failed: {names}; abandoned: {', '.join(abandoned) or 'none'}; shipped: {', '.join(shipped) or 'none'}",
        debates=list(state.get("debates", {}).values()),
        failed=[(f"{name} ships", reason) for name, reason in failed.items()],
        details={
            "failed": dict(failed),
            "abandoned": abandoned,
            "shipped": dict(shipped),
            **_said(state),
            "gate": _gates(factory, state),
        },
    )


def _with_plan_fault(factory: Factory, task: Task, state: EngineeringState) -> Halt:
    """The plan itself is wrong, says a Challenger, and the Arbiter confirmed it (F§10.3)."""
    left, plan = state["plan_fault"], _plan(factory, state)
    found = DebateRecords(factory.store, left["debate_id"]).challenge(left["round"]).faults(FaultOf.PLAN)
    shipped, failed = state.get("shipped", {}), state.get("failed", {})
    open_ = [name for name in plan.contracts if name not in shipped and name not in failed]
    _keep_drafts(factory, task, state)
    return Halt(
        cause="plan",
        reason=f"the plan is at fault: {left['subject']} cannot be shipped under it",
        decision=f"Cut {task.task_id} anew: {'; '.join(failure.evidence for failure in found)}",
        recommended=Resolution.REVISE_PLAN,
        context=f"split task, revise plan or merge modules. Required: {'; '.join(f.required_change for f in found)}",
        debates=list(state.get("debates", {}).values()),
        failed=[(failure.invariant, failure.evidence) for failure in found],
        details={
            "plan": plan.plan.to_json(),
            "module": left["subject"],
            "debate": left["debate_id"],
            "evidence": [failure.to_json() for failure in found],
            "confirmed": left["reason"],
            "failed": dict(failed),
            "abandoned": open_,
            "shipped": dict(shipped),
        },
    )


def _gates(factory: Factory, state: EngineeringState) -> dict[str, Any]:
    """What the gate saw of each failed module that reached it: fingerprints, their difference, the execution log
    (F§11.2, F§11.3)."""
    debates = state.get("debates", {})
    seen = {
        name: DebateRecords(factory.store, debates[name]).last_gate()
        for name in state.get("failed", {})
        if name in debates
    }
    return {name: observed for name, observed in seen.items() if observed}


def _said(state: EngineeringState) -> dict[str, list[str]]:
    """The answers that no attempt was left for, as they came, and all that was wrong with the last of each."""
    return {"raw_answers": state.get("raw_answers", []), "errors": state.get("errors", [])}


def _keep_drafts(factory: Factory, task: Task, state: EngineeringState) -> None:
    plan = _plan(factory, state)
    for name, reason in state.get("failed", {}).items():
        debate_id = state.get("debates", {}).get(name)
        if debate_id and name in plan.contracts:  # a reopened plan may have dropped it
            records = DebateRecords(factory.store, debate_id)
            module = _implementation(factory, task, plan, name)
            target = records.trail().proposals[-1].target_artifact_id
            set_draft_aside(factory, module, target, reason, records.last_gate())
