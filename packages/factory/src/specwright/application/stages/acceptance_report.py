"""The acceptance report of a release: every criterion of the approved spec, and what showed it (design: release)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from agent_wire import canonical_json
from specwright.application.factory import Factory, ProjectView
from specwright.application.history.criterion_evidence import DebateIndex, RunOutcome, TaskEvidence
from specwright.application.store import layout
from specwright.application.store.artifacts import note_hashes
from specwright.application.tasks import task_board
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.modules.acceptance_page import render_report
from specwright.domain.modules.acceptance_report import (
    JUDGED_BY_MODELS,
    AcceptanceReport,
    CriterionEvidence,
    CriterionReport,
    CriterionRulingReport,
    CriterionStatus,
    Reference,
    TaskReport,
)
from specwright.domain.modules.release import ReleaseManifest, UnshownInRelease
from specwright.domain.spec.product_spec import ProductSpec, TaskSpec
from specwright.domain.tasks.project_state import ProjectState, expanded
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import CorruptionError
from specwright.ports.journal import Scope
from specwright.ports.packaging import ExampleOutcome

Outcomes = Mapping[tuple[str, str], RunOutcome]
"""What came of examples and properties on the installed wheel, by task and title."""


def write_acceptance(
    factory: Factory, scope: Scope, manifest: ReleaseManifest, outcomes: Sequence[ExampleOutcome]
) -> None:
    """Write the report of a release beside its manifest.

    Args:
        factory: The ports.
        scope: Of the release.
        manifest: Of the release.
        outcomes: What came of every example and property that was tried on the wheel.
    """
    spec = _approved(factory)
    refs = [one.module_ref for one in manifest.modules]
    ran_in = layout.wheel(manifest.release_id, manifest.product.wheel) if manifest.product.wheel else ""
    sources = ReportSources(
        refs,
        _by_title(spec, outcomes),
        [ran_in] if ran_in else [],
        manifest.unshown_criteria,
    )
    report = acceptance_report(factory, manifest.release_id, sources)
    files = {
        layout.acceptance_report(manifest.release_id): canonical_json.pretty(report.document),
        layout.acceptance_page(manifest.release_id): render_report(report).encode(),
    }
    for path, data in files.items():
        factory.store.publish(path, data)
    note_hashes(scope, files)


class ReportSources(NamedTuple):
    """What a report is made of, beside what the store has.

    Args:
        refs: The modules that count.
        outcomes: What came of examples and properties on the installed wheel.
        ran_in: What is proof of these.
        unshown: The criteria that were set aside.
    """

    refs: Sequence[str]
    outcomes: Outcomes
    ran_in: Sequence[Reference]
    unshown: Sequence[UnshownInRelease]


def acceptance_report(view: ProjectView, release_id: str, sources: ReportSources) -> AcceptanceReport:
    """The report on every criterion of the approved spec.

    Raises:
        CorruptionError: no spec is approved, or a record is missing.
    """
    spec, path = _approved(view), layout.definition(view.projection.spec_sha256)
    tasks = _Tasks(view, sources)
    return AcceptanceReport(
        release_id=release_id,
        spec_id=spec.spec_id,
        spec_version=spec.spec_version,
        spec=path,
        manifest=layout.manifest(release_id),
        tasks=[tasks.report(task, f"{path}#{pointer}") for pointer, task in _with_pointers(spec)],
    )


def _approved(view: ProjectView) -> ProductSpec:
    if view.projection.spec is None:
        raise CorruptionError("no approved spec is in the log")
    return view.projection.spec


def _with_pointers(spec: ProductSpec) -> Iterator[tuple[str, TaskSpec]]:
    """Every task of a spec, with the JSON pointer to it."""
    for p, pillar in enumerate(spec.pillars):
        for e, epic in enumerate(pillar.epics):
            for s, story in enumerate(epic.stories):
                for t, task in enumerate(story.tasks):
                    yield f"/pillars/{p}/epics/{e}/stories/{s}/tasks/{t}", task


def _by_title(spec: ProductSpec, examples: Sequence[ExampleOutcome]) -> dict[tuple[str, str], RunOutcome]:
    """The outcomes of approved examples and properties; the heading of each has its criteria before the title."""
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
    """The reports on tasks; the debates are looked through once for all of them."""

    def __init__(self, view: ProjectView, sources: ReportSources) -> None:
        self._view, self._sources, self._debates = view, sources, DebateIndex(view)
        self._state = task_board(view).state()
        self._ids = {entry.spec_task_id: task_id for task_id, entry in self._state.tasks.items()}

    def report(self, task: TaskSpec, pointer: Reference) -> TaskReport:
        """The report on one task."""
        task_id = self._ids[task.task_id]
        refs = [ref for ref in task_board(self._view).modules_of(task_id) if ref in self._sources.refs]
        parts = expanded(self._state.tasks, [task_id])
        evidence = TaskEvidence(self._view, self._debates, parts, pointer, refs)
        return TaskReport(
            task_id=task.task_id,
            name=task.name,
            status=_status(self._state, task_id),
            criteria=[
                self._criterion(task, task_id, number, evidence, pointer)
                for number in range(1, len(task.acceptance_criteria) + 1)
            ],
            modules=[one.report(self._debates.judged_in(one.ref)) for one in evidence.modules],
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
        folder = self._view.artifacts.folders()[one.ruling]
        body = layout.body(folder, one.ruling, "1.0.0")
        return CriterionRulingReport(
            reason=one.reason,
            answer=one.answer,
            ruling=f"{body}/adjudication.json",
            question=layout.escalation(one.question),
            answered_in=layout.resolution(one.question) if one.answer else None,
        )


def _status(state: ProjectState, task_id: str) -> str:
    entry = state.tasks[task_id]
    return "SPLIT" if entry.superseded_by else entry.status.value


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
    """Why a criterion is not shown; what the spec says of it comes first."""
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
