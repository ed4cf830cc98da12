"""A file of a received project that is a pipe, a device, a link to itself, endless, or nested without end: each command ends
within seconds with one message, and takes no more memory than a machine has."""

import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from testkit.cli.commands import specwright
from testkit.sampling import spread
from testkit.spoilt_projects import KINDS, broken_commands

FILES = (
    "SPEC.md",
    "specwright.toml",
    ".specwright/journal.jsonl",
    ".specwright/run.json",
    ".specwright/last_stop.json",
    ".specwright/at_work.json",
    ".specwright/wire.db",
    "state_store/project/state_machine.json",
    "state_store/product/spec.json",
    "state_store/product/history.json",
    "state_store/code_index/index.db",
    "state_store/modules/*/*/contract.json",
    "state_store/modules/*/*/ship.json",
    "state_store/releases/*/manifest.json",
    "state_store/releases/*/acceptance.json",
    "state_store/releases/*/*.whl",
)
COMMANDS = (
    ("status", "{}"),
    ("verify", "{}"),
    ("export", "{}", "{}.tar"),
    ("tasks", "{}"),
    ("costs", "{}"),
    ("trace", "TSK-001", "{}"),
    ("modules", "{}"),
    ("escalations", "{}"),
    ("wire", "verify", "{}"),
    ("doctor", "{}"),
)


@pytest.mark.parametrize(
    ("kind", "commands"),
    [
        ("a pipe", COMMANDS[:1]),
        ("nested lists", COMMANDS[:2]),
        *spread([(kind, COMMANDS) for kind in KINDS], slow=4),
    ],
)
@pytest.mark.timeout(600)
def test_no_file_makes_a_command_hang_or_break(
    released_once: Path, tmp_path: Path, kind: str, commands: tuple[tuple[str, ...], ...]
):
    """Each file of the project in turn, each command (hostile-projects, dos)."""
    assert broken_commands(released_once, tmp_path, kind, FILES, commands) == []


@pytest.mark.parametrize(
    "words", [("status",), ("verify",), ("export", "{}.tar")], ids=lambda words: words[0]
)
def test_a_log_whose_table_is_an_endless_view_is_refused(
    released_once: Path, tmp_path: Path, words: tuple[str, ...]
):
    """A view in the place of a table has rows without end (hostile-projects, weaknesses)."""
    project = Path(shutil.copytree(released_once, tmp_path / "project", symlinks=True))
    with closing(sqlite3.connect(project / ".specwright/wire.db")) as log, log:
        columns = [row[1] for row in log.execute("PRAGMA table_info(entry)")]
        for (trigger,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            log.execute(f"DROP TRIGGER {trigger}")
        log.execute("ALTER TABLE entry RENAME TO old")
        log.execute(
            "CREATE VIEW entry AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            f"SELECT {', '.join('i AS ' + name for name in columns)} FROM n"
        )
    seen = specwright(words[0], project, *(word.format(project) for word in words[1:]))
    assert seen.code == 1
    assert "view" in f"{seen.out}{seen.err}"


@pytest.mark.parametrize("content", ["spaces", "brackets"])
def test_a_wheel_that_unpacks_without_end_is_damaged(released_once: Path, tmp_path: Path, content: str):
    """A file that fills the memory, and a source that exhausts the parser (hostile-projects, wheel-bomb)."""
    project = Path(shutil.copytree(released_once, tmp_path / "project", symlinks=True))
    (wheel,) = project.glob("state_store/releases/*/*.whl")
    package = wheel.name.partition("-")[0]
    source = b"(" * 200_000 if content == "brackets" else b"\n" * (40 << 20) + b"__all__ = ['a']\n"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", source)
    seen = specwright("status", project)
    assert (seen.code, "wheel is damaged" in seen.err) == (1, True), seen
