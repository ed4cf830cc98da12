"""Micro planning: from a task file to a plan with contract drafts (F§10.1, D4, D10).

What comes of it is the `MICRO_PLAN` with the answer it came from, one `CONTRACT` per new module, and a reuse search
report per module (F§14.3), all of them drafts. How they are read again and locked is in `stored_plans`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.application.artifact_store import artifacts
from specwright.application.briefs import DependencyView, amend_plan_message, plan_message, replan_message
from specwright.application.context_packs import Given, heard, previous, rows, surface_of, task_ref
from specwright.application.factory import Factory, Reading
from specwright.application.packed_store import PackedStore
from specwright.application.project_stage import Task, neighbours
from specwright.application.records import Invocation, contribute, open_invocation
from specwright.application.stored_plans import Contracts, Reopened, load_plan
from specwright.canonical_json import JsonValue
from specwright.domain.amendments import contract_problems
from specwright.domain.answers import Amendment, Failure, PlanAnswer
from specwright.domain.code_index import IndexStatus
from specwright.domain.contract import MicroModuleContract
from specwright.domain.contract_rules import normalise, problems
from specwright.domain.ids import ArtifactType, ModuleRef, artifact_id, module_id
from specwright.domain.micro_plan import KnownModules, assign, plan_problems, sealed_problems
from specwright.domain.provenance import ContributionType, Permission
from specwright.domain.reuse import ReuseSearchReport
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Role

__all__ = [
    "amended_plan",
    "first_plan",
    "revised_plan",
    "shipped_contract",
    "shipped_view",
]


class _Kept(NamedTuple):
    """What a reopened plan takes over: the contracts by whose names modules keep their ids, and what is sealed."""

    contracts: Contracts
    sealed: Mapping[str, str]

    @property
    def refs(self) -> dict[str, str]:
        return {name: contract.ref for name, contract in self.contracts.items()}


def _anything(drafts: Contracts) -> list[str]:
    return []


class _Revision(NamedTuple):
    """Of a plan that was made before: which, what it must show, and who said so; empty for a first plan."""

    before: str = ""
    check: Callable[[Contracts], list[str]] = _anything
    told_by: Sequence[tuple[str, str]] = ()
    reopened: Reopened | None = None


def first_plan(factory: Factory, task: Task) -> str:
    """Ask the planner for the plan of a task and store it; returns its `MP-...`.

    Raises:
        AnswerError: no sound plan in the bounded attempts (F§10.1).
    """
    return _draft(
        factory, task, "round-1", plan_message(_task_file(factory, task), factory.packages), _Revision()
    )


def revised_plan(
    factory: Factory,
    task: Task,
    round_number: int,
    failures: Sequence[Failure],
    before: str,
    *,
    told_by: Sequence[tuple[str, str]] = (),
    reopened: Reopened | None = None,
) -> str:
    """Have a challenged plan corrected; the revision is a new artifact (D11).

    Args:
        round_number: Of the contract debate.
        failures: To be corrected.
        before: The `MP-...` that is corrected.
        told_by: The records that the failures come from, beside those of that plan.
        reopened: Where the plan was locked already (D10).
    """
    given, sealed = _answer_text(factory, task, before), sorted(reopened.sealed) if reopened else ()
    message = replan_message(_task_file(factory, task), given, failures, sealed, factory.packages)
    revision = _Revision(before, told_by=told_by, reopened=reopened)
    return _draft(factory, task, f"round-{round_number}", message, revision)


def amended_plan(
    factory: Factory,
    task: Task,
    round_number: int,
    amendments: Sequence[Amendment],
    before: str,
    reopened: Reopened | None = None,
) -> str:
    """Have amendments applied to an approved plan; what does not show in it goes back to the planner (F§9.6)."""
    approved = load_plan(factory, task, before).contracts
    message = amend_plan_message(
        _task_file(factory, task), _answer_text(factory, task, before), amendments, factory.packages
    )

    def unapplied(drafts: Contracts) -> list[str]:
        return contract_problems(amendments, approved, drafts)

    revision = _Revision(before, unapplied, reopened=reopened)
    return _draft(factory, task, f"amended-{round_number}", message, revision)


def _draft(factory: Factory, task: Task, stage: str, message: str, revision: _Revision) -> str:
    place = Place(task.entry.spec_task_id, task.entry.attempt, "plan", stage, Role.PLANNER)
    scope = factory.journal.scope(f"{place.run_id}/plan")
    kept = _kept(factory, task, revision.reopened)
    known = _known(factory, scope).without(kept.sealed)
    revised = _revised(factory, task, stage, revision) if revision.before else []
    invocation = _invocation(factory, scope, task, place, known, revised)

    def examine(given: PlanAnswer) -> list[str]:
        if found := plan_problems(given, known):
            return found  # names must be right before contracts can be drawn up
        drafts = _drafts(given, known, kept.refs)
        if changed := sealed_problems(drafts, {name: kept.contracts[name] for name in kept.sealed}):
            return changed
        locked = [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)]
        return [*locked, *revision.check(drafts)]

    store = PackedStore(factory, invocation)
    answer = factory.roles.plan(Assignment(place, message, {}, store=store), examine)
    plan_id = _store(factory, scope, task, invocation, answer, known, revision.before, kept.refs)
    ref = artifacts(factory).ref(task.folder, plan_id)
    contribute(factory, scope, invocation, ContributionType.MICRO_PLAN, ref)
    factory.progress.note(Step("plan", task.entry.spec_task_id, ", ".join(m.name for m in answer.modules)))
    return plan_id


def _task_file(factory: Factory, task: Task) -> str:
    return factory.folder.read(task.path).decode()


def _kept(factory: Factory, task: Task, reopened: Reopened | None) -> _Kept:
    if reopened is None:
        return _Kept({}, {})
    return _Kept(load_plan(factory, task, reopened.locked).contracts, reopened.sealed)


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
            [entry.name, entry.ref, entry.status.value]
            for entry in factory.index.entries()
            if factory.store.exists(entry.ship_ref)
        ]

    found = cast(list[list[str]], scope.recall("tool", {"tool": "known_modules"}, live))
    return KnownModules(
        {name: ref for name, ref, status in found if status == IndexStatus.SHIPPED},
        frozenset(ref for _, ref, _ in found),
        {ref: status for _, ref, status in found if status != IndexStatus.SHIPPED},
    )


def _drafts(answer: PlanAnswer, known: KnownModules, kept: Mapping[str, str]) -> Contracts:
    """The contracts of a plan as they would be, before ids are drawn."""
    _, contracts = assign(answer, "MP-00000000", "", known, lambda: "MM-00000000", kept)
    return {name: normalise(contract) for name, contract in contracts.items()}


def _revised(factory: Factory, task: Task, stage: str, revision: _Revision) -> list[Given]:
    """The plan that is corrected, and what the debate says of it."""
    told = heard(factory, task, revision.before, amending=stage.startswith("amended"))
    told += [Given(ref, Permission.SUMMARY_ONLY, what) for ref, what in revision.told_by]
    return [*previous(factory, task, revision.before, {}), *told]


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
        (ref, Permission.CONTRACT_ONLY, _why_known(known.retired.get(ref, ""))) for ref in sorted(known.refs)
    ]
    excluded = [
        (f"{other}@1.0.0", "another task; only its shipped contracts matter")
        for other in neighbours(factory, task)
    ]
    return open_invocation(factory, scope, place, task.task_id, task.folder, included, excluded)


def _why_known(retired: str) -> str:
    return f"a {retired} module, if it is named by its reference" if retired else "a module that it may call"


def _answer_text(factory: Factory, task: Task, plan_id: str) -> str:
    return artifacts(factory).body(task.folder, plan_id)["answer.json"].decode()


def _store(
    factory: Factory,
    scope: Scope,
    task: Task,
    by: Invocation,
    answer: PlanAnswer,
    known: KnownModules,
    before: str,
    kept: Mapping[str, str],
) -> str:
    store, drawn = artifacts(factory), set[str]()

    def new_module_id() -> str:
        # a directory of this very run may exist already when the node runs again, so the draw is recorded whole
        name = module_id(
            scope.hex8(lambda hex8: hex8 in drawn or bool(factory.store.names(f"modules/MM-{hex8}")))
        )
        drawn.add(name.removeprefix("MM-"))
        return name

    draft_id = artifact_id(ArtifactType.MICRO_PLAN, scope.hex8())
    plan, drafts = assign(answer, draft_id, task_ref(factory, task), known, new_module_id, kept)
    contracts = {name: normalise(contract) for name, contract in drafts.items()}
    earlier = load_plan(factory, task, before).contract_ids if before else {}
    reports = {
        module.name: store.create(
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
    store.create(scope, by, ArtifactType.MICRO_PLAN, body, inputs=made_from, name=draft_id, revises=before)
    plan_ref = artifacts(factory).ref(task.folder, draft_id)
    for name, contract in contracts.items():
        inputs = [(plan_ref, "the plan that it belongs to"), (f"{reports[name]}@1.0.0", "why it is made")]
        drawn_up = {"contract.json": contract.to_bytes()}
        store.create(
            scope,
            by,
            ArtifactType.CONTRACT,
            drawn_up,
            inputs=inputs,
            name=ids[name],
            revises=earlier.get(name, ""),
        )
    return draft_id
