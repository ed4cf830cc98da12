"""What a run is doing now, noted in the project for `status` and `costs` of other processes (design: command-line).

The journal holds answers, so it cannot tell who is being asked. A driver therefore notes that in
`.specwright/at_work.json`. As with the note beside the lock, the file means nothing unless a process drives the project, so
that of a killed driver does no harm.
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from ship_gate.base.record import Record
from specwright.bootstrap.storage.stores import RUNTIME, opened_store
from specwright.bootstrap.views.last_stop import forget_stop
from specwright.errors import SpecwrightErrors
from specwright.journal import SystemSource
from specwright.ports.progress import (
    Progress,
    ProgressEvent,
    RequestDone,
    RequestSent,
    RoleDone,
    RoleStarted,
    Step,
)
from specwright.ports.store import FileTree

AT_WORK = f"{RUNTIME}/at_work.json"


class AtWork(Record):
    """What a run is doing.

    Args:
        since: When this began, UTC.
        task: As the spec names it, TSK-001; None outside of tasks.
        role: That is at work; None while code is.
        subject: The module, `contracts` or `plan`.
        stage: Of the debate, `round-1`.
        waits_for: The model whose answer is awaited, as the journal names it.
        first_answer: Whether the project has no answer of this model yet.
    """

    since: str = ""
    task: str | None = None
    role: str | None = None
    subject: str | None = None
    stage: str | None = None
    waits_for: str | None = None
    first_answer: bool = False

    @property
    def seconds(self) -> float:
        """How long it has been doing this; the clocks of two machines may differ."""
        try:
            began, now = (datetime.fromisoformat(text) for text in (self.since, SystemSource().now()))
        except ValueError:
            return 0.0
        return max(0.0, (now - began).total_seconds())

    def after(self, event: ProgressEvent, now: str) -> "AtWork":
        """What it does after an event."""
        if isinstance(event, RoleStarted):
            task, subject, stage = event.task or None, event.subject or None, event.stage or None
            return AtWork(since=now, task=task, role=event.role, subject=subject, stage=stage)
        if isinstance(event, RequestSent):
            asked = {"since": now, "waits_for": event.model, "first_answer": event.first}
            return self.model_copy(update=asked)
        if isinstance(event, RequestDone):
            return self.model_copy(update={"since": now, "waits_for": None, "first_answer": False})
        if isinstance(event, RoleDone):
            return AtWork(since=now, task=self.task)
        if isinstance(event, Step) and event.kind == "task":
            return AtWork(since=now, task=event.task or None)
        return self


class AtWorkProgress:
    """A progress port that also notes in the project what the run is doing.

    Args:
        progress: The port that shows it.
        folder: The project's files.
    """

    def __init__(self, progress: Progress, folder: FileTree) -> None:
        self._progress = progress
        self._folder = folder
        self._at_work = AtWork()
        self._moved = False
        self._write(AtWork(since=SystemSource().now()))

    def note(self, event: ProgressEvent) -> None:
        """Note an event, and show it."""
        if not self._moved:
            self._moved = True
            forget_stop(self._folder)
        self._write(self._at_work.after(event, SystemSource().now()))
        self._progress.note(event)

    def _write(self, at_work: AtWork) -> None:
        if at_work == self._at_work:
            return
        self._at_work = at_work
        with suppress(OSError, *SpecwrightErrors):  # a full disk is reported where something is lost by it
            self._folder.replace(AT_WORK, at_work.to_bytes())


def at_work(directory: Path) -> AtWork | None:
    """What the run that drives a project is doing; None if none drives it, or if that cannot be read."""
    with suppress(*SpecwrightErrors, OSError, ValueError, TypeError), opened_store(directory) as store:
        if store.driver() and store.folder.exists(AT_WORK):
            return AtWork.from_bytes(store.folder.read(AT_WORK), AT_WORK)
    return None
