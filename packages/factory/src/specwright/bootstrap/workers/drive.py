"""Driving one project to its next stop, in a process of its own (design: workers)."""

import os
import socket
from contextlib import suppress
from pathlib import Path

from specwright.bootstrap.project import open_project
from specwright.bootstrap.spec_file import spec_copy
from specwright.bootstrap.storage.postgres_store import PostgresStore, opened_postgres_store
from specwright.bootstrap.workers.drive_record import (
    MOST_ATTEMPTS,
    DriveError,
    DriveRecord,
    Outcome,
    drive_record,
    note_drive,
)
from specwright.bootstrap.workers.stored_settings import approved_in_advance, worker_settings
from specwright.errors import (
    AnswerError,
    BudgetError,
    BusyError,
    CorruptionErrors,
    InputErrors,
    InterruptedRunError,
    NoAccessError,
    NoCreditError,
    SpecwrightErrors,
)
from specwright.journal import SystemSource
from specwright.ports.progress import Progress

_BUSY_SECONDS = 2.0
"""Until a project is tried again whose last driver is not gone yet."""


def drive_project(url: str, directory: Path, progress: Progress) -> Outcome:
    """Drive a project to its next stop.

    Args:
        url: Of its store.
        directory: Empty, for this attempt alone.
        progress: Is called at every step.
    """
    os.environ["XDG_CACHE_HOME"] = str(
        directory / "cache"
    )  # nothing is shared with a driver that was cut off
    work = directory / "project"
    work.mkdir()
    try:
        with opened_postgres_store(url) as store:
            before, record = _begin(store)
            if record.attempts > MOST_ATTEMPTS:
                return _end(store, record, Outcome("failed", error=before.error or _silent(before)))
        outcome = _attempt(url, work, progress, record)
    except BusyError:
        return Outcome("busy", wait=_BUSY_SECONDS)
    except InputErrors as error:  # the queue names no project
        return Outcome("failed", error=DriveError.of(error))
    except SpecwrightErrors as error:  # the store cannot be reached
        return Outcome("busy", wait=_BUSY_SECONDS, error=DriveError.of(error))
    if outcome.ended == "busy":
        return outcome
    with (
        suppress(*SpecwrightErrors),
        opened_postgres_store(url) as store,
    ):  # what is not noted counts as a crash
        return _end(store, record, outcome)
    return outcome


def _attempt(url: str, directory: Path, progress: Progress, record: DriveRecord) -> Outcome:
    try:
        with opened_postgres_store(url) as store:
            settings, text = worker_settings(store, url, directory), spec_copy(directory, store).text()
        with open_project(directory, settings, progress, text) as project:
            change = project.factory.projection.change_number
            stop = project.go_on(approve=approved_in_advance(project.factory.folder, change))
            return Outcome("stopped", stop.value)
    except (KeyboardInterrupt, InterruptedRunError):
        return Outcome("interrupted")
    except BusyError:
        return Outcome("busy", wait=_BUSY_SECONDS)
    except (BudgetError, NoAccessError, NoCreditError, AnswerError) as error:
        return Outcome("paused", error=DriveError.of(error))
    except CorruptionErrors as error:
        return Outcome("failed", error=DriveError.of(error))
    except SpecwrightErrors as error:
        return _again(record, DriveError.of(error))
    except Exception as error:  # a fault of ours must not end the worker, and not go round for ever
        what = f"Specwright itself broke: {type(error).__name__}: {error}"[:500]
        return _again(record, DriveError(what, "", "this is a fault of Specwright, please report it"))


def _again(record: DriveRecord, error: DriveError) -> Outcome:
    """Another attempt, or the end of them."""
    if record.attempts >= MOST_ATTEMPTS:
        return Outcome("failed", error=error)
    return Outcome("waiting", wait=record.wait, error=error)


def _begin(store: PostgresStore) -> tuple[DriveRecord, DriveRecord]:
    """The record of the last attempt, and that of this one."""
    with store.driving():
        worker = f"process {os.getpid()} on {socket.gethostname()}"
        before = drive_record(store.folder)
        record = before.next(worker, SystemSource().now(), store.journal_length())
        note_drive(store.folder, record)
    return before, record


def _end(store: PostgresStore, record: DriveRecord, outcome: Outcome) -> Outcome:
    with store.driving():
        note_drive(store.folder, record._replace(ended=outcome.ended, error=outcome.error))
    return outcome


def _silent(record: DriveRecord) -> DriveError:
    return DriveError(
        f"the processes that drove the project ended {record.attempts} times without saying why",
        record.worker,
        "look at the memory and the system log of that machine, then `specwright run` queues the project again",
    )
