"""Micro planning: from a task file to a plan with contract drafts (design: planning, ids).

A plan is stored as the `MICRO_PLAN` with the answer it came from, one `CONTRACT` per new module, and a reuse search
report per module (design: code-index), all of them drafts. `stored_plans` reads and locks them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, artifact_id, module_id
from ship_gate.contract.contract import MicroModuleContract
from specwright.application import scopes
from specwright.application.context.packs import (
    PackEntry,
    debate_entries,
    pack_rows,
    previous_version,
    task_ref,
)
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import carried_rulings
from specwright.application.factory import Factory
from specwright.application.messages.databases import OF_LOCKS
from specwright.application.messages.debate import with_rulings
from specwright.application.messages.hosts import FOR_PLAN
from specwright.application.messages.interfaces import callers_of
from specwright.application.messages.planner import (
    amend_plan_message,
    plan_message,
    replan_message,
)
from specwright.application.plan.baseline import baseline_plan, sealed_by_task
from specwright.application.plan.human_plan import HumanPlan, human_plan
from specwright.application.plan.rules import (
    OwnModule,
    PlanRules,
    interfaces_of,
    known_modules,
    own_modules,
    owned_classes,
)
from specwright.application.plan.stored_plans import Contracts, ReopenedPlan, StoredPlan
from specwright.application.store.invocations import Invocation
from specwright.application.tasks import Task, neighbours
from specwright.domain.acceptance.records import annotated_names
from specwright.domain.answers.answers import Amendment, Failure
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.artifacts.artifact import Purpose
from specwright.domain.artifacts.provenance import ContributionType, Permission
from specwright.domain.costs.estimate import planned_estimate
from specwright.domain.debate.amendments import (
    contract_problems,
    strayed_problems,
    target_problems,
    unreachable_targets,
)
from specwright.domain.debate.answer_rules import Citable, trace_problems
from specwright.domain.debate.applied_by_code import applied_by_code
from specwright.domain.interfaces.functions import function_of_signature
from specwright.domain.plan.micro_plan import KnownModules, ReuseSearchReport
from specwright.errors import AnswerError
from specwright.ports.code_index import IndexQuery
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Assignment, Place, Role

FACTORY = "factory"
"""The author of what code makes of a ruling."""

MOST_NEAR = 5
"""Shipped modules in a planner's request; it can search for more."""


class _Revision(NamedTuple):
    """How a plan follows from an earlier one: what it must show, and the records that its failures come from."""

    before: StoredPlan
    reopened: ReopenedPlan | None
    sources: Sequence[tuple[str, str]] = ()
    questions: Sequence[str] = ()
    check: Callable[[PlanAnswer, Contracts], list[str]] = lambda answer, drafts: []


