"""Drive one project to its next stop, in a process of its own (design: workers).

A worker records its attempts in the project itself. The record bounds the attempts at a project that ends its driver,
by an error or by killing the process or the machine: every attempt counts, unless the project has moved on since. Claims
are made by the queue, not here.

A command leaves two things with a project for the workers: its settings, and an approval in advance.

The settings are those of the directory where the last command ran, with its options. Settings of a machine are left out:
keys, which are in the worker's environment; the sandbox, which the owner of the machine chooses; the store. Write access to
the store does not let anybody redirect keys: decisive settings count only if the worker's environment sets the same, or if
a command of the same user on the same machine queued the project with them.
"""

import json
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import AfterValidator, ValidationError

from agent_wire import canonical_json
from ship_gate.base.record import Record
from ship_gate.trust import described, trust_typed, untrusted
from specwright.bootstrap.spec_file import spec_copy
from specwright.bootstrap.stores import RUNTIME, ProjectStore, opened_store
from specwright.errors import (
    AnswerError,
    AnyError,
    BudgetError,
    BusyError,
    CorruptionError,
    CorruptionErrors,
    InputError,
    InputErrors,
    InterruptedRunError,
    NoAccessError,
    NoCreditError,
    SpecwrightError,
    SpecwrightErrors,
    UntrustedError,
)
from specwright.journal import SystemSource
from specwright.ports import FileTree, Progress
from specwright.settings import ENVIRONMENT_PREFIX, Settings, absolute_model, decisive, load_settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from specwright.bootstrap.postgres_store import PostgresStore


_RECORD = f"{RUNTIME}/drive.json"
MOST_ATTEMPTS = 8
"""The most attempts in a row without a new answer or verdict in the journal."""
_LONGEST_WAIT = 900.0
_FIRST_WAIT = 5.0
_GROWTH = 3.0


_StorableText = Annotated[str, AfterValidator(lambda text: text.encode(errors="backslashreplace").decode())]
"""Lone surrogates, which a file name may contain, are escaped, because no store accepts them."""


class DriveError(Record):
    """An error as it is shown."""

    what: _StorableText
    where: _StorableText
    remedy: _StorableText

    @classmethod
    def of(cls, error: AnyError) -> "DriveError":
        """Return the stored form of an error."""
        return cls(what=error.what, where=error.where, remedy=error.remedy)

    def __str__(self) -> str:
        return str(SpecwrightError(self.what, where=self.where, remedy=self.remedy))


Ended = Literal["stopped", "interrupted", "paused", "waiting", "failed", "busy"]
"""`busy` does not count as an attempt: the project was locked, or its store could not be reached."""


class Outcome(Record):
    """How an attempt ended.

    Args:
        ended: `stopped`: the project is complete or needs a person. `paused`: only a person can remove the obstacle.
            `waiting`, `busy`: to be tried again. `failed`: not tried again.
        status: Where the project stopped.
        wait: Seconds to the next attempt.
        error: Why the project could not go on.
    """

    ended: Ended
    status: str = ""
    wait: float = 0.0
    error: DriveError | None = None


class DriveRecord(Record):
    """The last attempt at driving a project.

    Args:
        worker: The process that made it, and its host.
        began: When, UTC.
        attempts: How many attempts in a row led nowhere, this one included.
        journal: How many records the journal had when it began.
        ended: How it ended, as in `Outcome`; empty while it runs, and after a crash.
        error: The error that ended it, if one did.
    """

    worker: str = ""
    began: str = ""
    attempts: int = 0
    journal: int = 0
    ended: str = ""
    error: DriveError | None = None

    def next(self, worker: str, now: str, journal: int) -> "DriveRecord":
        """The record of the next attempt.

        Args:
            worker: The process that makes it.
            now: The time.
            journal: How many records the journal has.
        """
        anew = journal > self.journal or self.ended in ("stopped", "interrupted", "paused")
        attempts = 1 if anew else self.attempts + 1
        error = None if anew else self.error
        return DriveRecord(worker=worker, began=now, attempts=attempts, journal=journal, error=error)

    def asked(self) -> "DriveRecord":
        """Return the record after a command queued the project again: without attempts and error."""
        return self.model_copy(update={"attempts": 0, "ended": "", "error": None})

    @property
    def wait(self) -> float:
        """Seconds to the next attempt."""
        return min(_LONGEST_WAIT, _FIRST_WAIT * _GROWTH ** (self.attempts - 1))


