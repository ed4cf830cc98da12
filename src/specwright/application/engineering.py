"""The engineering stage of one task: plan, lock, module by module, then shipped or halted (F§3.4, F§10).

Each function is what one node of the engineering graph does. The graph's state holds names and ids only.
"""

from typing import TypedDict

from specwright.application.contract_set import ContractSet
from specwright.application.debate_records import DebateRecords
from specwright.application.deliverable import CONTRACTS, Deliverable
from specwright.application.factory import Factory
from specwright.application.halting import Halt, halt, set_draft_aside
from specwright.application.implementation import Implementation
from specwright.application.planning import Plan, first_plan, load_plan
from specwright.application.project_stage import Task, task_at
from specwright.application.shipping import announce_reused, seal
from specwright.domain.escalation import Resolution
from specwright.domain.micro_plan import downstream, execution_order
from specwright.errors import AnswerError

__all__ = ["EngineeringState", "deliverable", "finish", "lost", "make_plan", "next_module", "ship_module"]


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
    halt_reason: str
    raw_answers: list[str]
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
        return {"halt_reason": error.what, "raw_answers": list(error.raw_answers)}


def deliverable(factory: Factory, task_id: str, subject: str, plan_id: str) -> Deliverable:
    """What is debated under a subject."""
    task = task_at(factory, task_id)
    if subject == CONTRACTS:
        return ContractSet(factory, task, plan_id)
    return _implementation(factory, task, load_plan(factory, task, plan_id), subject)


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
    ref = seal(factory, task, module, state["target"])
    return {"shipped": {**state.get("shipped", {}), state["subject"]: ref}}


def finish(factory: Factory, state: EngineeringState) -> EngineeringState:
    """The task's result: SHIPPED with its modules, or HALTED with its escalation."""
    task = task_at(factory, state["task_id"])
    if reason := state.get("halt_reason", ""):
        return {"outcome": "HALTED", "escalation": halt(factory, task, _without_modules(task, state, reason))}
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
        details={"raw_answers": state.get("raw_answers", []), "task_file": task.path},
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
            "raw_answers": state.get("raw_answers", []),
        },
    )


def _keep_drafts(factory: Factory, task: Task, state: EngineeringState) -> None:
    plan = _plan(factory, state)
    for name, reason in state.get("failed", {}).items():
        debate_id = state.get("debates", {}).get(name)
        if debate_id:
            proposals = DebateRecords(factory.store, debate_id).trail().proposals
            module = _implementation(factory, task, plan, name)
            set_draft_aside(factory, module, proposals[-1].target_artifact_id, reason)
