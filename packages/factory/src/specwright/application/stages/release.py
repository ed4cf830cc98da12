"""The release stage: the four integration gates, the installed and tried wheel, the acceptance report, and the difference
of two releases (design: release).

If the product breaks an approved example, an escalation names the criterion, the call, the result and the modules involved
(design: product-spec). No task waits for it, and no shipped module changes. A bug report or a change corrects the product;
AMEND_SPEC strikes a wrong example. The next release closes the question.
"""

import io
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from ship_gate.base.ids import ArtifactType, ModuleRef, artifact_id
from ship_gate.base.record import Record
from ship_gate.base.text import did_you_mean, one_line
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import public_names
from ship_gate.contract.statements import contract_changes, contract_text
from ship_gate.sandbox.packages import required_by
from specwright.application import scopes
from specwright.application.announce import Announcement, announce, bind_journal, review
from specwright.application.change import (
    closing_events,
    finish_change,
    product_modules,
    product_specs,
    release_notes,
)
from specwright.application.criteria import unshown_in_release
from specwright.application.deprecation import finish_deprecations
from specwright.application.factory import Factory, ProjectView
from specwright.application.history.criterion_evidence import DebateIndex, RunOutcome, TaskEvidence
from specwright.application.history.provenance import person_decisions
from specwright.application.pages import interface_guide, spec_patch
from specwright.application.raising import Halt, write_escalation
from specwright.application.rendering import rendered
from specwright.application.store import layout
from specwright.application.store.artifacts import publish_noted
from specwright.application.store.log_ends import note_release_end
from specwright.application.tasks import outcome, project_state, task_at, task_board
from specwright.domain.acceptance.calls import acceptance_of_product, imported_names
from specwright.domain.acceptance.records import AcceptanceItem, TaskAcceptance, name_of
from specwright.domain.base.graph import reachable
from specwright.domain.base.slugs import import_name, slugify
from specwright.domain.escalation import RELEASE, Action
from specwright.domain.interfaces.document import ProductHead, functions_of, interface_document
from specwright.domain.modules.release import (
    JUDGED_BY_MODELS,
    KINDS,
    AcceptanceReport,
    CriterionEvidence,
    CriterionReport,
    CriterionRulingReport,
    CriterionStatus,
    ProductResult,
    Reference,
    ReleaseManifest,
    ReleaseModule,
    Result,
    TaskReport,
    UnshownInRelease,
    check_release_set,
    failure_report,
    release_manifest,
    release_module,
)
from specwright.domain.spec.product_spec import ProductSpec, TaskSpec
from specwright.domain.tasks.project_state import TaskStatus, expanded
from specwright.domain.tasks.task_board import Outcome
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import CorruptionError, InputError, RefusedError, RefusedErrors, SpecwrightError
from specwright.files import read_member
from specwright.ports import (
    ApprovedExample,
    ApprovedProperty,
    BuiltWheel,
    ExampleOutcome,
    ExerciseReport,
    ProductModule,
    ProductPackage,
    RunEvent,
    Scope,
)

Outcomes = Mapping[tuple[str, str], RunOutcome]
"""The results of examples and properties on the installed wheel, by task and title."""


def write_acceptance(
    factory: Factory, scope: Scope, manifest: ReleaseManifest, outcomes: Sequence[ExampleOutcome]
) -> None:
    """Write the acceptance report of a release beside its manifest.

    Args:
        factory: The ports.
        scope: The scope of the release.
        manifest: The manifest of the release.
        outcomes: The results of all examples and properties on the wheel.
    """
    spec, wheel = factory.projection.approved_spec, manifest.product.wheel
    sources = ReportSources(
        [one.module_ref for one in manifest.modules],
        _by_title(spec, outcomes),
        [layout.release_file(manifest.release_id, wheel)] if wheel else [],
        manifest.unshown_criteria,
    )
    report = acceptance_report(factory, manifest.release_id, sources)
    files = {
        layout.release_file(manifest.release_id, "acceptance.json"): canonical_json.pretty(report.document),
        layout.release_file(manifest.release_id, "acceptance.md"): render_report(report).encode(),
    }
    publish_noted(scope, factory.store, files)


