"""Claims projects from the queue and has each driven: procrastinate's worker, and what it leaves to its user (design:
workers).

procrastinate claims, sends heartbeats, retries and finds the jobs of dead workers; here is what happens to these, and how
a worker goes on after the network was cut.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import psycopg
from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.worker import Worker

from specwright.errors import RefusedError
from specwright.postgres import KEEPALIVES, SESSION, StoreAddress
from specwright.queue.jobs import AFTER_OTHERS, ALIVE_SECONDS, DRIVE, SCHEMA

_RESCUE = "rescue"
_FIRST = 1
"""The priority of a job that a dead worker had."""
_LONGEST_PAUSE = 15.0
_POOL_SECONDS = 10.0
_CONNECTIONS = 3
"""Beside one for each project: heartbeat, claims, the listener has one of its own."""


class TryLaterError(Exception):
    """A project is put back into the queue.

    Args:
        seconds: For how long it may not be claimed.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"tried again in {seconds:g} s")
        self.seconds = seconds


class Claim(NamedTuple):
    """A job that this worker has.

    Args:
        project: The schema of the project.
        number: Of the job.
        attempts: How often it was put back.
    """

    project: str
    number: int
    attempts: int


class Times(NamedTuple):
    """Seconds.

    Args:
        alive: A worker that has not been heard of for so long is taken for dead.
        rescue: Between two searches for the jobs of dead workers.
        polling: Between two looks for jobs whose time has come; new ones are announced by the server.
    """

    alive: float = ALIVE_SECONDS
    rescue: int = 15
    polling: float = 5.0


class QueueWorker:
    """A worker; `run` runs it.

    Args:
        address: Of the database; with the name of a project, of that one alone.
        drive: Drives a project to its next stop. Raises `TryLaterError` to have it put back.
        concurrency: How many projects at once.
        cut: Told why, when the connection to the queue is lost.
        times: For tests.
    """

    def __init__(
        self,
        address: StoreAddress,
        drive: Callable[[Claim], Awaitable[None]],
        concurrency: int,
        cut: Callable[[str], None],
        times: Times = Times(),  # noqa: B008  # immutable
    ) -> None:
        self._address = address
        self._drive = drive
        self._cut = cut
        self._concurrency = concurrency
        self._times = times
        self._stopping = asyncio.Event()
        self._worker: Worker | None = None
        self._connector = PsycopgConnector(
            conninfo=address.url,
            min_size=1,
            max_size=concurrency + _CONNECTIONS,
            timeout=_POOL_SECONDS,
            reconnect_timeout=_POOL_SECONDS,
            kwargs={
                "options": " ".join(f"-c {setting}" for setting in (*SESSION, f"search_path={SCHEMA}")),
                "connect_timeout": int(_POOL_SECONDS),
                **KEEPALIVES,
            },
        )
        self._app = App(connector=self._connector)
        self._app.task(name=DRIVE, pass_context=True, retry=_Retry())(self._carry_out)
        rescue = self._app.task(name=_RESCUE, queue=SCHEMA, queueing_lock=_RESCUE)(self._rescue)
        self._app.periodic(cron=f"* * * * * */{times.rescue}")(rescue)

    def stop(self) -> None:
        """Claim nothing more; `run` returns when the projects that are driven are put back or done."""
        self._stopping.set()
        if self._worker is not None:
            self._worker.stop()

    async def run(self, *, wait: bool = True, until_idle: bool = False) -> None:
        """Drive projects until `stop` is called.

        Args:
            wait: Wait for more when no project is ready.
            until_idle: Return once no project waits or is driven, here or by another worker.

        Raises:
            RefusedError: the queue cannot be reached at the beginning.
        """
        pause, reached = 1.0, False
        while not self._stopping.is_set():
            try:
                async with self._connected():
                    reached, pause = True, 1.0
                    await self._rescue()
                    await self._session(wait=wait, until_idle=until_idle)
                    if not wait:
                        return
            except (ConnectorException, psycopg.Error) as error:
                if not reached:
                    raise _unreachable(self._address, error) from error
                self._cut(_reason(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[None]:
        """The connections to the queue; what cannot be closed any more is left behind."""
        try:
            await self._app.open_async()
            yield
        finally:
            with suppress(ConnectorException, psycopg.Error):
                await self._app.close_async()

    async def _session(self, *, wait: bool, until_idle: bool) -> None:
        """Procrastinate's worker, until it ends."""
        self._worker = worker = Worker(
            self._app,
            queues=[self._address.schema, SCHEMA] if self._address.project else None,
            concurrency=self._concurrency,
            wait=wait or until_idle,
            fetch_job_polling_interval=self._times.polling,
            delete_jobs=DeleteJobCondition.SUCCESSFUL,
            install_signal_handlers=False,
            update_heartbeat_interval=self._times.alive / 3,
            stalled_worker_timeout=self._times.alive,
        )
        if self._stopping.is_set():
            return
        idle = asyncio.create_task(self._stop_when_idle(worker)) if until_idle else None
        try:
            await worker.run()
        finally:
            self._worker = None
            if idle is not None:
                idle.cancel()

    async def _stop_when_idle(self, worker: Worker) -> None:
        while True:
            await asyncio.sleep(min(1.0, self._times.polling))
            with suppress(ConnectorException):
                if not await self._unfinished():
                    self._stopping.set()
                    worker.stop()
                    return

    async def _unfinished(self) -> list[Job]:
        """The jobs that wait or are claimed, of the projects that this worker takes."""
        project = self._address.schema if self._address.project else None
        jobs = await self._app.job_manager.list_jobs_async(task=DRIVE, queue=project)
        return [job for job in jobs if job.status in (Status.TODO.value, Status.DOING.value)]

    async def _carry_out(self, context: JobContext, again: int = 0) -> None:
        """The task of a job."""
        job = context.job
        await self._drive(Claim(job.queue, job.id or 0, job.attempts + again))

    async def _rescue(self, timestamp: int = 0) -> None:
        """Give the jobs of dead workers to others.

        Each gets a successor and is deleted, so that a worker that was only cut off cannot end its successor.
        """
        manager = self._app.job_manager
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self._times.alive):
            if job.task_name == DRIVE:
                await self._add_successor(job)
            with suppress(ConnectorException):  # another worker was faster
                await manager.finish_job_by_id_async(job.id or 0, Status.ABORTED, delete_job=True)

    async def _add_successor(self, job: Job) -> None:
        with suppress(AlreadyEnqueued):
            await self._app.configure_task(
                DRIVE,
                queue=job.queue,
                lock=job.queue,
                queueing_lock=f"{job.queue} rescued",
                priority=_FIRST,
            ).defer_async(again=job.attempts + 1)


class _Retry(BaseRetryStrategy):
    """Puts a project back if its driver asks for it."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """When to try again; None for never."""
        if not isinstance(exception, TryLaterError):
            return None
        milliseconds = round(1000 * exception.seconds)
        return RetryDecision(
            retry_in={"milliseconds": milliseconds}, priority=AFTER_OTHERS if exception.seconds else None
        )


def silence() -> None:
    """Keep procrastinate's own log out of the output: what a person needs is in the events of the worker."""
    for name in ("procrastinate", "psycopg", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _unreachable(address: StoreAddress, error: BaseException) -> RefusedError:
    return RefusedError(
        f"the queue of the workers cannot be reached: {_reason(error)}",
        where=str(address),
        remedy="start the server, or correct the address",
    )


def _reason(error: BaseException) -> str:
    cause: Any = error.__cause__ or error
    return (str(cause).strip() or type(cause).__name__).splitlines()[0]
