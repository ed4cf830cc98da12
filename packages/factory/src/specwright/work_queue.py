"""The queue of projects that wait for a worker, in tables of procrastinate in a schema of their own (design: workers).

A job says only that a project is to be driven to its next stop; the answers that a person gave are stored in the project. A
job's queue and lock are the project's schema, so procrastinate gives a project to one worker at a time. procrastinate
claims jobs, sends heartbeats, retries, and finds the jobs of dead workers. This module decides what happens to those jobs,
and how a worker continues after the network was cut.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

import psycopg
from procrastinate import (
    App,
    BaseRetryStrategy,
    JobContext,
    PsycopgConnector,
    RetryDecision,
    SyncPsycopgConnector,
)
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Job, Status
from procrastinate.schema import SchemaManager
from procrastinate.worker import Worker
from psycopg import sql

from specwright.errors import RefusedError
from specwright.postgres import KEEPALIVES, SESSION, PostgresDatabase, StoreAddress

SCHEMA = "specwright__workers"
"""No project can have this name: that of a project begins with a letter."""
DRIVE = "drive"
"""The task of a job."""
AFTER_OTHERS = -1
"""The priority of a job that waits to be tried again: what a person asks for meanwhile need not wait for it."""
ALIVE_SECONDS = 30.0
"""A worker that has not been heard of for so long is taken for dead."""


class QueuedJob(NamedTuple):
    """A job of a project.

    Args:
        claimed: Whether a worker has it.
        since: When it was put into the queue, claimed, or put back.
        due: When it may be claimed; None for now.
        attempts: How often it was put back.
    """

    claimed: bool
    since: datetime
    due: datetime | None
    attempts: int


class JobQueue:
    """The jobs of a project.

    Args:
        database: Of the project, whose connection is used.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def prepare(self) -> None:
        """Make procrastinate's tables, or bring them up to date, in one transaction.

        Raises:
            RefusedError: they are of a newer version, or the login may not make them.
        """
        if self._version() == _files()[-1].name:
            return
        with self._database.writing() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"{SCHEMA} is made",))
            missing = self._missing(self._version())
            if not missing:
                return
            raw = self._database.connection
            raw.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
            self._enter(SCHEMA)
            for statements in missing:
                raw.execute(cast(Any, statements))
            comment = sql.SQL("COMMENT ON SCHEMA {} IS {}")
            raw.execute(comment.format(sql.Identifier(SCHEMA), sql.Literal(_files()[-1].name)))

    def add(self) -> None:
        """Put the project into the queue, in the transaction of the caller; if it waits there, once is enough."""
        app = App(connector=SyncPsycopgConnector())
        self._enter(f"{self._database.schema}, {SCHEMA}")
        # a job that waits to be tried again must not keep back what a person wants now
        for queueing_lock in (self._database.schema, f"{self._database.schema} now"):
            try:
                with self._database.connection.transaction():
                    app.configure_task(
                        DRIVE,
                        queue=self._database.schema,
                        lock=self._database.schema,
                        queueing_lock=queueing_lock,
                        connection=self._database.connection,
                    ).defer()
            except AlreadyEnqueued:
                if any(not job.claimed and job.due is None for job in self.jobs()):
                    return
            else:
                return

    def jobs(self) -> list[QueuedJob]:
        """The jobs of the project that are not done, the claimed one first."""
        if not self._version():
            return []
        with self._database.reading() as connection:
            rows = connection.execute(
                f"""SELECT status = 'doing', coalesce(max(e.at), now()),
                           CASE WHEN scheduled_at > now() THEN scheduled_at END, attempts
                    FROM {SCHEMA}.procrastinate_jobs j LEFT JOIN {SCHEMA}.procrastinate_events e ON e.job_id = j.id
                    WHERE queue_name = ? AND status IN ('todo', 'doing') GROUP BY j.id
                    ORDER BY status = 'todo', priority DESC, j.id""",  # noqa: S608  # a constant
                (self._database.schema,),
            ).fetchall()
        return [QueuedJob(*row) for row in rows]

    def workers(self) -> int:
        """How many workers were heard of lately, whichever project they drive."""
        if not self._version():
            return 0
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT count(*) FROM {SCHEMA}.procrastinate_workers"  # noqa: S608  # a constant
                " WHERE last_heartbeat > now() - make_interval(secs => ?)",
                (ALIVE_SECONDS,),
            ).fetchone()
        return int(row[0]) if row else 0

    def _enter(self, schemas: str) -> None:
        """Have names found in these schemas until the transaction ends."""
        with self._database.writing() as connection:
            connection.execute("SELECT set_config('search_path', ?, true)", (schemas,))

    def _version(self) -> str:
        """The newest migration that the tables have; empty without tables."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = ?", (SCHEMA,)
            ).fetchone()
        return str(row[0] or "") if row else ""

    def _missing(self, version: str) -> list[str]:
        """The statements that bring the tables up to date."""
        if not version:
            return [SchemaManager.get_schema()]
        if version > _files()[-1].name:
            raise RefusedError(
                "the queue of the workers is of a newer version",
                where=self._database.address,
                remedy="install the version of Specwright that its workers have",
            )
        return [path.read_text(encoding="utf-8") for path in _files() if path.name > version]


def _files() -> list[Path]:
    """The migrations that procrastinate ships, in their order."""
    return sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))


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