def render_report(report: AcceptanceReport) -> str:
    """Render the report as Markdown."""
    counts = report.counts
    return (
        rendered(
            "acceptance.md",
            report=report,
            counts=counts,
            statuses=[status for status in CriterionStatus if counts[status.lower()]],
            decided=sum(len(task.decided) for task in report.tasks),
            kinds=KINDS,
        )
        + "\n"
    )


class ReportSources(NamedTuple):
    """The input of an acceptance report, besides the store.

    Args:
        refs: The released modules.
        outcomes: The results of examples and properties on the installed wheel.
        ran_in: The references to these results.
        unshown: The criteria that were set aside.
    """

    refs: Sequence[str]
    outcomes: Outcomes
    ran_in: Sequence[Reference]
    unshown: Sequence[UnshownInRelease]


def acceptance_report(view: ProjectView, release_id: str, sources: ReportSources) -> AcceptanceReport:
    """Build the report on every criterion of the approved spec.

    Raises:
        CorruptionError: no spec is approved, or a record is missing.
    """
    spec, path = view.projection.approved_spec, layout.definition(view.projection.spec_sha256)
    tasks = _Tasks(view, sources)
    return AcceptanceReport(
        release_id=release_id,
        spec_id=spec.spec_id,
        spec_version=spec.spec_version,
        spec=path,
        manifest=layout.manifest(release_id),
        tasks=[
            tasks.report(task, f"{path}#/pillars/{p}/epics/{e}/stories/{s}/tasks/{t}")
            for p, pillar in enumerate(spec.pillars)
            for e, epic in enumerate(pillar.epics)
            for s, story in enumerate(epic.stories)
            for t, task in enumerate(story.tasks)
        ],
    )


def _by_title(spec: ProductSpec, examples: Sequence[ExampleOutcome]) -> dict[tuple[str, str], RunOutcome]:
    """Return the results of approved examples and properties by task and title, which are matched by heading."""
    by_task: defaultdict[str, list[ExampleOutcome]] = defaultdict(list)
    for one in examples:
        by_task[one.module].append(one)
    return {
        (task.task_id, item.title): RunOutcome(one.passed, one.detail)
        for task in spec.tasks()
        for item in (task.acceptance.items if task.acceptance else ())
        for one in by_task[task.task_id]
        if one.heading.endswith(f" {', '.join(map(str, item.criteria))}, {item.title}")
    }


class _Tasks:
    """Builds the reports on tasks, with one index of all debates."""

    def __init__(self, view: ProjectView, sources: ReportSources) -> None:
        self._view, self._sources, self._debates = view, sources, DebateIndex(view)
        self._state = task_board(view).state()
        self._ids = {entry.spec_task_id: task_id for task_id, entry in self._state.tasks.items()}

    def report(self, task: TaskSpec, pointer: Reference) -> TaskReport:
        """Build the report on one task."""
        task_id = self._ids[task.task_id]
        entry = self._state.tasks[task_id]
        refs = [ref for ref in task_board(self._view).modules_of(task_id) if ref in self._sources.refs]
        parts = expanded(self._state.tasks, [task_id])
        evidence = TaskEvidence(self._view, self._debates, parts, pointer, refs)
        return TaskReport(
            task_id=task.task_id,
            name=task.name,
            status="SPLIT" if entry.superseded_by else entry.status.value,
            criteria=[
                self._criterion(task, task_id, number, evidence, pointer)
                for number in range(1, len(task.acceptance_criteria) + 1)
            ],
            modules=[one.report(self._debates.judged_in(one.ref)) for one in evidence.modules],
            decided=person_decisions(self._view, {task_id, *parts}),
        )

    def _criterion(
        self, task: TaskSpec, task_id: str, number: int, evidence: TaskEvidence, pointer: Reference
    ) -> CriterionReport:
        text, outcomes = task.acceptance_criteria[number - 1], self._sources.outcomes
        items = task.acceptance.items if task.acceptance else ()
        own = {one.title: outcomes[key] for one in items if (key := (task.task_id, one.title)) in outcomes}
        found = evidence.of(number, text, task.acceptance, own, self._sources.ran_in)
        ruling = next(
            (one for one in self._sources.unshown if (one.task_id, one.text) == (task_id, text)), None
        )
        definition = self._view.projection.definitions[task_id]
        status = _criterion_status(
            found, ruling, text in definition.acceptance_criteria, bool(evidence.modules)
        )
        return CriterionReport(
            criterion=number,
            text=text,
            stated_in=f"{pointer}/acceptance_criteria/{number - 1}",
            executable=task.acceptance is not None and number in task.acceptance.shown,
            status=status,
            reason=_reason(status, task.acceptance, number, found, definition),
            evidence=found,
            ruling=self._ruling(ruling) if ruling else None,
        )

    def _ruling(self, one: UnshownInRelease) -> CriterionRulingReport:
        body = layout.body(self._view.artifacts.folder_of(one.ruling), one.ruling, "1.0.0")
        return CriterionRulingReport(
            reason=one.reason,
            answer=one.answer,
            ruling=f"{body}/adjudication.json",
            question=layout.escalation(one.question),
            answered_in=layout.resolution(one.question) if one.answer else None,
        )


