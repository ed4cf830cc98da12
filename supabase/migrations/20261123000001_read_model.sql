-- The tables of the read model, made by docs/make_supabase_migrations.py from Alembic's revision 0001.

BEGIN;

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- Running upgrade  -> 0001

CREATE TABLE wire_logs (
    log_id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    topic_id TEXT NOT NULL,
    sequence_number BIGINT NOT NULL,
    consensus_seconds BIGINT NOT NULL,
    consensus_nanos INTEGER NOT NULL,
    running_hash TEXT NOT NULL,
    PRIMARY KEY (log_id)
);

CREATE TABLE wire_events (
    log_id TEXT NOT NULL,
    sequence_number BIGINT NOT NULL,
    consensus_seconds BIGINT NOT NULL,
    consensus_nanos INTEGER NOT NULL,
    running_hash TEXT NOT NULL,
    wire_id TEXT NOT NULL,
    type TEXT NOT NULL,
    sender TEXT NOT NULL,
    ts TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    stream_seq BIGINT NOT NULL,
    context_id TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    causation_id TEXT,
    category TEXT,
    terminal BOOLEAN,
    body TEXT NOT NULL,
    PRIMARY KEY (log_id, sequence_number)
);

CREATE UNIQUE INDEX ix_wire_events_stream ON wire_events (log_id, stream_id, stream_seq);

CREATE TABLE agent_tasks (
    log_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    context_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    stream_seq BIGINT NOT NULL,
    task_state TEXT NOT NULL,
    terminal BOOLEAN NOT NULL,
    claimed_by TEXT,
    blocked BOOLEAN NOT NULL,
    blocked_by JSONB,
    artifact_count INTEGER NOT NULL,
    verification JSONB,
    failure JSONB,
    definition_sha256 TEXT NOT NULL,
    parent_task_id TEXT,
    PRIMARY KEY (log_id, stream_id)
);

CREATE TABLE task_lineage (
    log_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    reference_task_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    context_id TEXT NOT NULL,
    PRIMARY KEY (log_id, stream_id, reference_task_id)
);

CREATE TABLE artifacts (
    log_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    version TEXT NOT NULL,
    context_id TEXT NOT NULL,
    wire_id TEXT NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    uri TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    input_count INTEGER,
    PRIMARY KEY (log_id, stream_id, artifact_id, version)
);

CREATE TABLE artifact_lineage (
    log_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    version TEXT NOT NULL,
    input TEXT NOT NULL,
    place INTEGER NOT NULL,
    context_id TEXT NOT NULL,
    PRIMARY KEY (log_id, stream_id, artifact_id, version, input)
);

CREATE TABLE project_decisions (
    log_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    event TEXT NOT NULL,
    subject TEXT NOT NULL,
    reference TEXT NOT NULL,
    context_id TEXT NOT NULL,
    wire_id TEXT NOT NULL,
    verdict TEXT,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (log_id, stream_id, event, subject, reference)
);

CREATE INDEX ix_wire_logs_context_id ON wire_logs (context_id);

CREATE INDEX ix_wire_events_context_id ON wire_events (context_id);

CREATE INDEX ix_agent_tasks_context_id ON agent_tasks (context_id);

CREATE INDEX ix_task_lineage_context_id ON task_lineage (context_id);

CREATE INDEX ix_artifacts_context_id ON artifacts (context_id);

CREATE INDEX ix_artifact_lineage_context_id ON artifact_lineage (context_id);

CREATE INDEX ix_project_decisions_context_id ON project_decisions (context_id);

INSERT INTO alembic_version (version_num) VALUES ('0001') RETURNING alembic_version.version_num;

COMMIT;
