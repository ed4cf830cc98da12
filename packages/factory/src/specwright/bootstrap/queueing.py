"""Commands on a project that workers drive: they record the person's answer and queue the project (design: workers).

Answer and job are written in one transaction, so no recorded answer waits for somebody to queue it, and a refused answer
queues nothing.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ship_gate.sandbox.packages import allowed_packages
from specwright.application.change import TriedReport
from specwright.application.escalation.offers import check, check_fix, resolve
from specwright.application.stages.product import approve, note_passed_over, shown_hash
from specwright.application.stages.status import ProjectStatus
from specwright.bootstrap.drive import drive_record, leave_approval, note_drive, store_settings
from specwright.bootstrap.project import Project, answering, open_project
from specwright.domain.escalation import HumanResolution
from specwright.errors import BusyError, InputError, InputErrors
from specwright.settings import Settings


@dataclass(frozen=True, slots=True)
class QueuedProject(Project):
    """A project that workers drive: records the same answers as `Project`, and queues the project instead of driving it.

    Args:
        leave: Queues the project; takes the number of the change whose next draft is approved in advance, or None.
        outside: Leaves the transaction for a block that may take minutes; nothing is written yet, and the project stays
            locked.
    """

    leave: Callable[[int | None], None] = lambda approved: None
    outside: Callable[[], AbstractContextManager[None]] = nullcontext

    def go_on(self, *, approve: bool = False) -> ProjectStatus:
        """Queue the project for a worker."""
        self.leave(self.factory.projection.change_number if approve else None)
        return self.status

    def approve(self, sha256: str = "", *, old_spec: bool = False) -> ProjectStatus:
        """Approve the spec that waits. Raises the errors of `Project.approve`."""
        answer = self._checked_approval(sha256, old_spec=old_spec)
        if answer["sha256"] != (shown := shown_hash(self.factory)):
            raise self._not_approved(
                f"the spec is not the one that was shown: the approval names {answer['sha256']}, this one has {shown}"
            )
        if edited := answer.get("passed_over"):
            note_passed_over(self.factory, edited)
        approve(self.factory, answer["by"])
        return self.go_on()

    def resolve(self, resolution: HumanResolution, *, unchecked: bool = False) -> ProjectStatus:
        """Answer an escalation. Raises the errors of `Project.resolve`."""
        check(self.factory, resolution)
        with self.outside():
            check_fix(self.factory, resolution, by_gate=not unchecked)
        resolve(self.factory, resolution)
        return self.go_on()

    def try_report(self, module: str, text: str, where: str) -> TriedReport:
        """Run the example of a bug report. Raises the errors of `Project.try_report`."""
        with self.outside():
            return Project.try_report(self, module, text, where)


@contextmanager
def open_queued(
    directory: Path, settings: Settings, spec_text: str, waits: Sequence[float] = (0.1,) * 30
) -> Generator[QueuedProject]:
    """Open a project for an answer, in one transaction; no worker drives it meanwhile.

    Args:
        directory: The project's directory.
        settings: The command's settings; models are not asked and need no keys here.
        spec_text: The SPEC.md that the project works on.
        waits: Seconds between attempts while another process holds the project; a worker at a stop holds it a moment
            longer.

    Raises:
        BusyError: a worker drives it.
        InputError: the project is stored in a directory; otherwise as `open_project`.
        CorruptionError: as `open_project`.
    """
    if not settings.store:
        raise InputError(
            "workers drive projects on Postgres, but this project is stored in its directory",
            where="drive",
            remedy='set `store` to a Postgres database, or `drive` to "here"',
        )
    # packages must be installed for workers, and here only for what is judged here
    without: dict[str, Any] = {
        "model": "",
        "role_models": {},
        "search": "none",
        "packages": [one for one in settings.packages if _is_installed(one)],
    }
    bare = settings.model_copy(update=without)
    with ExitStack() as stack:
        for wait in (*waits, None):
            try:
                project = stack.enter_context(open_project(directory, bare, None, spec_text))
            except BusyError:
                if wait is None:
                    raise
                time.sleep(wait)
            else:
                with _queueing(project, settings) as queued:
                    yield queued
                return


def _is_installed(requirement: str) -> bool:
    try:
        allowed_packages((requirement,))
    except InputErrors:
        return False
    return True


@contextmanager
def _queueing(project: Project, settings: Settings) -> Generator[QueuedProject]:
    """Yield a project whose next step commits together with a job for the workers."""
    with ExitStack() as transaction:
        add = transaction.enter_context(project.store.queueing())

        @contextmanager
        def outside() -> Generator[None]:
            transaction.close()
            yield
            transaction.enter_context(project.store.queueing())

        def leave(approved: int | None) -> None:
            folder = project.factory.folder
            leave_approval(folder, approved)
            store_settings(project.store, settings)
            note_drive(folder, drive_record(folder).asked())
            add()

        parts = (project.directory, project.factory, project.driver, project.spec_copy, project.store)
        yield QueuedProject(*parts, *answering(settings), leave, outside)