def _criterion_status(
    found: Sequence[CriterionEvidence],
    ruling: UnshownInRelease | None,
    in_force: bool,
    has_modules: bool,
) -> CriterionStatus:
    if any(one.result == "FAIL" for one in found):
        return CriterionStatus.FAILED
    if not in_force:
        return CriterionStatus.AMENDED
    passed = {one.kind for one in found if one.result == "PASS"}
    if passed & {"example", "property"}:
        return CriterionStatus.SHOWN
    if ruling is not None:
        return CriterionStatus.SET_ASIDE
    if passed:
        return CriterionStatus.TESTED
    return CriterionStatus.JUDGED if has_modules else CriterionStatus.UNRELEASED


def _reason(
    status: CriterionStatus,
    acceptance: TaskAcceptance | None,
    number: int,
    found: Sequence[CriterionEvidence],
    definition: TaskDefinition,
) -> str:
    """Return why a criterion is not shown; a reason in the spec takes precedence."""
    if status is CriterionStatus.UNRELEASED:
        return "no module of its task is released"
    if status is CriterionStatus.AMENDED:
        last = definition.amendments[-1]
        return f"{last.escalation_ref} replaced it: {last.rationale}"
    if status not in (CriterionStatus.JUDGED, CriterionStatus.SET_ASIDE):
        return ""
    whys = {one.criterion: one.why for one in acceptance.unexecutable} if acceptance else {}
    why = whys.get(number) or (
        "what shows it was not run" if found else "the spec has no example or property of it"
    )
    return f"{JUDGED_BY_MODELS}; {why}"


class BrokenExample(NamedTuple):
    """An approved example or property that the product breaks.

    Args:
        task: The task whose criteria it shows.
        item: The approved example or property.
        outcome: The actual and the approved result.
        modules: The names of the modules that it calls, directly or indirectly.
    """

    task: TaskDefinition
    item: AcceptanceItem
    outcome: str
    modules: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the entry for the escalation's details."""
        return {
            "task": self.task.spec_task_id,
            "criteria": self.item.criteria,
            "success_criteria": self.item.success_criteria,
            "title": self.item.title,
            "call": self.item.code,
            "outcome": self.outcome,
            "modules": list(self.modules),
        }

    def text(self) -> str:
        """The failure in a sentence."""
        return f"{self.item.call}: {self.outcome} (modules that took part: {', '.join(self.modules)})"


def broken_examples(
    tasks: Sequence[TaskDefinition],
    contracts: Sequence[MicroModuleContract],
    outcomes: Sequence[ExampleOutcome],
) -> list[BrokenExample]:
    """Return the failed approved examples and properties, in the order of the tasks.

    Args:
        tasks: The released tasks.
        contracts: The contracts of the released modules.
        outcomes: The results of the release.
    """
    failed = {(one.module, one.heading): one.detail for one in outcomes if not one.passed}
    return [
        BrokenExample(task, item, detail, tuple(_took_part(imported_names(item), contracts)))
        for task in tasks
        if task.acceptance
        for item in task.acceptance.items
        if (detail := failed.get((task.spec_task_id, item.heading)))
    ]


