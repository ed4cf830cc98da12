"""Processes import nothing from the working directory, which may be a project that somebody sent (case studio-cwd-rce)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from specwright.studio.actions import Command, Jobs

_WORKER = """
import asyncio
from specwright.bootstrap.worker import DriveProcesses
if __name__ == "__main__":
    processes = DriveProcesses(lambda project, step: None)
    print(asyncio.run(processes.drive("p", "postgresql://nobody@127.0.0.1:1/none")))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with modules that leave a mark when they are imported."""
    place = tmp_path / "here"
    place.mkdir()
    for name in ("typer", "json", "specwright"):
        (place / f"{name}.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'w')\nraise SystemExit(1)\n")
    monkeypatch.chdir(place)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    return place


def test_a_command_of_the_studio_imports_nothing_from_there(here: Path, tmp_path: Path):
    """`python -m` would look there first (case studio-cwd-rce)."""
    job = Jobs().start("p", Command(("status", "nowhere")))
    assert job.wait(60)
    assert not (tmp_path / "marker").exists()
    assert job.failure is not None
    assert "said nothing" not in job.failure.what


def test_a_worker_imports_nothing_from_there(here: Path, tmp_path: Path):
    """The server from which it forks its processes is a Python of its own."""
    script = tmp_path / "scripts/worker.py"  # as an installed program is: its own folder is looked into first
    script.parent.mkdir()
    script.write_text(_WORKER)
    ended = subprocess.run(
        [sys.executable, str(script)],
        cwd=here,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not (tmp_path / "marker").exists(), ended.stderr
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "words", [("status", "."), ("index", "search", "x", "."), ("gate", "--seconds", "0", ".")]
)
def test_the_program_imports_nothing_from_there(here: Path, tmp_path: Path, words: tuple[str, ...]):
    """An installed program looks beside itself first, and never where it is started."""
    program = Path(sys.executable).with_name("specwright")
    ended = subprocess.run(
        [program, *words], cwd=here, capture_output=True, text=True, timeout=120, check=False
    )
    assert not (tmp_path / "marker").exists()
    assert ended.returncode in (1, 2), ended
    assert ended.stderr.startswith("specwright: "), ended
