"""A stop in words: short, first things first, and what to type next."""

from collections import Counter
from pathlib import Path
from typing import Any

from specwright.application.factory import Reading
from specwright.application.loop_stops import escalation_at, open_escalations
from specwright.application.product_stage import current_spec, validation_of
from specwright.application.releasing import Made, last_release
from specwright.application.standing import Standing, Where
from specwright.cli.escalation_page import short_page
from specwright.cli.output import next_command
from specwright.cli.progress_lines import counted
from specwright.cli.release_summary import exported_names, install_command, release_summary
from specwright.domain.dispatch import why_not
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.project_state import TaskStatus
from specwright.errors import CorruptionError

__all__ = ["describe", "document", "escalations", "release_document", "under_way"]

_TASKS_SHOWN = 12
_WARNINGS_SHOWN = 5


def describe(view: Reading, reached: Standing, directory: Path, *, scripted: bool) -> list[str]:
    """The stop for a person."""
    if reached.where is Where.APPROVAL:
        return _approval(view, directory)
    if reached.where is Where.RELEASED:
        return release_summary(view, _made(view, directory), directory, scripted=scripted)
    if reached.where is Where.RELEASE_FAILED:
        return _failed(_made(view, directory), directory)
    if reached.where is Where.HALTED:
        return _halted(view, directory)
    if reached.where is Where.STALLED:
        return _stalled(view, directory)
    return [_UNFINISHED[reached.where], f"Then:   {next_command('run', directory)}"]


def under_way(view: Reading) -> list[str]:
    """The tasks that are being worked on."""
    state = view.projection.state
    entries = state.tasks.values() if state else ()
    return [f"{e.spec_task_id} {e.task}" for e in entries if e.status is TaskStatus.IN_PROGRESS]


def document(
    view: Reading, reached: Standing, directory: Path, *, scripted: bool, drift: list[str]
) -> dict[str, Any]:
    """The stop for a program."""
    state = view.projection.state
    told: dict[str, Any] = {
        "where": reached.where.value,
        "exit_code": reached.exit_code,
        "scripted": scripted,
        "tasks": dict(Counter(entry.status.value for entry in state.tasks.values())) if state else {},
        "escalations": [e.to_json() for e in escalations(view)],
        "replay_drift": drift,
    }
    if reached.where is Where.APPROVAL:
        told["spec"] = str(directory / "state_store/product/spec.md")
        told["warnings"] = [w.to_json() for w in validation_of(view).warnings]
    if made := last_release(view):
        told["release"] = release_document(view, made, directory)
    return told


def release_document(view: Reading, made: Made, directory: Path) -> dict[str, Any]:
    """A release for a program."""
    told: dict[str, Any] = {
        "release_id": made.release_id,
        "wheel": str((directory / "state_store" / made.wheel).resolve()) if made.wheel else None,
        "manifest": made.manifest.to_json(),
    }
    if made.wheel:
        package, names = exported_names(view, made)
        told |= {"install": install_command(made, directory), "import_name": package, "exports": names}
    return told


def escalations(view: Reading) -> list[EscalationArtifact]:
    """The escalations that wait for a person."""
    if view.projection.board is None:
        return []
    return [escalation_at(view, ref) for ref in open_escalations(view)]


_UNFINISHED = {
    Where.NEW: "The run has begun; no spec is written yet.",
    Where.RESEARCH: "The run has begun; no spec is written yet.",
    Where.RUNNING: "The run stopped between two answers; nothing is lost.",
    Where.RELEASE_DUE: "Every task is done; the release is still to be made.",
}


def _made(view: Reading, directory: Path) -> Made:
    made = last_release(view)
    if made is None:
        raise CorruptionError("the log knows no release", where=str(directory))
    return made


def _approval(view: Reading, directory: Path) -> list[str]:
    spec = current_spec(view)
    tasks = list(spec.tasks())
    epics = sum(len(pillar.epics) for pillar in spec.pillars)
    lines = [
        f"{spec.title}: {counted(len(tasks), 'task')} in {counted(epics, 'epic')} wait for your approval."
    ]
    lines += [f"  {t.task.task_id}  {t.task.name}" for t in tasks[:_TASKS_SHOWN]]
    if len(tasks) > _TASKS_SHOWN:
        lines.append(f"  ... and {len(tasks) - _TASKS_SHOWN} more")
    warnings = validation_of(view).warnings
    lines += [f"  warning: {warning}" for warning in warnings[:_WARNINGS_SHOWN]]
    if len(warnings) > _WARNINGS_SHOWN:
        lines.append(f"  ... and {len(warnings) - _WARNINGS_SHOWN} more warnings in spec.md")
    return [
        *lines,
        f"Read:   {directory / 'state_store/product/spec.md'}",
        "Then:   " + next_command("approve", directory),
        "   or   " + next_command("amend", directory, '--feedback "what to change"'),
        "   or   " + next_command("reject", directory, '--reasons "why"'),
    ]


def _failed(made: Made, directory: Path) -> list[str]:
    report = directory / "state_store" / "releases" / made.release_id / "failure_report.md"
    return [
        f"The release failed: {made.manifest.notes}",
        f"Read:   {report}",
        f"Then:   {next_command('release', directory)}",
    ]


def _halted(view: Reading, directory: Path) -> list[str]:
    pages = [short_page(view, escalation, directory) for escalation in escalations(view)]
    return [f"HALTED  {line}" if number == 0 else line for page in pages for number, line in enumerate(page)]


def _stalled(view: Reading, directory: Path) -> list[str]:
    state = view.projection.state
    if state is None:
        return []
    waiting = [
        f"  {entry.spec_task_id} {entry.task}: {why_not(state, task_id)}"
        for task_id, entry in state.tasks.items()
        if entry.status is TaskStatus.BLOCKED
    ]
    return ["STALLED: what is left waits for tasks that were abandoned.", *waiting, *_halted(view, directory)]
