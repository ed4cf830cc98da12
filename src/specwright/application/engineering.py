"""The engineering stage of one task: plan, lock, module by module, then shipped or halted (F§3.4, F§10).

Each function is what one node of the engineering graph does. The graph's state holds names and ids only.
"""

from collections.abc import Mapping
from typing import Any

from specwright import canonical_json
from specwright.application.debate.contract_set import ContractSet
from specwright.application.debate.deliverable import CONTRACTS, Deliverable
from specwright.application.debate.records import DebateRecords
from specwright.application.engineering_state import EngineeringState, Left, Locked
from specwright.application.factory import Factory
from specwright.application.planning import first_plan
from specwright.application.project_stage import task_at
from specwright.application.shipping import announce_reused, seal
from specwright.application.stops.halt_reasons import halt_reason, module_of
from specwright.application.stops.halting import halt
from specwright.application.stores.stored_plans import Plan, Reopened, load_plan
from specwright.domain.answers import FaultOf
from specwright.domain.debate import MAX_REVISIONS
from specwright.domain.falsifying import standing
from specwright.domain.micro_plan import downstream, execution_order
from specwright.errors import AnswerError

__all__ = [
    "debate_of",
    "deliverable",
    "finish",
    "locked",
    "lost",
    "make_plan",
    "may_reopen",
    "next_module",
    "ship_module",
]


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
    return module_of(factory, task, load_plan(factory, task, plan_id), subject)


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
    entered = state.get("entered")
    if entered and entered["subject"] == state.get("subject"):
        return {**asked, **entered}
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


def locked(factory: Factory, state: EngineeringState, result: Mapping[str, Any]) -> EngineeringState:
    """What changes once the contracts lock; of the modules that failed before, those that the plan still has stay failed.

    Args:
        factory: The ports.
        state: Of the stage.
        result: Where the contract debate ended.
    """
    plan = load_plan(factory, task_at(factory, state["task_id"]), result["target"])
    failed = {name: why for name, why in state.get("failed", {}).items() if name in plan.contracts}
    ended = Locked(target=result["target"], round=result["round"], retry_count=result["retry_count"])
    return {"plan_id": plan.plan_id, "locked": ended, "failed": failed}


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
    module = module_of(factory, task, _plan(factory, state), state["subject"])
    tried, struck = DebateRecords(factory.store, state["debates"][state["subject"]]).falsified()
    (contract,) = module.contracts(state["target"])
    stand = standing(tried, struck, canonical_json.digest(contract.to_json()))
    ref = seal(factory, task, module, state["target"], stand, struck)
    return {"shipped": {**state.get("shipped", {}), state["subject"]: ref}}


def finish(factory: Factory, state: EngineeringState) -> EngineeringState:
    """The task's result: SHIPPED with its modules, or HALTED with its escalation."""
    task = task_at(factory, state["task_id"])
    if why := halt_reason(factory, task, state):
        return {"outcome": "HALTED", "escalation": halt(factory, task, why)}
    plan = _plan(factory, state)
    for ref in plan.reused.values():
        announce_reused(factory, task, ref)
    refs = [_ref(plan, module.name, state) for module in plan.plan.modules]
    return {"outcome": "SHIPPED", "module_refs": refs, "module_ref": _ref(plan, plan.plan.task_facing, state)}


def _plan(factory: Factory, state: EngineeringState) -> Plan:
    return load_plan(factory, task_at(factory, state["task_id"]), state["plan_id"])


def _ref(plan: Plan, name: str, state: EngineeringState) -> str:
    return state.get("shipped", {}).get(name) or plan.reused[name]
