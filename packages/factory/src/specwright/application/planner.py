"""Micro planning: from a task file to a plan with contract drafts (design: planning, ids).

A plan is stored as drafts: a `MICRO_PLAN` with the planner's answer, one `CONTRACT` per new module, and a reuse report per
module (design: code-index). `stored_plans` reads and locks them.

- A task that runs again starts from its sealed modules and their plan (design: change).
- `PlanRules` checks a plan beyond its schema (design: planning, debate).
- A person's plan is checked before the answer is accepted. Its names and dependencies stay the same through the whole
  contract debate, even if that is reopened (design: planning, debate).
- Code makes the plan of a repair: the task's plan, with the next version of one module (design: change).
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from pydantic import ValidationError

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, ModuleRef, artifact_id, module_id
from ship_gate.base.record import validation_messages
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.error_classes import own_exceptions
from ship_gate.contract.rules import normalise, own_statements, problems
from specwright.application import scopes
from specwright.application.announce import announce
from specwright.application.context import (
    PackEntry,
    RoleStore,
    debate_entries,
    pack_rows,
    previous_version,
    task_ref,
)
from specwright.application.criteria import carried_rulings
from specwright.application.deprecation import artifact_before
from specwright.application.factory import Factory, ProjectView
from specwright.application.rendering import as_json, rendered
from specwright.application.requests import (
    TASK,
    as_criteria,
    callers_of,
    plan_message,
    replan_message,
)
from specwright.application.store.artifacts import Draft, Invocation
from specwright.application.stored_plans import (
    Contracts,
    ReopenedPlan,
    StoredPlan,
    load_plan,
    lock_event,
    stored_plans,
)
from specwright.application.tasks import Task, neighbours, project_state, task_board
from specwright.domain.acceptance.calls import (
    OwnedClass,
    copied_classes,
    twice_defined,
    unserved,
    without_module,
)
from specwright.domain.acceptance.records import TaskAcceptance, annotated_names, name_of, signature_of
from specwright.domain.answers import (
    Amendment,
    Failure,
    PlanAnswer,
    PlannedModule,
    ReuseAnswer,
    ReuseConclusion,
)
from specwright.domain.artifacts import Permission, Purpose
from specwright.domain.base.graph import reachable
from specwright.domain.costs import planned_estimate
from specwright.domain.debate.amendments import (
    applied_by_code,
    contract_problems,
    strayed_problems,
    target_problems,
    unreachable_targets,
)
from specwright.domain.debate.answer_rules import Citable, trace_problems
from specwright.domain.escalation import Action, ResolutionRecord, RevisePlan
from specwright.domain.interface_change import Bump, compare_contracts, next_version
from specwright.domain.interfaces.records import Interfaces, function_of_signature
from specwright.domain.interfaces.rules import unfit_contracts
from specwright.domain.modules.code_index import IndexStatus
from specwright.domain.plan import (
    HumanModule,
    KnownModules,
    MicroPlan,
    ReuseSearchReport,
    assign,
    deviations,
    modules_of,
    plan_problems,
    read_short,
    sealed_problems,
    unanswered,
)
from specwright.domain.spec.product_spec import ProductSpec, spec_difference
from specwright.domain.tasks.project_state import TaskStatus, shipped_modules
from specwright.domain.tasks.task_board import TaskBoard
from specwright.errors import AnswerError, InputError
from specwright.ports import Assignment, IndexQuery, Place, Role, RunEvent, Scope


def sealed_by_task(view: ProjectView, task: Task) -> list[str]:
    """Return the modules of a task's last shipped attempt, without those that it reused from other tasks."""
    if task.entry.status is TaskStatus.SHIPPED or not task.entry.module_refs:
        return []
    owners = tuple(f"journal.jsonl#{name}." for name in _owners(view, task))
    return [
        ref
        for ref in task.entry.module_refs
        if view.modules.evidence(view.projection.debated_as(ref)).journal_ref.startswith(owners)
    ]


def plan_of(view: ProjectView, refs: Sequence[str]) -> StoredPlan | None:
    """Return the plan of sealed versions; None if there are no versions, or no such artifact."""
    sealed = {view.projection.debated_as(ref) for ref in refs}
    plans = stored_plans(view) if sealed else ()
    return next((plan for plan in plans if sealed & {one.ref for one in plan.contracts.values()}), None)


def _owners(view: ProjectView, task: Task) -> list[str]:
    """Return the spec's ids of the task, the task that it migrates, and the migrations of both."""
    migrations = view.projection.migrations
    own = {task.task_id, migrations.get(task.task_id, task.task_id)}
    own |= {migration for migration, whole in migrations.items() if whole in own}
    return [task_board(view).entry(task_id).spec_task_id for task_id in sorted(own)]


_NO_ID = "00000000"


