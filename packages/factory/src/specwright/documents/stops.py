"""Documents about a project: where it stopped, who drives it, what it released (design: command-line)."""

import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from ship_gate.base.record import Record
from ship_gate.base.text import one_line
from ship_gate.source.files import SourceError, parse_source, read_top_level
from ship_gate.terminal.output import counted, listed
from ship_gate.terminal.page import brief
from specwright.application.criteria import open_questions
from specwright.application.escalation.halted import escalations_waiting, open_escalations
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import person_decisions
from specwright.application.stages.product import (
    approval_estimate,
    change_preview,
    changes_since,
    current_spec,
    shown_hash,
    validation_of,
)
from specwright.application.stages.release import (
    code_of,
    damaged_wheel,
    last_of_each_version,
    last_release,
    release_of,
    tasks_missing,
)
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.application.store import layout
from specwright.bootstrap.costs import budgets_of, price_of, prices_in, total_cost
from specwright.bootstrap.drive import Queue, queue_state
from specwright.bootstrap.run_options import options_for, was_scripted
from specwright.bootstrap.spec_file import spec_changed, spec_copy, spec_fault
from specwright.bootstrap.views import AtWork, LastStop, at_work, driven_by, last_stop, stored_wires
from specwright.documents.commands import next_command, pasteable
from specwright.documents.needs import Need, needs, sealed_since, undo_commands
from specwright.documents.reports import CostSum
from specwright.domain.base.document import Document, Part
from specwright.domain.base.slugs import import_name
from specwright.domain.costs import Cost, below_estimate
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.interfaces.records import Interfaces, OutsideScope, started
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.spec.acceptance_text import number_of_examples
from specwright.domain.spec.completeness import Deficiency, in_words
from specwright.domain.spec.product_spec import Decision, TaskSpec, decisions_of
from specwright.domain.tasks.project_state import ProjectState, TaskStatus
from specwright.domain.tasks.task_board import Outcome, Reasons, TaskBoard, by_spec_id
from specwright.errors import CorruptionError, CorruptionErrors, SpecwrightErrors
from specwright.settings import SCRIPTED, Settings, load_settings

_LINE = 76
"""The most characters of an example or a criterion in the list of tasks."""


class Estimate(Record):
    """What an approval will cost; money is null if a price is unknown."""

    tokens: int
    tokens_range: list[int]
    usd: float | None
    usd_range: list[float] | None


class CallsUsed(Record):
    """What a command asked of models."""

    calls: int
    calls_from_journal: int
    tokens: int
    usd: float | None


class SpecInWords(Record):
    """The spec that waits, in words: its tasks, a short example and the criteria of each, how the product is started, the
    warnings, and what it will cost."""

    tasks: list[str]
    criteria: list[list[str]]
    started: str
    warnings: list[str]
    costs: str
    budget: str


class OpenChange(Record):
    """A change that is not released yet, the command that gives it up, and the release that is the product meanwhile."""

    number: int
    asked_at: str
    request: str
    back: str
    release: str
    install: str


