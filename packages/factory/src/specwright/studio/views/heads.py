"""What stands at the top of a project's pages, and what waits for a person in it (design: studio)."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ship_gate.base.text import first_sentences
from specwright.application.escalation.summary import cause, escalations_waiting
from specwright.application.factory import ProjectView
from specwright.application.stages.product import current_spec, tasks_in_draft
from specwright.application.stages.release import last_release
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.bootstrap.spec_file import spec_fault
from specwright.bootstrap.storage.stores import opened_store
from specwright.bootstrap.views.at_work import AtWork, at_work
from specwright.bootstrap.views.last_stop import last_stop
from specwright.bootstrap.views.reading import driven_by, last_run, position
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import InputErrors, SpecwrightErrors
from specwright.studio.jobs import Failure
from specwright.studio.projects import StudioProject
from specwright.studio.views.board import Share, project_cost, shares

_LONGEST = 240
_NEARLY_SPENT = 75
"""Hundredths of a budget from which a stop is shown as the budget's: a call that may exceed it is not made."""


class Need(NamedTuple):
    """Something that waits for a person.

    Args:
        key: Of its project.
        project: The project's title.
        kind: In a word or two.
        since: When it began to wait; empty if nothing says it.
        about: Which task or module.
        question: In one sentence.
        page: Where it is answered.
        action: What the button says.
        command: That answers it.
        urgent: Whether work waits for the answer.
    """

    key: str
    project: str
    kind: str
    since: str
    about: str
    question: str
    page: str
    action: str
    command: str
    urgent: bool = True


class ProjectHead(NamedTuple):
    """A project in a few words.

    Args:
        key: In addresses.
        title: Of the product.
        directory: As commands name it.
        status: Of `ProjectStatus`, or `damaged`.
        position: Changes when anything does.
        counts: Of tasks, by status.
        driver: The process that drives it, in words; empty if none does.
        now: What that does.
        scripted: Whether any answer was scripted.
        model: That answered last.
        waiting: What waits for a person.
        failure: Why it cannot be read.
        version: Of the last release; empty if there is none.
        begun: Whether a run has begun.
    """

    key: str
    title: str
    directory: str
    status: str
    position: str
    counts: dict[str, int]
    driver: str = ""
    now: AtWork | None = None
    scripted: bool = False
    model: str = ""
    waiting: tuple[Need, ...] = ()
    failure: Failure | None = None
    version: str = ""
    begun: bool = True

    @property
    def shown_status(self) -> str:
        """The status as a badge says it: nothing runs unless a process drives it."""
        return "stopped" if self.status == ProjectStatus.RUNNING and not self.driver else self.status

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """How many have shipped or were given up."""
        return self.counts.get("SHIPPED", 0) + self.counts.get("ABANDONED", 0)


def head_of(project: StudioProject) -> ProjectHead:
    """The head of a project, whatever state it is in; one that cannot be read says why."""
    directory = project.directory
    try:
        with opened_store(directory) as store:
            begun = store.has_log()
        if not begun:
            return _not_begun(project)
        with project.reading() as view:
            return head_in(view, project)
    except SpecwrightErrors as error:
        failure = Failure(error.what, error.where, error.remedy, error.exit_code)
        return ProjectHead(
            project.key, directory.resolve().name, str(directory), "damaged", "", {}, failure=failure
        )


def head_in(view: ProjectView, project: StudioProject) -> ProjectHead:
    """The head of a project that is open."""
    directory, board = project.directory, view.projection.board
    status, driver, ran = project_status(view), driven_by(directory), last_run(directory)
    counts = {one.value: board.count(one) for one in TaskStatus if board.count(one)} if board else {}
    title = _title(view) or directory.resolve().name
    waiting = tuple(_waiting(view, project, title, status, driven=bool(driver)))
    return ProjectHead(
        project.key,
        title,
        str(directory),
        status.value,
        position(directory),
        counts,
        driver,
        at_work(directory) if driver else None,
        ran.scripted,
        ran.model,
        waiting,
        version=_released_version(view),
    )


def _released_version(view: ProjectView) -> str:
    """The version of the last release; empty if there is none that succeeded."""
    release = last_release(view)
    return view.projection.spec_version if release and release.succeeded else ""


