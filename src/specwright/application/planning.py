"""Micro planning: from a task file to a plan with contract drafts (F§10.1, D4, D10).

What comes of it is the `MICRO_PLAN` with the answer it came from, one `CONTRACT` per new module, and a reuse search
report per module (F§14.3), all of them drafts. How they are read again and locked is in `stored_plans`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from specwright import canonical_json
from specwright.application.debate.briefs import (
    DependencyView,
    amend_plan_message,
    plan_message,
    replan_message,
)
from specwright.application.factory import Factory, Reading
from specwright.application.known_modules import Kept, known_modules, plan_faults
from specwright.application.project_stage import Task, neighbours
from specwright.application.stops.given_plans import GivenPlan, given_plan
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.context_packs import Given, heard, previous, rows, surface_of, task_ref
from specwright.application.stores.packed_store import PackedStore
from specwright.application.stores.records import Invocation, contribute, open_answer, open_invocation
from specwright.application.stores.stored_plans import Contracts, Reopened, load_plan
from specwright.domain.amendments import contract_problems, strayed_problems
from specwright.domain.answers import Amendment, Failure
from specwright.domain.contract import MicroModuleContract
from specwright.domain.contract_rules import normalise
from specwright.domain.ids import ArtifactType, ModuleRef, artifact_id, module_id
from specwright.domain.micro_plan import KnownModules, assign
from specwright.domain.plan_answers import PlanAnswer
from specwright.domain.provenance import ContributionType, Permission
from specwright.domain.reuse import ReuseSearchReport
from specwright.errors import AnswerError
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


def _anything(answer: PlanAnswer, drafts: Contracts) -> list[str]:
    return []


class _Revision(NamedTuple):
    """Of a plan that was made before: which, what it must show, and who said so; empty for a first plan."""

    before: str = ""
    check: Callable[[PlanAnswer, Contracts], list[str]] = _anything
    told_by: Sequence[tuple[str, str]] = ()
    reopened: Reopened | None = None


def first_plan(factory: Factory, task: Task) -> str:
    """Ask the planner for the plan of a task and store it; returns its `MP-...`.

    A plan that a person gave in full is stored as it is; of one in short form the planner fills in the contracts (D16).

    Raises:
        AnswerError: no sound plan in the bounded attempts (F§10.1).
    """
    scope = factory.journal.scope(f"{task.run}/plan/given")
    known = known_modules(factory, scope) if task.answers else KnownModules({}, frozenset())
    given = given_plan(factory, task, known)
    if given.answer is not None:
        return _handed_in(factory, scope, task, given, given.answer, known)
    wanted = [module.line for module in given.modules]
    message = plan_message(_task_file(factory, task), factory.packages, wanted)
    return _draft(factory, task, "round-1", message, _Revision())


def _handed_in(
    factory: Factory, scope: Scope, task: Task, given: GivenPlan, answer: PlanAnswer, known: KnownModules
) -> str:
    """Store a person's plan; it was checked before it was taken, and is checked as it is used."""
    kept = Kept({}, {}, given.refs)
    if found := plan_faults(answer, known, kept, ())[0]:
        raise AnswerError("the plan that was given does not hold any more", problems=tuple(found))
    who = f"{task.run}/plan/operator"
    by = open_answer(factory, scope, who, task.task_id, task.folder, given.escalation)
    return _kept_plan(factory, scope, task, by, answer, known, "", kept.refs)


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
    """Have amendments applied to an approved plan, and nothing else; what does not show in it, or strays from it, goes
    back to the planner (F§9.6)."""
    approved = load_plan(factory, task, before)
    message = amend_plan_message(
        _task_file(factory, task), _answer_text(factory, task, before), amendments, factory.packages
    )

    def unapplied(answer: PlanAnswer, drafts: Contracts) -> list[str]:
        strayed = strayed_problems(amendments, approved.answer, answer)
        return [*contract_problems(amendments, approved.contracts, drafts), *strayed]

    revision = _Revision(before, unapplied, reopened=reopened)
    return _draft(factory, task, f"amended-{round_number}", message, revision)


def _draft(factory: Factory, task: Task, stage: str, message: str, revision: _Revision) -> str:
    place = task.place("plan", stage, Role.PLANNER)
    scope = factory.journal.scope(f"{place.run_id}/plan")
    everything = known_modules(factory, scope)
    given = given_plan(factory, task, everything)
    kept = _kept(factory, task, revision.reopened, given)
    known = everything.without(kept.sealed)
    revised = _revised(factory, task, stage, revision) if revision.before else []
    invocation = _invocation(factory, scope, task, place, known, revised)

    def examine(answer: PlanAnswer) -> list[str]:
        found, drafts = plan_faults(answer, known, kept, given.modules)
        return [*found, *(() if drafts is None else revision.check(answer, drafts))]

    store = PackedStore(factory, invocation)
    answer = factory.roles.plan(Assignment(place, message, {}, store=store), examine)
    return _kept_plan(factory, scope, task, invocation, answer, known, revision.before, kept.refs)


def _kept_plan(
    factory: Factory,
    scope: Scope,
    task: Task,
    by: Invocation,
    answer: PlanAnswer,
    known: KnownModules,
    before: str,
    refs: Mapping[str, str],
) -> str:
    """Store a plan with what contributed it, and say so."""
    plan_id = _store(factory, scope, task, by, answer, known, before, refs)
    ref = artifacts(factory).ref(task.folder, plan_id)
    contribute(factory, scope, by, ContributionType.MICRO_PLAN, ref)
    factory.progress.note(Step("plan", task.entry.spec_task_id, ", ".join(m.name for m in answer.modules)))
    return plan_id


def _task_file(factory: Factory, task: Task) -> str:
    return factory.folder.read(task.path).decode()


def _kept(factory: Factory, task: Task, reopened: Reopened | None, given: GivenPlan) -> Kept:
    if reopened is None:
        return Kept({}, {}, given.refs)
    return Kept(load_plan(factory, task, reopened.locked).contracts, reopened.sealed, given.refs)


def shipped_contract(factory: Reading, ref: str) -> MicroModuleContract:
    """The contract of a sealed module."""
    path = "modules/{}/{}/contract.json".format(*ModuleRef.parse(ref))
    return MicroModuleContract.from_bytes(factory.store.read(path), path)


def shipped_view(factory: Reading, ref: str) -> DependencyView:
    """A sealed module as others may see it."""
    surface = surface_of(factory, ref)
    contract = MicroModuleContract.from_bytes(surface["contract.json"], ref)
    return DependencyView(contract, surface["examples.md"].decode())


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


def _module_ids(factory: Factory, scope: Scope) -> Callable[[], str]:
    """Draws the ids of new modules."""
    drawn = set[str]()

    def new_module_id() -> str:
        # a directory of this very run may exist already when the node runs again, so the draw is recorded whole
        name = module_id(
            scope.hex8(lambda hex8: hex8 in drawn or bool(factory.store.names(f"modules/MM-{hex8}")))
        )
        drawn.add(name.removeprefix("MM-"))
        return name

    return new_module_id


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
    store = artifacts(factory)
    draft_id = artifact_id(ArtifactType.MICRO_PLAN, scope.hex8())
    plan, drafts = assign(answer, draft_id, task_ref(factory, task), known, _module_ids(factory, scope), kept)
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
