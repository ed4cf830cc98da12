"""The status of a project: not begun, waiting for a person, running, released (design: command-line)."""

from enum import StrEnum

from specwright.application.factory import ProjectView
from specwright.application.stages.product import draft_files, draft_history
from specwright.application.stages.release import last_release
from specwright.domain.tasks.task_board import Outcome


class ProjectStatus(StrEnum):
    """The statuses in which a run stops, and those between two stops."""

    NEW = "new"
    APPROVAL = "approval"
    RUNNING = "running"
    HALTED = "halted"
    STALLED = "stalled"
    RELEASE_DUE = "release_due"
    RELEASE_FAILED = "release_failed"
    RELEASED = "released"

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends in this status: 0 released, 3 a person is needed, 1 otherwise."""
        if self is ProjectStatus.RELEASED:
            return 0
        waits = self in (ProjectStatus.APPROVAL, ProjectStatus.HALTED, ProjectStatus.STALLED)
        return 3 if waits else 1

    @property
    def is_between_stops(self) -> bool:
        """Whether a run can continue without an answer from a person."""
        return self in (ProjectStatus.NEW, ProjectStatus.RUNNING, ProjectStatus.RELEASE_DUE)


_BY_OUTCOME = {
    Outcome.RUNNABLE: ProjectStatus.RUNNING,
    Outcome.HALTED: ProjectStatus.HALTED,
    Outcome.STALLED: ProjectStatus.STALLED,
    Outcome.COMPLETE: ProjectStatus.RELEASE_DUE,
}


def project_status(view: ProjectView) -> ProjectStatus:
    """Return the status of a project, from its log and its product files."""
    projection = view.projection
    board, change = projection.board, projection.open_change
    if projection.awaits_approval:
        history = draft_history(view)
        if history.is_drafted and view.store.exists(draft_files(view).spec):
            return ProjectStatus.APPROVAL
        return ProjectStatus.RUNNING if change or history.answers else ProjectStatus.NEW
    if board is None:
        return ProjectStatus.RUNNING
    status = _BY_OUTCOME[board.outcome()]
    since = len(projection.releases) - (change.before.releases if change and change.before else 0)
    if status is ProjectStatus.RELEASE_DUE and since and (release := last_release(view)):
        return ProjectStatus.RELEASED if release.succeeded else ProjectStatus.RELEASE_FAILED
    return status