def _not_begun(project: StudioProject) -> ProjectHead:
    name, directory = project.directory.resolve().name, project.directory
    driver, ran = driven_by(directory), last_run(directory)
    fault = spec_fault(directory)
    question = (
        f"No run has begun here: {fault}."
        if fault
        else "No run has begun here. Shall the researcher write the spec from SPEC.md?"
    )
    command = _command("run", directory)
    begin = Need(project.key, name, "not begun", "", "", question, "run", "Begin", command, urgent=False)
    waiting = () if driver else (begin,)
    now = at_work(directory) if driver else None
    return ProjectHead(
        project.key,
        name,
        str(directory),
        ProjectStatus.NEW.value,
        position(directory),
        {},
        driver,
        now,
        ran.scripted,
        ran.model,
        waiting,
        begun=False,
    )


def _title(view: ProjectView) -> str:
    if view.projection.spec_title:
        return view.projection.spec_title
    try:
        return current_spec(view).title
    except (*InputErrors, *SpecwrightErrors):
        return ""


def _waiting(
    view: ProjectView, project: StudioProject, title: str, status: ProjectStatus, *, driven: bool
) -> Iterator[Need]:
    """What waits for a person in a project."""
    key, directory = project.key, project.directory
    if status is ProjectStatus.APPROVAL and not driven:
        spec, number = current_spec(view), tasks_in_draft(view)
        tasks = "1 task" if number == 1 else f"{number:,} tasks"
        question = f"Is this what {spec.title} shall be? {tasks} will be built from it."
        command = _command("approve", directory)
        yield Need(
            key, title, "approval", spec.updated_at, "the spec", question, "spec", "Read and decide", command
        )
    for one in escalations_waiting(view):
        yield _question(view, project, title, one)
    if driven:
        return
    if status in (ProjectStatus.RUNNING, ProjectStatus.NEW, ProjectStatus.RELEASE_DUE):
        kind, spent = _budget_at_stop(directory)
        change = _change_in_words(view)
        if ended := last_stop(directory):
            kind = "budget" if ended.kind == "budget" else "stopped"
        why = f"The run stopped: {ended.reason}." if ended else "The run stopped between two answers."
        question = f"{why} Nothing is lost.{spent}{change} Shall it go on?"
        command = f"{_command('run', directory)} {ended.options if ended else ''}".rstrip()
        yield Need(key, title, kind, "", "the run", question, "run", "Go on", command)
    if status is ProjectStatus.RELEASE_FAILED:
        question = "Every module is sealed, and the release failed. Its report says why."
        command = _command("release", directory)
        yield Need(key, title, "release", "", "the release", question, "run", "See why", command)


def _change_in_words(view: ProjectView) -> str:
    """The change that is under way, as a sentence; empty if there is none."""
    if (change := view.projection.open_change) is None:
        return ""
    asked = first_sentences(change.request.request, _LONGEST) or "SPEC.md was edited"
    return f" Change {change.request.number} is under way: {asked}."


def _budget_at_stop(directory: Path) -> tuple[str, str]:
    """Whether a budget may have stopped a run, as a kind of need, and what was spent of the budgets in words."""
    cost = project_cost(directory)
    found = shares(directory, cost) if cost else []
    spent = ", ".join(f"{one.spent} of {one.limit} {one.name}" for one in found)
    return kind_of_stop(found), f" Spent of its budget: {spent}." if spent else ""


def kind_of_stop(found: Sequence[Share]) -> str:
    """Whether a run that stopped may have been stopped by a budget: `budget`, else `stopped`."""
    return "budget" if any(one.hundredths >= _NEARLY_SPENT for one in found) else "stopped"


def _question(view: ProjectView, project: StudioProject, title: str, one: EscalationArtifact) -> Need:
    state, exception = view.projection.state, one.details.get("exception_id", "")
    entry = state.tasks.get(one.task_id) if state else None
    waits = state is not None and any(e.escalation_ref == one.escalation_id for e in state.tasks.values())
    kind = {"stalled": "stalled", "criterion": "question", "release": "release", "exception": "exception"}
    command = f"escalations {one.escalation_id}"
    return Need(
        project.key,
        title,
        kind.get(str(one.details.get("cause", "")), "escalation"),
        one.created_at,
        f"{entry.spec_task_id} {entry.task}" if entry else one.task_id,
        first_sentences(one.minimal_decision_required, _LONGEST) or cause(one),
        f"exception/{exception}" if exception else f"escalation/{one.escalation_id}",
        "Decide",
        _command(command, project.directory),
        urgent=waits,
    )


def _command(command: str, directory: Path) -> str:
    return f"specwright {command} {shlex.quote(str(directory))}"


def in_order(waiting: Iterator[Need]) -> list[Need]:
    """What waits, oldest first; what says nothing of a time last, and what nothing waits for after that."""
    return sorted(waiting, key=lambda one: (not one.urgent, one.since == "", one.since))
