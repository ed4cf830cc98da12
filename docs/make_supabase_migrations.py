"""Writes the first migrations of supabase/migrations: the tables, as Alembic creates them in Postgres.

    .venv/bin/python docs/make_supabase_migrations.py

A file for each revision of `agent_wire/mirror/migrations/versions`, with the number of the revision in its name. Who may
read and write the tables is in files of their own there, written by hand. packages/wire/tests/mirror/test_supabase.py
compares both.
"""

import io
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory

from agent_wire.mirror.model import migrations

FOLDER = Path(__file__).parents[1] / "supabase" / "migrations"
_HEAD = """\
-- The tables of the read model, made by docs/make_supabase_migrations.py from Alembic's revision {revision}.

"""


def files() -> dict[str, str]:
    """The text of each file by its name."""
    script = ScriptDirectory.from_config(migrations())
    revisions = reversed(list(script.walk_revisions()))
    return {
        f"{20261123000000 + int(one.revision)}_read_model.sql": _HEAD.format(revision=one.revision)
        + _sql(f"{one.down_revision or 'base'}:{one.revision}")
        for one in revisions
    }


def _sql(revisions: str) -> str:
    config = migrations()
    config.output_buffer = io.StringIO()
    command.upgrade(config, revisions, sql=True)
    lines = (line.rstrip() for line in config.output_buffer.getvalue().splitlines())
    return "\n".join(lines).replace("\n\n\n", "\n\n").strip() + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
