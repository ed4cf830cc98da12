"""Where a run stopped: what matters first, and what to type next."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.base.text import one_line
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import Page, brief
from specwright.application.change import ChangePreview
from specwright.application.criteria import open_questions
from specwright.application.escalation.halt import open_escalations
from specwright.application.escalation.summary import escalations_waiting
from specwright.application.factory import ProjectView
from specwright.application.stages.product import (
    approval_estimate,
    change_preview,
    changes_since,
    current_spec,
    draft_history,
    shown_hash,
    validation_of,
)
from specwright.application.stages.release import last_release, release_of
from specwright.application.stages.status import ProjectStatus
from specwright.application.store.layout import spec_files
from specwright.bootstrap.spec_file import spec_changed, spec_copy
from specwright.bootstrap.views.last_stop import LastStop
from specwright.cli.pages.answers import OTHER_SPEC
from specwright.cli.pages.escalation import add_short_page
from specwright.cli.pages.release import (
    exported_names,
    failure_page,
    install_command,
    release_page,
    wheel_file,
)
from specwright.cli.terminal.output import next_command, pasteable
from specwright.domain.costs import Budget, Cost, Price, below_estimate
from specwright.domain.interfaces.guide import started
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.spec.completeness import in_words
from specwright.domain.spec.departures import (
    built_otherwise,
    decisions_count,
    decisions_of,
    missing,
    missing_count,
    narrowings,
    narrowings_count,
    otherwise_count,
)
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_board import Reasons, by_spec_id
from specwright.errors import CorruptionError

_TASKS_SHOWN = 12
_QUESTIONS_SHOWN = 5
_WARNINGS_SHOWN = 5
_CHANGES_SHOWN = 12
_OUTSIDE_SHOWN = 5
_DECISIONS_SHOWN = 20
_SAID_OF_CHANGE = ("changed: the spec: interfaces", "changed: the spec: not built")
"""What of a change's differences belongs to no task."""


class BudgetAtGate(NamedTuple):
    """The budget of a project, and what was spent of it."""

    limit: Budget = Budget()
    spent: Cost = Cost()


NO_BUDGET = BudgetAtGate()


def stop_page(
    view: ProjectView,
    stop: ProjectStatus,
    directory: Path,
    *,
    scripted: bool,
    price: Price | None = None,
    cause: LastStop | None = None,
    budget: BudgetAtGate = NO_BUDGET,
) -> Page:
    """The stop for a person.

    Args:
        cause: What stopped the last run, if it is not known from the log.
        price: What the roles' tokens cost, for what the approval will cost.
        budget: Of the project, with what was spent of it.
    """
    page = Page()
    if stop is ProjectStatus.APPROVAL:
        _add_approval(page, view, directory, price, budget)
    elif stop is ProjectStatus.RELEASED:
        page = release_page(view, _last_release(view, directory), directory, scripted=scripted)
    elif stop is ProjectStatus.RELEASE_FAILED:
        page = failure_page(view, _last_release(view, directory))
        _add_command(page, "Then:", next_command("change", directory, OTHER_SPEC))
        _add_command(page, "   or", next_command("release", directory))
        page.prose(
            "`release` gives the same again unless what the report names was mended outside of the product."
        )
    elif stop is ProjectStatus.HALTED:
        _add_questions(page, view, directory)
    elif stop is ProjectStatus.STALLED:
        _add_stalled(page, view, directory)
    elif stop is ProjectStatus.RELEASE_DUE and not _any_shipped(view):
        page.prose(_NOTHING_SHIPPED)
    else:
        _add_unfinished(page, view, stop, cause, directory)
    if stop is not ProjectStatus.RELEASED:
        _add_open_change(page, view, directory)
    for ref in open_questions(view)[:_QUESTIONS_SHOWN]:
        add_short_page(page, view, view.escalations.escalation(ref), directory, "QUESTION  ")
    return page


