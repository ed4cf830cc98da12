"""Runs the Alembic migrations on a given connection, or prints them as SQL for Postgres."""

from alembic import context

from agent_wire.mirror.model import METADATA

if context.is_offline_mode():
    context.configure(dialect_name="postgresql", target_metadata=METADATA, literal_binds=True)
else:
    context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
