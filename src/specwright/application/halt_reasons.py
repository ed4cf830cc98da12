"""Why a task halts, as its escalation tells it: the cause, what failed, and what is needed to go on (F§10.3, F§17.1)."""

from typing import Any

from specwright.application.artifact_store import artifacts
from specwright.application.debate_records import DebateRecords
from specwright.application.deliverable import CONTRACTS
from specwright.application.engineering_state import EngineeringState
from specwright.application.factory import Factory
from specwright.application.halting import Halt, set_draft_aside
from specwright.application.implementation import Implementation
from specwright.application.project_stage import Task
from specwright.application.stored_plans import Plan, load_plan
from specwright.domain.answers import FaultOf
from specwright.domain.artifact import ArtifactStatus
from specwright.domain.escalation import Resolution
from specwright.domain.micro_plan import downstream

__all__ = ["halt_reason", "module_of"]


def halt_reason(factory: Factory, task: Task, state: EngineeringState) -> Halt | None:
    """Why a task cannot be finished as its modules stand; None if it can."""
    if reason := state.get("halt_reason", ""):
        return _without_modules(factory, task, state, reason)
    if state.get("plan_fault"):
        return _with_plan_fault(factory, task, state)
    return _with_modules(factory, task, state) if state.get("failed") else None


def module_of(factory: Factory, task: Task, plan: Plan, name: str) -> Implementation:
    """A module of a plan as what is debated."""
    siblings = [contract.ref for other, contract in plan.contracts.items() if other != name]
    return Implementation(factory, task, plan.contracts[name], plan.contract_ids[name], siblings)


def _without_modules(factory: Factory, task: Task, state: EngineeringState, reason: str) -> Halt:
    planning = "plan_id" not in state
    return Halt(
        cause="planning" if planning else "contracts",
        reason=reason,
        decision=f"Revise the plan of {_named(task)}, or simplify what it asks for: {reason}",
        recommended=Resolution.REVISE_PLAN if planning else Resolution.AMEND_SPEC,
        context="; ".join(("revise task decomposition, or simplify task scope", *_rulings(factory, state))),
        debates=list(state.get("debates", {}).values()),
        failed=[("the plan is sound" if planning else "the contracts are complete and testable", reason)],
        details={
            **_said(state),
            "task_file": task.path,
            "shipped": dict(state.get("shipped", {})),
            **_to_go_on(factory, task, state),
        },
    )


def _with_modules(factory: Factory, task: Task, state: EngineeringState) -> Halt:
    failed = state.get("failed", {})
    plan = load_plan(factory, task, state["plan_id"])
    abandoned = sorted(downstream(plan.plan, failed))
    shipped = state.get("shipped", {})
    _keep_drafts(factory, task, state)
    names = ", ".join(failed)
    groups = f"failed: {names}; abandoned: {', '.join(abandoned) or 'none'}; shipped: {', '.join(shipped) or 'none'}"
    return Halt(
        cause="modules",
        reason=f"{names} could not be shipped",
        decision=f"Decide how {names} of {_named(task)} goes on: {'; '.join(failed.values())}",
        recommended=Resolution.PROVIDE_FIX,
        context="; ".join((groups, *_rulings(factory, state))),
        debates=list(state.get("debates", {}).values()),
        failed=[(f"{name} ships", reason) for name, reason in failed.items()],
        details={
            "failed": dict(failed),
            "abandoned": abandoned,
            "shipped": dict(shipped),
            **_said(state),
            "gate": _gates(factory, state),
            **_to_go_on(factory, task, state),
        },
    )


def _with_plan_fault(factory: Factory, task: Task, state: EngineeringState) -> Halt:
    """The plan itself is wrong, says a Challenger, and the Arbiter confirmed it (F§10.3)."""
    left, plan = state["plan_fault"], load_plan(factory, task, state["plan_id"])
    found = DebateRecords(factory.store, left["debate_id"]).challenge(left["round"]).faults(FaultOf.PLAN)
    shipped, failed = state.get("shipped", {}), state.get("failed", {})
    open_ = [name for name in plan.contracts if name not in shipped and name not in failed]
    _keep_drafts(factory, task, state)
    return Halt(
        cause="plan",
        reason=f"the plan is at fault: {left['subject']} cannot be shipped under it",
        decision=f"Cut {_named(task)} anew: {'; '.join(failure.evidence for failure in found)}",
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
            **_to_go_on(factory, task, state),
        },
    )


def _named(task: Task) -> str:
    return f"{task.entry.spec_task_id} ({task.definition.name})"


def _rulings(factory: Factory, state: EngineeringState) -> list[str]:
    """The Arbiter's last rationale on each deliverable that failed (F§17.1)."""
    failed = state.get("failed", {}) or {CONTRACTS: ""}
    told: list[str] = []
    for name, debate_id in state.get("debates", {}).items():
        rulings = DebateRecords(factory.store, debate_id).trail().adjudications if name in failed else ()
        told += [f"the Arbiter's last word on {name}: {rulings[-1].rationale}"] if rulings else []
    return told


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


def _to_go_on(factory: Factory, task: Task, state: EngineeringState) -> dict[str, Any]:
    """What a run begins with that an answer resumes in place; nothing where no plan was made (F§17.3)."""
    plan_id, failed, debates = state.get("plan_id"), state.get("failed", {}), state.get("debates", {})
    if plan_id is None:
        return {}
    judged = {name: _judged(factory, task, debates[name]) for name in failed if name in debates}
    kept = {key: state[key] for key in ("locked", "reopened_by") if key in state}
    shipped = dict(state.get("shipped", {}))
    told = {"plan_id": plan_id, "shipped": shipped, "failed": dict(failed), "debates": dict(debates)}
    return {"resume": {**told, **kept, "judged": judged}}


def _judged(factory: Factory, task: Task, debate_id: str) -> dict[str, Any]:
    """Where a debate was left: the newest version that it judged, and its last round."""
    records, store = DebateRecords(factory.store, debate_id), artifacts(factory)
    target = records.trail().proposals[-1].target_artifact_id
    for number in records.rounds():
        if records.amended(number) is not None:
            before, after, _ = records.amendments(number)
            settled = store.envelope(task.folder, after).status is ArtifactStatus.ADJUDICATED
            target = after if settled and before == target else target
    return {"debate_id": debate_id, "target": target, "round": records.rounds()[-1]}


def _said(state: EngineeringState) -> dict[str, list[str]]:
    """The answers that no attempt was left for, as they came, and all that was wrong with the last of each."""
    return {"raw_answers": state.get("raw_answers", []), "errors": state.get("errors", [])}


def _keep_drafts(factory: Factory, task: Task, state: EngineeringState) -> None:
    plan = load_plan(factory, task, state["plan_id"])
    for name, reason in state.get("failed", {}).items():
        debate_id = state.get("debates", {}).get(name)
        if debate_id and name in plan.contracts:  # a reopened plan may have dropped it
            records = DebateRecords(factory.store, debate_id)
            module = module_of(factory, task, plan, name)
            target = records.trail().proposals[-1].target_artifact_id
            set_draft_aside(factory, module, target, reason, records.last_gate())
