"""Real processes, really killed (D29, D32, DESIGN §4)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from log.damage import open_log
from log.writer import wires_of
from specwright.log.verify import verify

TESTS = Path(__file__).parents[1]
WRITER = Path(__file__).parent / "writer.py"


def start(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    """A writer of its own."""
    search = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(path), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )


def ids(path: Path) -> list[str]:
    """The Wires of the log, in order."""
    return [str(entry.wire["wire_id"]) for entry in open_log(path).entries()]


@pytest.mark.slow
def test_a_kill_loses_no_acknowledged_wire_and_a_second_run_doubles_none(tmp_path: Path):
    """`kill -9` in 50 places: what was acknowledged is there, once; the log is intact (D-S4-03, D-32-01)."""
    path = tmp_path / "log.sqlite"
    acknowledged: list[str] = []
    for kill in range(50):
        writer = start(path, 0, 9)
        assert writer.stdout is not None
        acknowledged += [writer.stdout.readline().strip() for _ in range(kill + 1)]
        writer.kill()
        acknowledged += writer.stdout.read().split()
        writer.wait()
        writer.stdout.close()

        found = ids(path)
        assert set(filter(None, acknowledged)) <= set(found)
        assert len(found) == len(set(found))
    assert start_and_wait(path, 0, 9) == 0
    assert ids(path) == [str(wire["wire_id"]) for task in range(9) for wire in wires_of(task)]
    assert verify(path) == []


@pytest.mark.slow
def test_two_processes_write_to_one_log_and_it_stays_one_log(tmp_path: Path):
    """Several processes may append; numbers stay dense and the chain whole (D-32-02, D-36-01)."""
    path = tmp_path / "log.sqlite"
    writers = [start(path, first, first + 8) for first in (0, 100, 200)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0

    assert len(ids(path)) == 3 * 8 * 6
    assert verify(path) == []


def start_and_wait(path: Path, first: int, last: int) -> int:
    """Run a writer to its end."""
    writer = start(path, first, last)
    writer.communicate()
    return writer.returncode