class Release(Part):
    """A release; with a wheel how it is installed and what it exports. `summary` says in words what was released, `undo`
    has the commands that take back what is deprecated of it."""

    release_id: str
    wheel: str | None
    manifest: ReleaseManifest
    folder: str
    summary: dict[str, str]
    install: str | None = None
    import_name: str | None = None
    exports: list[str] | None = None
    undo: list[str] = Field(default_factory=list)

    @classmethod
    def of(
        cls,
        view: ProjectView,
        manifest: ReleaseManifest,
        directory: Path,
        *,
        summed: bool = True,
        **more: Any,
    ) -> Self:
        """A release of a project.

        Args:
            view: The project.
            manifest: The release.
            directory: Of the project.
            summed: Whether it is also said in words.
            more: Other fields.
        """
        folder = _release_folder(view, manifest)
        if manifest.product.wheel:
            package, exports = exported_names(view, manifest)
            more |= {"install": _install(view, manifest), "import_name": package, "exports": exports}
        made = cls(
            release_id=manifest.release_id,
            wheel=_wheel(view, manifest) if manifest.product.wheel else None,
            manifest=manifest,
            folder=str(folder),
            summary={},
            undo=undo_commands(view, [one.module_ref for one in manifest.modules], directory),
            **more,
        )
        if not (summed and manifest.succeeded):
            return made
        return made.model_copy(update={"summary": made._in_words(view, directory)})

    def source_tree(self, directory: Path) -> Path:
        """Where the source of the product lies, in a project that released a wheel."""
        return directory / layout.source_tree(str(self.manifest.product.wheel))

    def _in_words(self, view: ProjectView, directory: Path) -> dict[str, str]:
        """What shipped and where it is, the proof, how to install and use it, who answered."""
        spec, state = view.projection.spec, view.projection.state
        if spec is None or state is None:
            raise CorruptionError("there is a release, but no approved spec in the log", where=str(directory))
        refs = [module.module_ref for module in self.manifest.modules]
        evidence = [view.modules.evidence(ref) for ref in refs]
        tests = sum(one.execution_log.summary.total for one in evidence)
        tasks = sum(entry.status is TaskStatus.SHIPPED for entry in state.tasks.values())
        missing = tasks_missing(view, refs)
        tree = self.source_tree(directory)
        source = "the answers came from the configured models; `specwright modules` lists the evidence"
        models = {one["wire"]["payload"].get("model", "") for one in stored_wires(directory)}
        if playbooks := sorted(model for model in models if model.startswith(SCRIPTED)):
            source = f"SCRIPTED answers ({listed(playbooks)}), not a model's; checks and wheel are real"
        if any("sandbox: none" in check.detail for one in evidence for check in one.gate):
            source += "; UNCONFINED: the code of modules ran without a sandbox"
        newer = ", ".join(sealed_since(view, self.manifest))
        in_words = [one for one in view.projection.changes if one.request.request and one.ended == "released"]
        lines = {
            "Shipped": f"{spec.title} {spec.spec_version}, "
            f"{'' if missing else counted(tasks, 'task') + ', '}{counted(len(refs), 'module')}; it lies in {self.folder}",
            "Missing": f"{missing}: only a part of the product" if missing else "",
            "Proof": f"{counted(tests, 'module test')} passed, {counted(len(refs), 'interface')} as contracted; "
            f"{self.manifest.product.detail}",
            "Source": f"{tree}{'' if tree.is_dir() else ' is gone; `specwright release` writes it again'}",
            "Spec": f"{view.store.directory(layout.PRODUCT) / 'spec.md'}; SPEC.md lacks what "
            f"{counted(len(in_words), 'change')} asked for in words"
            if in_words
            else "",
            "Install": self.install or "",
            "Use": f"from {self.import_name} import {listed(self.exports or [])}",
            "Start": "; ".join(_programs(spec.interfaces)) if spec.interfaces else "",
            "Note": source,
            "Decided": "; ".join(_decided(view, state)),
            "Retired": "a module of it is deprecated, so the next release fails" if self.undo else "",
            "Compare": next_command("diff", directory) if len(last_of_each_version(view)) > 1 else "",
            "Newer": newer and f"{newer} was sealed since; `specwright release` makes a release with it",
        }
        return {label: text for label, text in lines.items() if text}


def _decided(view: ProjectView, state: ProjectState) -> Iterator[str]:
    """What a person decided where a task halted."""
    for task_id, entry in state.tasks.items():
        for one in person_decisions(view, [task_id]):
            yield f"{entry.spec_task_id} {one.sentence}"


class ReleaseDocument(Release, Document, schema="release"):
    """A release that was made."""

    exit_code: int


