"""A module that hangs, floods or leaves processes behind is stopped in bounded time."""

import os
import time
from pathlib import Path

import pytest

from gate.judging import MODULES, codes, judge

ENTRY = "implementation/__init__.py"
SOURCE = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")


def _with(line, where="    words = "):
    return {ENTRY: SOURCE.replace(where, f"    {line}\n{where}", 1)}


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _vanishes(pid):
    for _ in range(100):
        if not _alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_module_that_hangs_is_stopped_and_leaves_no_process(tmp_path):
    """Rule 4, D-S8-11: the tests' process and what it started are gone when the verdict is there."""
    trace = tmp_path / "pids"
    line = (
        "import os, subprocess, sys; "
        'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]); '
        f"open({str(trace)!r}, 'a').write(f'{{os.getpid()}} {{child.pid}} '); "
        "import time; time.sleep(600)"
    )
    began = time.monotonic()
    verdict = judge("tally_words", _with(line), timeout_seconds=2.5)
    assert time.monotonic() - began < 15
    assert codes(verdict) == ["tests.timeout", "examples.broken"]
    assert verdict.findings[0].where == "tests/test_tally_words.py::test_each_word_is_counted"
    pids = [int(pid) for pid in trace.read_text().split()]
    assert len(pids) == 4  # the tests' process, the examples' process, and a child of each
    assert all(_vanishes(pid) for pid in pids)


@pytest.mark.slow
def test_a_module_that_hangs_when_it_is_imported_is_stopped():
    """Rule 4: there is no moment without a limit."""
    verdict = judge("tally_words", {ENTRY: "while True: pass\n" + SOURCE}, timeout_seconds=1.5)
    assert codes(verdict) == ["tests.timeout", "examples.broken"]


@pytest.mark.slow
def test_a_thread_that_stays_does_not_keep_the_run():
    """Rule 4: a run ends with its tests, not with what they left behind."""
    line = "import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()"
    began = time.monotonic()
    assert judge("tally_words", _with(line)).passed
    assert time.monotonic() - began < 15


@pytest.mark.slow
def test_a_child_that_outlives_a_passing_run_is_stopped(tmp_path):
    """D-S8-11: a passing module leaves no process either."""
    trace = tmp_path / "pids"
    line = (
        "import subprocess, sys; "
        'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]); '
        f"open({str(trace)!r}, 'a').write(f'{{child.pid}} ')"
    )
    judge("tally_words", _with(line))
    pids = [int(pid) for pid in trace.read_text().split()]
    assert pids
    assert all(_vanishes(pid) for pid in pids)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [1, 2])
def test_a_module_that_floods_its_output_is_stopped(stream):
    """Rule 4: output is bounded; nothing of it fills the factory's memory."""
    verdict = judge("tally_words", _with(f"import os\n    while True: os.write({stream}, b'x' * 65536)"))
    assert codes(verdict) == ["tests.output", "examples.broken"]


@pytest.mark.slow
def test_a_module_that_fills_the_disk_is_refused():
    """D-S8-11: a file of a run has a limit."""
    verdict = judge("tally_words", _with("open('big', 'wb').write(b'x' * (65 << 20))"))
    assert "tests.failed" in codes(verdict) or "tests.incomplete" in codes(verdict)


def test_the_directory_of_a_run_is_gone_afterwards(tmp_path):
    """D20: a verdict leaves nothing behind but itself."""
    trace = tmp_path / "places"
    assert judge(
        "tally_words", _with(f"import os; open({str(trace)!r}, 'a').write(os.getcwd() + '\\n')")
    ).passed
    places = set(trace.read_text().split())
    assert len(places) == 3
    assert not any(Path(place).exists() for place in places)
