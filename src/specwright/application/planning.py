"""Micro planning: from a task file to a plan with contract drafts (F§10.1, D4, D10).

A plan is two artifacts and more: the `MICRO_PLAN` with the answer it came from, one `CONTRACT` per new module, and
a reuse search report per module (F§14.3). They are drafts until the contract debate is over; then they lock.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.application.announcing import announce, review
from specwright.application.briefs import DependencyView, amend_plan_message, plan_message, replan_message
from specwright.application.context_packs import Given, heard, previous, rows, surface_of, task_ref
from specwright.application.factory import Factory, Reading
from specwright.application.project_stage import Task
from specwright.application.records import (
    Invocation,
    artifact_body,
    artifact_ref,
    artifacts,
    contribute,
    create_artifact,
    open_invocation,
)
from specwright.canonical_json import JsonValue
from specwright.domain.amendments import contract_problems
from specwright.domain.answers import Amendment, Failure, PlanAnswer
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

__all__ = [
    "Plan",
    "amended_plan",
    "first_plan",
    "load_plan",
    "lock_plan",
    "revised_plan",
    "shipped_contract",
    "shipped_view",
]


MAX_EXCLUDED = 50
"""Other tasks that a planner's pack names; all of them stand in the state machine."""


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


def first_plan(factory: Factory, task: Task) -> str:
    """Ask the planner for the plan of a task and store it; returns its `MP-...`.

    Raises:
        AnswerError: no sound plan in the bounded attempts (F§10.1).
    """
    return _draft(factory, task, "round-1", plan_message(_task_file(factory, task)), "", lambda _: [])


def revised_plan(
    factory: Factory, task: Task, round_number: int, failures: Sequence[Failure], before: str
) -> str:
    """Have a challenged plan corrected; the revision is a new artifact (D11)."""
    message = replan_message(_task_file(factory, task), _answer_text(factory, task, before), failures)
    return _draft(factory, task, f"round-{round_number}", message, before, lambda _: [])


def amended_plan(
    factory: Factory, task: Task, round_number: int, amendments: Sequence[Amendment], before: str
) -> str:
    """Have amendments applied to an approved plan; what does not show in it goes back to the planner (F§9.6)."""
    approved = load_plan(factory, task, before).contracts
    message = amend_plan_message(_task_file(factory, task), _answer_text(factory, task, before), amendments)

    def unapplied(drafts: Contracts) -> list[str]:
        return contract_problems(amendments, approved, drafts)

    return _draft(factory, task, f"amended-{round_number}", message, before, unapplied)


def _draft(
    factory: Factory,
    task: Task,
    stage: str,
    message: str,
    before: str,
    check: Callable[[Contracts], list[str]],
) -> str:
    place = Place(task.entry.spec_task_id, task.entry.attempt, "plan", stage, Role.PLANNER)
    scope = factory.journal.scope(f"{place.run_id}/plan")
    known = _known(factory, scope)
    revised = _revised(factory, task, stage, before) if before else []
    invocation = _invocation(factory, scope, task, place, known, revised)

    def examine(given: PlanAnswer) -> list[str]:
        if found := plan_problems(given, known):
            return found  # names must be right before contracts can be drawn up
        drafts = _drafts(given, known)
        locked = [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)]
        return [*locked, *check(drafts)]

    answer = factory.roles.plan(Assignment(place, message, {}), examine)
    plan_id = _store(factory, scope, task, invocation, answer, known, before)
    ref = artifact_ref(factory, task.folder, plan_id)
    contribute(factory, scope, invocation, ContributionType.MICRO_PLAN, ref)
    factory.progress.note(Step("plan", task.entry.spec_task_id, ", ".join(m.name for m in answer.modules)))
    return plan_id


def _task_file(factory: Factory, task: Task) -> str:
    return factory.folder.read(task.path).decode()


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
    announce(factory, scope, project_id, [review(project_id, "plan.locked", sha256, plan.plan_id)])
    factory.progress.note(Step("locked", task.entry.spec_task_id, ", ".join(plan.contracts) or "nothing new"))
    return []


def shipped_contract(factory: Reading, ref: str) -> MicroModuleContract:
    """The contract of a sealed module."""
    path = "modules/{}/{}/contract.json".format(*ModuleRef.parse(ref))
    return MicroModuleContract.from_bytes(factory.store.read(path), path)


def shipped_view(factory: Reading, ref: str) -> DependencyView:
    """A sealed module as others may see it."""
    surface = surface_of(factory, ref)
    contract = MicroModuleContract.from_bytes(surface["contract.json"], ref)
    return DependencyView(contract, surface["examples.md"].decode())


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


def _revised(factory: Factory, task: Task, stage: str, before: str) -> list[Given]:
    """The plan that is corrected, and what the debate says of it."""
    told = heard(factory, task, before, amending=stage.startswith("amended"))
    return [*previous(factory, task, before, {}), *told]


def _invocation(
    factory: Factory,
    scope: Scope,
    task: Task,
    place: Place,
    known: KnownModules,
    revised: Sequence[Given],
) -> Invocation:
    included = [(task_ref(factory, task), Permission.FULL, "the task to plan"), *rows(revised)]
    included += [
        (ref, Permission.METADATA_ONLY, "a sealed module that the search can find")
        for ref in sorted(known.refs)
    ]
    excluded = [
        (f"{other}@1.0.0", "another task; only its shipped contracts matter")
        for other in factory.projection.definitions
        if other != task.task_id
    ]
    return open_invocation(
        factory, scope, place, task.task_id, task.folder, included, excluded[:MAX_EXCLUDED]
    )


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
    plan, drafts = assign(answer, draft_id, task_ref(factory, task), known, new_module_id)
    contracts = {name: normalise(contract) for name, contract in drafts.items()}
    earlier = load_plan(factory, task, before).contract_ids if before else {}
    reports = {
        module.name: create_artifact(
            factory,
            scope,
            by,
            ArtifactType.REUSE_SEARCH_REPORT,
            {"report.json": ReuseSearchReport.of(module.reuse).to_bytes()},
        )
        for module in answer.modules
    }
    body = {"plan.json": plan.to_bytes(), "answer.json": answer.to_bytes()}
    ids = {name: artifact_id(ArtifactType.CONTRACT, scope.hex8()) for name in contracts}
    body["contracts.json"] = canonical_json.pretty(ids)
    made_from = [(task_ref(factory, task), "the task that it plans")]
    made_from += [(f"{report}@1.0.0", f"why {name} is made or reused") for name, report in reports.items()]
    create_artifact(
        factory, scope, by, ArtifactType.MICRO_PLAN, body, made_from, name=draft_id, revises=before
    )
    plan_ref = artifact_ref(factory, task.folder, draft_id)
    for name, contract in contracts.items():
        inputs = [(plan_ref, "the plan that it belongs to"), (f"{reports[name]}@1.0.0", "why it is made")]
        drawn_up = {"contract.json": contract.to_bytes()}
        create_artifact(
            factory,
            scope,
            by,
            ArtifactType.CONTRACT,
            drawn_up,
            inputs,
            name=ids[name],
            revises=earlier.get(name, ""),
        )
    return draft_id
