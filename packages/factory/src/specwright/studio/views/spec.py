"""The spec that waits for approval, or that was approved: its tree with examples, and what helps to decide (design:
approval, studio)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from specwright.application.change import ChangePreview
from specwright.application.factory import ProjectView
from specwright.application.interface_change import shown_sha256
from specwright.application.stages.product import (
    approval_estimate,
    change_preview,
    changes_since,
    current_spec,
    draft_history,
    validation_of,
)
from specwright.application.store.layout import spec_files
from specwright.bootstrap.costs import budgets_in, price_of, prices_of, total_cost
from specwright.bootstrap.spec_file import spec_changed, spec_copy
from specwright.domain.acceptance.records import AcceptanceExample, AcceptanceProperty
from specwright.domain.costs import below_estimate
from specwright.domain.interfaces.records import OutsideScope
from specwright.domain.spec.completeness import in_words
from specwright.domain.spec.departures import Decision, built_otherwise, decisions_of, missing
from specwright.domain.spec.draft_history import GateAnswer
from specwright.domain.spec.product_spec import DIMENSION_LABELS, Pillar, ProductSpec, TaskSpec
from specwright.errors import InputError, SpecwrightErrors
from specwright.settings import load_settings

MOST_TASKS = 60
"""Of a spec that is shown whole; of a larger one a page shows one pillar."""


class Evidence(NamedTuple):
    """An example or a property of a criterion: its title, its code, and what comes out."""

    kind: str
    title: str
    code: str
    gives: str
    author: str


class Criterion(NamedTuple):
    """A criterion with what shows it; `why_not` says why nothing executable does."""

    number: int
    text: str
    evidence: tuple[Evidence, ...]
    why_not: str


class TaskRow(NamedTuple):
    """A task of the spec."""

    task: TaskSpec
    criteria: tuple[Criterion, ...]
    sketch: tuple[tuple[str, str], ...]
    provides: tuple[str, ...]


class SpecPage(NamedTuple):
    """A spec for a person.

    Args:
        spec: It.
        pillars: Those that are shown.
        outline: Every pillar with its number of tasks, if the spec is too large for one page.
        rows: The shown tasks by their ids.
        waits: Whether it waits for approval.
        sha256: Of what is shown; empty unless it waits.
        warnings: Of its validation.
        changes: Since the version that was shown before.
        preview: Of the change that waits.
        estimate: What the approval will cost, in words.
        short: That the budget is below it; empty if it is not.
        edited: Whether SPEC.md was edited since it was made.
        answers: That sent earlier drafts back.
        source: SPEC.md as the person wrote it.
        acceptance: The examples and properties as text, for a person to edit; empty unless it waits.
        missing: What of SPEC.md is not built.
        otherwise: What is built in part, or otherwise.
        decisions: Of cases that SPEC.md leaves open.
    """

    spec: ProductSpec
    pillars: Sequence[Pillar]
    outline: tuple[tuple[Pillar, int], ...]
    rows: dict[str, TaskRow]
    waits: bool
    sha256: str
    warnings: list[str]
    changes: list[str]
    preview: ChangePreview | None
    estimate: str
    short: str
    edited: bool
    answers: list[GateAnswer]
    source: str
    acceptance: str
    missing: list[OutsideScope]
    otherwise: list[OutsideScope]
    decisions: list[Decision]


def spec_page(view: ProjectView, directory: Path, pillar: str = "", *, waits: bool) -> SpecPage:
    """The spec that waits, else the approved one.

    Args:
        view: The project.
        directory: Of the project.
        pillar: The one that is shown of a large spec; the first one if it is empty.
        waits: Whether it waits for approval.

    Raises:
        InputError: it is not written yet, or there is no such pillar.
    """
    spec = current_spec(view) if waits or view.projection.spec is None else view.projection.spec
    sizes = tuple((one, sum(len(s.tasks) for e in one.epics for s in e.stories)) for one in spec.pillars)
    large = sum(number for _, number in sizes) > MOST_TASKS
    wanted = pillar or (spec.pillars[0].pillar_id if large else "")
    shown = [one for one in spec.pillars if wanted in ("", one.pillar_id)]
    if not shown:
        raise InputError(f"there is no pillar {pillar[:40]!r}", where="the address")
    tasks = [task for one in shown for epic in one.epics for story in epic.stories for task in story.tasks]
    copy, data = spec_copy(directory), spec.to_json()
    return SpecPage(
        spec,
        shown,
        sizes if large else (),
        {task.task_id: _row(task) for task in tasks[: MOST_TASKS * 2]},
        waits,
        shown_sha256(view) if waits else "",
        [in_words(data, one) for one in validation_of(view).warnings] if waits else [],
        changes_since(view) if waits else [],
        change_preview(view) if waits else None,
        _estimate(view, directory) if waits else "",
        _short_budget(view, directory) if waits else "",
        waits and spec_changed(directory, copy),
        draft_history(view).answers,
        copy.text() if copy.exists else "",
        _acceptance(view) if waits else "",
        missing(spec.outside),
        built_otherwise(spec.outside),
        decisions_of(spec),
    )


def _acceptance(view: ProjectView) -> str:
    path = spec_files(view.projection.change_number).acceptance
    return view.store.read(path).decode() if view.store.exists(path) else ""


def _estimate(view: ProjectView, directory: Path) -> str:
    try:
        found = approval_estimate(view, price_of(load_settings(directory, looking=True)))
    except SpecwrightErrors:
        return ""
    return found.in_words() if found else ""


def _short_budget(view: ProjectView, directory: Path) -> str:
    """That the budget is below the estimate; empty if it is not, or if that cannot be told."""
    try:
        settings = load_settings(directory, looking=True)
        found, spent = approval_estimate(view, price_of(settings)), total_cost(directory, prices_of(settings))
        return below_estimate(budgets_in(directory).project, spent, found) if found else ""
    except SpecwrightErrors:
        return ""


def _row(task: TaskSpec) -> TaskRow:
    acceptance = task.acceptance
    items = acceptance.items if acceptance else ()
    why = {one.criterion: one.why for one in acceptance.unexecutable} if acceptance else {}
    criteria = tuple(
        Criterion(
            number,
            text,
            tuple(_evidence(one) for one in items if number in one.criteria),
            why.get(number, ""),
        )
        for number, text in enumerate(task.acceptance_criteria, start=1)
    )
    sketch = task.io_contract_sketch.to_json()
    return TaskRow(
        task,
        criteria,
        tuple((label, str(sketch[name])) for name, label in DIMENSION_LABELS.items()),
        tuple(acceptance.provides) if acceptance else (),
    )


def _evidence(one: AcceptanceExample | AcceptanceProperty) -> Evidence:
    if isinstance(one, AcceptanceExample):
        return Evidence("example", one.title, one.body, one.gives, one.author)
    variables = ", ".join(f"{name}: {kind}" for name, kind in one.variables.items())
    return Evidence("property", one.title, one.body, f"true for all {variables}", one.author)