def _took_part(names: set[str], contracts: Sequence[MicroModuleContract]) -> Iterator[str]:
    # a dependency names a range of versions; a release has one version of each module
    by_id: Mapping[str, MicroModuleContract] = {contract.module_id: contract for contract in contracts}
    called = [contract.module_id for contract in contracts if names & set(public_names(contract))]

    def below(module_id: str) -> list[str]:
        ids = [one.ref.partition("@")[0] for one in by_id[module_id].dependencies]
        return [one for one in ids if one in by_id]

    for module_id in dict.fromkeys((*called, *reachable(called, below))):
        yield by_id[module_id].name


def escalated(factory: Factory, release_id: str, broken: Sequence[BrokenExample]) -> list[Announcement]:
    """Write the escalation of a release, if an approved example is broken.

    Returns:
        The event that announces it, or none.
    """
    if not broken:
        return []
    scope = factory.journal.scope(f"{release_id}/escalation")
    name, now = artifact_id(ArtifactType.ESCALATION, scope.hex8()), scope.now()
    first = broken[0]
    task = task_at(factory, first.task.task_id)
    more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
    why = Halt(
        cause=RELEASE,
        reason=first.text(),
        decision=f"The product of {release_id} breaks what was approved: {first.task.spec_task_id}, "
        f"{first.item.heading}{more}",
        recommended=Action.AMEND_SPEC,
        context="`specwright report` has one module corrected, `specwright change` makes another spec; AMEND_SPEC "
        "strikes an example that is wrong itself, `specwright release` tries the product again.",
        failed=[
            (said, one.text())
            for one in broken
            for said in (*_success_criteria(factory, one), *_criteria(one))
        ],
        details={
            "release_id": release_id,
            "broken": [one.to_json() for one in broken],
            "broken_titles": [one.item.title for one in broken if one.task is first.task],
        },
    )
    sha256 = write_escalation(factory, task, why, name, now)
    factory.progress.note(RunEvent("question", task.entry.spec_task_id, f"{name}: {why.reason}"))
    return [review("escalation.raised", sha256, name)]


def _criteria(one: BrokenExample) -> Iterator[str]:
    for number in one.item.criteria:
        yield f"{one.task.spec_task_id}, criterion {number}: {one.task.acceptance_criteria[number - 1]}"


def _success_criteria(view: ProjectView, one: BrokenExample) -> Iterator[str]:
    """Yield the epic's success criteria that a scenario shows."""
    for pillar in view.projection.spec.pillars if view.projection.spec else ():
        for epic in pillar.epics:
            if any(task.task_id == one.task.spec_task_id for story in epic.stories for task in story.tasks):
                for number in one.item.success_criteria:
                    yield f"{epic.epic_id}, success criterion {number}: {epic.success_criteria[number - 1]}"


_REPORT = TypeAdapter(ExerciseReport)


def release_all(factory: Factory, again: int = 0) -> ReleaseManifest:
    """Release everything that the finished project shipped, and end the open change, if any (design: change). `again` counts
    later releases by a person.

    Raises:
        RefusedError: the open change is not built yet, nothing is shipped, or a task is open.
    """
    projection, last = factory.projection, last_release(factory)
    change, number = projection.open_change, projection.change_number
    if change is None and number and not again and last is not None:
        bind_journal(factory)  # this node runs again after a crash
        note_release_end(factory.store, factory.log, last.release_id)
        return last
    if change is not None and change.before is not None and outcome(factory) is not Outcome.COMPLETE:
        raise RefusedError(
            "a change is under way; it is released when it is built",
            remedy="`specwright run` continues it, `specwright change --abandon` abandons it",
        )
    refs = product_modules(factory)
    if not refs and outcome(factory) is not Outcome.COMPLETE:
        raise RefusedError(
            "no task has shipped a module yet, so there is nothing to release",
            remedy="`specwright status` says what comes next",
        )
    if outcome(factory) is not Outcome.COMPLETE:
        raise RefusedError(
            f"this would release only a part of the product: {tasks_missing(factory, refs)}",
            remedy="`specwright run` continues the project; `--module MM-ID@VERSION` releases single shipped modules",
        )
    return _release(factory, refs, scopes.release(again, number), ends_change=True)