class Stop(Document, schema="stop"):
    """Where a driving command stopped.

    Args:
        needs: What waits for a person.
        waiting: How many escalations wait.
        blocked: Of a stalled project the tasks that wait for abandoned ones, each with its reason.
        standing: The newest release that succeeded, where the last one failed.
    """

    where: ProjectStatus
    exit_code: int
    scripted: bool
    tasks: dict[str, int] = Field(default_factory=dict)
    escalations: list[EscalationArtifact] = Field(default_factory=list)
    needs: list[Need]
    waiting: int = 0
    blocked: list[str] = Field(default_factory=list)
    open_change: OpenChange | None
    advice: str | None = None
    usage: CallsUsed | None = None
    spec: str | None = None
    warnings: list[Deficiency] | None = None
    sha256: str | None = None
    spec_edited: bool | None = None
    outside: list[OutsideScope] | None = None
    decisions: list[Decision] | None = None
    changes: list[str] | None = None
    change: dict[str, Any] | None = None
    estimate: Estimate | None = None
    in_words: SpecInWords | None = None
    release: Release | None = None
    standing: Release | None = None

    @classmethod
    def of(
        cls,
        view: ProjectView,
        status: ProjectStatus,
        directory: Path,
        *,
        settings: Settings | None = None,
        spent: Cost | None = None,
        most: int | None = None,
        ended: LastStop | None = None,
        driven: bool = False,
        **more: Any,
    ) -> Self:
        """Where a project stopped.

        Args:
            view: The project.
            status: Of it.
            directory: Of it.
            settings: What its models cost, and its budgets; None where no estimate is shown.
            spent: Of the budgets.
            most: The most escalations that are read for a page; a program is given all of them.
            ended: What stopped the last run.
            driven: Whether a run is at work.
            more: Other fields.
        """
        state = view.projection.state
        if status is ProjectStatus.APPROVAL:
            more |= _approval(view, directory, settings, spent)
        if manifest := last_release(view):
            summed = status is ProjectStatus.RELEASED
            more["release"] = Release.of(view, manifest, directory, summed=summed)
        if status is ProjectStatus.RELEASE_FAILED:
            made = (release_of(view, at) for at in reversed(range(len(view.projection.releases))))
            if standing := next((one for one in made if one.succeeded), None):
                more["standing"] = Release.of(view, standing, directory, summed=False)
        more.setdefault("exit_code", status.exit_code)
        return cls(
            **more,
            where=status,
            scripted=was_scripted(directory) or bool(settings and settings.scripted),
            tasks=dict(Counter(entry.status.value for entry in state.tasks.values())) if state else {},
            escalations=escalations_waiting(view) if most is None else [],
            needs=needs(view, status, directory, stop=ended, driven=driven, most=most),
            waiting=len(open_escalations(view)) + len(open_questions(view)),
            blocked=_blocked(state) if state and status is ProjectStatus.STALLED else [],
            open_change=_open_change(view, directory),
        )


class Queued(Document, schema="queued"):
    """What was left to workers."""

    where: Literal["queued"] = "queued"
    exit_code: int = 0
    queue: Queue | None


