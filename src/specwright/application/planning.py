"""Micro planning: from a task file to a plan with contract drafts (F§10.1, D4, D10).

A plan is two artifacts and more: the `MICRO_PLAN` with the answer it came from, one `CONTRACT` per new module, and
a reuse search report per module (F§14.3). They are drafts until the contract debate is over; then they lock.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.application.announcing import announce, review
from specwright.application.briefs import DependencyView, plan_message
from specwright.application.factory import Factory, Reading
from specwright.application.project_stage import Task
from specwright.application.records import (
    Invocation,
    advance,
    artifact_body,
    contribute,
    create_artifact,
    open_invocation,
)
from specwright.canonical_json import JsonValue
from specwright.domain.answers import Failure, PlanAnswer
from specwright.domain.artifact import ArtifactStatus
from specwright.domain.code_index import IndexStatus
from specwright.domain.contract import MicroModuleContract
from specwright.domain.contract_rules import normalise, problems
from specwright.domain.ids import ArtifactType, ModuleRef, artifact_id, module_id
from specwright.domain.micro_plan import KnownModules, MicroPlan, assign, plan_problems
from specwright.domain.provenance import ContributionType, Permission
from specwright.domain.reuse import ReuseSearchReport
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Role

__all__ = ["Plan", "draft_plan", "load_plan", "lock_plan", "shipped_contract", "shipped_view"]


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


def draft_plan(
    factory: Factory,
    task: Task,
    stage: str,
    failures: Sequence[Failure],
    before: str = "",
    check: Callable[[Contracts], list[str]] = lambda _: [],
) -> str:
    """Ask the planner, check what it says, give it ids and store it.

    Args:
        stage: `round-1` and on in the contract debate, or `amended-1` and on.
        failures: What the last round showed; empty in the first.
        before: The `MP-...` that was challenged or approved with amendments.
        check: What else is wrong with the contracts.

    Returns:
        The plan's id.

    Raises:
        AnswerError: no sound plan in the bounded attempts.
    """
    place = Place(task.entry.spec_task_id, task.entry.attempt, "plan", stage, Role.PLANNER)
    scope = factory.journal.scope(f"{place.run_id}/plan")
    known = _known(factory, scope)
    task_file = factory.folder.read(task.path).decode()
    invocation = _invocation(factory, scope, task, place, known)
    refused = _answer_text(factory, task, before) if before else ""
    assignment = Assignment(
        place, plan_message(task_file, failures, refused), {"task.md": task_file.encode()}
    )

    def examine(given: PlanAnswer) -> list[str]:
        if found := plan_problems(given, known):
            return found  # names must be right before contracts can be drawn up
        drafts = _drafts(given, known)
        locked = [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)]
        return [*locked, *check(drafts)]

    answer = factory.roles.plan(assignment, examine)
    plan_id = _store(factory, scope, task, invocation, answer, known, before)
    contribute(factory, scope, invocation, ContributionType.MICRO_PLAN, f"{plan_id}@1.0.0")
    factory.progress.note(Step("plan", task.entry.spec_task_id, ", ".join(m.name for m in answer.modules)))
    return plan_id


def load_plan(factory: Factory, task: Task, plan_id: str) -> Plan:
    """A stored plan."""
    body = artifact_body(factory, task.folder, plan_id)
    plan = MicroPlan.from_bytes(body["plan.json"], plan_id)
    ids = cast(dict[str, str], canonical_json.loads(body["contracts.json"]))
    contracts = {
        name: MicroModuleContract.from_bytes(artifact_body(factory, task.folder, ref)["contract.json"], ref)
        for name, ref in ids.items()
    }
    return Plan(plan_id, plan, contracts, ids, PlanAnswer.from_bytes(body["answer.json"], plan_id))


def lock_plan(factory: Factory, task: Task, plan: Plan) -> list[str]:
    """Lock a plan and its contracts, whose debate was approved (D10, F§6.7).

    Returns:
        What keeps it from being locked; empty if it is.
    """
    found = [f"{name}: {problem}" for name, c in plan.contracts.items() for problem in problems(c)]
    if found:
        return found
    for name in (plan.plan_id, *plan.contract_ids.values()):
        advance(factory, task.folder, name, ArtifactStatus.SHIPPED)
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
    announce(factory, scope, project_id, [review(project_id, "plan.locked", sha256, plan.plan_id)])
    factory.progress.note(Step("locked", task.entry.spec_task_id, ", ".join(plan.contracts) or "nothing new"))
    return []


def shipped_contract(factory: Reading, ref: str) -> MicroModuleContract:
    """The contract of a sealed module."""
    path = "modules/{}/{}/contract.json".format(*ModuleRef.parse(ref))
    return MicroModuleContract.from_bytes(factory.store.read(path), path)


def shipped_view(factory: Reading, ref: str) -> DependencyView:
    """A sealed module as others may see it."""
    examples = factory.store.read("modules/{}/{}/examples.md".format(*ModuleRef.parse(ref)))
    return DependencyView(shipped_contract(factory, ref), examples.decode())


def _known(factory: Factory, scope: Scope) -> KnownModules:
    """The sealed modules that a plan may name, as they were when it was first made."""

    def live() -> JsonValue:
        return [
            [entry.name, entry.ref]
            for entry in factory.index.entries()
            if entry.status is IndexStatus.SHIPPED and factory.store.exists(entry.ship_ref)
        ]

    pairs = cast(list[list[str]], scope.recall("tool", {"tool": "known_modules"}, live))
    return KnownModules({pair[0]: pair[1] for pair in pairs}, frozenset(pair[1] for pair in pairs))


def _drafts(answer: PlanAnswer, known: KnownModules) -> Contracts:
    """The contracts of a plan as they would be, before ids are drawn."""
    _, contracts = assign(answer, "MP-00000000", "", known, lambda: "MM-00000000")
    return {name: normalise(contract) for name, contract in contracts.items()}


def _invocation(factory: Factory, scope: Scope, task: Task, place: Place, known: KnownModules) -> Invocation:
    included = [(f"{task.task_id}@1.0.0", Permission.FULL, "the task to plan")]
    included += [
        (ref, Permission.METADATA_ONLY, "a sealed module that the search can find")
        for ref in sorted(known.refs)
    ]
    excluded = [
        (f"{other}@1.0.0", "another task; only its shipped contracts matter")
        for other in factory.projection.definitions
        if other != task.task_id
    ]
    return open_invocation(factory, scope, place, task.task_id, task.folder, included, excluded[:50])


def _answer_text(factory: Factory, task: Task, plan_id: str) -> str:
    return artifact_body(factory, task.folder, plan_id)["answer.json"].decode()


def _store(
    factory: Factory,
    scope: Scope,
    task: Task,
    by: Invocation,
    answer: PlanAnswer,
    known: KnownModules,
    before: str,
) -> str:
    drawn: set[str] = set()

    def new_module_id() -> str:
        # a directory of this very run may exist already when the node runs again, so the draw is recorded whole
        name = module_id(
            scope.hex8(lambda hex8: hex8 in drawn or bool(factory.store.names(f"modules/MM-{hex8}")))
        )
        drawn.add(name.removeprefix("MM-"))
        return name

    draft_id = artifact_id(ArtifactType.MICRO_PLAN, scope.hex8())
    version = factory.projection.spec.spec_version if factory.projection.spec else "1.0.0"
    plan, drafts = assign(answer, draft_id, f"{task.task_id}@{version}", known, new_module_id)
    contracts = {name: normalise(contract) for name, contract in drafts.items()}
    contract_ids = {
        name: create_artifact(
            factory, scope, by, ArtifactType.CONTRACT, {"contract.json": contract.to_bytes()}
        )
        for name, contract in contracts.items()
    }
    for module in answer.modules:
        report = ReuseSearchReport.of(module.reuse)
        create_artifact(
            factory, scope, by, ArtifactType.REUSE_SEARCH_REPORT, {"report.json": report.to_bytes()}
        )
    inputs = [(f"{before}@1.0.0", "the plan that this one revises")] if before else []
    body = {
        "plan.json": plan.to_bytes(),
        "answer.json": answer.to_bytes(),
        "contracts.json": canonical_json.pretty(contract_ids),
    }
    return create_artifact(factory, scope, by, ArtifactType.MICRO_PLAN, body, inputs, name=draft_id)