def release_some(factory: Factory, refs: Sequence[str], again: int) -> ReleaseManifest:
    """Release the given modules.

    Raises:
        InputError: one of them is unknown.
        RefusedError: one of them is not shipped (design: release).
    """
    shipped, wanted = set(product_modules(factory)), list(dict.fromkeys(refs))
    if unknown := [ref for ref in wanted if ref not in shipped]:
        raise _not_shipped(factory, unknown)
    return _release(factory, wanted, scopes.release(again))


def tasks_missing(view: ProjectView, refs: Sequence[str]) -> str:
    """Describe the tasks that a set of modules leaves out; empty if none. A task is covered by the modules that it shipped,
    in any version; abandoned and split tasks do not count."""
    inside = {ModuleRef.parse(ref).module_id for ref in refs}
    ordered = sorted(project_state(view).tasks.values(), key=lambda one: one.declaration_order)
    tasks = [entry for entry in ordered if entry.status is not TaskStatus.ABANDONED]
    missing = [
        entry
        for entry in tasks
        if entry.status is not TaskStatus.SHIPPED
        or not {ModuleRef.parse(ref).module_id for ref in entry.module_refs} <= inside
    ]
    if not missing:
        return ""
    named = [f"{entry.spec_task_id} {one_line(entry.task)}" for entry in missing]
    verb = "is" if len(missing) == 1 else "are"
    return f"{len(tasks) - len(missing):,} of {len(tasks):,} tasks; {', '.join(named)} {verb} not in it"


def _not_shipped(factory: Factory, refs: Sequence[str]) -> SpecwrightError:
    """Build the error about modules that cannot be released: unknown ones, or sealed ones whose task has not shipped."""
    unknown = [ref for ref in refs if not factory.modules.is_sealed(ref)]
    if unknown:
        like = did_you_mean(unknown[0], factory.modules.refs())
        return InputError(
            f"only shipped modules can be released; these are unknown: {', '.join(unknown)}",
            remedy=f"{like}name each by its MM-ID@VERSION, as `specwright modules` lists it",
        )
    return RefusedError(
        f"only modules of shipped tasks can be released; sealed for a task that has not shipped, or replaced by a later "
        f"version: {', '.join(refs)}",
        remedy="`specwright tasks` says what each task waits for; ATTEST_SHIPPED ships a halted one with a sealed module",
    )


def last_release(factory: ProjectView) -> ReleaseManifest | None:
    """Return the newest release in the log."""
    return release_of(factory, -1) if factory.projection.releases else None


def release_of(view: ProjectView, number: int) -> ReleaseManifest:
    """Return a release in the log by its list index."""
    path = layout.manifest(view.projection.releases[number])
    return ReleaseManifest.from_bytes(view.store.read(path), path)


def _release(
    factory: Factory, refs: list[str], scope_name: str, *, ends_change: bool = False
) -> ReleaseManifest:
    change, before = factory.projection.open_change, last_release(factory)
    scope = factory.journal.scope(scope_name)
    release_id, now = f"REL-{scope.hex8()}", scope.now()
    spec = factory.projection.approved_spec
    index = {entry.ref: entry for entry in factory.index.entries()}
    modules = [
        release_module(factory.modules.contract(ref), factory.modules.evidence(ref), index) for ref in refs
    ]
    check_release_set(modules)
    product, wheel, outcomes = _product(factory, scope, modules)
    tasks = _tasks_of(factory, refs)
    unshown = unshown_in_release(factory, scope, [task.task_id for task in tasks])
    manifest = release_manifest(
        *(release_id, now, spec.spec_version, modules, product, unshown),
        missing=tasks_missing(factory, refs),
    )
    if wheel is not None:
        factory.store.publish(layout.release_file(release_id, wheel.file_name), wheel.content)
        if manifest.succeeded:
            _place_source(factory, release_id, wheel)
    if report := failure_report(manifest, modules):
        path = layout.release_file(release_id, "failure_report.md")
        publish_noted(scope, factory.store, {path: report.encode()})
    write_acceptance(factory, scope, manifest, outcomes)
    factory.store.publish(layout.manifest(release_id), manifest.to_bytes())
    sha256 = factory.store.define(manifest.to_bytes())
    events = [review("release.made", sha256, release_id)]
    broken = broken_examples(tasks, [one.contract for one in modules], outcomes)
    events += escalated(factory, release_id, broken)
    if ends_change and manifest.succeeded and change is not None and change.before is not None:
        events += closing_events(factory, scope, manifest, sha256, before)
    announce(factory, scope, events)
    finish_change(factory)
    finish_deprecations(factory)
    bind_journal(factory)  # before the release's note of the log's end
    note_release_end(factory.store, factory.log, release_id)
    results = f"{release_id}: {manifest.overall_result}, product {product.result}"
    factory.progress.note(RunEvent("released" if manifest.succeeded else "unreleased", "", results))
    return manifest