def drive_record(folder: FileTree) -> DriveRecord:
    """Return the record of the last attempt; an empty one if there was none or it is damaged, since it only counts."""
    try:
        return DriveRecord.from_bytes(folder.read(_RECORD) if folder.exists(_RECORD) else b"{}", _RECORD)
    except InputErrors:
        return DriveRecord()


def note_drive(folder: FileTree, record: DriveRecord) -> None:
    """Store a record in place of the previous one."""
    folder.replace(_RECORD, record.to_bytes())


class Job(Record):
    """A place in the queue."""

    claimed: bool
    since: str
    due: str | None
    attempts: int


class Queue(Record):
    """A project that workers drive: its jobs, the claimed one first, how many workers are alive, the last attempt."""

    jobs: list[Job]
    workers: int
    last_attempt: DriveRecord


def queue_state(directory: Path) -> Queue | None:
    """Return what the queue says about a project; None if workers do not drive it."""
    try:
        settings = load_settings(directory, looking=True)
    except InputErrors:  # damaged settings do not hide the project
        return None
    if settings.drive != "workers" or not settings.store:
        return None
    with opened_store(directory, settings.store) as store:
        jobs = [
            Job(
                claimed=job.claimed,
                since=_stamp(job.since),
                due=job.due and _stamp(job.due),
                attempts=job.attempts,
            )
            for job in store.jobs()
        ]
        return Queue(jobs=jobs, workers=store.workers(), last_attempt=drive_record(store.folder))


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


STORED_SETTINGS = f"{RUNTIME}/settings.json"
_APPROVED = f"{RUNTIME}/approved_in_advance"
"""The path of an approval in advance. Every other answer is in the log, or beside the draft, when its command returns; this
one is for a draft that does not exist yet. It holds for one change, and until the next command."""
_OF_A_MACHINE = {"store", "drive", "mirror", "hedera", "sandbox"}


def store_settings(store: ProjectStore, settings: Settings) -> None:
    """Store the settings of a command with the project."""
    chosen = settings.model_dump(mode="json", include=settings.model_fields_set - _OF_A_MACHINE)
    if "model" in chosen:
        chosen["model"] = absolute_model(chosen["model"])
    if "role_models" in chosen:
        chosen["role_models"] = {role: absolute_model(name) for role, name in chosen["role_models"].items()}
    trust_typed(store.folder.address, decisive(chosen, Path()))
    store.folder.replace(STORED_SETTINGS, (json.dumps(chosen, sort_keys=True) + "\n").encode())


def worker_settings(store: ProjectStore, url: str, directory: Path) -> Settings:
    """Return the settings with which a worker drives a project.

    Args:
        store: The project's store.
        url: The store's URL.
        directory: A directory without settings, so that only the worker's environment sets any.

    Raises:
        UntrustedError: a decisive setting is neither set in this environment nor trusted here.
        InputError: no command has queued the project, or this version does not know one of its settings.
        CorruptionError: the stored settings are not JSON.
    """
    where = f"{store.folder.address}/{STORED_SETTINGS}"
    if not store.folder.exists(STORED_SETTINGS):
        raise InputError(
            "the project has no settings for workers",
            where=where,
            remedy="queue it with `specwright run`, with `drive` set to workers",
        )
    try:
        chosen = cast(object, canonical_json.loads(store.folder.read(STORED_SETTINGS)))
    except (ValueError, RecursionError) as error:
        raise CorruptionError(
            f"the settings of the project are not JSON: {error}", where=where, remedy="queue it again"
        ) from error
    named: dict[str, Any] = cast(dict[str, Any], chosen) if isinstance(chosen, dict) else {}
    of_project = {name: value for name, value in named.items() if name not in _OF_A_MACHINE}
    own = load_settings(directory, {"drive": "here"})
    set_here = decisive(own.model_dump(mode="json", include=own.model_fields_set), directory)
    asked = untrusted(store.folder.address, decisive(of_project, directory))
    if foreign := {name: value for name, value in asked.items() if value != set_here.get(name)}:
        first = next(iter(foreign)).partition(".")[0]
        raise UntrustedError(
            f"the project has settings that count only from the environment of a worker: {described(foreign)}",
            where=where,
            remedy=f"if you want them, set {ENVIRONMENT_PREFIX}{first.upper()} for the worker; otherwise queue the project "
            "without them",
        )
    try:
        return Settings.model_validate({**of_project, "store": url, "sandbox": own.sandbox})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"this version cannot use a setting of the project: {'.'.join(map(str, fault['loc']))}: {fault['msg']}",
            where=where,
            remedy="run the workers with the version of Specwright that queued it",
        ) from error