def first_plan(factory: Factory, task: Task) -> str:
    """Ask the planner for the plan of a task and store it; returns its `MP-...`.

    A plan that a person gave in full is stored as it is; of one in short form the planner fills in the contracts
    (design: planning).

    Raises:
        AnswerError: no sound plan in the bounded attempts (design: planning).
    """
    scope = factory.journal.scope(f"{task.run}/plan/given")
    known = known_modules(factory, scope) if task.answers else KnownModules({}, frozenset())
    human = human_plan(factory, task, known)
    if human.answer is not None:
        return _store_given(factory, scope, task, human, human.answer, PlanRules(known, refs=human.refs))
    fixed = [module.line for module in human.modules]
    near = _nearest_when_planned(factory, task)
    built = baseline_plan(factory, task)
    shipped = (_answer_text(factory, built), sealed_by_task(factory, task)) if built else ("", ())
    callers = _callers(factory, task)
    message = plan_message(
        _task_file(factory, task), factory.packages, near, fixed, *shipped, callers=callers
    )
    return _asked(factory, task, "round-1", message)


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
    """Have a challenged plan corrected; the revision is a new artifact (design: debate).

    Args:
        round_number: Of the contract debate.
        failures: To be corrected.
        before: The plan that is corrected.
        sources: The records that the failures come from, beside those of that plan.
        reopened: Where the plan was locked already (design: debate).
        questions: About criteria, of this run of the task (design: unshown-criteria).
        revisions_left: After this one.
    """
    answer, sealed = _answer_text(factory, before), sorted(reopened.sealed) if reopened else ()
    task_file = _task_file(factory, task)
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
    """Apply amendments to an approved plan, and nothing else: by code where each names a text, else by the planner, whose
    answer goes back if it misses one or changes more (design: amendments)."""
    stage = f"amended-{round_number}"
    amended = _applied(factory, task, stage, amendments, approved, reopened)
    if amended and not amended.problems:
        return _store_amended(factory, task, stage, amended, _Revision(approved, reopened))
    answer_text = _answer_text(factory, approved)
    callers = _callers(factory, task)
    message = amend_plan_message(
        _task_file(factory, task), answer_text, amendments, factory.packages, callers
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
    """What keeps a plan from being locked once code has applied amendments (design: exact-changes).

    Args:
        round_number: Of the contract debate, in which they are proposed.

    Returns:
        Nothing if it can be locked; None if code cannot apply them all.
    """
    wrong = target_problems(amendments, contracts=True) or unreachable_targets(amendments, {}, plan.contracts)
    if wrong or not amendments:
        return None
    amended = _applied(factory, task, f"challenged-{round_number}", amendments, plan, reopened)
    return amended and amended.problems


class _AmendedPlan(NamedTuple):
    """A plan with amendments that code has applied, and what keeps it from being locked."""

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
    """A plan with its amendments, if code can apply them all."""
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
    """Store a person's plan; it was checked when the answer was given, and is checked again as it is used."""
    if problems := rules.check(answer)[0]:
        raise AnswerError("the plan that was given does not hold any more", problems=tuple(problems))
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
    """Ask the planner and store its plan."""
    place = task.place("plan", stage, Role.PLANNER)
    scope = factory.journal.scope(f"{place.run_id}/plan")
    everything = known_modules(factory, scope)
    human = human_plan(factory, task, everything)
    rules = _rules(factory, task, scope, everything, human, revision.reopened if revision else None)
    entries = _revision_entries(factory, task, stage, revision) if revision else []
    rulings = carried_rulings(factory, task, revision.questions if revision else (), place.run_id)
    entries += [PackEntry(*ruling.row) for ruling in rulings.values()]
    by = _open_planner_pack(factory, scope, task, place, rules.known, entries)

    def problems(answer: PlanAnswer) -> list[str]:
        broken, drafts = rules.check(answer)
        if drafts is None:
            return broken
        own = len(drafts) == len(answer.modules)  # a check may name statements of a module that is reused
        untraced = trace_problems(answer.acceptance_checks, Citable([*drafts.values()])) if own else []
        return [*broken, *untraced, *(revision.check(answer, drafts) if revision else [])]

    message = with_rulings(message, task.definition.acceptance_criteria, rulings)
    before = _answer_text(factory, revision.before) if revision else ""
    store = RoleStore(factory, factory.index, by)
    assignment = Assignment(place, message, {}, store=store, before=before)
    answer = factory.roles.plan(assignment, problems)
    return _store(factory, scope, task, by, answer, rules, revision.before if revision else None)


def _rules(
    factory: Factory,
    task: Task,
    scope: Scope,
    known: KnownModules,
    human: HumanPlan,
    reopened: ReopenedPlan | None,
) -> PlanRules:
    own = own_modules(factory, task, scope)
    rules = PlanRules(known, human.modules, human.refs, own=own, acceptance=task.definition.acceptance)
    if reopened and (baseline := reopened.baseline):
        rules = PlanRules(known.without({baseline.name: baseline.ref}), own=_next_version_of(baseline))
    elif reopened:
        contracts = reopened.plan.contracts
        rules = rules._replace(
            known=known.without(reopened.sealed),
            refs={**human.refs, **{name: contract.ref for name, contract in contracts.items()}},
            sealed={name: contracts[name] for name in reopened.sealed},
        )
    return rules._replace(owned=owned_classes(factory, task, scope), interfaces=interfaces_of(factory))


def _open_planner_pack(
    factory: Factory,
    scope: Scope,
    task: Task,
    place: Place,
    known: KnownModules,
    entries: Sequence[PackEntry],
) -> Invocation:
    """Write the context pack: the planner's column of the role table (design: role-access).

    Args:
        entries: What it is given beside the task and the modules that it may call.
    """
    included = [(task_ref(factory, task), Permission.FULL, "the task to plan"), *pack_rows(entries)]
    included += [
        (ref, Permission.CONTRACT_ONLY, _why_known(known.retired.get(ref, ""))) for ref in sorted(known.refs)
    ]
    listed = {entry.ref.partition("@")[0] for entry in entries}
    others = [other for other in neighbours(factory, task) if other not in listed]
    excluded = [(f"{other}@1.0.0", "another task; only its shipped contracts matter") for other in others]
    return factory.invocations.open(
        scope, (place.role, place.run_id), task.task_id, task.folder, included, excluded
    )


def _why_known(retired: str) -> str:
    return f"a {retired} module, if it is named by its reference" if retired else "a module that it may call"


def _revision_entries(factory: Factory, task: Task, stage: str, revision: _Revision) -> list[PackEntry]:
    """The plan that is corrected, and what the debate says of it."""
    before = revision.before.plan_id
    entries = previous_version(factory, task, before, {})
    entries += debate_entries(factory, task, before, amending=stage.startswith("amended"))
    return [*entries, *(PackEntry(ref, Permission.SUMMARY_ONLY, what) for ref, what in revision.sources)]


def _next_version_of(baseline: MicroModuleContract) -> dict[str, OwnModule]:
    return {baseline.name: OwnModule(baseline, frozenset({baseline.module_version}))}


def next_version_plan(factory: Factory, task: Task, baseline: MicroModuleContract, answer: PlanAnswer) -> str:
    """Store the plan that code makes of a changed contract of a sealed module; returns its `MP-...` (design:
    interface-changes).

    Args:
        task: The module's, for the change.
        baseline: The sealed contract.
        answer: The plan: the one module, as it shall be.

    Raises:
        AnswerError: no plan can hold that contract.
    """
    place = task.place("plan", "round-1", Role.PLANNER)
    scope = factory.journal.scope(scopes.plan_by_code(place.run_id))
    known = known_modules(factory, scope).without({baseline.name: baseline.ref})
    rules = PlanRules(known, own=_next_version_of(baseline))
    return store_plan_of_code(factory, task, baseline, answer, rules)


def store_plan_of_code(
    factory: Factory,
    task: Task,
    baseline: MicroModuleContract,
    answer: PlanAnswer,
    rules: PlanRules,
    before: StoredPlan | None = None,
) -> str:
    """Store a plan that code makes of a sealed contract; returns its `MP-...`.

    Args:
        before: The plan whose contracts it carries on.

    Raises:
        AnswerError: no plan can hold that contract.
    """
    scope = factory.journal.scope(scopes.plan_by_code(task.place("plan", "round-1", Role.PLANNER).run_id))
    if problems := rules.check(answer)[0]:
        raise AnswerError("the changed contract cannot be planned", problems=tuple(problems))
    included = [(baseline.ref, Permission.CONTRACT_ONLY, "the sealed contract")]
    by = factory.invocations.open(scope, (FACTORY, scope.name), task.task_id, task.folder, included)
    return _store(factory, scope, task, by, answer, rules, before)


def _store(
    factory: Factory,
    scope: Scope,
    task: Task,
    by: Invocation,
    answer: PlanAnswer,
    rules: PlanRules,
    before: StoredPlan | None = None,
) -> str:
    """Store a plan with its contracts and reuse reports, record the contribution, and return its id."""
    artifacts, task_version = factory.artifacts, task_ref(factory, task)
    plan_id = artifact_id(ArtifactType.MICRO_PLAN, scope.hex8())
    plan, contracts = rules.draw_up(answer, plan_id, task_version, lambda: module_id(scope.hex8()))
    earlier = before.contract_ids if before else {}
    reports: dict[str, str] = {}
    for module in answer.modules:
        report = {"report.json": ReuseSearchReport.of(module.reuse).to_bytes()}
        reports[module.name] = artifacts.create(scope, by, ArtifactType.REUSE_SEARCH_REPORT, report)
    ids = {name: artifact_id(ArtifactType.CONTRACT, scope.hex8()) for name in contracts}
    body = {"plan.json": plan.to_bytes(), "answer.json": answer.to_bytes()}
    body["contracts.json"] = canonical_json.pretty(ids)
    inputs = [(task_version, Purpose.PLANS)]
    inputs += [(f"{report}@1.0.0", Purpose.REUSE_SEARCH) for report in reports.values()]
    revises = before.plan_id if before else ""
    artifacts.create(scope, by, ArtifactType.MICRO_PLAN, body, inputs=inputs, name=plan_id, revises=revises)
    plan_ref = artifacts.ref(task.folder, plan_id)
    for name, contract in contracts.items():
        artifacts.create(
            scope,
            by,
            ArtifactType.CONTRACT,
            {"contract.json": contract.to_bytes()},
            inputs=[(plan_ref, Purpose.PART_OF), (f"{reports[name]}@1.0.0", Purpose.REUSE_SEARCH)],
            name=ids[name],
            revises=earlier.get(name, ""),
        )
    factory.invocations.contribute(scope, by, ContributionType.MICRO_PLAN, plan_ref)
    factory.progress.note(Step("plan", task.entry.spec_task_id, ", ".join(m.name for m in answer.modules)))
    if factory.price:
        estimate = planned_estimate(len(contracts), factory.price)
        factory.progress.note(
            Step("estimate", task.entry.spec_task_id, f"still to come: {estimate.in_words()}")
        )
    return plan_id


def nearest_modules(factory: Factory, task: Task) -> list[str]:
    """The shipped modules that the Code Index finds nearest to a task: the search that is owed before a plan, made by code
    (design: code-index)."""
    hits = factory.index.search(IndexQuery(_nearest_query(task), top_k=MOST_NEAR))
    return [
        f"{hit.entry.ref} `{hit.entry.name}` (similarity {hit.similarity_score:.2f}): {hit.entry.purpose}"
        for hit in hits
    ]


def _nearest_query(task: Task) -> str:
    return f"{task.definition.name}. {task.definition.description}"


def _nearest_when_planned(factory: Factory, task: Task) -> list[str]:
    """The same as it was when the task was planned."""
    scope, asked = factory.journal.scope(f"{task.run}/plan/nearest"), {"query": _nearest_query(task)}
    found = scope.recall(
        "tool", {"tool": "nearest", **asked}, lambda: cast(JsonValue, nearest_modules(factory, task))
    )
    return cast(list[str], found)


def _callers(factory: Factory, task: Task) -> list[str]:
    """What a planner is told of what the functions of its task use, and of what calls them.

    A task whose examples script hosts uses hosts, and functions that take a path may use a database.
    """
    acceptance = task.definition.acceptance
    provided = acceptance.provides if acceptance else []
    functions = [function_of_signature(public) for public in provided]
    known = {one.name: [each.name for each in one.parameters] for one in functions if one}
    hosts = [FOR_PLAN] if acceptance and acceptance.scripts_hosts else []
    databases = [OF_LOCKS] if any("Path" in annotated_names(public) for public in provided) else []
    return [*hosts, *databases, *callers_of(interfaces_of(factory), known)]


def _task_file(factory: Factory, task: Task) -> str:
    return factory.folder.read(task.path).decode()


def _answer_text(factory: Factory, plan: StoredPlan) -> str:
    folder = factory.artifacts.folders()[plan.plan_id]
    return factory.artifacts.body(folder, plan.plan_id)["answer.json"].decode()