def _place_source(factory: Factory, release_id: str, wheel: BuiltWheel) -> None:
    """Put the whole source tree in place. An existing tree is moved aside, because the user may have edited it."""
    folder, place = factory.folder, layout.source_tree(wheel.file_name)
    written = {path: f"{place}/{path}" for path in wheel.source}
    if all(folder.exists(at) and folder.read(at) == wheel.source[path] for path, at in written.items()):
        return
    made = f"{place}-{release_id}-new"
    folder.publish_tree(made, wheel.source)
    folder.move(place, f"{place}-before-{release_id}")
    folder.move(made, place)


def _product(
    factory: Factory, scope: Scope, modules: Sequence[ReleaseModule]
) -> tuple[ProductResult, BuiltWheel | None, tuple[ExampleOutcome, ...]]:
    try:
        package, wheel = _built(factory, modules)
    except RefusedErrors as error:
        return ProductResult.without_wheel(error.what), None, ()
    if fault := fault_of_packager(wheel, package):
        raise CorruptionError(
            f"the wheel {fault}",
            where=wheel.file_name,
            remedy="this is a defect of Specwright, please report it; the spec and the modules are not at fault",
        )
    factory.progress.note(RunEvent("wheel", "", f"trying {wheel.file_name} in an environment of its own"))
    request: dict[str, JsonValue] = {
        "wheel": wheel.sha256,
        "examples": [[one.task_id, *one.example[:4]] for one in package.approved],
        "properties": [[one.task_id, one.property.heading, one.property.code] for one in package.properties],
    }
    seen = scope.recall(
        "verdict",
        request,
        lambda: _REPORT.dump_python(factory.packager.exercise(wheel, package), mode="json"),
    )
    report = _REPORT.validate_python(seen)
    result = ProductResult(
        wheel=wheel.file_name,
        sha256=wheel.sha256,
        result=Result(report.result),
        detail=report.detail,
        source={
            f"{layout.source_tree(wheel.file_name)}/{path}": canonical_json.sha256(data)
            for path, data in wheel.source.items()
        },
    )
    return result, wheel, report.examples


def _built(factory: Factory, modules: Sequence[ReleaseModule]) -> tuple[ProductPackage, BuiltWheel]:
    """Build a wheel. If an earlier release has other bytes under the same version, use a post-release (PEP 440), because
    installers take equal versions for equal wheels.

    Raises:
        RefusedError: the product cannot be packaged.
    """
    made = [release_of(factory, number) for number in range(len(factory.projection.releases))]
    taken = {one.product.wheel: one.product.sha256 for one in made if one.succeeded}
    stated = factory.projection.approved_spec.spec_version
    post, package = 0, _package(factory, modules, stated)
    wheel = factory.packager.build(package)
    while taken.get(wheel.file_name, wheel.sha256) != wheel.sha256:
        post += 1
        package = _package(factory, modules, f"{stated}.post{post}")
        wheel = factory.packager.build(package)
    return package, wheel


def fault_of_packager(wheel: BuiltWheel, package: ProductPackage) -> str:
    """Return what a wheel lacks of its input; empty if it is complete."""
    if missing := [name for name in package.provided if name not in wheel.exports]:
        return f"does not export {', '.join(missing)}, although the spec provides that and modules export it"
    wanted = {
        f"{package.import_name}/{module.contract.name}/{path}": data
        for module in package.modules
        for path, data in module.implementation.items()
    }
    try:
        with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
            names = set(archive.namelist())
            other = [
                path
                for path, data in wanted.items()
                if path not in names or read_member(archive, path) != data
            ]
            other += {f"{package.import_name}/__init__.py", f"{package.import_name}/py.typed"} - names
    except zipfile.BadZipFile as error:
        return f"cannot be read: {error}"
    return (
        f"lacks these files, or holds other bytes than were sealed: {', '.join(sorted(other))}"
        if other
        else ""
    )