def _add_unfinished(
    page: Page, view: ProjectView, stop: ProjectStatus, cause: LastStop | None, directory: Path
) -> None:
    """What a run has still to do, what stopped the last one, and the commands that go on."""
    history = draft_history(view)
    sent_back = view.projection.awaits_approval and history.is_sent_back
    if cause is None or stop is not ProjectStatus.RUNNING or sent_back:
        page.prose(_SENT_BACK if sent_back else _UNFINISHED[stop])
    if cause is not None:
        _add_cause(page, cause, directory)
    other, script_ended = "--model PROVIDER:MODEL", cause is not None and cause.kind == "script"
    options = other if script_ended else cause.options if cause else ""
    _add_command(page, "Then:", next_command("run", directory, options))
    if cause is not None and cause.kind == "gave_up":
        _add_command(page, "   or", next_command("run", directory, other))
    if sent_back and history.drafted >= 0:
        _add_command(page, "   or", next_command("amend", directory, "--withdraw"))


def _add_cause(page: Page, cause: LastStop, directory: Path) -> None:
    """What stopped the run, where, and what to do."""
    page.prose(f"The last run stopped: {one_line(cause.reason)}")
    if cause.where:
        page.prose(f"where: {cause.where}", 2, 4)
    if cause.remedy and not cause.options:
        page.prose(f"do: {pasteable(cause.remedy, directory)}", 2, 4)


def _add_open_change(page: Page, view: ProjectView, directory: Path) -> None:
    """The change that is not released yet, the way back from it, and what is released meanwhile (design: change)."""
    change = view.projection.open_change
    if change is None:
        return
    asked = change.request
    what = asked.report.heading if asked.report else asked.request or "SPEC.md as it was edited"
    page.prose(f"Change {asked.number} is under way since {asked.asked_at}: {one_line(what)}")
    _add_command(page, "Back:", next_command("change", directory, "--abandon"))
    released = change.before.releases if change.before else len(view.projection.releases)
    manifest = release_of(view, released - 1)
    if not manifest.succeeded:
        return
    page.prose(
        f"Until it is released, {manifest.release_id} is the product, version {manifest.spec_version}."
    )
    page.line(install_command(view, manifest), "Install:", labels=9)


def tasks_in_progress(view: ProjectView) -> list[str]:
    """The tasks that were begun and not ended."""
    state = view.projection.state
    entries = state.tasks.values() if state else ()
    return [f"{e.spec_task_id} {brief(e.task)}" for e in entries if e.status is TaskStatus.IN_PROGRESS]


def stop_document(
    view: ProjectView,
    stop: ProjectStatus,
    directory: Path,
    *,
    scripted: bool,
    price: Price | None = None,
) -> dict[str, Any]:
    """The stop for a program."""
    state = view.projection.state
    document: dict[str, Any] = {
        "where": stop.value,
        "exit_code": stop.exit_code,
        "scripted": scripted,
        "tasks": dict(Counter(entry.status.value for entry in state.tasks.values())) if state else {},
        "escalations": [e.to_json() for e in escalations_waiting(view)],
    }
    if stop is ProjectStatus.APPROVAL:
        document["spec"] = str(_spec_page(view))
        document["warnings"] = [w.to_json() for w in validation_of(view).warnings]
        document["sha256"] = shown_hash(view)
        document["outside"] = [one.to_json() for one in current_spec(view).outside]
        document["decisions"] = [one.to_json() for one in decisions_of(current_spec(view))]
        document["spec_edited"] = _is_edited(directory)
        document["changes"] = changes_since(view)
        document["change"] = (preview := change_preview(view)) and preview.to_json()
        estimate = approval_estimate(view, price)
        document["estimate"] = estimate and estimate.to_json()
    if manifest := last_release(view):
        document["release"] = release_document(view, manifest, directory)
    return document


def release_document(view: ProjectView, manifest: ReleaseManifest, directory: Path) -> dict[str, Any]:
    """A release for a program."""
    document: dict[str, Any] = {
        "release_id": manifest.release_id,
        "wheel": wheel_file(view, manifest) if manifest.product.wheel else None,
        "manifest": manifest.to_json(),
    }
    if manifest.product.wheel:
        package, names = exported_names(view, manifest)
        document |= {
            "install": install_command(view, manifest),
            "import_name": package,
            "exports": names,
        }
    return document


_UNFINISHED = {
    ProjectStatus.NEW: "The run has begun; no spec is written yet.",
    ProjectStatus.RUNNING: "The run stopped between two answers; nothing is lost.",
    ProjectStatus.RELEASE_DUE: "No task is left to do; the release is still to be made.",
}

