-- Who may read the read model, and who writes it (docs/mirror.md). For any Postgres; run it after the tables exist.
--
--   specwright_mirror   writes the rows; `specwright mirror` logs in as a member of it
--   specwright_reader   reads the rows of the projects that `project_readers` lists for a reader; nothing can be written
--
-- A reader is `role:NAME` for a login role, or `user:ID` for who comes through an API gateway as `authenticated`, by the
-- subject of the token. Nobody else sees a row.

BEGIN;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'specwright_mirror') THEN
        CREATE ROLE specwright_mirror NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'specwright_reader') THEN
        CREATE ROLE specwright_reader NOLOGIN;
    END IF;
END
$$;

CREATE TABLE project_readers (
    context_id TEXT NOT NULL,
    reader TEXT NOT NULL CHECK (reader ~ '^(role|user):.'),
    PRIMARY KEY (reader, context_id)
);

-- A schema that no gateway exposes.
CREATE SCHEMA specwright_access;
REVOKE ALL ON SCHEMA specwright_access FROM PUBLIC;
GRANT USAGE ON SCHEMA specwright_access TO specwright_reader;

-- The claims count only for `authenticated`, which a gateway sets; a login role could set them itself.
CREATE FUNCTION specwright_access.reader() RETURNS text
LANGUAGE sql STABLE SET search_path = ''
AS $$
    SELECT CASE
        WHEN current_user = 'authenticated'
        THEN 'user:' || (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
        ELSE 'role:' || session_user
    END
$$;
REVOKE ALL ON FUNCTION specwright_access.reader() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION specwright_access.reader() TO specwright_reader;

ALTER TABLE project_readers ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON project_readers FROM PUBLIC;
GRANT SELECT ON project_readers TO specwright_reader;
CREATE POLICY reader_sees_itself ON project_readers FOR SELECT TO specwright_reader
    USING (reader = (SELECT specwright_access.reader()));

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'wire_logs', 'wire_events', 'agent_tasks', 'task_lineage', 'artifacts', 'artifact_lineage', 'project_decisions'
    ]
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('REVOKE ALL ON %I FROM PUBLIC', name);
        EXECUTE format('GRANT SELECT ON %I TO specwright_reader', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO specwright_mirror', name);
        EXECUTE format(
            'CREATE POLICY reader_sees_its_projects ON %I FOR SELECT TO specwright_reader'
            ' USING (context_id IN (SELECT project_readers.context_id FROM project_readers))', name);
        EXECUTE format(
            'CREATE POLICY mirror_writes ON %I FOR ALL TO specwright_mirror USING (true) WITH CHECK (true)', name);
    END LOOP;
END
$$;

-- The mirror compares the version of the tables with its own.
ALTER TABLE alembic_version ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON alembic_version FROM PUBLIC;
GRANT SELECT ON alembic_version TO specwright_mirror;
CREATE POLICY mirror_reads ON alembic_version FOR SELECT TO specwright_mirror USING (true);

-- The roles of a gateway, where there is one: the platform grants them all on every new table.
DO $$
DECLARE
    role_name text;
    table_name text;
BEGIN
    FOR role_name IN SELECT rolname FROM pg_roles WHERE rolname IN ('anon', 'authenticated') LOOP
        FOREACH table_name IN ARRAY ARRAY[
            'wire_logs', 'wire_events', 'agent_tasks', 'task_lineage', 'artifacts', 'artifact_lineage',
            'project_decisions', 'project_readers', 'alembic_version'
        ]
        LOOP
            EXECUTE format('REVOKE ALL ON %I FROM %I', table_name, role_name);
        END LOOP;
    END LOOP;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'authenticated') THEN
        GRANT specwright_reader TO authenticated;
    END IF;
END
$$;

COMMIT;
