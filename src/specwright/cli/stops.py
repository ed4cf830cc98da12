"""A stop in words: short, first things first, and what to type next."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

from specwright.application.factory import Reading
from specwright.application.product_stage import current_spec, validation_of
from specwright.application.releasing import Made, last_release
from specwright.application.standing import Standing, Where
from specwright.application.stops.loop_stops import escalation_at, open_escalations
from specwright.cli.columns import brief
from specwright.cli.escalation_page import short_page
from specwright.cli.output import next_command
from specwright.cli.progress_lines import counted
from specwright.cli.release_summary import exported_names, install_command, release_summary
from specwright.domain.dispatch import Reasons
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.project_state import ProjectState, TaskStatus
from specwright.errors import CorruptionError

__all__ = ["by_spec_id", "describe", "document", "escalations", "release_document", "under_way"]

_TASKS_SHOWN = 12
_QUESTIONS_SHOWN = 5
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
    if reached.where is Where.RELEASE_DUE and not _any_shipped(view):
        return [_NOTHING_SHIPPED]
    return [_UNFINISHED[reached.where], f"Then:   {next_command('run', directory)}"]


def under_way(view: Reading) -> list[str]:
    """The tasks that are being worked on."""
    state = view.projection.state
    entries = state.tasks.values() if state else ()
    return [f"{e.spec_task_id} {brief(e.task)}" for e in entries if e.status is TaskStatus.IN_PROGRESS]


def by_spec_id(state: ProjectState, text: str) -> str:
    """A text that names tasks as the spec does, TSK-001, and not as their folders do."""

    def named(found: re.Match[str]) -> str:
        entry = state.tasks.get(found[0])
        return entry.spec_task_id if entry else found[0]

    return re.sub(r"T-[\w-]+", named, text)


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

_NOTHING_SHIPPED = (
    "Every task was abandoned, so there is nothing to release. Revise SPEC.md, and begin in a new directory."
)


def _any_shipped(view: Reading) -> bool:
    state = view.projection.state
    return state is not None and any(e.status is TaskStatus.SHIPPED for e in state.tasks.values())


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
        f"{brief(spec.title)}: {counted(len(tasks), 'task')} in {counted(epics, 'epic')}"
        f" {'waits' if len(tasks) == 1 else 'wait'} for your approval."
    ]
    lines += [f"  {t.task.task_id}  {brief(t.task.name)}" for t in tasks[:_TASKS_SHOWN]]
    if len(tasks) > _TASKS_SHOWN:
        lines.append(f"  ... and {len(tasks) - _TASKS_SHOWN} more")
    warnings = validation_of(view).warnings
    lines += [f"  warning: {str(one).removeprefix('WARNING ')}" for one in warnings[:_WARNINGS_SHOWN]]
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
    waiting = open_escalations(view)
    pages = [short_page(view, escalation_at(view, ref), directory) for ref in waiting[:_QUESTIONS_SHOWN]]
    lines = [f"HALTED  {line}" if number == 0 else line for page in pages for number, line in enumerate(page)]
    if len(waiting) > _QUESTIONS_SHOWN:
        rest = len(waiting) - _QUESTIONS_SHOWN
        lines.append(f"... and {rest:,} more questions: {next_command('escalations', directory)}")
    return lines


def _stalled(view: Reading, directory: Path) -> list[str]:
    state = view.projection.state
    if state is None:
        return []
    reasons = Reasons(state)
    blocked = [task_id for task_id, entry in state.tasks.items() if entry.status is TaskStatus.BLOCKED]
    waiting = [
        f"  {state.tasks[t].spec_task_id} {brief(state.tasks[t].task)}: {by_spec_id(state, reasons.of(t))}"
        for t in blocked[:_TASKS_SHOWN]
    ]
    if len(blocked) > _TASKS_SHOWN:
        rest = len(blocked) - _TASKS_SHOWN
        waiting.append(f"  ... and {rest:,} more: {next_command('tasks', directory)}")
    return ["STALLED: what is left waits for tasks that were abandoned.", *waiting, *_halted(view, directory)]