_SENT_BACK = "The spec was sent back and is not written again yet; what was answered is not asked again."

_NOTHING_SHIPPED = (
    "Every task was abandoned, so there is nothing to release. Revise SPEC.md, and begin in a new directory."
)


def _any_shipped(view: ProjectView) -> bool:
    state = view.projection.state
    return state is not None and any(e.status is TaskStatus.SHIPPED for e in state.tasks.values())


def _last_release(view: ProjectView, directory: Path) -> ReleaseManifest:
    manifest = last_release(view)
    if manifest is None:
        raise CorruptionError("the log has no release", where=str(directory))
    return manifest


def _add_command(page: Page, label: str, text: str) -> None:
    page.line(text, label, labels=8)


def _spec_page(view: ProjectView) -> Path:
    """The page of the spec that waits."""
    folder, _, name = spec_files(view.projection.change_number).text.rpartition("/")
    return view.store.directory(folder) / name


def _is_edited(directory: Path) -> bool:
    """Whether SPEC.md differs from the one that the spec was made from."""
    return spec_changed(directory, spec_copy(directory))


def _add_approval(
    page: Page, view: ProjectView, directory: Path, price: Price | None, budget: BudgetAtGate
) -> None:
    spec = current_spec(view)
    tasks = list(spec.tasks())
    epics = sum(len(pillar.epics) for pillar in spec.pillars)
    wait = "waits" if len(tasks) == 1 else "wait"
    _add_outside(page, spec)
    _add_decisions(page, spec)
    page.prose(
        f"{brief(spec.title)}: {counted(len(tasks), 'task')} in {counted(epics, 'epic')} {wait} for your approval."
    )
    if preview := change_preview(view):
        _add_change(page, preview)
    else:
        _add_list(page, [f"{task.task_id}  {brief(task.name)}" for task in tasks])
    _add_interfaces(page, spec)
    warnings, data = validation_of(view).warnings, spec.to_json()
    for warning in warnings[:_WARNINGS_SHOWN]:
        page.prose(f"warning: {in_words(data, warning)}", 2, 2)
    if len(warnings) > _WARNINGS_SHOWN:
        page.line(f"  ... and {len(warnings) - _WARNINGS_SHOWN} more warnings in spec.md")
    changes = [one for one in changes_since(view) if not preview or one.startswith(_SAID_OF_CHANGE)]
    for change in changes[:_CHANGES_SHOWN]:
        page.prose(f"since the last version {change}", 2, 2)
    if len(changes) > _CHANGES_SHOWN:
        page.line(f"  ... and {len(changes) - _CHANGES_SHOWN} more changes in spec.md")
    if estimate := approval_estimate(view, price):
        page.line(f"{estimate.in_words()}, as recorded runs took", "Costs:", labels=8)
        if short := below_estimate(budget.limit, budget.spent, estimate):
            page.prose(f"Budget: {pasteable(short, directory)}.", 0, 8)
    _add_command(page, "Read:", str(_spec_page(view)))
    if _is_edited(directory):
        page.prose("SPEC.md was edited since this spec was made from it.")
        _add_command(page, "Then:", next_command("amend", directory))
        _add_command(page, "   or", next_command("approve", directory, "--old-spec"))
    else:
        _add_command(page, "Then:", next_command("approve", directory))
        _add_command(page, "   or", next_command("amend", directory, '--feedback "what to change"'))
        if decisions_of(spec):
            _add_command(page, "   or", next_command("amend", directory, '--decision 1 "what holds instead"'))
    _add_command(page, "   or", next_command("reject", directory, '--reasons "why"'))


def _add_outside(page: Page, spec: ProductSpec) -> None:
    """What of SPEC.md is not built, before anything else (design: outside)."""
    parts = (
        ("NOT BUILT", missing_count, missing(spec.outside)),
        ("BUILT OTHERWISE", otherwise_count, built_otherwise(spec.outside)),
    )
    for label, count, scopes in parts:
        if scopes:
            page.prose(f"{label}: {count(scopes)}")
        for one in scopes[:_OUTSIDE_SHOWN]:
            built = f" Built: {one.instead}" if one.instead else ""
            page.prose(f'"{one_line(one.quote)}": {one.why}{built}', 2, 4)
        if len(scopes) > _OUTSIDE_SHOWN:
            page.line(f"  ... and {len(scopes) - _OUTSIDE_SHOWN} more in spec.md")


