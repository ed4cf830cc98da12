"""Real processes, really killed (D29, D32, DESIGN §4)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_wire.verify import verify
from testkit.sampling import nightly
from wire_testkit import writer
from wire_testkit.damage import open_log
from wire_testkit.writer import wire_of_rival, wires_of

WRITER = Path(writer.__file__)


def start(path: Path, *arguments: object) -> subprocess.Popen[str]:
    """A writer of its own."""
    search = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(path), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )


def ids(path: Path) -> list[str]:
    """The Wires of the log, in order."""
    return [str(entry.wire["wire_id"]) for entry in open_log(path).entries()]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [nightly(1), 4])
def test_a_kill_loses_no_acknowledged_wire_and_a_second_run_doubles_none(tmp_path: Path, threads: int):
    """`kill -9` in 50 places: what was acknowledged is there, once; the log is intact (D-S4-03, D-32-01).

    With four threads, the kill meets appends that wait for each other.
    """
    path = tmp_path / "log.sqlite"
    acknowledged: list[str] = []
    for kill in range(50):
        writer = start(path, 0, 9, threads)
        assert writer.stdout is not None
        acknowledged += [writer.stdout.readline().strip() for _ in range(kill + 1)]
        writer.kill()
        rest = writer.stdout.read()
        acknowledged += rest[: rest.rfind("\n") + 1].split()  # a line that was cut off acknowledges nothing
        writer.communicate()

        found = ids(path)
        assert set(filter(None, acknowledged)) <= set(found)
        assert len(found) == len(set(found))
    assert start_and_wait(path, 0, 9, threads) == 0
    everything = [str(wire["wire_id"]) for task in range(9) for wire in wires_of(task)]
    assert ids(path) == everything if threads == 1 else sorted(ids(path)) == everything
    assert verify(path) == []


@pytest.mark.slow
def test_of_two_processes_that_want_one_place_in_a_stream_one_wins(tmp_path: Path):
    """Two writers on one stream: one wins each place, the other gets a conflict (D-32-02)."""
    path, places = tmp_path / "log.sqlite", 40
    rivals = {name: start(path, "rival", name, places) for name in "AB"}
    outcomes = {name: rival.communicate("go\n")[0].splitlines() for name, rival in rivals.items()}
    found = ids(path)

    for place in range(1, places + 1):
        assert {outcomes[name][place - 1] for name in "AB"} == {f"{place} won", f"{place} stream.sequence"}
        winner = next(name for name in "AB" if outcomes[name][place - 1].endswith("won"))
        assert found[place - 1] == wire_of_rival(winner, place)["wire_id"]
    assert len(found) == places
    assert verify(path) == []


@pytest.mark.slow
def test_two_processes_write_to_one_log_and_it_stays_one_log(tmp_path: Path):
    """Several processes may append; numbers stay dense and the chain whole (D-32-02, D-36-01)."""
    path = tmp_path / "log.sqlite"
    writers = [start(path, first, first + 8, threads) for first, threads in ((0, 1), (100, 1), (200, 3))]
    for each in writers:
        each.communicate()
        assert each.returncode == 0

    assert len(ids(path)) == 3 * 8 * 6
    assert verify(path) == []


def start_and_wait(path: Path, *arguments: object) -> int:
    """Run a writer to its end."""
    writer = start(path, *arguments)
    writer.communicate()
    return writer.returncode