def _package(factory: Factory, modules: Sequence[ReleaseModule], version: str) -> ProductPackage:
    """Collect the content of a wheel: the modules, the approved examples of their tasks, and the spec's interfaces.

    Raises:
        RefusedError: a contract does not fit an interface.
    """
    spec = factory.projection.approved_spec
    distribution = slugify(spec.title)
    facing = {entry.module_ref for entry in project_state(factory).tasks.values()}
    product = tuple(_module(factory, m) for m in modules)
    tasks = _tasks_of(factory, [m.ref for m in modules])
    provided = {name_of(public) for task in tasks if task.acceptance for public in task.acceptance.provides}
    released = provided & {name for m in modules for name in public_names(m.contract)}
    names = tuple(m.contract.name for m in modules if m.ref in facing or m.contract.name in released)
    approved = [
        (task.spec_task_id, acceptance_of_product(task.acceptance, task.acceptance_criteria, released))
        for task in tasks
    ]
    sources = [data for m in product for path, data in m.implementation.items() if path.endswith(".py")]
    package = ProductPackage(
        distribution=distribution,
        import_name=import_name(distribution),
        version=version,
        summary=spec.description,
        modules=product,
        task_facing=names or tuple(m.contract.name for m in modules),
        provided=tuple(sorted(released)),
        requires=required_by(factory.packages, sources),
        notes=release_notes(factory, version),
        approved=tuple(ApprovedExample(name, one) for name, own in approved for one in own.examples),
        properties=tuple(ApprovedProperty(name, one) for name, own in approved for one in own.properties),
        license=factory.license,
    )
    if spec.interfaces is None:
        return package
    contracts = [m.contract for m in modules]
    head = ProductHead(package.import_name, distribution, version, one_line(spec.description))
    functions = functions_of(spec.interfaces, contracts)
    return package._replace(
        interface=interface_document(spec.interfaces, contracts, head),
        guide=interface_guide(spec.interfaces, functions, distribution),
    )


def _module(factory: Factory, module: ReleaseModule) -> ProductModule:
    files = factory.modules.files(module.ref)
    implementation, tests = (
        {path.removeprefix(folder): data for path, data in files.items() if path.startswith(folder)}
        for folder in ("implementation/", "tests/test_")
    )
    tests = {f"test_{name}": data for name, data in tests.items()}
    return ProductModule(module.contract, implementation, files["examples.md"].decode(), tests)


def _tasks_of(factory: Factory, refs: Sequence[str]) -> list[TaskDefinition]:
    """Return the tasks that shipped any of these modules."""
    tasks, definitions = project_state(factory).tasks, factory.projection.definitions
    return [definitions[name] for name, entry in tasks.items() if set(entry.module_refs) & set(refs)]


_LONGEST = 512 * 1024
"""The size limit of files that are compared line by line, which takes time quadratic in the number of lines."""


class ChangedModule(Record):
    """A module that differs in the later release: its versions, and its contract as a patch. A new module has no version
    `before`, a removed one none `after`."""

    name: str
    before: str
    after: str
    contract: list[str]

    @property
    def step(self) -> str:
        """The module with both versions."""
        return f"{self.name} {self.before or 'new'} -> {self.after or 'removed'}"


def last_of_each_version(view: ProjectView) -> dict[str, ReleaseManifest]:
    """Return the newest release with a wheel for each version, oldest first; releases of the whole product take precedence
    over partial ones."""
    found: dict[str, ReleaseManifest] = {}
    for number in range(len(view.projection.releases)):
        made, version = release_of(view, number), ""
        if made.succeeded and made.product.wheel:
            version = made.spec_version
        if version and (version not in found or len(made.modules) >= len(found[version].modules)):
            found[version] = made
    return found