def _add_decisions(page: Page, spec: ProductSpec) -> None:
    """What was decided of open cases: what a person may want otherwise (design: decisions)."""
    decisions = decisions_of(spec)
    if narrowed := narrowings(decisions):
        page.prose(f"BUILT IN PART: {narrowings_count(narrowed)}")
    for one in narrowed[:_OUTSIDE_SHOWN]:
        page.prose(f"{one.left_out} ({one.place})", 2, 4)
    if len(narrowed) > _OUTSIDE_SHOWN:
        page.line(f"  ... and {len(narrowed) - _OUTSIDE_SHOWN} more in spec.md")
    if decisions:
        page.prose(f"DECIDED: {decisions_count(decisions)}")
    for one in decisions[:_DECISIONS_SHOWN]:
        page.prose(f"{one.number}  {one.text} ({one.place})", 2, 5)
    if len(decisions) > _DECISIONS_SHOWN:
        page.line(f"  ... and {len(decisions) - _DECISIONS_SHOWN} more in spec.md")


def _add_interfaces(page: Page, spec: ProductSpec) -> None:
    page.prose(f"To start: {started(spec.interfaces)}", 2, 4)


def _add_change(page: Page, preview: ChangePreview) -> None:
    """What a change does: its tasks, and the modules that may get a new version with who uses them."""
    asked = f": {preview.request}" if preview.request else ""
    page.prose(f"Change {preview.number}, from {preview.version_before} to {preview.version}{asked}", 2, 2)
    difference = preview.difference
    for label, names in (("added", difference.added), ("removed", difference.removed)):
        _add_list(page, [f"{label}: {name}" for name in names])
    for name, what in list(difference.changed.items())[:_TASKS_SHOWN]:
        page.prose(f"changed: {name}: {'; '.join(what)}", 2, 4)
    if len(difference.changed) > _TASKS_SHOWN:
        page.line(f"  ... and {len(difference.changed) - _TASKS_SHOWN} more changed")
    page.line(f"  untouched: {counted(len(difference.untouched), 'task')}")
    _add_list(
        page,
        [
            f"may get a new version: {m.name} {m.module_ref}, used by {', '.join(m.used_by) or 'no other module'}"
            for m in preview.modules
        ],
    )


def _add_list(page: Page, lines: list[str]) -> None:
    """Some of the lines, and how many more there are."""
    for line in lines[:_TASKS_SHOWN]:
        page.line(f"  {line}")
    if len(lines) > _TASKS_SHOWN:
        page.line(f"  ... and {len(lines) - _TASKS_SHOWN} more")


def _add_questions(page: Page, view: ProjectView, directory: Path) -> None:
    waiting = open_escalations(view)
    for ref in waiting[:_QUESTIONS_SHOWN]:
        add_short_page(page, view, view.escalations.escalation(ref), directory, "HALTED  ")
    if len(waiting) > _QUESTIONS_SHOWN:
        rest = len(waiting) - _QUESTIONS_SHOWN
        page.line(f"... and {rest:,} more questions: {next_command('escalations', directory)}")


def _add_stalled(page: Page, view: ProjectView, directory: Path) -> None:
    state = view.projection.state
    if state is None:
        return
    page.line("STALLED: what is left waits for tasks that were abandoned.")
    reasons = Reasons(state, driven=False)
    blocked = [task_id for task_id, entry in state.tasks.items() if entry.status is TaskStatus.BLOCKED]
    for task_id in blocked[:_TASKS_SHOWN]:
        entry = state.tasks[task_id]
        page.line(f"  {entry.spec_task_id} {brief(entry.task)}: {by_spec_id(state, reasons.of(task_id))}")
    if len(blocked) > _TASKS_SHOWN:
        page.line(f"  ... and {len(blocked) - _TASKS_SHOWN:,} more: {next_command('tasks', directory)}")
    _add_questions(page, view, directory)
