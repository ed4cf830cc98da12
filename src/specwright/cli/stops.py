"""A stop in words: short, first things first, and what to type next."""

from collections import Counter
from pathlib import Path
from typing import Any

from specwright.application.factory import Reading
from specwright.application.product_stage import current_spec, validation_of
from specwright.application.releasing import Made, last_release
from specwright.application.shipping import evidence_of
from specwright.application.standing import Standing, Where
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.release import import_name

__all__ = ["describe", "document", "escalations"]


def describe(view: Reading, reached: Standing, directory: Path, *, scripted: bool) -> list[str]:
    """The stop for a person."""
    if reached.where is Where.APPROVAL:
        return _approval(view, directory)
    if reached.where in (Where.RELEASED, Where.RELEASE_FAILED):
        made = last_release(view)
        assert made is not None
        return (
            _released(view, made, directory, scripted=scripted)
            if made.succeeded
            else _failed(made, directory)
        )
    if reached.where is Where.HALTED:
        return _halted(view, directory)
    return [f"The project is {reached.where}. `specwright status {directory}` tells more."]


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
        told["spec"] = "state_store/product/spec.md"
        told["warnings"] = [w.to_json() for w in validation_of(view).warnings]
    if made := last_release(view):
        told["release"] = {
            "release_id": made.release_id,
            "wheel": str(directory / "state_store" / made.wheel) if made.wheel else None,
            "manifest": made.manifest.to_json(),
        }
    return told


def escalations(view: Reading) -> list[EscalationArtifact]:
    """The escalations that wait for a person."""
    state = view.projection.state
    refs = [entry.escalation_ref for entry in state.tasks.values() if entry.escalation_ref] if state else []
    paths = [f"escalations/{ref}.json" for ref in refs]
    return [EscalationArtifact.from_bytes(view.store.read(path), path) for path in paths]


def _approval(view: Reading, directory: Path) -> list[str]:
    spec = current_spec(view)
    tasks = list(spec.tasks())
    epics = sum(len(pillar.epics) for pillar in spec.pillars)
    lines = [f"{spec.title}: {len(tasks)} tasks in {epics} epics wait for your approval."]
    lines += [f"  {t.task.task_id}  {t.task.name}" for t in tasks[:12]]
    if len(tasks) > 12:
        lines.append(f"  ... and {len(tasks) - 12} more")
    lines += [f"  warning: {warning}" for warning in validation_of(view).warnings[:5]]
    lines += [
        f"Read:   {directory / 'state_store/product/spec.md'}",
        f"Then:   specwright approve {directory}",
        f'   or   specwright amend {directory} --feedback "..."',
        f'   or   specwright reject {directory} --reasons "..."',
    ]
    return lines


def _released(view: Reading, made: Made, directory: Path, *, scripted: bool) -> list[str]:
    spec = view.projection.spec
    assert spec is not None
    modules = [m.module_ref for m in made.manifest.modules]
    evidence = [evidence_of(view, ref) for ref in modules]
    tests = sum(e.execution_log.summary.total for e in evidence)
    tasks = len(view.projection.definitions)
    wheel = (directory / "state_store" / made.wheel).resolve()
    name = import_name(wheel.name.split("-")[0])
    by = (
        "the answers were SCRIPTED (a playbook or a recording), not made by a model; checks and wheel are real"
        if scripted
        else "the answers came from the configured models"
    )
    return [
        f"Shipped:  {spec.title} {spec.spec_version}: {tasks} tasks, {len(modules)} modules",
        f"Proof:    {tests} tests and {len(modules)} interfaces verified; {made.manifest.product.detail}",
        f"Use:      pip install {wheel.name}  then  import {name}",
        f"Wheel:    {wheel}",
        f"Note:     {by}",
    ]


def _failed(made: Made, directory: Path) -> list[str]:
    report = directory / "state_store" / "releases" / made.release_id / "failure_report.md"
    return [
        f"The release failed: {made.manifest.notes}",
        f"Read:   {report}",
        f"Then:   specwright release {directory}",
    ]


def _halted(view: Reading, directory: Path) -> list[str]:
    lines: list[str] = []
    for escalation in escalations(view):
        lines += [
            f"HALTED  {escalation.task_id}: {escalation.minimal_decision_required}",
            f"  {escalation.resolution_context}",
            f"  recommended: {escalation.recommended_resolution}",
            f"  Read:   {directory / 'state_store/escalations' / (escalation.escalation_id + '.json')}",
        ]
    return lines
