"""The queue's tables and jobs are procrastinate's, and written with what they are for (D46)."""

from pathlib import Path
from typing import NoReturn

import pytest
from procrastinate.schema import SchemaManager
from psycopg import sql

from specwright.bootstrap.stores import opened_store
from specwright.errors import InputError, RefusedError
from specwright.ports import FileTree
from specwright.work_queue import SCHEMA, JobQueue
from testkit.postgres import on_server, own_database
from testkit.postgres_projects import connected, prepared


def tables(url: str) -> dict[str, set[str]]:
    """The tables of the database, by schema."""
    with connected(url) as connection:
        rows = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE 'specwright%'"
        )
        found: dict[str, set[str]] = {}
        for schema, table in rows:
            found.setdefault(schema, set()).add(table)
    return found


def test_the_only_queue_is_the_library_s_in_a_schema_of_its_own(postgres_url: str, tmp_path: Path):
    """No queue, lease or lock table beside procrastinate's (D-46-07)."""
    with opened_store(tmp_path, postgres_url) as store, store.queueing():
        pass
    found = tables(postgres_url)
    assert all(name.startswith("procrastinate_") for name in found[SCHEMA])
    assert {"procrastinate_jobs", "procrastinate_workers"} <= found[SCHEMA]
    project = "specwright_" + postgres_url.rpartition("=")[2]
    assert not {name for name in found[project] if "job" in name or "lease" in name or "lock" in name}


def _refused(folder: FileTree) -> NoReturn:
    folder.replace("answer", b"yes")
    raise InputError("no")


def test_what_is_written_and_the_job_are_one_transaction(postgres_url: str, tmp_path: Path):
    """An answer without a job, or a job without its answer, is never there (D-46-04)."""
    with opened_store(tmp_path, postgres_url) as store:
        with pytest.raises(InputError), store.queueing():
            _refused(store.folder)
        assert not store.folder.exists("answer")
        assert store.jobs() == []
        with store.queueing() as add:
            store.folder.replace("answer", b"yes")
            add()
            with opened_store(tmp_path, postgres_url) as other:
                assert not other.folder.exists("answer")
                assert other.jobs() == []
        with opened_store(tmp_path, postgres_url) as other:
            assert other.folder.read("answer") == b"yes"
            (job,) = other.jobs()
        assert (job.claimed, job.due, job.attempts) == (False, None, 0)


def test_a_project_that_waits_is_queued_once(postgres_url: str, tmp_path: Path):
    """However often it is asked for (D-46-03)."""
    with opened_store(tmp_path, postgres_url) as store:
        for _ in range(3):
            with store.queueing() as add:
                add()
        assert len(store.jobs()) == 1


def test_what_a_person_wants_now_does_not_wait_for_a_job_that_is_tried_later(
    postgres_url: str, tmp_path: Path
):
    """A job that was put back does not keep a new one from being claimed (D-46-03)."""
    with opened_store(tmp_path, postgres_url) as store:
        with store.queueing() as add:
            add()
        with connected(postgres_url) as connection:
            connection.execute(f"SET search_path = {SCHEMA}")
            connection.execute(
                f"UPDATE {SCHEMA}.procrastinate_jobs SET scheduled_at = now() + interval '1 hour', priority = -1"
                f" WHERE queue_name = 'specwright_{postgres_url.rpartition('=')[2]}'"
            )
        for _ in range(3):
            with store.queueing() as add:
                add()
        now, later = store.jobs()
        assert now.due is None
        assert later.due is not None


def test_a_project_in_a_directory_has_no_queue(tmp_path: Path):
    """Workers reach no directory (D-46-03)."""
    with opened_store(tmp_path, "") as store:
        assert store.jobs() == []
        assert store.workers() == 0
        with pytest.raises(InputError, match="workers cannot drive"), store.queueing():
            pass


def columns(url: str) -> list[tuple[str, str]]:
    """The columns, indices and functions of the queue."""
    with connected(url) as connection:
        found = connection.execute(
            "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns WHERE table_schema = %s"
            " UNION SELECT indexname, '' FROM pg_indexes WHERE schemaname = %s"
            " UNION SELECT proname, pg_get_function_identity_arguments(p.oid) FROM pg_proc p"
            " WHERE pronamespace = %s::regnamespace",
            (SCHEMA,) * 3,
        ).fetchall()
    return sorted(found)


def test_a_queue_of_an_older_version_is_brought_up_to_date_and_a_newer_one_is_refused():
    """By procrastinate's own migrations, in one transaction (D-46-07)."""
    files = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    old = next(path for path in files if path.name.startswith("03.01.00_50"))
    with own_database() as fresh, own_database() as grown:
        with prepared(fresh) as database:
            JobQueue(database).prepare()
        with connected(grown) as connection:
            connection.execute(f"CREATE SCHEMA {SCHEMA}")
            connection.execute(f"SET search_path = {SCHEMA}")
            for path in files[: files.index(old) + 1]:
                connection.execute(path.read_text())
            connection.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '{old.name}'")
        with prepared(grown) as database:
            JobQueue(database).prepare()
        assert columns(grown) == columns(fresh)
        comment = sql.SQL("COMMENT ON SCHEMA {} IS '99.0_of_the_future.sql'").format(sql.Identifier(SCHEMA))
        on_server(comment, grown)
        with prepared(grown) as database, pytest.raises(RefusedError, match="newer version"):
            JobQueue(database).prepare()