class Status(Stop, schema="status"):
    """Where a project is, what stopped it, and who drives it.

    Args:
        stop: What stopped the last run before its next stop.
        driven_by: The process that drives the project.
        at_work: What it is doing.
        queue: Of a project that workers drive.
        under_way: The tasks that were begun.
        asked: What was asked of models; null if the journal is damaged.
        split: How many tasks were split into others.
        next: The task that comes next.
        missing: What is missing before the first run: `spec`, `model`.
    """

    stop: LastStop | None = Field(...)
    driven_by: str | None = Field(...)
    at_work: AtWork | None = Field(...)
    queue: Queue | None = Field(...)
    under_way: list[str] = Field(default_factory=list)
    asked: CostSum | None = Field(...)
    split: int = 0
    next: str = ""
    missing: list[Literal["spec", "model"]] | None = None

    @classmethod
    def not_begun(cls, directory: Path) -> Self:
        """The status before the first run."""
        settings, fault = load_settings(directory, looking=True), spec_fault(directory)
        words: dict[Literal["spec", "model"], str] = {"spec": fault} if fault else {}
        if not (settings.model or settings.role_models):
            words["model"] = "no model is set"
        need = Need(
            kind="start",
            about="the run",
            question=f"No run has begun here: {', '.join(words.values()) or 'everything is there'}.",
            urgent=False,
            steps=[next_command("run", directory, "" if settings.model else "--model PROVIDER:MODEL")],
            read=str(directory / "SPEC.md") if fault else "",
        )
        return cls(
            where=ProjectStatus.NEW,
            exit_code=0,
            scripted=False,
            needs=[need],
            missing=[*words],
            **dict.fromkeys(("open_change", "stop", "driven_by", "at_work", "queue", "asked")),
        )

    @classmethod
    def now(cls, view: ProjectView, directory: Path, *, most: int | None = None) -> Self:
        """The status of a project in which a run has begun; for a page with the first escalations alone."""
        status, driver, state = project_status(view), driven_by(directory), view.projection.state
        asked, ended = _asked(directory), last_stop(directory) if status.is_between_stops else None
        tasks = [*state.tasks.values()] if state else []
        return cls.of(
            view,
            status,
            directory,
            settings=_settings_now(directory),
            spent=asked,
            most=most,
            ended=ended,
            driven=bool(driver),
            stop=ended,
            **({"exit_code": ended.exit_code} if ended else {}),
            driven_by=driver or None,
            at_work=at_work(directory),
            queue=queue_state(directory),
            under_way=[
                f"{e.spec_task_id} {brief(e.task)}" for e in tasks if e.status is TaskStatus.IN_PROGRESS
            ],
            asked=asked and CostSum.of(asked),
            split=sum(bool(entry.superseded_by) for entry in tasks),
            next=_next(state),
        )


def _asked(directory: Path) -> Cost | None:
    """What was asked of models; None if a damaged journal does not tell, since the log holds the rest of the status."""
    try:
        return total_cost(directory, prices_in(directory))
    except CorruptionErrors:
        return None


def _settings_now(directory: Path) -> Settings | None:
    """The settings of the next command; None if they cannot be read."""
    with suppress(*SpecwrightErrors):
        return load_settings(directory, options_for(directory).options, looking=True)
    return None


def _next(state: ProjectState | None) -> str:
    """The task that comes next; empty if one is in progress, or none can run."""
    if state is None:
        return ""
    board = TaskBoard(state)
    task = board.next_task()
    if board.outcome() is not Outcome.RUNNABLE or not task or board.in_progress():
        return ""
    return f"{state.tasks[task].spec_task_id}  {brief(state.tasks[task].task)}"


def _blocked(state: ProjectState) -> list[str]:
    reasons = Reasons(state, driven=False)
    return [
        f"{entry.spec_task_id} {brief(entry.task)}: {by_spec_id(state, reasons.of(task_id))}"
        for task_id, entry in state.tasks.items()
        if entry.status is TaskStatus.BLOCKED
    ]


def _open_change(view: ProjectView, directory: Path) -> OpenChange | None:
    """The change that is not released yet, the way back from it, and what is released meanwhile (design: change)."""
    change = view.projection.open_change
    if change is None:
        return None
    asked = change.request
    what = asked.report.heading if asked.report else asked.request or "SPEC.md as it was edited"
    released = change.before.releases if change.before else len(view.projection.releases)
    manifest = release_of(view, released - 1)
    product = f"{manifest.release_id} is the product, version {manifest.spec_version}"
    return OpenChange(
        number=asked.number,
        asked_at=asked.asked_at,
        request=one_line(what),
        back=next_command("change", directory, "--abandon"),
        release=product if manifest.succeeded else "",
        install=_install(view, manifest) if manifest.succeeded else "",
    )


