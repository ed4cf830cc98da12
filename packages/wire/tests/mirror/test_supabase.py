"""The SQL migrations make the schema of Alembic, and row level security holds against whoever reads (D47).

Roles belong to the whole server: the two of the migration and the three of a gateway stay there, login roles are made
for the test and dropped.
"""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from psycopg import sql
from sqlalchemy.pool import NullPool

from agent_wire.log import SqliteWireLog
from agent_wire.mirror import Mirror
from agent_wire.mirror.model import METADATA, ReadModel, open_engine, read_url, upgrade
from testkit.documents import generator_of
from testkit.paths import ROOT
from testkit.postgres import on_server, own_database
from wire_testkit.damage import TOPIC, open_log
from wire_testkit.project_story import project
from wire_testkit.story import CONTEXT

MIGRATIONS = sorted((ROOT / "supabase" / "migrations").glob("*.sql"))
OTHER = "project:other-0a1b2c3d"
TABLES = sorted(METADATA.tables)
ALL = [*TABLES, "project_readers", "alembic_version"]
REFUSED = "42501"

_ROLES = """
DO $$
DECLARE name text;
BEGIN
    PERFORM pg_advisory_lock(7401);
    FOREACH name IN ARRAY ARRAY['anon', 'authenticated', 'specwright_mirror', 'specwright_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
    PERFORM pg_advisory_unlock(7401);
END $$
"""
_AS_THE_PLATFORM = "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO anon, authenticated"


class Supabase(NamedTuple):
    """A database with the migrations applied, two mirrored projects, and who logs in there.

    Args:
        url: Of its owner.
        reader: A login role that may read the first project.
        other: One that may read the second.
        gateway: One that may act as `authenticated` and `anon`.
        mirror: One that may write.
        stranger: One that may do nothing.
    """

    url: str
    reader: str
    other: str
    gateway: str
    mirror: str
    stranger: str

    def url_of(self, role: str) -> str:
        """The URL by which a role logs in."""
        return self.url.replace("://postgres@", f"://{role}@")


@contextmanager
def migrated_database() -> Iterator[str]:
    """An empty database that a platform has prepared, after the migrations."""
    with own_database() as url:
        on_server(sql.SQL(_ROLES))
        on_server(sql.SQL(_AS_THE_PLATFORM), url)
        for path in MIGRATIONS:
            on_server(sql.SQL(path.read_text(encoding="utf-8")), url)
        yield url


