"""Stored plans and their locking (design: planning, debate).

A plan is a `MICRO_PLAN` artifact with the planner's answer, and one `CONTRACT` per new module. They are drafts until the
contract debate ends; then they are locked. A reopened debate replaces them.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from agent_wire import canonical_json
from ship_gate.base.ids import ArtifactType
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.rules import problems
from ship_gate.contract.statements import contract_changes
from specwright.application.announce import Announcement, review
from specwright.application.factory import Factory, ProjectView
from specwright.application.store.artifacts import ArtifactStore
from specwright.application.tasks import Task
from specwright.domain.answers import PlanAnswer
from specwright.domain.plan import MicroPlan
from specwright.ports import RunEvent

Contracts = Mapping[str, MicroModuleContract]
"""Contracts by module name."""


class StoredPlan(NamedTuple):
    """A stored plan.

    Args:
        plan_id: `MP-...`.
        plan: The micro plan.
        contracts: The contracts of its new modules, by name.
        contract_ids: Their `CTR-...` ids, by name.
        answer: The answer of the planner or a person.
    """

    plan_id: str
    plan: MicroPlan
    contracts: dict[str, MicroModuleContract]
    contract_ids: dict[str, str]
    answer: PlanAnswer

    @property
    def reused(self) -> dict[str, str]:
        """The sealed modules that the plan reuses, by name."""
        return {m.name: m.reuse.reuse_ref for m in self.answer.modules if m.reuse.reuse_ref}

    @property
    def called(self) -> set[str]:
        """The references of sealed modules that the plan reuses or that its modules call."""
        own = {contract.ref for contract in self.contracts.values()}
        named = {ref for module in self.plan.modules for ref in module.depends_on}
        return {*self.reused.values(), *named} - own


class ReopenedPlan(NamedTuple):
    """A locked plan whose contract debate continues (design: debate).

    Args:
        plan: The plan.
        sealed: The references of modules that are already sealed, by name; their contracts cannot change.
        baseline: For an interface change, the sealed contract whose next version the plan makes; nothing was locked before
            (design: interface-changes).
    """

    plan: StoredPlan
    sealed: Mapping[str, str]
    baseline: MicroModuleContract | None = None


def load_plan(artifacts: ArtifactStore, folder: str, plan_id: str) -> StoredPlan:
    """Read a plan and its contracts from the task's folder."""
    body = artifacts.body(folder, plan_id)
    plan = MicroPlan.from_bytes(body["plan.json"], plan_id)
    ids = cast(dict[str, str], canonical_json.loads(body["contracts.json"]))
    contracts = {
        name: MicroModuleContract.from_bytes(artifacts.body(folder, ref)["contract.json"], ref)
        for name, ref in ids.items()
    }
    return StoredPlan(plan_id, plan, contracts, ids, PlanAnswer.from_bytes(body["answer.json"], plan_id))


def claim_of_plan(artifacts: ArtifactStore, folder: str, plan: StoredPlan) -> str:
    """Return the planner's claim about a plan's contracts, with the statements that changed since."""
    claim, said = plan.answer.claim, plan
    while before := artifacts.envelope(folder, said.plan_id).revised:
        folder = artifacts.folder_of(before)
        earlier = load_plan(artifacts, folder, before)
        if earlier.answer.claim != claim:
            break
        said = earlier
    changes = [
        f"`{name}` {line}"
        for name, contract in plan.contracts.items()
        if (old := said.contracts.get(name, contract)) != contract
        for line in contract_changes(old, contract)
    ]
    return "\n".join((claim, "", "Changed since it was said:", *changes)) if changes else claim


def stored_plans(view: ProjectView) -> Iterator[StoredPlan]:
    """Yield all complete plans; a crash may have left an incomplete one."""
    artifacts, folders = view.artifacts, view.artifacts.folders()
    for name in sorted(folders):
        folder = folders[name]
        if not name.startswith(f"{ArtifactType.MICRO_PLAN.prefix}-") or not artifacts.exists(folder, name):
            continue
        contracts = cast(dict[str, str], canonical_json.loads(artifacts.body(folder, name)["contracts.json"]))
        if all(artifacts.exists(folder, contract) for contract in contracts.values()):
            yield load_plan(artifacts, folder, name)


def lock_plan(
    factory: Factory, task: Task, plan: StoredPlan, replaces: StoredPlan | None = None
) -> list[str]:
    """Lock a plan and its contracts after their approval (design: debate, planning).

    Args:
        factory: The ports.
        task: The task.
        plan: The plan, as drafts.
        replaces: The locked plan that it replaces, which is deprecated with its contracts.

    Returns:
        The problems that prevent locking; empty if the plan is locked.
    """
    open_problems = [f"{name}: {problem}" for name, c in plan.contracts.items() for problem in problems(c)]
    if open_problems:
        return open_problems
    for name in (plan.plan_id, *plan.contract_ids.values()):
        factory.artifacts.shipped(task.folder, name, faults=[])
    if replaces:
        _deprecate(factory.artifacts, task.folder, replaces, plan)
    factory.progress.note(
        RunEvent("locked", task.entry.spec_task_id, ", ".join(plan.contracts) or "nothing new")
    )
    return []


def lock_event(factory: Factory, task: Task, plan: StoredPlan, debate_id: str = "") -> Announcement:
    """Store the locked contracts as definitions, and build the event that a plan is locked. Without a debate, the task is
    the cause."""
    definition = {
        "plan": plan.plan.to_json(),
        "fingerprints": {c.ref: c.interface_fingerprint for c in plan.contracts.values()},
        "contracts": {c.ref: canonical_json.digest(c.to_json()) for c in plan.contracts.values()},
    }
    for contract in plan.contracts.values():
        factory.store.define(contract.to_bytes())
    sha256 = factory.store.define(canonical_json.pretty(definition))
    cause = "" if debate_id else task.stream
    return review("plan.locked", sha256, plan.plan_id, caused_by=cause, debate_id=debate_id)


def _deprecate(artifacts: ArtifactStore, folder: str, old: StoredPlan, new: StoredPlan) -> None:
    """Deprecate a plan and its contracts in favour of their successors (design: artifact-lifecycle)."""
    artifacts.deprecated(folder, old.plan_id, artifacts.ref(folder, new.plan_id))
    for name, contract_id in old.contract_ids.items():
        successor = new.contract_ids.get(name, new.plan_id)
        artifacts.deprecated(folder, contract_id, artifacts.ref(folder, successor))