class OwnModule(NamedTuple):
    """A module that an earlier attempt at a task sealed.

    Args:
        contract: The contract of the task's present version.
        versions: All version numbers in use.
    """

    contract: MicroModuleContract
    versions: frozenset[str]

    def next_version(self, draft: MicroModuleContract) -> MicroModuleContract:
        """Return a contract with the number of the next free version that its difference requires."""
        bump = compare_contracts(self.contract, draft).bump
        version = self.contract.module_version
        while version in self.versions:
            version = next_version(version, Bump.PATCH if bump is Bump.NONE else bump)
        return draft.model_copy(update={"module_version": version})


class PlanRules(NamedTuple):
    """The rules for one plan.

    Args:
        known: The sealed modules that the plan may use.
        fixed: The modules of a person's plan, whose names and dependencies are fixed.
        refs: References that modules already have, by name: from the locked plan, or given by a person.
        sealed: The contracts of modules that are sealed under the locked plan and cannot change.
        own: The modules that earlier attempts sealed, by name; they may be planned again, as their next versions.
        acceptance: The task's approved examples, which fix names and parameters.
        owned: The classes that other tasks provide.
        interfaces: The product's interfaces, which may call functions of the plan.
        contract_of: Returns the contract of a sealed module.
        shown: The sealed modules that the plan must answer for: names by reference.
    """

    known: KnownModules
    fixed: Sequence[HumanModule] = ()
    refs: Mapping[str, str] = MappingProxyType({})
    sealed: Contracts = MappingProxyType({})
    own: Mapping[str, OwnModule] = MappingProxyType({})
    acceptance: TaskAcceptance | None = None
    owned: Sequence[OwnedClass] = ()
    interfaces: Interfaces | None = None
    contract_of: Callable[[str], MicroModuleContract] | None = None
    shown: Mapping[str, str] = MappingProxyType({})

    def check(self, answer: PlanAnswer) -> tuple[list[str], Contracts | None]:
        """Return the problems of an answer, and its draft contracts, if they can be made."""
        others = {name: ref for name, ref in self.known.by_name.items() if name not in self.own}
        if names := plan_problems(answer, self.known._replace(by_name=others)):
            return names, None  # contracts can be made only with valid names
        if self.fixed and (departures := deviations(answer, self.fixed, self.known)):
            return departures, None
        _, drafts = self.draw_up(answer, f"MP-{_NO_ID}", "", lambda: f"MM-{_NO_ID}")
        if changed := sealed_problems(drafts, self.sealed):
            return changed, None
        broken = [f"modules.{name}: {problem}" for name, c in drafts.items() for problem in problems(c)]
        refs = [one.reuse.reuse_ref for one in answer.modules if one.reuse.reuse_ref]
        reused = map(self.contract_of, refs) if self.contract_of else ()
        missing = unserved(self.acceptance, [*drafts.values(), *reused])
        unfit = unfit_contracts(self.interfaces, drafts, [one.module for one in self.owned if one.module])
        depends_on = {module.name: [one.module for one in module.depends_on] for module in answer.modules}
        copied = [*copied_classes(drafts, self.owned), *twice_defined(drafts, depends_on)]
        return [*broken, *missing, *copied, *unfit, *unanswered(answer, self.shown)], drafts

    def draw_up(
        self, answer: PlanAnswer, plan_id: str, task_ref: str, new_module_id: Callable[[], str]
    ) -> tuple[MicroPlan, dict[str, MicroModuleContract]]:
        """Return the plan and the contracts of its new modules, with ids."""
        refs = {**self.refs, **self._next_versions(answer)}
        plan, contracts = assign(answer, plan_id, task_ref, self.known, new_module_id, refs)
        return plan, {name: normalise(contract) for name, contract in contracts.items()}

    def _next_versions(self, answer: PlanAnswer) -> dict[str, str]:
        """Return the references of own modules that are planned again, with the versions that their differences require
        (design: change)."""
        again = {name: own for name, own in self.own.items() if name not in self.sealed}
        if not again:
            return {}
        refs = {**self.refs, **{name: own.contract.ref for name, own in again.items()}}
        _, drafts = assign(answer, f"MP-{_NO_ID}", "", self.known, lambda: f"MM-{_NO_ID}", refs)
        return {
            name: again[name].next_version(normalise(draft)).ref
            for name, draft in drafts.items()
            if name in again
        }


def known_modules(factory: Factory, scope: Scope) -> KnownModules:
    """Return the sealed modules that a plan may use, as they were when the plan was first made."""
    return _known(scope.recall("tool", {"tool": "known_modules"}, lambda: _index_rows(factory)))


def own_module(factory: Factory, scope: Scope, contract: MicroModuleContract) -> OwnModule:
    """Return a sealed module with the versions that existed when its next one was first planned."""
    asked: JsonValue = {"tool": "versions", "of": contract.ref}
    versions = scope.recall(
        "tool", asked, lambda: cast(JsonValue, factory.modules.versions(contract.module_id))
    )
    return OwnModule(contract, frozenset(cast(list[str], versions)))


def own_modules(factory: Factory, task: Task, scope: Scope) -> dict[str, OwnModule]:
    """Return the modules that earlier attempts at a task sealed, by name (design: change)."""
    contracts = map(factory.modules.contract, sealed_by_task(factory, task))
    return {contract.name: own_module(factory, scope, contract) for contract in contracts}


