"""What depends on a module that has got a later version, by a change or an exception: judged again by the gate and sealed
by code, or migrated by a task of its own (design: change, interface-changes).

No model is asked here. What is to be done follows from the state and the contracts alone, so a run that goes on after a
crash finds the same, and what was judged is in the journal.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ModuleRef
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.versions import serves
from ship_gate.verdict import GateVerdict
from specwright.application.announce import announce, review, task_event
from specwright.application.change.catch_up import finish_change
from specwright.application.debate.gate_runs import (
    GateRun,
    approved_examples,
    candidate,
    examples_of_reports,
    judge,
    module_acceptance,
    with_falsifying_tests,
)
from specwright.application.debate.implementation import ENTRY
from specwright.application.deprecation import finish_deprecations, superseded
from specwright.application.earlier_versions import reports_of
from specwright.application.factory import Factory, ProjectView
from specwright.application.ship import seal_files
from specwright.application.tasks import all_shipped, project_state, task_board
from specwright.domain.escalation.resolutions import NewTask
from specwright.domain.interface_change.comparison import Bump, next_version
from specwright.domain.modules.evidence import ResealedModule, tree_sha256
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_changes import UNFINISHED
from specwright.domain.tasks.task_parts import parts_of
from specwright.ports.journal import Scope
from specwright.ports.progress import Step
from specwright.ports.roles import Files


class Consumer(NamedTuple):
    """A module of a shipped task that calls an earlier version of something than the product has now.

    Args:
        task_id: The task.
        contract: Of the module.
        later: The version that the product has, by the reference in the contract.
    """

    task_id: str
    contract: MicroModuleContract
    later: Mapping[str, str]

    @property
    def compatible(self) -> bool:
        """Whether all of these versions serve it by their numbers."""
        return all(serves(ModuleRef.parse(new).version, old) for old, new in self.later.items())


class _Candidate(NamedTuple):
    """A consumer as it would be sealed again, and what the gate says of it."""

    contract: MicroModuleContract
    files: Files
    verdict: GateVerdict


def settle_consumers(factory: Factory) -> None:
    """Bring every consumer of a later version up to date, as far as that needs no task that is still to run."""
    if not factory.projection.cause:
        return
    _retire_migrated(factory)
    while (consumer := _next_consumer(factory)) is not None:
        judged = _judged_again(factory, consumer) if consumer.compatible else None
        if judged is not None and judged.verdict.passed:
            _reseal(factory, consumer, judged)
        else:
            _migrate(factory, consumer)


def _next_consumer(factory: ProjectView) -> Consumer | None:
    """A consumer that can be settled now: nothing that it calls is itself one. One that its migration left behind is not
    waited for."""
    consumers, tasks = _consumers(factory), project_state(factory).tasks
    migrations, migrated = factory.projection.migrations, factory.projection.migrated
    running = {whole for name, whole in migrations.items() if tasks[name].status in UNFINISHED}
    waiting = {c.contract.ref for c in consumers if c.task_id in running or c.task_id not in migrated}
    for consumer in consumers:
        called = {*consumer.later.values(), *(d.ref for d in consumer.contract.dependencies)}
        if consumer.task_id not in running | migrated and waiting.isdisjoint(called):
            return consumer
    return None


def _consumers(factory: ProjectView) -> list[Consumer]:
    state, migrations = project_state(factory), factory.projection.migrations
    shipped = {t: state.tasks[t] for t in state.ordered if state.tasks[t].status is TaskStatus.SHIPPED}
    current: dict[str, str] = {}
    for entry in shipped.values():
        for ref in entry.module_refs:
            module = ModuleRef.parse(ref)
            known = current.get(module.module_id)
            if known is None or serves_later(known, module):
                current[module.module_id] = ref
    found: dict[str, Consumer] = {}
    for task_id, entry in shipped.items():
        for ref in entry.module_refs if task_id not in migrations else ():
            contract = factory.modules.contract(ref)
            called = {
                d.ref: current.get(ModuleRef.parse(d.ref).module_id, d.ref) for d in contract.dependencies
            }
            if current[contract.module_id] != ref:
                called[ref] = current[contract.module_id]  # it was reused, and broke since
            later = {old: new for old, new in called.items() if old != new}
            if later:
                found.setdefault(ref, Consumer(task_id, contract, later))
    return list(found.values())


def serves_later(known: str, module: ModuleRef) -> bool:
    """Whether a version is a later one than a known reference of the same module."""
    return _numbers(module.version) > _numbers(ModuleRef.parse(known).version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _judged_again(factory: Factory, consumer: Consumer) -> _Candidate:
    """The same files under a contract that names the later versions, as the gate judges them."""
    cause, old = factory.projection.cause, consumer.contract
    scope = factory.journal.scope(f"{cause}/reseal/{old.ref}")
    asked: JsonValue = {"tool": "versions", "of": old.module_id}
    taken = cast(
        Sequence[str],
        scope.recall("tool", asked, lambda: cast(JsonValue, factory.modules.versions(old.module_id))),
    )
    version = old.module_version
    while version in taken:
        version = next_version(version, Bump.PATCH)
    called = [d.model_copy(update={"ref": consumer.later.get(d.ref, d.ref)}) for d in old.dependencies]
    contract = old.model_copy(update={"module_version": version, "dependencies": called})
    files = dict(factory.modules.files(old.ref))
    files[ENTRY] = factory.gate.documented(files[ENTRY], contract)

    def measured(digest: str) -> Scope:
        return factory.journal.scope(f"{cause}/{contract.name}/measured/{digest}")

    def started_at(digest: str) -> str:
        return factory.journal.scope(f"{scope.name}/run/{digest}").now()

    judging, earlier = candidate(factory.modules, contract, files), factory.modules.regression_tests(old.ref)
    task = factory.projection.definitions[consumer.task_id]
    approved = module_acceptance(task, judging)
    binding = (examples_of_reports(reports_of(factory, contract.module_id)), approved_examples(approved))
    run = GateRun(
        factory.gate, factory.progress, scope, measured, True, started_at, binding, approved.properties
    )
    verdict = with_falsifying_tests(
        factory.gate, factory.progress, scope, judging, judge(run, judging), earlier=earlier
    )
    return _Candidate(contract, files, verdict)


def _reseal(factory: Factory, consumer: Consumer, judged: _Candidate) -> None:
    """Seal it; the log says so, and the tasks that had the version before have this one."""
    cause, project_id = factory.projection.cause, factory.projection.project_id
    old, contract = consumer.contract, judged.contract
    scope = factory.journal.scope(f"{f'{cause}/reseal/{old.ref}'}/seal")
    struck = factory.modules.evidence(old.ref).struck_tests
    tests = factory.modules.regression_tests(old.ref)
    sealed = seal_files(factory, scope, contract, judged.verdict, struck, tests)
    names = [f"{factory.modules.contract(new).name} {new}" for new in consumer.later.values()]
    record = ResealedModule(
        module_ref=contract.ref,
        replaces=old.ref,
        sha256=tree_sha256(sealed),
        reason=f"judged again with {', '.join(names)}",
    )
    sha256 = factory.store.define(record.to_bytes())
    events = [review(project_id, "module.sealed", sha256, contract.ref)]
    events += superseded(factory, scope, old.ref, contract.ref, record.reason)
    announce(factory, scope, project_id, events)
    finish_deprecations(factory)
    entry = task_board(factory).entry(consumer.task_id)
    factory.progress.note(
        Step("sealed", entry.spec_task_id, f"{contract.name} {contract.ref}, {record.reason}")
    )


def _migrate(factory: Factory, consumer: Consumer) -> None:
    """Append a task that builds the consumer's task again, from its plan and contracts, with what it calls now."""
    projection, project_id = factory.projection, factory.projection.project_id
    whole = projection.definitions[consumer.task_id]
    changed = [
        f"{factory.modules.contract(old).name}, {old} is {new} now" for old, new in consumer.later.items()
    ]
    part = NewTask.model_construct(
        name=f"Migrate: {whole.name}",
        description=f"{whole.description} What it is built on has changed: {'; '.join(changed)}.",
        acceptance_criteria=list(whole.acceptance_criteria),
        depends_on=list(whole.depends_on),
        subtasks=None,
        io_contract_sketch=None,
    )
    (definition,) = parts_of(projection.definitions, whole.task_id, [part])
    sha256 = factory.store.define(definition.to_bytes())
    scope = factory.journal.scope(f"{projection.cause}/migration/{whole.spec_task_id}")
    waits = [projection.definitions[ref].spec_task_id for ref in definition.depends_on]
    created = task_event(
        "task.created",
        definition.spec_task_id,
        1,
        {"definition_sha256": sha256},
        [whole.spec_task_id, *waits],
    )
    events = [created._replace(parent=whole.spec_task_id)]
    if all_shipped(factory, definition.depends_on):
        events.append(task_event("task.available", definition.spec_task_id, 1, {}))
    announce(factory, scope, project_id, events)
    finish_change(factory)
    factory.progress.note(
        Step("migration", definition.spec_task_id, f"{whole.spec_task_id}: {'; '.join(changed)}")
    )


def _retire_migrated(factory: Factory) -> None:
    """Retire the versions whose places migrations have taken, where no release of a change does it."""
    projection, tasks = factory.projection, project_state(factory).tasks
    if projection.open_change is not None:
        return
    shipped = {
        ref for entry in tasks.values() if entry.status is TaskStatus.SHIPPED for ref in entry.module_refs
    }
    made = {ref for name in projection.migrations for ref in tasks[name].module_refs} & shipped
    for ref in sorted(made):
        module = ModuleRef.parse(ref)
        for version in factory.modules.versions(module.module_id):
            old = f"{module.module_id}@{version}"
            if serves_later(old, module) and old not in shipped:
                scope = factory.journal.scope(f"{projection.cause}/superseded/{old}")
                if events := superseded(factory, scope, old, ref):
                    announce(factory, scope, projection.project_id, events)
    finish_deprecations(factory)
