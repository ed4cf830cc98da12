"""The tables of the read model (design: mirrors); `migrations/versions` creates them.

One database may hold the logs of many projects. Each row names its log, and the context that decides who may read it.
`wire_logs` says how far a log is mirrored; it moves in the transaction that writes the other rows.
"""

from sqlalchemy import JSON, BigInteger, Boolean, Column, Index, Integer, MetaData, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

METADATA = MetaData()

DOCUMENT = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""A small JSON object: as text in SQLite, binary in Postgres."""


def _key(*names: str) -> list[Column[str]]:
    return [Column(name, Text, primary_key=True) for name in names]


def _context() -> Column[str]:
    return Column("context_id", Text, nullable=False, index=True)


LOGS = Table(
    "wire_logs",
    METADATA,
    *_key("log_id"),
    _context(),
    Column("topic_id", Text, nullable=False),
    Column("sequence_number", BigInteger, nullable=False),
    Column("consensus_seconds", BigInteger, nullable=False),
    Column("consensus_nanos", Integer, nullable=False),
    Column("running_hash", Text, nullable=False),
)
"""A log by the id of its first Wire, with its last mirrored entry."""

EVENTS = Table(
    "wire_events",
    METADATA,
    *_key("log_id"),
    Column("sequence_number", BigInteger, primary_key=True, autoincrement=False),
    Column("consensus_seconds", BigInteger, nullable=False),
    Column("consensus_nanos", Integer, nullable=False),
    Column("running_hash", Text, nullable=False),
    Column("wire_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("sender", Text, nullable=False),
    Column("ts", Text, nullable=False),
    Column("stream_id", Text, nullable=False),
    Column("stream_seq", BigInteger, nullable=False),
    _context(),
    Column("correlation_id", Text, nullable=False),
    Column("causation_id", Text),
    Column("category", Text),
    Column("terminal", Boolean),
    Column("body", Text, nullable=False),
    Index("ix_wire_events_stream", "log_id", "stream_id", "stream_seq", unique=True),
)
"""Each Wire, its proof in columns of its own and its canonical bytes in `body`."""

TASKS = Table(
    "agent_tasks",
    METADATA,
    *_key("log_id", "stream_id"),
    _context(),
    Column("task_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("stream_seq", BigInteger, nullable=False),
    Column("task_state", Text, nullable=False),
    Column("terminal", Boolean, nullable=False),
    Column("claimed_by", Text),
    Column("blocked", Boolean, nullable=False),
    Column("blocked_by", DOCUMENT),
    Column("artifact_count", Integer, nullable=False),
    Column("verification", DOCUMENT),
    Column("failure", DOCUMENT),
    Column("definition_sha256", Text, nullable=False),
    Column("parent_task_id", Text),
)
"""Each attempt at a task, as `agent_wire.reducer.task_view` shows it."""

TASK_LINEAGE = Table(
    "task_lineage",
    METADATA,
    *_key("log_id", "stream_id", "reference_task_id"),
    Column("place", Integer, nullable=False),
    _context(),
)
"""The tasks that an attempt refers to, in their order."""

ARTIFACTS = Table(
    "artifacts",
    METADATA,
    *_key("log_id", "stream_id", "artifact_id", "version"),
    _context(),
    Column("wire_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("uri", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("input_count", Integer),
)
"""Each version that an attempt announced, with the task of its lineage; `input_count` if not all its inputs are listed."""

ARTIFACT_LINEAGE = Table(
    "artifact_lineage",
    METADATA,
    *_key("log_id", "stream_id", "artifact_id", "version", "input"),
    Column("place", Integer, nullable=False),
    _context(),
)
"""What a version was made from, in its order."""

DECISIONS = Table(
    "project_decisions",
    METADATA,
    *_key("log_id", "stream_id", "event", "subject", "reference"),
    _context(),
    Column("wire_id", Text, nullable=False),
    Column("verdict", Text),
    Column("sha256", Text, nullable=False),
)
"""The last word about each subject or gate, as `agent_wire.reducer.decision_view` shows it."""