def owned_classes(factory: Factory, task: Task, scope: Scope) -> list[OwnedClass]:
    """Return the classes that other tasks provide, with the modules that exported them when the plan was first made (design:
    executable-spec)."""
    owners = _class_owners(factory, task)
    if not owners:
        return []
    board = task_board(factory)

    def live() -> JsonValue:
        before = list(reachable([task.task_id], board.dependencies_of))
        return {
            owner: [ref for name in before if _is_of(board, name, owner) for ref in board.modules_of(name)]
            for owner in sorted(set(owners.values()))
        }

    asked: JsonValue = {"tool": "owned_classes", "names": list[JsonValue](sorted(owners))}
    rows = cast(dict[str, list[str]], scope.recall("tool", asked, live))
    return [OwnedClass(name, owner, _exporting(factory, name, rows[owner])) for name, owner in owners.items()]


def interfaces_of(factory: Factory) -> Interfaces | None:
    """Return the approved interfaces, which plans must fit."""
    return factory.projection.spec.interfaces if factory.projection.spec else None


def _class_owners(factory: Factory, task: Task) -> dict[str, str]:
    """Return the spec's ids of the other tasks that provide classes, by class."""
    spec, own = factory.projection.spec, task.entry.spec_task_id
    return {
        name_of(public): other.task_id
        for other in (spec.tasks() if spec else ())
        if other.acceptance and own != other.task_id and not own.startswith(f"{other.task_id}.")
        for public in other.acceptance.provides
        if signature_of(public) is None
    }


def _is_of(board: TaskBoard, task_id: str, owner: str) -> bool:
    """Whether a task is `owner`, by its id in the spec, or a part of it."""
    name = board.entry(task_id).spec_task_id
    return name == owner or name.startswith(f"{owner}.")


def _index_rows(factory: Factory) -> JsonValue:
    shipped = {ref for _, ref in shipped_modules(project_state(factory).tasks)}
    return [
        [entry.name, entry.ref, entry.status.value, *[_IN_PRODUCT] * (entry.ref in shipped)]
        for entry in factory.index.entries()
        if factory.store.exists(entry.ship_ref)
    ]


_IN_PRODUCT = "in the product"
"""The end of a row for a module of a shipped task."""


def _exporting(factory: Factory, name: str, refs: Sequence[str]) -> MicroModuleContract | None:
    contracts = map(factory.modules.contract, refs)
    return next((one for one in contracts if name in {*own_statements(one), *own_exceptions(one)}), None)


def _known(rows: JsonValue) -> KnownModules:
    modules = cast(list[list[str]], rows)
    retired = [row for row in modules if row[2] != IndexStatus.SHIPPED]
    return KnownModules(
        {name: ref for name, ref, status, *_ in modules if status == IndexStatus.SHIPPED},
        frozenset(row[1] for row in modules),
        {ref: status for _, ref, status, *_ in retired},
        in_product={name: ref for name, ref, _, *more in retired if more},
    )


class HumanPlan(NamedTuple):
    """A person's plan.

    Args:
        escalation: The answered escalation; empty if there is no such plan.
        modules: The modules, whose names and dependencies are fixed.
        answer: The whole plan, if it was given in full.
    """

    escalation: str = ""
    modules: tuple[HumanModule, ...] = ()
    answer: PlanAnswer | None = None

    @property
    def refs(self) -> dict[str, str]:
        """The references of modules with given ids, by name."""
        return {m.name: f"{m.module_id}@1.0.0" for m in self.modules if m.module_id}


def human_plan(factory: Factory, task: Task, known: KnownModules) -> HumanPlan:
    """Return the last plan that a person gave for this attempt; an empty one if there is none."""
    records = [record for record in task.answers if record.action is Action.REVISE_PLAN]
    if not records:
        return HumanPlan()
    plan, _ = _read(records[-1].payload, _names(factory, task, records[-1]), known)
    return plan._replace(escalation=records[-1].escalation_id)


