"""One driver per project: the second says who holds it, and exits 1 (DESIGN §4, §9; D9)."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from specwright.errors import BusyError
from specwright.storage import driver_lock, driver_of
from testkit.paths import TABKEEPER
from testkit.processes import process

_HOLDER = """
import sys, time
from pathlib import Path
from specwright.storage import driver_lock
with driver_lock(Path(sys.argv[1])):
    print("holding", flush=True)
    time.sleep(100)
"""
_SECOND = """
import sys
from specwright.cli.main import run
sys.argv = ["specwright", "run", sys.argv[1], "--spec", sys.argv[2], "--model", "playbook:" + sys.argv[3]]
sys.exit(run())
"""
_LOOKING = """
import sys
from pathlib import Path
from specwright.storage import driver_of
print("looking", flush=True)
while True:
    driver_of(Path(sys.argv[1]))
"""
EXAMPLE = TABKEEPER


@pytest.fixture
def holder(tmp_path: Path):
    """A process that drives the project."""
    holder = process(_HOLDER, tmp_path / "project" / ".specwright")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    yield holder
    holder.kill()
    holder.communicate()


def test_a_second_run_exits_1_and_writes_nothing(holder: Any, tmp_path: Path):
    """D-S4-08: the command line, as a person meets it; it says who drives."""
    project = tmp_path / "project"
    before = sorted(path.name for path in project.rglob("*"))
    second = process(_SECOND, project, EXAMPLE / "SPEC.md", EXAMPLE / "playbook", stderr=subprocess.PIPE)
    out, err = second.communicate()
    assert second.returncode == 1
    assert f"process {holder.pid} on {socket.gethostname()}" in err
    assert out == ""
    assert sorted(path.name for path in project.rglob("*")) == before


def test_a_second_driver_does_not_get_in_when_the_files_of_the_lock_are_deleted(holder: Any, tmp_path: Path):
    """D-S4-08: what is locked is not a file that somebody may tidy away."""
    runtime = tmp_path / "project" / ".specwright"
    for name in ("driver.lock", "driver.json"):
        (runtime / name).unlink(missing_ok=True)
    with pytest.raises(BusyError), driver_lock(runtime):
        pass
    assert driver_of(runtime) == "another process"


def test_a_note_with_the_number_of_a_foreign_process_is_no_driver(tmp_path: Path):
    """D-S4-08: a driver was killed and a living process has its number by now; the lock decides, and nobody holds it."""
    runtime = tmp_path / "project" / ".specwright"
    with driver_lock(runtime):
        pass
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as foreign:
        (runtime / "driver.json").write_text(json.dumps({"pid": foreign.pid, "host": socket.gethostname()}))
        assert driver_of(runtime) == ""
        with driver_lock(runtime):
            assert driver_of(runtime) == f"process {os.getpid()} on {socket.gethostname()}"
        assert foreign.poll() is None


def test_who_looks_sees_the_driver_whatever_its_note_says(holder: Any, tmp_path: Path):
    """D-S4-08: a holder without a note is still a holder; a killed one is not, note or no note."""
    runtime = tmp_path / "project" / ".specwright"
    assert driver_of(runtime) == f"process {holder.pid} on {socket.gethostname()}"
    note = (runtime / "driver.json").read_text()
    (runtime / "driver.json").unlink()
    assert driver_of(runtime) == "another process"
    (runtime / "driver.json").write_text(note)
    holder.kill()
    holder.wait()
    assert driver_of(runtime) == ""


def test_looking_keeps_no_driver_out(tmp_path: Path):
    """D-S4-08: while others look again and again, a driver gets the project every time, and a look writes nothing."""
    runtime = tmp_path / "project" / ".specwright"
    assert driver_of(runtime) == ""
    assert not runtime.exists()
    with driver_lock(runtime):
        pass
    looking = process(_LOOKING, runtime)
    assert looking.stdout is not None
    assert looking.stdout.readline() == "looking\n"
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        with driver_lock(runtime):
            pass
    looking.kill()
    looking.communicate()


def test_the_note_is_written_into_nothing_that_lies_there(tmp_path: Path):
    """A pipe would hold the driver up for ever, and a link leads to a file of somebody (hostile-projects)."""
    (tmp_path / "mine").write_text("kept")
    for lay in (os.mkfifo, lambda note: note.symlink_to(tmp_path / "mine")):
        lay(tmp_path / "driver.json")
        with driver_lock(tmp_path):
            assert json.loads((tmp_path / "driver.json").read_text())["pid"] == os.getpid()
    assert (tmp_path / "mine").read_text() == "kept"
