"""Creates the tables of the first version."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None

_DOCUMENT = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    """Create the tables and their indexes."""
    _create_log_tables()
    _create_state_tables()
    for table in (
        *("wire_logs", "wire_events", "agent_tasks", "task_lineage"),
        *("artifacts", "artifact_lineage", "project_decisions"),
    ):
        op.create_index(f"ix_{table}_context_id", table, ["context_id"])


def _create_log_tables() -> None:
    op.create_table(
        "wire_logs",
        *_key("log_id"),
        _text("context_id"),
        _text("topic_id"),
        *_consensus(),
        sa.PrimaryKeyConstraint("log_id"),
    )
    op.create_table(
        "wire_events",
        *_key("log_id"),
        *_consensus(),
        *map(_text, ("wire_id", "type", "sender", "ts", "stream_id")),
        sa.Column("stream_seq", sa.BigInteger, nullable=False),
        *map(_text, ("context_id", "correlation_id")),
        sa.Column("causation_id", sa.Text),
        sa.Column("category", sa.Text),
        sa.Column("terminal", sa.Boolean),
        _text("body"),
        sa.PrimaryKeyConstraint("log_id", "sequence_number"),
    )
    op.create_index(
        "ix_wire_events_stream", "wire_events", ["log_id", "stream_id", "stream_seq"], unique=True
    )


def _create_state_tables() -> None:
    op.create_table(
        "agent_tasks",
        *_key("log_id", "stream_id"),
        *map(_text, ("context_id", "task_id")),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("stream_seq", sa.BigInteger, nullable=False),
        _text("task_state"),
        sa.Column("terminal", sa.Boolean, nullable=False),
        sa.Column("claimed_by", sa.Text),
        sa.Column("blocked", sa.Boolean, nullable=False),
        sa.Column("blocked_by", _DOCUMENT),
        sa.Column("artifact_count", sa.Integer, nullable=False),
        sa.Column("verification", _DOCUMENT),
        sa.Column("failure", _DOCUMENT),
        _text("definition_sha256"),
        sa.Column("parent_task_id", sa.Text),
        sa.PrimaryKeyConstraint("log_id", "stream_id"),
    )
    op.create_table("task_lineage", *_lineage("log_id", "stream_id", "reference_task_id"))
    op.create_table(
        "artifacts",
        *_key("log_id", "stream_id", "artifact_id", "version"),
        *map(_text, ("context_id", "wire_id", "name", "media_type", "uri", "sha256")),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        _text("task_id"),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("input_count", sa.Integer),
        sa.PrimaryKeyConstraint("log_id", "stream_id", "artifact_id", "version"),
    )
    op.create_table("artifact_lineage", *_lineage("log_id", "stream_id", "artifact_id", "version", "input"))
    op.create_table(
        "project_decisions",
        *_key("log_id", "stream_id", "event", "subject", "reference"),
        *map(_text, ("context_id", "wire_id")),
        sa.Column("verdict", sa.Text),
        _text("sha256"),
        sa.PrimaryKeyConstraint("log_id", "stream_id", "event", "subject", "reference"),
    )


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False)


def _key(*names: str) -> "list[sa.Column[str]]":
    return [_text(name) for name in names]


def _consensus() -> "list[sa.Column[int] | sa.Column[str]]":
    return [
        sa.Column("sequence_number", sa.BigInteger, nullable=False),
        sa.Column("consensus_seconds", sa.BigInteger, nullable=False),
        sa.Column("consensus_nanos", sa.Integer, nullable=False),
        _text("running_hash"),
    ]


def _lineage(*keys: str) -> "list[sa.Column[str] | sa.Column[int] | sa.PrimaryKeyConstraint]":
    place = sa.Column("place", sa.Integer, nullable=False)
    return [*_key(*keys), place, _text("context_id"), sa.PrimaryKeyConstraint(*keys)]