def check_human_plan(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Check a person's plan by the rules for a planner's, including approved examples. No model is asked.

    Args:
        factory: The ports.
        task: The task.
        record: The answer, not accepted yet.

    Raises:
        InputError: the plan has problems; the message has all of them.
    """
    known, acceptance = _known(_index_rows(factory)), task.definition.acceptance
    plan, problems = _read(record.payload, _names(factory, task, record), known)
    if not problems and plan.answer is not None:
        rules = PlanRules(known, acceptance=acceptance, contract_of=factory.modules.contract)
        problems, _ = rules.check(plan.answer)
    elif not problems:
        problems = without_module(acceptance, [module.name for module in plan.modules])
    problems += [
        f"{ref} is taken"
        for ref in plan.refs.values()
        if ref not in known.refs and factory.modules.versions(ModuleRef.parse(ref).module_id)
    ]
    if problems:
        raise InputError(
            f"the plan cannot be followed: {'; '.join(problems)}",
            where="payload.revised_micro_plan",
            remedy="nothing was changed; correct the plan and answer again",
        )


def _read(
    payload: Mapping[str, object], names: Mapping[str, str], known: KnownModules
) -> tuple[HumanPlan, list[str]]:
    plan = RevisePlan.model_validate(payload).revised_micro_plan
    if isinstance(plan, list):
        modules, problems = read_short(plan, names, known)
        return HumanPlan(modules=tuple(modules)), problems
    try:
        answer = PlanAnswer.model_validate(plan)
    except ValidationError as error:
        return HumanPlan(), validation_messages(error)
    return HumanPlan(modules=tuple(modules_of(answer)), answer=answer), []


def _names(factory: Factory, task: Task, record: ResolutionRecord) -> dict[str, str]:
    """Return the names of modules that a person may refer to by id: sealed ones, and those of the failed plan."""
    names = {entry.module_id: entry.name for entry in factory.index.entries()}
    left = factory.escalations.escalation(record.escalation_id).left
    if plan_id := cast(str, left.get("plan_id", "")):
        plan = load_plan(factory.artifacts, task.folder, plan_id).plan
        names |= {m.module_id: m.name for m in plan.modules}
    return names


FACTORY = "factory"
"""The author of plans with amendments that code applied."""

MOST_NEAR = 5
"""The number of shipped modules in a planner's request; the planner can search for more."""


class _Revision(NamedTuple):
    """The relation of a plan to an earlier one: the additional check, and the records of the failures."""

    before: StoredPlan
    reopened: ReopenedPlan | None = None
    sources: Sequence[tuple[str, str]] = ()
    questions: Sequence[str] = ()
    check: Callable[[PlanAnswer, Contracts], list[str]] = lambda answer, drafts: []


def first_plan(factory: Factory, task: Task) -> str:
    """Ask the planner for the plan of a task, store it, and return its `MP-...`.

    A person's plan in full form is stored unchanged; to one in short form the planner adds the contracts (design: planning).

    Raises:
        AnswerError: there was no sound plan within the attempts (design: planning).
    """
    scope = factory.journal.scope(f"{task.run}/plan/given")
    known = known_modules(factory, scope) if task.answers else KnownModules({}, frozenset())
    human = human_plan(factory, task, known)
    if human.answer is not None:
        return _store_given(factory, scope, task, human, human.answer, PlanRules(known, refs=human.refs))
    fixed = [module.line for module in human.modules]
    sealed = sealed_by_task(factory, task)
    if built := plan_of(factory, sealed):
        built = _as_sealed(factory, built, sealed)
    near, callers = [] if built else _nearest(factory, task), _callers(factory, task)
    shipped = _answer_text(built, {"modules": {"__all__": {"reuse"}}}) if built else ""
    message = plan_message(
        factory.folder.read(task.path).decode(),
        factory.packages,
        near,
        fixed,
        shipped,
        _changes_of_task(factory, task),
        callers,
    )
    return _asked(factory, task, "round-1", message, _Revision(built) if built else None)


def _changes_of_task(factory: Factory, task: Task) -> Sequence[str]:
    """Return the changes of a task in the open change, a line each."""
    change, spec = factory.projection.open_change, factory.projection.spec
    if change is None or change.before is None or spec is None:
        return ()
    sha256 = change.before.spec_sha256
    before = ProductSpec.from_bytes(factory.store.definition(sha256), sha256)
    return spec_difference(before, spec).changed.get(task.entry.spec_task_id, ())


def revised_plan(
    factory: Factory,
    task: Task,
    round_number: int,
    failures: Sequence[Failure],
    before: StoredPlan,
    *,
    sources: Sequence[tuple[str, str]] = (),
    reopened: ReopenedPlan | None = None,
    questions: Sequence[str] = (),
    revisions_left: int | None = None,
) -> str:
    """Ask the planner to correct a challenged plan; the revision is a new artifact (design: debate).

    Args:
        factory: The ports.
        task: The task.
        round_number: The round of the contract debate.
        failures: The failures to correct.
        before: The plan to correct.
        sources: The records of the failures, besides those of that plan.
        reopened: The locked plan, if its debate is reopened (design: debate).
        questions: The questions about criteria in this run of the task (design: unshown-criteria).
        revisions_left: The number of revisions left after this one.
    """
    answer, sealed = _answer_text(before), sorted(reopened.sealed) if reopened else ()
    task_file = factory.folder.read(task.path).decode()
    callers = _callers(factory, task)
    message = replan_message(task_file, answer, failures, sealed, factory.packages, revisions_left, callers)
    revision = _Revision(before, reopened, sources, questions)
    return _asked(factory, task, f"round-{round_number}", message, revision)


def amended_plan(
    factory: Factory,
    task: Task,
    round_number: int,
    amendments: Sequence[Amendment],
    approved: StoredPlan,
    reopened: ReopenedPlan | None = None,
    questions: Sequence[str] = (),
) -> str:
    """Apply amendments, and nothing else, to an approved plan: by code if each replaces a text, else by the planner, whose
    answer is refused if it misses one or changes more (design: amendments)."""
    stage = f"amended-{round_number}"
    amended = _applied(factory, task, stage, amendments, approved, reopened)
    if amended and not amended.problems:
        return _store_amended(factory, task, stage, amended, _Revision(approved, reopened))
    task_file, callers = factory.folder.read(task.path).decode(), _callers(factory, task)
    message = replan_message(
        task_file, _answer_text(approved), (), (), factory.packages, None, callers, amendments
    )

    def check(answer: PlanAnswer, drafts: Contracts) -> list[str]:
        strayed = strayed_problems(amendments, approved.answer, answer)
        return [*contract_problems(amendments, approved.contracts, drafts), *strayed]

    revision = _Revision(approved, reopened, questions=questions, check=check)
    return _asked(factory, task, stage, message, revision)


def problems_by_code(
    factory: Factory,
    task: Task,
    round_number: int,
    amendments: Sequence[Amendment],
    plan: StoredPlan,
    reopened: ReopenedPlan | None = None,
) -> Sequence[str] | None:
    """Return the problems that would prevent locking a plan after code applied amendments (design: amendments).

    Args:
        factory: The ports.
        task: The task.
        round_number: The round of the contract debate.
        amendments: The proposed amendments.
        plan: The plan.
        reopened: The locked plan, if its debate is reopened.

    Returns:
        An empty sequence if the plan could be locked; None if code cannot apply all amendments.
    """
    wrong = target_problems(amendments, contracts=True) or unreachable_targets(amendments, {}, plan.contracts)
    if wrong or not amendments:
        return None
    amended = _applied(factory, task, f"challenged-{round_number}", amendments, plan, reopened)
    return amended and amended.problems


class _AmendedPlan(NamedTuple):
    """A plan with amendments that code applied, and the problems that prevent locking it."""

    scope: Scope
    rules: PlanRules
    answer: PlanAnswer
    problems: Sequence[str]


def _applied(
    factory: Factory,
    task: Task,
    stage: str,
    amendments: Sequence[Amendment],
    approved: StoredPlan,
    reopened: ReopenedPlan | None,
) -> _AmendedPlan | None:
    """Return a plan with its amendments, or None if code cannot apply all of them."""
    answer = applied_by_code(amendments, approved.answer, approved.contracts)
    if answer is None:
        return None
    scope = factory.journal.scope(scopes.plan_by_code(task.place("plan", stage, Role.PLANNER).run_id))
    everything = known_modules(factory, scope)
    rules = _rules(factory, task, scope, everything, human_plan(factory, task, everything), reopened)
    broken, drafts = rules.check(answer)
    if drafts is not None:
        broken = [*broken, *contract_problems(amendments, approved.contracts, drafts)]
    return _AmendedPlan(scope, rules, answer, broken)


def _store_amended(
    factory: Factory, task: Task, stage: str, amended: _AmendedPlan, revision: _Revision
) -> str:
    scope, rules, answer, _ = amended
    entries = pack_rows(_revision_entries(factory, task, stage, revision))
    by = factory.invocations.open(scope, (FACTORY, scope.name), task.task_id, task.folder, entries)
    return _store(factory, scope, task, by, answer, rules, revision.before)


def _store_given(
    factory: Factory, scope: Scope, task: Task, human: HumanPlan, answer: PlanAnswer, rules: PlanRules
) -> str:
    """Store a person's plan. It was checked when the answer was given, and is checked again here."""
    if problems := rules.check(answer)[0]:
        raise AnswerError("the given plan is no longer valid", problems=tuple(problems))
    run_id = f"{task.run}/plan/operator"
    by = factory.invocations.open_resolution(scope, run_id, task.task_id, task.folder, human.escalation)
    return _store(factory, scope, task, by, answer, rules)


def _asked(
    factory: Factory,
    task: Task,
    stage: str,
    message: str,
    revision: _Revision | None = None,
) -> str:
    """Ask the planner for a plan, store it, and return its id."""
    place = task.place("plan", stage, Role.PLANNER)
    scope = factory.journal.scope(f"{place.run_id}/plan", deferred=True)
    everything = known_modules(factory, scope)
    human = human_plan(factory, task, everything)
    rules = _rules(factory, task, scope, everything, human, revision.reopened if revision else None)
    entries = _revision_entries(factory, task, stage, revision) if revision else []
    rulings = carried_rulings(factory, task, revision.questions if revision else (), place.run_id)
    entries += [PackEntry(*ruling.row) for ruling in rulings.values()]
    by = _open_planner_pack(factory, scope, task, place, rules.known, entries, revised=revision is not None)

    def settled(answer: PlanAnswer) -> PlanAnswer:
        return _planned_again(answer, revision.before.answer, rules) if revision else answer

    def problems(answer: PlanAnswer) -> list[str]:
        answer = settled(answer)
        broken, drafts = rules.check(answer)
        if drafts is None:
            return broken
        own = len(drafts) == len(answer.modules)  # a check may name statements of a reused module
        untraced = trace_problems(answer.acceptance_checks, Citable([*drafts.values()])) if own else []
        return [*broken, *untraced, *(revision.check(answer, drafts) if revision else [])]

    if rulings:
        message = f"{message}\n\n{as_criteria(task.definition.acceptance_criteria, rulings)}"
    store = RoleStore(factory, factory.index, by)
    before = _answer_text(revision.before) if revision else ""
    pack = {TASK: factory.folder.read(task.path)} if revision else {}
    assignment = Assignment(place, PlanAnswer, message, pack, store=store, before=before)
    answered = factory.roles.ask(assignment, lambda answer, _: problems(answer))
    earlier = revision.before if revision else None
    return _store(factory, scope, task, by, settled(answered.answer), rules, earlier, answered.searched)


def _rules(
    factory: Factory,
    task: Task,
    scope: Scope,
    known: KnownModules,
    human: HumanPlan,
    reopened: ReopenedPlan | None,
) -> PlanRules:
    own = own_modules(factory, task, scope)
    acceptance, contract_of = task.definition.acceptance, factory.modules.contract
    rules = PlanRules(
        known, human.modules, human.refs, own=own, acceptance=acceptance, contract_of=contract_of
    )
    if reopened and (baseline := reopened.baseline):
        rules = PlanRules(
            known.without({baseline.name: baseline.ref}),
            own={baseline.name: own_module(factory, scope, baseline)},
        )
    elif reopened:
        contracts = reopened.plan.contracts
        rules = rules._replace(
            known=known.without(reopened.sealed),
            refs={**human.refs, **{name: contract.ref for name, contract in contracts.items()}},
            sealed={name: contracts[name] for name in reopened.sealed},
        )
    else:
        rules = rules._replace(shown=_to_answer_for(factory, task, known, own, human))
    return rules._replace(owned=owned_classes(factory, task, scope), interfaces=interfaces_of(factory))


def _to_answer_for(
    factory: Factory, task: Task, known: KnownModules, own: Mapping[str, OwnModule], human: HumanPlan
) -> dict[str, str]:
    """Return the sealed modules that the first plan must answer for, names by reference: the nearest ones, and those of the
    task's dependencies. Empty for a person's plan and for a task that is built again, and with scripted answers, so that
    older playbooks stay valid (design: planning)."""
    if human.modules or own or factory.roles.is_scripted(Role.PLANNER):
        return {}
    near = [line.partition(" ")[0] for line in _nearest(factory, task)]
    upstream = factory.projection.dispatched.get(task.task_id, {}).values()
    refs = dict.fromkeys([*near, *(ref for shipped in upstream for ref in shipped)])
    return {ref: factory.modules.contract(ref).name for ref in refs if ref in known.refs}


def _open_planner_pack(
    factory: Factory,
    scope: Scope,
    task: Task,
    place: Place,
    known: KnownModules,
    entries: Sequence[PackEntry],
    *,
    revised: bool,
) -> Invocation:
    """Write the planner's context pack, by its column in the role table (design: role-access).

    Args:
        factory: The ports.
        scope: The source of ids and time.
        task: The task.
        place: The place of the invocation.
        known: The sealed modules that it may call.
        entries: Further entries.
        revised: Whether it corrects a plan; then the task file is readable, because the request leaves parts of it out.
    """
    readable = f", readable as /{TASK}" if revised else ""
    included = [
        (task_ref(factory, task), Permission.FULL, f"the task to plan{readable}"),
        *pack_rows(entries),
    ]
    why = {
        ref: f"a {known.retired.get(ref, 'shipped')} module that it may call" for ref in sorted(known.refs)
    }
    included += [(ref, Permission.CONTRACT_ONLY, reason) for ref, reason in why.items()]
    listed = {entry.ref.partition("@")[0] for entry in entries}
    others = [other for other in neighbours(factory, task) if other not in listed]
    excluded = [(f"{other}@1.0.0", "another task; only its shipped contracts matter") for other in others]
    return factory.invocations.open(
        scope, (place.role, place.run_id), task.task_id, task.folder, included, excluded
    )


def _revision_entries(factory: Factory, task: Task, stage: str, revision: _Revision) -> list[PackEntry]:
    """Return the pack entries for a revision: the plan to correct, and its debate."""
    before = revision.before.plan_id
    entries = previous_version(factory, task, before, {})
    entries += debate_entries(factory, task, before, amending=stage.startswith("amended"))
    return [*entries, *(PackEntry(ref, Permission.SUMMARY_ONLY, what) for ref, what in revision.sources)]


def next_version_plan(
    factory: Factory,
    task: Task,
    baseline: MicroModuleContract,
    contracts: Sequence[MicroModuleContract],
    claim: str,
    checks: list[str],
    facing: str | None = None,
    before: StoredPlan | None = None,
) -> str:
    """Store a plan made by code for the next version of a sealed module, and return its `MP-...` (design:
    interface-changes, change).

    Args:
        factory: The ports.
        task: The module's task, with the change, or the attempt that repairs it.
        baseline: The sealed contract.
        contracts: The module's new contract, and the unchanged ones of the task's other modules.
        claim: The claim of the plan.
        checks: Its acceptance checks.
        facing: The name of the task-facing module; by default the last one.
        before: The plan that a repair continues.

    Raises:
        AnswerError: a plan with that contract is not valid.
    """
    scope = factory.journal.scope(scopes.plan_by_code(task.place("plan", "round-1", Role.PLANNER).run_id))
    known = known_modules(factory, scope)
    if before is None:
        known = known.without({baseline.name: baseline.ref})
    rules = PlanRules(known, own={baseline.name: own_module(factory, scope, baseline)})
    modules = [_planned(contract, contract.name == baseline.name) for contract in contracts]
    answer = PlanAnswer(modules=modules, task_facing=facing, claim=claim, acceptance_checks=checks)
    if problems := rules.check(answer)[0]:
        raise AnswerError("the changed contract cannot be planned", problems=tuple(problems))
    included = [(baseline.ref, Permission.CONTRACT_ONLY, "the sealed contract")]
    by = factory.invocations.open(scope, (FACTORY, scope.name), task.task_id, task.folder, included)
    return _store(factory, scope, task, by, answer, rules, before)


def _as_sealed(factory: Factory, built: StoredPlan, refs: Sequence[str]) -> StoredPlan:
    """Return the plan of a built task with the sealed contracts; the planner of a change patches it."""
    sealed = {one.name: _planned(one, is_next=False) for one in map(factory.modules.contract, refs)}
    modules = [sealed.get(one.name, one) for one in built.answer.modules]
    return built._replace(answer=built.answer.model_copy(update={"modules": modules}))


def _planned_again(answer: PlanAnswer, before: PlanAnswer, rules: PlanRules) -> PlanAnswer:
    """Return a plan in which sealed modules of the task with changed statements and unchanged `reuse` are created as their
    next versions."""
    was = {one.name: one for one in before.modules if one.name in rules.own and one.reuse.reuse_ref}

    def settled(module: PlannedModule) -> PlannedModule:
        old = was.get(module.name, module)
        is_next = module != old and module.reuse == old.reuse
        return module.model_copy(update={"reuse": _reuse(module.purpose)}) if is_next else module

    return answer.model_copy(update={"modules": [*map(settled, answer.modules)]})


def _planned(contract: MicroModuleContract, is_next: bool) -> PlannedModule:
    return PlannedModule.of_contract(contract, _reuse(contract.purpose, None if is_next else contract.ref))


def _reuse(purpose: str, ref: str | None = None) -> ReuseAnswer:
    """Build the reuse report for a sealed module, or for its next version."""
    return ReuseAnswer(
        query=purpose,
        conclusion=ReuseConclusion.REUSE_EXISTING if ref else ReuseConclusion.CREATE_NEW,
        justification="The task has it already." if ref else "It is the next version of a sealed module.",
        reuse_ref=ref,
    )


def _store(
    factory: Factory,
    scope: Scope,
    task: Task,
    by: Invocation,
    answer: PlanAnswer,
    rules: PlanRules,
    before: StoredPlan | None = None,
    searched: frozenset[str] = frozenset(),
) -> str:
    """Store a plan with its contracts and reuse reports, record the contribution, and return its id.

    Args:
        factory: The ports.
        scope: The source of ids and time.
        task: The task.
        by: The invocation that made it.
        answer: The plan.
        rules: The rules that it passed.
        before: The previous version of the plan.
        searched: The author's searches of the Code Index. In a report with any other query, that is replaced by the query
            that code made for the task, so that every report names a search that took place (design: code-index).
    """
    artifacts, task_version = factory.artifacts, task_ref(factory, task)
    drafts: list[Draft] = []

    def draft(kind: ArtifactType, body: Mapping[str, bytes], **others: Any) -> str:
        drafts.append(artifacts.draft(scope, by, kind, body, **others))
        return drafts[-1].envelope.ref

    plan_id = artifact_id(ArtifactType.MICRO_PLAN, scope.hex8())
    plan, contracts = rules.draw_up(answer, plan_id, task_version, lambda: module_id(scope.hex8()))
    earlier = before.contract_ids if before else {}
    reports: dict[str, str] = {}
    searched |= _searched_before(factory, before) if before else frozenset()
    for module in answer.modules:
        report = ReuseSearchReport.of(module.reuse)
        if report.query not in searched:
            _nearest(factory, task)
            report = report.model_copy(update={"query": _nearest_query(task)})
        reports[module.name] = draft(ArtifactType.REUSE_SEARCH_REPORT, {"report.json": report.to_bytes()})
    ids = {name: artifact_id(ArtifactType.CONTRACT, scope.hex8()) for name in contracts}
    body = {"plan.json": plan.to_bytes(), "answer.json": answer.to_bytes()}
    body["contracts.json"] = canonical_json.pretty(ids)
    inputs = [(task_version, Purpose.PLANS)]
    inputs += [(report, Purpose.REUSE_SEARCH) for report in reports.values()]
    revises = before.plan_id if before else ""
    plan_ref = draft(
        ArtifactType.MICRO_PLAN, body, inputs=inputs, name=plan_id, revises=revises, contributes=True
    )
    for name, contract in contracts.items():
        sealed = None if name in earlier else artifact_before(factory, contract)
        draft(
            ArtifactType.CONTRACT,
            {"contract.json": contract.to_bytes()},
            inputs=[(plan_ref, Purpose.PART_OF), (reports[name], Purpose.REUSE_SEARCH)],
            name=ids[name],
            revises=sealed.implemented if sealed else earlier.get(name, ""),
        )
    artifacts.add(scope, *drafts)
    factory.progress.note(
        RunEvent("plan", task.entry.spec_task_id, ", ".join(m.name for m in answer.modules))
    )
    if factory.price:
        estimate = planned_estimate(len(contracts), factory.price)
        factory.progress.note(
            RunEvent("estimate", task.entry.spec_task_id, f"still to come: {estimate.in_words()}")
        )
    return plan_id


def _searched_before(factory: Factory, before: StoredPlan) -> frozenset[str]:
    """Return the queries in the reuse reports of a plan."""
    folder = factory.artifacts.folder_of(before.plan_id)
    inputs = factory.artifacts.envelope(folder, before.plan_id).inputs
    names = [one.ref.partition("@")[0] for one in inputs if one.purpose == Purpose.REUSE_SEARCH]
    bodies = [factory.artifacts.body(folder, name)["report.json"] for name in names]
    return frozenset(ReuseSearchReport.from_bytes(body, before.plan_id).query for body in bodies)


def _nearest(factory: Factory, task: Task) -> list[str]:
    """Return the shipped modules nearest to a task, by a search of the Code Index that code makes before planning (design:
    code-index)."""

    def live() -> JsonValue:
        return [
            f"{hit.entry.ref} `{hit.entry.name}` (similarity {hit.similarity_score:.2f}): {hit.entry.purpose}"
            for hit in factory.index.search(IndexQuery(_nearest_query(task), top_k=MOST_NEAR))
        ]

    scope = factory.journal.scope(f"{task.run}/plan/nearest")
    return cast(list[str], scope.recall("tool", {"tool": "nearest", "query": _nearest_query(task)}, live))


def _nearest_query(task: Task) -> str:
    return f"{task.definition.name}. {task.definition.description}"


def _callers(factory: Factory, task: Task) -> list[str]:
    """Return notes for the planner on what the functions of its task use, and what calls them.

    A task whose examples script hosts uses hosts, and functions that take a path may use a database.
    """
    acceptance = task.definition.acceptance
    provided = acceptance.provides if acceptance else []
    functions = [function_of_signature(public) for public in provided]
    known = {one.name: [each.name for each in one.parameters] for one in functions if one}
    hosts = [rendered("hosts.md")] if acceptance and acceptance.scripts_hosts else []
    databases = (
        [rendered("databases.md")] if any("Path" in annotated_names(public) for public in provided) else []
    )
    return [*hosts, *databases, *callers_of(interfaces_of(factory), known)]


def _answer_text(plan: StoredPlan, exclude: Any = None) -> str:
    """Return the planner's answer as JSON text, without unset fields."""
    return as_json(plan.answer.model_dump(mode="json", exclude_defaults=True, exclude=exclude))


def repair_plan(factory: Factory, task: Task) -> str:
    """Store and lock the plan of an attempt that repairs a reported bug, with the sealed contract, and return its `MP-...`.
    Return an empty text if the attempt needs normal planning, for example because its criteria were amended after the
    report. Approved contracts are not debated again.

    Raises:
        AnswerError: a plan with the contract is no longer valid.
    """
    change = factory.projection.open_change
    report = change.request.report if change else None
    if change is None or report is None or report.task_id != task.entry.spec_task_id or task.answers:
        return ""
    if any(one.amended_at >= change.request.asked_at for one in task.definition.amendments):
        return ""
    baseline = factory.modules.contract(report.module_ref)
    shipped = change.before.tasks.get(task.task_id) if change.before else None
    facing = (shipped.module_ref if shipped else None) or report.module_ref
    plan_id = next_version_plan(
        factory,
        task,
        baseline,
        [factory.modules.contract(ref) for ref in task.entry.module_refs],
        f"A bug report about {report.name}, {report.module_ref}: the example `{report.heading}` breaks "
        f"{report.broken_statement}. Its contract is the sealed one; the other modules stay as they are.",
        ["The contract is that of the version before."],
        factory.modules.contract(facing).name,
        plan_of(factory, [report.module_ref]),
    )
    event = lock_event(factory, task, load_plan(factory.artifacts, task.folder, plan_id))
    scope = factory.journal.scope(f"{task.run}/lock/{plan_id}")
    announce(factory, scope, [event])
    return plan_id
