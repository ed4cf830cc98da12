"""A worker: claims projects from the queue and drives each to its next stop (design: workers).

Each project has a process of its own. A project that takes its process down, by a bug in a library or for lack of memory,
affects no other, and the worker keeps sending heartbeats meanwhile. A signal stops a project as Ctrl-C stops `run`. The
processes are forked from a server that has already imported the factory, so they start fast.
"""

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NamedTuple, NoReturn
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from specwright.bootstrap.drive import DriveError, Outcome
from specwright.ports import RunEvent
from specwright.postgres import PostgresDatabase, StoreAddress
from specwright.secret_values import child_environment
from specwright.work_queue import Claim, JobQueue, QueueWorker, Times, TryLaterError, silence

Event = dict[str, Any]
"""An event of a worker or a step of a project, as a JSON document."""

_GRACE_SECONDS = 5.0
_INTERRUPTED = 130
_PRELOADED = ["specwright.bootstrap.drive", "deepagents", "langchain_openai", "langchain_anthropic"]


class DriveProcesses:
    """The processes in which a worker drives projects.

    Args:
        note: Receives each step of a project.
    """

    def __init__(self, note: Callable[[str, Event], None]) -> None:
        self._note = note
        self._running: set[ForkServerProcess] = set()
        # the server is a Python process that would look for `json` and others in the working directory first
        os.environ["PYTHONSAFEPATH"] = "1"
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(_PRELOADED)

    async def drive(self, project: str, url: str) -> Outcome:
        """Drive a project to its next stop.

        Args:
            project: Its name, to label its steps.
            url: The URL of its store.
        """
        receiver, sender = self._context.Pipe(duplex=False)
        with TemporaryDirectory(prefix="specwright-", ignore_cleanup_errors=True) as directory, receiver:
            process = self._context.Process(target=_drive, args=(sender, url, directory))
            process.start()
            sender.close()
            self._running.add(process)
            try:
                outcome = await self._outcome(project, process, receiver)
            finally:
                self._running.discard(process)
                process.close()
        return outcome

    def stop(self) -> None:
        """Stop every project as Ctrl-C would."""
        for process in self._running:
            process.terminate()

    def kill(self) -> None:
        """Kill every process."""
        for process in self._running:
            process.kill()

    async def _outcome(self, project: str, process: ForkServerProcess, receiver: Any) -> Outcome:
        """Pass steps on until the process ends; return its outcome."""
        found: list[Outcome] = []

        def read() -> None:
            while receiver.poll():
                document = json.loads(receiver.recv_bytes())
                if "ended" in document:
                    found.append(Outcome.model_validate(document))
                else:
                    self._note(project, document)

        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def ready() -> None:
            try:
                read()
            except EOFError:
                loop.remove_reader(receiver.fileno())

        loop.add_reader(receiver.fileno(), ready)
        loop.add_reader(process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(process.sentinel)
            loop.remove_reader(receiver.fileno())
        with suppress(EOFError):
            read()
        process.join()
        return found[0] if found else _without_a_word(process.exitcode)


def _without_a_word(code: int | None) -> Outcome:
    """Return the outcome of a process that ended without reporting one; the attempt is recorded in the project."""
    if code == _INTERRUPTED:
        return Outcome(ended="interrupted")
    why = f"by the signal {signal.Signals(-code).name}" if code and code < 0 else f"with {code}"
    what = f"the process that drove the project ended {why}"
    error = DriveError(what=what, where="", remedy="")
    return Outcome(ended="waiting", wait=_GRACE_SECONDS, error=error)


class _SentProgress:
    """The progress port that sends the steps to the worker."""

    def __init__(self, sender: Connection) -> None:
        self._sender = sender
        self._lock = threading.Lock()

    def note(self, event: object) -> None:
        """Send a step to the worker."""
        if isinstance(event, RunEvent):
            self.send({"step": event.kind, "task": event.task, "text": event.text})

    def send(self, document: Event) -> None:
        """Send a document; the worker may be gone."""
        with self._lock, suppress(OSError):
            self._sender.send_bytes(json.dumps(document).encode())


def _drive(sender: Connection, url: str, directory: str) -> None:
    """Drive a project; the main function of its process."""
    # imported here: the worker itself does not need the factory
    from specwright.bootstrap.drive import drive_project

    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    for name in {*os.environ} - {*child_environment(command=True)}:
        del os.environ[name]
    progress = _SentProgress(sender)
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        outcome = drive_project(url, Path(directory), progress)
    except KeyboardInterrupt:
        outcome = Outcome(ended="interrupted")
    progress.send(outcome.to_json())
    os._exit(0)  # answers are committed; a library's thread must not keep the process alive


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt; if the process hangs nevertheless, end it."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    timer = threading.Timer(_GRACE_SECONDS, os._exit, (_INTERRUPTED,))
    timer.daemon = True
    timer.start()
    raise KeyboardInterrupt


def _end_with_the_worker() -> None:
    """End when the worker ends: another worker may drive its project then."""
    worker = multiprocessing.parent_process()
    if worker is not None:
        worker.join()
        os._exit(1)


_KILLED = 130
_LONGEST_BUSY, _DOUBLINGS = 60.0, 10
"""The longest wait, in seconds, for a project that another process holds."""


class WorkerOptions(NamedTuple):
    """How a worker runs.

    Args:
        url: The URL of the database; if it names a project, the worker drives only that one.
        concurrency: How many projects it drives at once.
        once: Return when no project is ready.
        until_idle: Return when no project waits or is being driven.
        times: Intervals of the queue; set by tests.
    """

    url: str
    concurrency: int = 1
    once: bool = False
    until_idle: bool = False
    times: Times = Times()


class ProjectFailedError(Exception):
    """A project is not tried again; procrastinate marks its job as failed."""


def run_worker(options: WorkerOptions, report: Callable[[Event], None]) -> int:
    """Drive projects until a signal comes, or as the options say; a second signal kills the worker.

    Args:
        options: How the worker runs.
        report: Receives each event.

    Returns:
        How many projects failed.

    Raises:
        InputError: the URL is invalid or cannot be used.
        RefusedError: the database cannot be reached, or the queue cannot be created.
    """
    address = StoreAddress.parse(options.url)
    with closing(PostgresDatabase(address)) as database:
        JobQueue(database).prepare()
    silence()
    return asyncio.run(_Worker(options, address, report).run())


class _Worker:
    """A worker and its event loop."""

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
        """Run until a signal comes, or as the options say; return how many projects failed."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._signalled)
        worker = f"process {os.getpid()} on {socket.gethostname()}"
        self._report({"event": "started", "store": str(self._address), "worker": worker})
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
        """Drive a claimed project.

        Raises:
            TryLaterError: the project goes back into the queue.
            ProjectFailedError: the project is not tried again.
        """
        url, name = self._project(claim.project)
        if self._stopping:
            raise TryLaterError(0.0)
        self._report({"event": "begun", "project": name})
        outcome = await self._processes.drive(name, url)
        if outcome.ended == "busy":
            wait = min(_LONGEST_BUSY, outcome.wait * 2 ** min(claim.attempts, _DOUBLINGS))
            outcome = outcome.model_copy(update={"wait": wait})
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
        if error := outcome.error:
            event["error"] = {"what": error.what, "where": error.where, "do": error.remedy}
        with suppress(OSError):
            self._report(event)

    def _project(self, schema: str) -> tuple[str, str]:
        """Return the URL and the name of the project in a schema."""
        project = StoreAddress.project_of(schema)
        parts = urlsplit(self._options.url)
        query = [(name, value) for name, value in parse_qsl(parts.query) if name != "project"]
        query += [("project", project)] if project else []
        return urlunsplit(parts._replace(query=urlencode(query))), project or schema