@pytest.fixture(scope="module")
def supabase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supabase]:
    """The database; its rows were written by a mirror that logged in as one."""
    suffix = secrets.token_hex(4)
    names = [f"{name}_{suffix}" for name in ("reader", "other", "gateway", "mirror", "stranger")]
    with migrated_database() as url:
        found = Supabase(url, *names)
        grants = {
            found.reader: ["specwright_reader"],
            found.other: ["specwright_reader"],
            found.gateway: ["authenticated", "anon"],
            found.mirror: ["specwright_mirror"],
            found.stranger: [],
        }
        try:
            for name, groups in grants.items():
                inherit = sql.SQL("NOINHERIT" if name == found.gateway else "INHERIT")
                on_server(sql.SQL("CREATE ROLE {} LOGIN {}").format(sql.Identifier(name), inherit))
                for group in groups:
                    on_server(sql.SQL("GRANT {} TO {}").format(*map(sql.Identifier, (group, name))))
            _fill(found, tmp_path_factory.mktemp("logs"))
            yield found
        finally:
            for name in names:
                on_server(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


def _fill(found: Supabase, folder: Path) -> None:
    for number, context in enumerate((CONTEXT, OTHER)):
        log: SqliteWireLog = open_log(folder / f"{number}.db")
        log.append(project(context, first_id=1 + 1000 * number))
        model = ReadModel(found.url_of(found.mirror))
        assert Mirror(log, TOPIC, model).catch_up().lag == 0
        model.close()
        log.close()
    readers = [
        (CONTEXT, f"role:{found.reader}"),
        (OTHER, f"role:{found.other}"),
        (CONTEXT, "user:ana"),
        (OTHER, "user:ben"),
    ]
    with psycopg.connect(found.url) as connection:
        connection.cursor().executemany("INSERT INTO project_readers VALUES (%s, %s)", readers)
        connection.execute("ANALYZE")


def attempt(url: str, *statements: str) -> Any:
    """The rows of the last of some statements, or the SQLSTATE with which one is refused; nothing stays."""
    with psycopg.connect(url) as connection:
        try:
            for statement in statements:
                cursor = connection.execute(sql.SQL(statement))
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            return error.sqlstate
        finally:
            connection.rollback()


def contents(url: str) -> dict[str, Any]:
    """Every row, as the owner sees it."""
    with psycopg.connect(url) as connection:
        return {
            name: connection.execute(
                sql.SQL("SELECT * FROM {} ORDER BY 1, 2").format(sql.Identifier(name))
            ).fetchall()
            if name != "alembic_version"
            else connection.execute("SELECT * FROM alembic_version").fetchall()
            for name in ALL
        }


def test_the_migrations_are_those_of_alembic():
    """The text of the tables is what Alembic would run; `docs/make_supabase_migrations.py` writes it (D-47-01)."""
    files = generator_of("make_supabase_migrations").files()

    assert {path.name: path.read_text() for path in MIGRATIONS if path.name in files} == files
    assert [path.name for path in MIGRATIONS][: len(files)] == [*files]


@pytest.mark.slow
def test_the_migrated_schema_is_that_of_the_program():
    """On an empty database: the same columns, keys and indexes as Alembic makes, and as the tables say (D-47-01)."""
    with migrated_database() as url, own_database() as by_alembic:
        engine = open_engine(read_url(by_alembic))
        upgrade(engine)
        engine.dispose()
        assert _schema(url) == _schema(by_alembic)
        for each in (url, by_alembic):
            with sa.create_engine(read_url(each), poolclass=NullPool).connect() as connection:
                context = MigrationContext.configure(connection, opts={"include_object": _is_ours})
                assert compare_metadata(context, METADATA) == []


def _is_ours(_: object, name: str | None, kind: str, *__: object) -> bool:
    return not (kind == "table" and name == "project_readers")


def _schema(url: str) -> list[Any]:
    columns = (
        "SELECT table_name, column_name, ordinal_position, data_type, is_nullable, column_default"
        " FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'project_readers' ORDER BY 1, 3"
    )
    indexes = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'project_readers'"
    with psycopg.connect(url) as connection:
        return [connection.execute(columns).fetchall(), sorted(connection.execute(indexes).fetchall())]


def test_each_table_of_the_schema_is_behind_row_level_security(supabase):
    """A table that a later migration adds does not stay open (D-47-03)."""
    with psycopg.connect(supabase.url) as connection:
        found = connection.execute(
            "SELECT relname, relrowsecurity FROM pg_class"
            " WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()
    assert found == [(name, True) for name in sorted(ALL)]


def test_a_reader_sees_its_project_and_no_other(supabase):
    """By login role and by the subject of a token; as many rows as the owner counts (D-47-03)."""
    for table in TABLES:
        look = f"SELECT context_id, count(*) FROM {table} GROUP BY 1"
        whole = dict(attempt(supabase.url, look))
        assert whole.keys() == {CONTEXT, OTHER}, table
        for role, subject, context in ((supabase.reader, "ana", CONTEXT), (supabase.other, "ben", OTHER)):
            expected = [(context, whole[context])]
            assert attempt(supabase.url_of(role), look) == expected, table
            assert attempt(supabase.url_of(supabase.gateway), *_as_user(subject), look) == expected, table


def _as_user(subject: str) -> tuple[str, ...]:
    """What a gateway does before it runs what a user of it asks for."""
    claims = json.dumps({"sub": subject, "role": "authenticated"})
    return "SET LOCAL ROLE authenticated", f"SET LOCAL request.jwt.claims = '{claims}'"


SEES_NOTHING = {
    "a token of nobody's": ("gateway", (*_as_user("eve"), "SELECT 1 FROM wire_events")),
    "a token without a subject": (
        "gateway",
        ("SET LOCAL ROLE authenticated", "SET LOCAL request.jwt.claims = '{}'", "SELECT 1 FROM agent_tasks"),
    ),
    "no token": ("gateway", ("SET LOCAL ROLE authenticated", "SELECT 1 FROM agent_tasks")),
    "a token with a role's name": ("gateway", (*_as_user("role:ana"), "SELECT 1 FROM agent_tasks")),
    "a forged token": (
        "reader",
        ("SET request.jwt.claims = '{\"sub\": \"ben\"}'", f"SELECT 1 FROM wire_events WHERE context_id = '{OTHER}'"),
    ),
    "the group itself": ("reader", ("SET ROLE specwright_reader", f"SELECT 1 FROM artifacts WHERE context_id = '{OTHER}'")),
    "other readers": ("reader", (f"SELECT 1 FROM project_readers WHERE context_id = '{OTHER}'",)),
    "what a failing condition betrays": (
        "reader",
        (f"SELECT 1 FROM wire_events WHERE 1 / (CASE WHEN context_id = '{OTHER}' THEN 0 ELSE 1 END) = 2",),
    ),
    "a join": (
        "reader",
        (f"SELECT 1 FROM wire_logs RIGHT JOIN wire_events USING (log_id) WHERE wire_events.context_id = '{OTHER}'",),
    ),
    "statistics": (
        "reader",
        (
            "SELECT 1 FROM pg_stats WHERE tablename = 'wire_events'"
            f" AND '{OTHER}' = ANY (most_common_vals::text::text[])",
        ),
    ),
}  # fmt: skip


def test_nothing_of_another_project_is_seen(supabase):
    """Each attempt gives no row, and no error that tells one (D-47-03)."""
    seen = {
        what: attempt(supabase.url_of(getattr(supabase, who)), *statements)
        for what, (who, statements) in SEES_NOTHING.items()
    }
    assert seen == {what: [] for what in SEES_NOTHING}


def _forbidden() -> dict[str, tuple[str, ...]]:
    """What neither a reader, nor a user of a gateway, nor a stranger may do."""
    found: dict[str, tuple[str, ...]] = {}
    for table in ALL:
        found[f"insert {table}"] = (f"INSERT INTO {table} DEFAULT VALUES",)
        column = "version_num" if table == "alembic_version" else "context_id"
        found[f"update {table}"] = (f"UPDATE {table} SET {column} = 'x'",)
        found[f"delete {table}"] = (f"DELETE FROM {table}",)
        found[f"truncate {table}"] = (f"TRUNCATE {table}",)
    return found | {
        "copy in": ("COPY wire_events FROM STDIN",),
        "copy to a program": ("COPY wire_events TO PROGRAM 'true'",),
        "copy to a file": ("COPY wire_events TO '/tmp/stolen'",),
        "lock": ("LOCK TABLE wire_events IN EXCLUSIVE MODE",),
        "select for update": ("SELECT 1 FROM wire_events FOR UPDATE",),
        "merge": (
            "MERGE INTO wire_logs USING (SELECT 1) AS s ON true WHEN MATCHED THEN DELETE",
        ),
        "anonymous block": ("DO $$ BEGIN DELETE FROM wire_events; END $$",),
        "create table": ("CREATE TABLE public.mine (x int)",),
        "create view": ("CREATE VIEW public.mine AS SELECT * FROM wire_events",),
        "create function": (
            "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        ),
        "replace the function": (
            "CREATE OR REPLACE FUNCTION specwright_access.reader() RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$",
        ),
        "create schema": ("CREATE SCHEMA mine",),
        "create in the other schema": ("CREATE TABLE specwright_access.mine (x int)",),
        "create extension": ("CREATE EXTENSION dblink",),
        "create role": ("CREATE ROLE mine",),
        "create database": ("COMMIT", "CREATE DATABASE mine"),
        "drop": ("DROP TABLE wire_events",),
        "alter": ("ALTER TABLE wire_events DISABLE ROW LEVEL SECURITY",),
        "trigger": (
            "CREATE TRIGGER mine BEFORE UPDATE ON wire_events FOR EACH ROW"
            " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        ),
        "policy": ("CREATE POLICY mine ON wire_events USING (true)",),
        "drop policy": ("DROP POLICY reader_sees_its_projects ON wire_events",),
        "become the owner": ("SET ROLE postgres",),
        "become the mirror": ("SET ROLE specwright_mirror",),
        "become another session": ("SET SESSION AUTHORIZATION postgres",),
        "grant oneself": ("GRANT specwright_mirror TO CURRENT_USER",),
        "passwords": ("SELECT * FROM pg_authid",),
        "files": ("SELECT pg_read_file('PG_VERSION')",),
        "a setting of the server": ("ALTER SYSTEM SET log_statement = 'all'",),
    }  # fmt: skip


FORBIDDEN = _forbidden()


@pytest.mark.parametrize("who", ["reader", "gateway", "stranger"])
def test_nothing_can_be_written_taken_or_become(supabase, who):
    """Every attempt is refused for want of rights, and every row is as it was (D-47-03)."""
    before = contents(supabase.url)
    first = _as_user("ana") if who == "gateway" else ()
    refused = {REFUSED, "25001", "0A000", "22023"}  # 25001: not in a transaction

    found = {
        what: attempt(supabase.url_of(getattr(supabase, who)), *first, *statements)
        for what, statements in FORBIDDEN.items()
    }

    assert {what: result for what, result in found.items() if str(result) not in refused} == {}
    assert sum(result == REFUSED for result in found.values()) > len(found) - 4
    assert contents(supabase.url) == before


def test_without_a_grant_nothing_is_read(supabase):
    """A login without a role of ours, and an anonymous user of the gateway, are refused; `row_security = off` makes the
    query fail, it does not open the table (D-47-03)."""
    for table in ALL:
        look = f"SELECT 1 FROM {table}"
        assert attempt(supabase.url_of(supabase.stranger), look) == REFUSED, table
        assert attempt(supabase.url_of(supabase.gateway), "SET LOCAL ROLE anon", look) == REFUSED, table
    off = ("SET row_security = off", "SELECT 1 FROM wire_events")
    assert attempt(supabase.url_of(supabase.reader), *off) == REFUSED


def test_the_mirror_writes_rows_and_nothing_else(supabase):
    """Its role neither changes the schema nor decides who reads; of a grant by it or a reader Postgres only warns, and it
    gives nothing (D-47-03)."""
    for statement in (
        "TRUNCATE wire_events",
        "DROP TABLE wire_events",
        "ALTER TABLE wire_events ADD COLUMN x int",
        "ALTER TABLE wire_events DISABLE ROW LEVEL SECURITY",
        "CREATE TABLE public.mine (x int)",
        "SELECT 1 FROM project_readers",
        "INSERT INTO project_readers VALUES ('project:x', 'role:x')",
        "UPDATE alembic_version SET version_num = '9'",
        "SET ROLE postgres",
        "SET ROLE authenticated",
    ):
        assert attempt(supabase.url_of(supabase.mirror), statement) == REFUSED, statement
    grant = "GRANT SELECT ON wire_events TO anon"
    granted = "SELECT 1 WHERE has_table_privilege('anon', 'wire_events', 'SELECT')"
    for who in (supabase.mirror, supabase.reader):
        assert attempt(supabase.url_of(who), grant, granted) == []
    assert attempt(supabase.url, grant, granted) == [(1,)]