def _approval(
    view: ProjectView, directory: Path, settings: Settings | None, spent: Cost | None
) -> dict[str, Any]:
    """What a person is shown of the spec that waits."""
    spec, warnings = current_spec(view), validation_of(view).warnings
    estimate = approval_estimate(view, price_of(settings)) if settings else None
    data, files = spec.to_json(), layout.spec_files(view.projection.change_number)
    short = (
        below_estimate(budgets_of(settings).project, spent or Cost(), estimate)
        if settings and estimate
        else ""
    )
    prices = "; `[prices]` in specwright.toml gives money" if estimate and estimate.usd is None else ""
    words = SpecInWords(
        tasks=[_task_in_words(task) for task in spec.tasks()],
        criteria=[_criteria_in_words(task) for task in spec.tasks()],
        started=started(spec.interfaces),
        warnings=[in_words(data, warning) for warning in warnings],
        costs=f"{estimate.in_words()}, as recorded runs took{prices}" if estimate else "",
        budget=f"{pasteable(short, directory)}." if short else "",
    )
    return {
        "spec": str(view.store.directory(files.folder) / "spec.md"),
        "warnings": warnings,
        "sha256": shown_hash(view),
        "spec_edited": spec_changed(directory, spec_copy(directory)),
        "outside": spec.outside,
        "decisions": decisions_of(spec),
        "changes": changes_since(view),
        "change": change_preview(view),
        "estimate": estimate and Estimate.model_validate(estimate.to_json()),
        "in_words": words,
    }


def _task_in_words(task: TaskSpec) -> str:
    numbers = f": {len(task.acceptance_criteria)} criteria, {number_of_examples(task)}"
    return f"{task.task_id}  {brief(task.name, _LINE - len(numbers) - 20)}{numbers}"


def _criteria_in_words(task: TaskSpec) -> list[str]:
    """The first short example of a task, and its criteria, a line each, and which of them only models judge."""
    held = task.acceptance.examples if task.acceptance else ()
    examples = [one for item in held if len(one := f"e.g. {item.body} gives {item.gives}") <= _LINE]
    shown = task.acceptance.shown if task.acceptance else ()
    numbered = enumerate(task.acceptance_criteria, 1)
    criteria = (f"{n}. {'' if n in shown else '(no example shows it) '}{one}" for n, one in numbered)
    return [brief(text, _LINE) for text in (*examples[:1], *criteria)]


def _programs(interfaces: Interfaces) -> Iterator[str]:
    """What is installed to be started, and how to learn more."""
    if command := interfaces.command:
        names = ",".join(one.name for one in command.subcommands)
        yield f"{command.name}{f' {{{names}}}' if names else ''}, {command.name} --help"
    if interfaces.http:
        yield f"{interfaces.http.name} (with the extra http)"
    if interfaces.mcp:
        yield f"{interfaces.mcp.name} (with the extra mcp)"


def _release_folder(view: ProjectView, manifest: ReleaseManifest) -> Path:
    return view.store.directory(layout.release(manifest.release_id))


def _wheel(view: ProjectView, manifest: ReleaseManifest) -> str:
    return str((_release_folder(view, manifest) / str(manifest.product.wheel)).resolve())


def _install(view: ProjectView, manifest: ReleaseManifest) -> str:
    """A command that can be pasted anywhere."""
    return f"pip install {shlex.quote(_wheel(view, manifest))}"


def exported_names(view: ProjectView, manifest: ReleaseManifest) -> tuple[str, list[str]]:
    """The package and what it exports, as the wheel itself says.

    Raises:
        CorruptionError: the wheel is not the one that was released.
    """
    package = import_name(str(manifest.product.wheel).split("-")[0])
    try:
        tree = parse_source(code_of(view, manifest)[f"{package}/__init__.py"], package)
        return package, list(read_top_level(tree, package).exports)
    except (KeyError, ValueError, SourceError) as error:
        path = layout.release_file(manifest.release_id, str(manifest.product.wheel))
        raise damaged_wheel(path) from error