def leave_approval(folder: FileTree, change: int | None) -> None:
    """Approve the next draft of a change in advance; None takes such an approval back."""
    folder.replace(_APPROVED, b"" if change is None else str(change).encode())


def approved_in_advance(folder: FileTree, change: int) -> bool:
    """Return whether the next draft of a change is approved in advance."""
    return folder.exists(_APPROVED) and folder.read(_APPROVED) == str(change).encode()


_BUSY_SECONDS = 2.0
"""The wait before a project is tried again that another process still holds."""


def drive_project(url: str, directory: Path, progress: Progress) -> Outcome:
    """Drive a project to its next stop.

    Args:
        url: The URL of its store.
        directory: An empty directory, for this attempt only.
        progress: Called at every step.
    """
    # share nothing with a driver that was killed
    os.environ["XDG_CACHE_HOME"] = str(directory / "cache")
    work = directory / "project"
    work.mkdir()
    try:
        with _opened(url) as store:
            before, record = _begin(store)
            if record.attempts > MOST_ATTEMPTS:
                return _end(store, record, Outcome(ended="failed", error=before.error or _silent(before)))
        outcome = _attempt(url, work, progress, record)
    except BusyError:
        return Outcome(ended="busy", wait=_BUSY_SECONDS)
    except InputErrors as error:  # the queue names no project
        return Outcome(ended="failed", error=DriveError.of(error))
    except SpecwrightErrors as error:  # the store cannot be reached
        return Outcome(ended="busy", wait=_BUSY_SECONDS, error=DriveError.of(error))
    if outcome.ended == "busy":
        return outcome
    with suppress(*SpecwrightErrors), _opened(url) as store:  # without a record the attempt counts as a crash
        return _end(store, record, outcome)
    return outcome


def _attempt(url: str, directory: Path, progress: Progress, record: DriveRecord) -> Outcome:
    # imported here: it loads the frameworks, which `status` does not need
    from specwright.bootstrap.project import open_project

    try:
        with _opened(url) as store:
            settings, text = worker_settings(store, url, directory), spec_copy(directory, store).text()
        with open_project(directory, settings, progress, text) as project:
            change = project.factory.projection.change_number
            stop = project.go_on(approve=approved_in_advance(project.factory.folder, change))
            return Outcome(ended="stopped", status=stop.value)
    except (KeyboardInterrupt, InterruptedRunError):
        return Outcome(ended="interrupted")
    except BusyError:
        return Outcome(ended="busy", wait=_BUSY_SECONDS)
    except (BudgetError, NoAccessError, NoCreditError, AnswerError) as error:
        return Outcome(ended="paused", error=DriveError.of(error))
    except CorruptionErrors as error:
        return Outcome(ended="failed", error=DriveError.of(error))
    except SpecwrightErrors as error:
        return _again(record, DriveError.of(error))
    except Exception as error:  # a bug must not end the worker, nor be retried forever
        what = f"Specwright itself broke: {type(error).__name__}: {error}"[:500]
        return _again(
            record, DriveError(what=what, where="", remedy="this is a fault of Specwright, please report it")
        )


def _again(record: DriveRecord, error: DriveError) -> Outcome:
    """Return `waiting`, or `failed` after the last attempt."""
    if record.attempts >= MOST_ATTEMPTS:
        return Outcome(ended="failed", error=error)
    return Outcome(ended="waiting", wait=record.wait, error=error)


def _opened(url: str) -> "AbstractContextManager[PostgresStore]":
    # imported here: it loads the database driver, which `status` does not need
    from specwright.bootstrap.postgres_store import opened_postgres_store

    return opened_postgres_store(url)


def _begin(store: "PostgresStore") -> tuple[DriveRecord, DriveRecord]:
    """Record a new attempt; return the record before it, and its own."""
    with store.driving():
        worker = f"process {os.getpid()} on {socket.gethostname()}"
        before = drive_record(store.folder)
        record = before.next(worker, SystemSource().now(), store.journal_length())
        note_drive(store.folder, record)
    return before, record


def _end(store: "PostgresStore", record: DriveRecord, outcome: Outcome) -> Outcome:
    with store.driving():
        note_drive(store.folder, record.model_copy(update={"ended": outcome.ended, "error": outcome.error}))
    return outcome


def _silent(record: DriveRecord) -> DriveError:
    return DriveError(
        what=f"the processes that drove the project ended {record.attempts} times without saying why",
        where=record.worker,
        remedy="check the memory and the system log of that machine, then queue the project again with `specwright run`",
    )
