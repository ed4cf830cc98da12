"""A worker: claims projects from the queue and drives each to its next stop (design: workers)."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from specwright.bootstrap.workers.drive_record import Outcome
from specwright.bootstrap.workers.processes import DriveProcesses, Event
from specwright.postgres import PostgresDatabase, StoreAddress
from specwright.queue.jobs import JobQueue
from specwright.queue.worker import Claim, QueueWorker, Times, TryLaterError, silence

_KILLED = 130
_LONGEST_BUSY, _DOUBLINGS = 60.0, 10
"""How long a project rests at most that another process holds."""


class WorkerOptions(NamedTuple):
    """What a worker is started with.

    Args:
        url: Of the database; with a project's name, of that one alone.
        concurrency: How many projects at once.
        once: Return when no project is ready.
        until_idle: Return when no project waits or is driven.
        times: For tests.
    """

    url: str
    concurrency: int = 1
    once: bool = False
    until_idle: bool = False
    times: Times = Times()


class ProjectFailedError(Exception):
    """A project is not tried again; procrastinate notes its job as failed."""


def run_worker(options: WorkerOptions, report: Callable[[Event], None]) -> int:
    """Drive projects until a signal comes, or as the options say; a second signal ends the worker at once.

    Args:
        options: Of the worker.
        report: Takes an event for whoever watches.

    Returns:
        How many projects failed.

    Raises:
        InputError: the address is none, or cannot be used.
        RefusedError: the database cannot be reached, or the queue cannot be made.
    """
    address = StoreAddress.parse(options.url)
    _prepare(address)
    silence()
    return asyncio.run(_Worker(options, address, report).run())


def _prepare(address: StoreAddress) -> None:
    """Make the queue unless it is there."""
    database = PostgresDatabase(address)
    try:
        JobQueue(database).prepare()
    finally:
        database.close()


class _Worker:
    """A worker in its event loop."""

    def __init__(
        self, options: WorkerOptions, address: StoreAddress, report: Callable[[Event], None]
    ) -> None:
        self._options = options
        self._report = report
        self._address = address
        self._processes = DriveProcesses(lambda project, step: report({"project": project, **step}))
        self._queue = QueueWorker(
            address,
            self._drive,
            options.concurrency,
            lambda why: report({"event": "cut", "text": why}),
            options.times,
        )
        self._stopping = False
        self._failed = 0

    async def run(self) -> int:
        """Until a signal comes, or as the options say."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._signalled)
        self._report(
            {
                "event": "started",
                "store": str(self._address),
                "worker": f"process {os.getpid()} on {socket.gethostname()}",
            }
        )
        await self._queue.run(wait=not self._options.once, until_idle=self._options.until_idle)
        self._report({"event": "ended"})
        return self._failed

    def _signalled(self) -> None:
        if self._stopping:
            self._processes.kill()
            os._exit(_KILLED)
        self._stopping = True
        self._report({"event": "stopping"})
        self._queue.stop()
        self._processes.stop()

    async def _drive(self, claim: Claim) -> None:
        """Drive a project that was claimed.

        Raises:
            TryLaterError: it is put back.
            ProjectFailedError: it is not tried again.
        """
        url, name = self._project(claim.project)
        if self._stopping:
            raise TryLaterError(0.0)
        self._report({"event": "begun", "project": name})
        outcome = await self._processes.drive(name, url)
        if outcome.ended == "busy":
            outcome = outcome._replace(
                wait=min(_LONGEST_BUSY, outcome.wait * 2 ** min(claim.attempts, _DOUBLINGS))
            )
        self._tell(name, outcome)
        if outcome.ended == "interrupted":
            raise TryLaterError(0.0)
        if outcome.ended in ("waiting", "busy"):
            raise TryLaterError(outcome.wait)
        if outcome.ended == "failed":
            self._failed += 1
            raise ProjectFailedError(name)

    def _tell(self, name: str, outcome: Outcome) -> None:
        event: Event = {"event": outcome.ended, "project": name}
        if outcome.status:
            event["where"] = outcome.status
        if outcome.wait:
            event["again_in_seconds"] = outcome.wait
        if outcome.error:
            event["error"] = {
                "what": outcome.error.what,
                "where": outcome.error.where,
                "do": outcome.error.remedy,
            }
        with suppress(OSError):
            self._report(event)

    def _project(self, schema: str) -> tuple[str, str]:
        """The address and the name of the project in a schema."""
        project = StoreAddress.project_of(schema)
        parts = urlsplit(self._options.url)
        query = [(name, value) for name, value in parse_qsl(parts.query) if name != "project"]
        query += [("project", project)] if project else []
        return urlunsplit(parts._replace(query=urlencode(query))), project or schema
