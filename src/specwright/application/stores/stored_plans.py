"""A plan as it is stored: its artifacts, and how they lock (F§6.7, F§10.3, D10).

A plan is a `MICRO_PLAN` with the answer that it came from, and one `CONTRACT` per new module. They are drafts until
the contract debate is over; then they lock. What a reopened debate makes of them takes their place.
"""

from collections.abc import Mapping
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.application.announcing import announce, review
from specwright.application.factory import Factory, Reading
from specwright.application.project_stage import Task
from specwright.application.stores.artifact_store import artifacts
from specwright.domain.contract import MicroModuleContract
from specwright.domain.contract_rules import problems
from specwright.domain.micro_plan import MicroPlan
from specwright.domain.plan_answers import PlanAnswer
from specwright.ports.progress import Step

__all__ = ["Contracts", "Plan", "Reopened", "load_plan", "lock_plan"]


class Plan(NamedTuple):
    """A plan as it is stored.

    Args:
        plan_id: `MP-...`.
        plan: The micro plan.
        contracts: Of its new modules, by name.
        contract_ids: Their `CTR-...`, by name.
        answer: What the planner said.
    """

    plan_id: str
    plan: MicroPlan
    contracts: dict[str, MicroModuleContract]
    contract_ids: dict[str, str]
    answer: PlanAnswer

    @property
    def reused(self) -> dict[str, str]:
        """The sealed modules that the plan takes as they are, by name."""
        return {m.name: m.reuse.reuse_ref for m in self.answer.modules if m.reuse.reuse_ref}


Contracts = Mapping[str, MicroModuleContract]
"""By module name."""


class Reopened(NamedTuple):
    """A plan whose contract debate goes on although it was locked (D10).

    Args:
        locked: Its `MP-...`.
        sealed: The modules that are sealed by now, by name with their references; their contracts cannot change.
    """

    locked: str
    sealed: Mapping[str, str]


def load_plan(factory: Reading, task: Task, plan_id: str) -> Plan:
    """A stored plan."""
    body = artifacts(factory).body(task.folder, plan_id)
    plan = MicroPlan.from_bytes(body["plan.json"], plan_id)
    ids = cast(dict[str, str], canonical_json.loads(body["contracts.json"]))
    contracts = {
        name: MicroModuleContract.from_bytes(artifacts(factory).body(task.folder, ref)["contract.json"], ref)
        for name, ref in ids.items()
    }
    return Plan(plan_id, plan, contracts, ids, PlanAnswer.from_bytes(body["answer.json"], plan_id))


def lock_plan(factory: Factory, task: Task, plan: Plan, replaces: str = "") -> list[str]:
    """Lock a plan and its contracts, whose debate was approved (D10, F§6.7).

    Args:
        plan: Its drafts.
        replaces: The locked plan that it takes the place of; that one and its contracts are deprecated then.

    Returns:
        What keeps it from being locked; empty if it is.
    """
    found = [f"{name}: {problem}" for name, c in plan.contracts.items() for problem in problems(c)]
    if found:
        return found
    for name in (plan.plan_id, *plan.contract_ids.values()):
        artifacts(factory).shipped(task.folder, name, faults=found)
    locked = {
        "plan": plan.plan.to_json(),
        "fingerprints": {c.ref: c.interface_fingerprint for c in plan.contracts.values()},
        "contracts": {c.ref: canonical_json.digest(c.to_json()) for c in plan.contracts.values()},
    }
    for contract in plan.contracts.values():
        factory.store.define(contract.to_bytes())
    sha256 = factory.store.define(canonical_json.pretty(locked))
    project_id = factory.projection.project_id
    scope = factory.journal.scope(f"{task.run}/lock/{plan.plan_id}")
    locked_plan = review(project_id, "plan.locked", sha256, plan.plan_id, caused_by=task.stream)
    announce(factory, scope, project_id, [locked_plan])
    if replaces:
        _retire(factory, task, load_plan(factory, task, replaces), plan)
    factory.progress.note(Step("locked", task.entry.spec_task_id, ", ".join(plan.contracts) or "nothing new"))
    return []


def _retire(factory: Factory, task: Task, old: Plan, new: Plan) -> None:
    """Deprecate a plan and its contracts in favour of their successors (F§8.4)."""
    store = artifacts(factory)
    store.deprecated(task.folder, old.plan_id, store.ref(task.folder, new.plan_id))
    for name, contract_id in old.contract_ids.items():
        successor = new.contract_ids.get(name, new.plan_id)
        store.deprecated(task.folder, contract_id, store.ref(task.folder, successor))