def compared(view: ProjectView, old: str = "", new: str = "") -> tuple[ReleaseManifest, ReleaseManifest]:
    """Return two releases by their versions; by default the newest, and the one before it.

    Raises:
        InputError: there are not two releases, or none of a version.
    """
    made = last_of_each_version(view)
    versions = [*made]
    if unknown := [one for one in (old, new) if one and one not in made]:
        known = f"these are: {', '.join(versions)}" if versions else "nothing is released yet"
        raise InputError(f"version {unknown[0]} is not released", remedy=known)
    new = new or (versions[-1] if versions else "")
    earlier = versions[: versions.index(new)] if new else []
    if not (old or earlier):
        raise InputError(
            f"there is no release before {new}" if new else "nothing is released yet",
            remedy="`specwright change` makes the next version; at its gate `specwright status` shows what differs",
        )
    return made[old or earlier[-1]], made[new]


def spec_changes(view: ProjectView, old: ReleaseManifest, new: ReleaseManifest) -> list[str]:
    """Return the difference of the specs of two releases, as a patch."""
    specs = {spec.spec_version: spec for spec in product_specs(view)}
    return spec_patch(specs[old.spec_version], specs[new.spec_version])


def changed_modules(view: ProjectView, old: ReleaseManifest, new: ReleaseManifest) -> Iterator[ChangedModule]:
    """Yield the modules that differ, in the order of the later release."""
    was, now = (
        {
            ModuleRef.parse(one.module_ref).module_id: view.modules.contract(one.module_ref)
            for one in made.modules
        }
        for made in (old, new)
    )
    for module_id in dict.fromkeys((*now, *was)):
        before, after = was.get(module_id), now.get(module_id)
        if before and after:
            lines = contract_changes(before, after)
        else:
            text = contract_text(after or before or now[module_id]).splitlines()[1:]
            lines = [f"{'+' if after else '-'} {line}" for line in text]
        if before != after:
            yield ChangedModule(
                name=(after or before or now[module_id]).name,
                before=before.module_version if before else "",
                after=after.module_version if after else "",
                contract=lines,
            )


def source_changes(view: ProjectView, old: ReleaseManifest, new: ReleaseManifest) -> list[str]:
    """Return the difference of the code in two wheels, as a unified diff for `patch -p1` in the earlier tree."""
    was, now = (code_of(view, made) for made in (old, new))
    return [
        line
        for path in sorted(was.keys() | now.keys())
        if was.get(path) != now.get(path)
        for line in _file_changes(path, was.get(path), now.get(path))
    ]


def _file_changes(path: str, was: bytes | None, now: bytes | None) -> Iterator[str]:
    before, after = "/dev/null" if was is None else f"a/{path}", "/dev/null" if now is None else f"b/{path}"
    try:
        old, new = ((data or b"").decode() for data in (was, now))
    except UnicodeDecodeError:
        old = new = ""
    if not (old or new) or max(map(len, (old, new))) > _LONGEST:
        yield f"Files {before} and {after} differ"
        return
    yield from unified_diff(_lines(old), _lines(new), before, after, lineterm="")


def _lines(text: str) -> list[str]:
    """Return the lines of a file; a missing line end is noted, as usual in patches."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += "\n\\ No newline at end of file"
        return lines
    return lines[:-1]


def code_of(view: ProjectView, made: ReleaseManifest) -> Mapping[str, bytes]:
    """Return the files of a release's wheel by path, without metadata.

    Raises:
        CorruptionError: the wheel is not the released one.
    """
    path = layout.release_file(made.release_id, str(made.product.wheel))
    try:
        with zipfile.ZipFile(BytesIO(view.store.read(path))) as wheel:
            names = (name for name in wheel.namelist() if ".dist-info/" not in name)
            return {name: read_member(wheel, name) for name in islice(names, _MOST_FILES)}
    except zipfile.BadZipFile as error:
        raise damaged_wheel(path) from error


def damaged_wheel(path: str) -> CorruptionError:
    """Build the error about a wheel that is not the released one."""
    remedy = "release again: `specwright release`"
    return CorruptionError("the released wheel is damaged", where=path, remedy=remedy)


_MOST_FILES = 10_000
