"""The queue's tables and the jobs in it: procrastinate's, in a schema of their own (design: workers).

A job says that a project is to be driven to its next stop, and nothing else: what a person answered stands in the
project. Its queue and its lock are the project's schema, so that procrastinate gives a project to one worker at a time.
"""

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from procrastinate import App, SyncPsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.schema import SchemaManager
from psycopg import sql

from specwright.errors import RefusedError
from specwright.postgres import PostgresDatabase

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
