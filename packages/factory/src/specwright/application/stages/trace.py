"""Trace a criterion, task or module to its evidence (design: release).

Every link is one that was recorded: an example names its criteria, a test its statement of the contract, a module its task.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from specwright.application.criteria import unshown_criteria
from specwright.application.factory import ProjectView
from specwright.application.history.criterion_evidence import RunOutcome
from specwright.application.stages.release import ReportSources, acceptance_report
from specwright.application.store import layout
from specwright.application.tasks import task_board
from specwright.domain.base.document import Document
from specwright.domain.modules.release import AcceptanceReport, CriterionReport, TaskReport
from specwright.errors import RefusedError

_Row: TypeAlias = tuple[TaskReport, CriterionReport]
_CRITERION = re.compile(r"(TSK-[0-9]+)(?:\s+criterion\s+|\s*[/#:]\s*)([0-9]+)", re.IGNORECASE)


class Trace(Document, schema="trace"):
    """The result of a trace.

    Args:
        text: The text that was looked up.
        found_as: The kind of thing found.
        tasks: The tasks with the criteria found, and their evidence.
    """

    text: str
    found_as: Literal["criterion", "task", "module"]
    tasks: list[TaskReport]


class ProjectTrace:
    """A project's criteria and modules, with their links.

    Args:
        view: A project whose spec is approved.

    Raises:
        RefusedError: no spec is approved yet.
    """

    def __init__(self, view: ProjectView) -> None:
        if view.projection.spec is None or view.projection.board is None:
            raise RefusedError(
                "no spec is approved yet, so there is nothing to trace",
                remedy="`specwright status` says what comes next",
            )
        self._report = _live_report(view)
        self._rows: list[_Row] = [(task, one) for task in self._report.tasks for one in task.criteria]

    def of(self, text: str) -> Trace | None:
        """Trace a text: the name or id of a task or module, the id of a criterion, or words of criteria (as a phrase, or
        else in any order). None if nothing is found."""
        kind, chosen = self._named(text.strip())
        tasks = [
            task.model_copy(update={"criteria": [one for of, one in chosen if of is task]})
            for task in self._report.tasks
            if any(of is task for of, _ in chosen)
        ]
        return Trace(text=text, found_as=kind, tasks=tasks) if tasks else None

    @property
    def known(self) -> list[str]:
        """Return everything that can be looked up by name or id."""
        ids = [f"{task.task_id} criterion {one.criterion}" for task, one in self._rows]
        modules = [one.name for task in self._report.tasks for one in task.modules]
        tasks = [name for task in self._report.tasks for name in (task.task_id, task.name)]
        return [*modules, *tasks, *ids, *(one.text for _, one in self._rows)]

    def _named(self, wanted: str) -> tuple[Literal["criterion", "task", "module"], list[_Row]]:
        if match := _CRITERION.fullmatch(wanted):
            place = (match[1].upper(), int(match[2]))
            return "criterion", [(t, one) for t, one in self._rows if (t.task_id, one.criterion) == place]
        refs = [
            one.module_ref
            for task in self._report.tasks
            for one in task.modules
            if wanted in (one.name, one.module_ref, one.module_ref.partition("@")[0], *one.functions)
        ]
        if refs:
            return "module", self._answered_by(refs)
        word = wanted.casefold()
        tasks = [row for row in self._rows if word in (row[0].task_id.casefold(), row[0].name.casefold())]
        if tasks:
            return "task", tasks
        texts = [(row, row[1].text.casefold()) for row in self._rows]
        whole = [row for row, text in texts if word and word in text]
        words = set(re.findall(r"\w+", word))
        return "criterion", whole or [
            r for r, text in texts if words and words <= {*re.findall(r"\w+", text)}
        ]

    def _answered_by(self, refs: Sequence[str]) -> list[_Row]:
        """Return the criteria that modules show; for a module that shows none, all criteria of its task."""
        own = [row for row in self._rows if any(module.module_ref in refs for module in row[0].modules)]
        paths = tuple(f"{layout.module(ref)}/" for ref in refs)
        return [row for row in own if any(ref.startswith(paths) for ref in _files(row[1]))] or own


def _files(criterion: CriterionReport) -> list[str]:
    """Return the files of a criterion's evidence."""
    return [ref for one in criterion.evidence for ref in (one.stated_in, *one.ran_in)]


def _live_report(view: ProjectView) -> AcceptanceReport:
    """Build the report for the present state of the project, with the results of the last release's wheel."""
    board, projection = task_board(view), view.projection
    refs = [ref for task_id in board.tasks for ref in board.modules_of(task_id)]
    release_id = projection.releases[-1] if projection.releases else ""
    path = layout.release_file(release_id, "acceptance.json") if release_id else ""
    outcomes: dict[tuple[str, str], RunOutcome] = {}
    ran_in: list[str] = []
    if path and view.store.exists(path):
        before = AcceptanceReport.from_document(view.store.read(path), path)
        if before.spec == layout.definition(projection.spec_sha256):
            for key, outcome, wheel in _ran_at_release(before):
                outcomes[key], ran_in = outcome, [wheel]
    unshown = list(unshown_criteria(view, list(board.tasks)))
    return acceptance_report(view, release_id, ReportSources(refs, outcomes, ran_in, unshown))


def _ran_at_release(report: AcceptanceReport) -> Iterator[tuple[tuple[str, str], RunOutcome, str]]:
    """Yield the results of a release: task and title, the result, and the wheel."""
    for task in report.tasks:
        evidence = [one for criterion in task.criteria for one in criterion.evidence]
        for one in evidence:
            wheel = next((ref for ref in one.ran_in if ref.endswith(".whl")), "")
            if wheel and one.kind in ("example", "property"):
                passed = one.result == "PASS"
                yield (task.task_id, one.name), RunOutcome(passed, "" if passed else one.detail), wheel
