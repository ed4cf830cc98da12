"""Why a task halts, as its escalation tells it: the cause, what failed, and what is needed to go on (F§10.3, F§17.1)."""

from collections.abc import Iterable
from typing import Any

from specwright.application.debate.deliverable import CONTRACTS
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.records import DebateRecords
from specwright.application.engineering_state import EngineeringState, Left
from specwright.application.factory import Factory
from specwright.application.project_stage import Task
from specwright.application.stops.halting import Halt, set_draft_aside
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.stored_plans import Plan, load_plan
from specwright.domain.answers import FaultOf
from specwright.domain.artifact import ArtifactStatus
from specwright.domain.debate import Adjudication
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
    if late := state.get("reopened_by"):
        return _with_contracts(factory, task, state, late, reason)
    planning = "plan_id" not in state
    return Halt(
        cause="planning" if planning else "contracts",
        reason=reason,
        decision=f"Revise the plan of {_named(task)}, or simplify what it asks for: {reason}",
        recommended=Resolution.REVISE_PLAN if planning else Resolution.AMEND_SPEC,
        context="; ".join(
            ("revise task decomposition, or simplify task scope", *_rulings(factory, state, CONTRACTS))
        ),
        debates=list(state.get("debates", {}).values()),
        failed=[("the plan is sound" if planning else "the contracts are complete and testable", reason)],
        details={
            **_said(state),
            "task_file": task.path,
            "shipped": dict(state.get("shipped", {})),
            **_to_go_on(factory, task, state),
        },
    )


def _with_contracts(factory: Factory, task: Task, state: EngineeringState, late: Left, reason: str) -> Halt:
    """A module found its contract at fault, and the debate that was opened again for it settled nothing (D10)."""
    name = late["subject"]
    state = {**state, "failed": {**state.get("failed", {}), name: late["reason"]}}
    failed, open_ = state["failed"], _unattempted(factory, task, state)
    _keep_drafts(factory, task, state)
    return Halt(
        cause="contracts",
        reason=f"the contract of {name} is at fault, and no other was settled: {reason}",
        decision=f"Give {_named(task)} a plan with another contract of {name}, or simplify what it asks for: {reason}",
        recommended=Resolution.REVISE_PLAN,
        context="; ".join((_groups(state, open_), *_rulings(factory, state, CONTRACTS, *failed))),
        debates=list(state.get("debates", {}).values()),
        failed=[
            ("the contracts are complete and testable", reason),
            *((f"{other} ships", why) for other, why in failed.items()),
        ],
        details={
            "task_file": task.path,
            "module": name,
            "failed": dict(failed),
            "abandoned": open_,
            "shipped": dict(state.get("shipped", {})),
            **_said(state),
            "gate": _gates(factory, state),
            **_to_go_on(factory, task, state),
        },
    )


def _with_modules(factory: Factory, task: Task, state: EngineeringState) -> Halt:
    failed = state.get("failed", {})
    plan = load_plan(factory, task, state["plan_id"])
    abandoned = sorted(downstream(plan.plan, failed))
    shipped = state.get("shipped", {})
    _keep_drafts(factory, task, state)
    names, at_fault = ", ".join(failed), _at_fault(factory, state)
    told = [f"no implementation of the contract of {name} can be right: revise the plan" for name in at_fault]
    return Halt(
        cause="modules",
        reason=f"{names} could not be shipped",
        decision=f"Decide how {names} of {_named(task)} goes on: {'; '.join(failed.values())}",
        recommended=Resolution.REVISE_PLAN if at_fault else Resolution.PROVIDE_FIX,
        context="; ".join((_groups(state, abandoned), *told, *_rulings(factory, state, *failed))),
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
    open_ = _unattempted(factory, task, state)
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
            **_said(state),
            "gate": _gates(factory, state),
            **_to_go_on(factory, task, state),
        },
    )


def _named(task: Task) -> str:
    return f"{task.entry.spec_task_id} ({task.definition.name})"


def _groups(state: EngineeringState, abandoned: Iterable[str]) -> str:
    """The three groups of F§3.4 in a line."""
    groups = {"failed": state.get("failed", {}), "abandoned": abandoned, "shipped": state.get("shipped", {})}
    return "; ".join(f"{group}: {', '.join(names) or 'none'}" for group, names in groups.items())


def _unattempted(factory: Factory, task: Task, state: EngineeringState) -> list[str]:
    """The modules of the plan that neither shipped nor failed: the task stopped before they came to an end."""
    done = {*state.get("shipped", {}), *state.get("failed", {})}
    return [name for name in load_plan(factory, task, state["plan_id"]).contracts if name not in done]


def _rulings(factory: Factory, state: EngineeringState, *names: str) -> list[str]:
    """The Arbiter's last rationale on each of these deliverables (F§17.1)."""
    last = {name: _last_ruling(factory, state, name) for name in names}
    return [
        f"the Arbiter's last word on {name}: {ruling.rationale}" for name, ruling in last.items() if ruling
    ]


def _at_fault(factory: Factory, state: EngineeringState) -> list[str]:
    """The failed modules whose contract is at fault by the last ruling on them: no files can put that right (D10)."""
    last = {name: _last_ruling(factory, state, name) for name in state.get("failed", {})}
    return [name for name, ruling in last.items() if ruling and ruling.confirmed_fault is FaultOf.CONTRACT]


def _last_ruling(factory: Factory, state: EngineeringState, name: str) -> Adjudication | None:
    """The Arbiter's; a person who overruled it stands in a round without a proposal (D22)."""
    if (debate_id := state.get("debates", {}).get(name)) is None:
        return None
    records = DebateRecords(factory.store, debate_id)
    for number in reversed(records.rounds()):
        before, upto = records.trail(number - 1, 0, number - 1), records.trail(number, 0, number)
        if len(before.proposals) < len(upto.proposals) and len(before.adjudications) < len(
            upto.adjudications
        ):
            return upto.adjudications[-1]
    return None


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
