"""A module that hangs, floods or leaves things behind is stopped in bounded time, and nothing of it remains."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import ship_gate
from gate_testkit.judging import MODULES, candidate
from gate_testkit.running import broken_off, run, survivors
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.process import Limits, SandboxKind
from ship_gate.sandbox.staging import stage, workspace
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.strength.check import Variant, run_variants, start_runner
from testkit.processes import until
from testkit.sampling import spread

ENTRY = "implementation/__init__.py"
SOURCE = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")


def _with(line):
    return {ENTRY: SOURCE.replace("    words = ", f"    {line}\n    words = ", 1)}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where the gate puts its directories, so that what it leaves can be told from what others do."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_module_that_hangs_is_stopped_and_leaves_nothing(place):
    """Rule 4, D-S8-11: processes and files are gone when the verdict is there, and the running test is named."""
    began = time.monotonic()
    seen = run(_with("import select; select.select((), (), (), 600)"), timeout_seconds=1.0)
    assert time.monotonic() - began < 15
    assert broken_off(seen) == {"tests.timeout", "examples.broken"}
    assert seen.findings[0].where == "tests/test_tally_words.py::test_each_word_is_counted"
    assert not survivors(place)
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    "line",
    spread(
        [
            "import select; select.select((), (), (), 600)",
            "while True: pass",
            "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
        ],
        fast=3,
    ),
    ids=["sleep", "loop", "expression"],
)
def test_a_call_has_a_limit_of_its_own(line):
    """D-S8-11: it ends long before the run's time is over, and no example is tried after it."""
    gate = SandboxedShipGate(60.0, static=False, limits=Limits(call_seconds=1.0))
    began = time.monotonic()
    verdict = gate.judge(candidate("tally_words", _with(line)), thorough=False)
    assert time.monotonic() - began < 30
    messages = {finding.code: finding.message for finding in verdict.findings}
    assert "examples.broken" not in messages
    assert "a call of the module did not come to its end within 1 seconds" in messages["tests.timeout"]


@pytest.mark.slow
def test_a_test_that_hangs_by_itself_is_stopped_as_well():
    """D-S8-11: nothing is heard of it."""
    source = "from modules.tally_words import tally_words\n\n\ndef test_a():\n    while True:\n        pass\n"
    gate = SandboxedShipGate(60.0, static=False, limits=Limits(call_seconds=1.0))
    files = {"tests/test_tally_words.py": source, "tests/obligations.json": "{}"}
    verdict = gate.judge(candidate("tally_words", files), thorough=False)
    assert (
        "a test did not come to its end within 1 seconds"
        in {f.code: f.message for f in verdict.findings}["tests.timeout"]
    )


KILLED = """
import os, signal, sys, tempfile
from ship_gate.sandbox.staging import workspace
tempfile.tempdir = sys.argv[1]
with workspace() as root:
    (root / "deep").mkdir()
    (root / "deep" / "file").write_text("left")
    os.utime(root, (1, 1))
    print(root, flush=True)
    end = int(sys.argv[2])
    if end != signal.SIGKILL:
        signal.signal(end, signal.SIG_DFL)  # who started the tests may ignore it
    os.kill(os.getpid(), end)
"""


@pytest.mark.parametrize(
    "signal_",
    spread([signal.SIGKILL, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP, signal.SIGABRT], fast=4, slow=2),
)
def test_what_a_killed_process_left_is_swept_at_the_next_start(place, signal_):
    """D-S8-11: and nothing that is in use, or that somebody else's program made."""
    subprocess.run(
        [sys.executable, "-c", KILLED, str(place), str(int(signal_))], check=False, capture_output=True
    )
    (left,) = place.iterdir()
    (place / "gate-notes.txt").write_text("mine")
    with workspace() as used:
        os.utime(used, (1, 1))
        with workspace():
            assert not left.exists()
            assert used.exists()
    assert [path.name for path in place.iterdir()] == ["gate-notes.txt"]


@pytest.mark.slow
def test_a_module_that_hangs_when_it_is_imported_is_stopped():
    """Rule 4: there is no moment without a limit."""
    seen = run({ENTRY: "while True: pass\n" + SOURCE}, timeout_seconds=1.0)
    assert broken_off(seen) == {"tests.timeout", "examples.broken"}


def test_a_thread_that_stays_does_not_keep_the_run(place):
    """Rule 4: a run ends with its tests, not with what they left behind."""
    began = time.monotonic()
    seen = run(_with("import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()"))
    assert seen.findings == ()
    assert time.monotonic() - began < 15
    assert not survivors(place)


@pytest.mark.parametrize("stream", [1, 2])
def test_a_module_that_floods_its_output_is_stopped(stream):
    """Rule 4: output is bounded; nothing of it fills the factory's memory."""
    seen = run(_with(f"import os\n    while True: os.write({stream}, b'x' * 65536)"))
    assert broken_off(seen) == {"tests.output", "examples.broken"}


def test_a_module_that_prints_without_end_is_stopped():
    """Rule 4: what is printed the ordinary way crosses the boundary, so it is bounded there."""
    seen = run(_with("print('x' * 300_000)"))
    assert broken_off(seen) == {"tests.output", "examples.broken"}


@pytest.mark.slow
def test_a_result_that_is_too_large_is_stopped():
    """Rule 4: a value that crosses has a limit."""
    seen = run(_with("return {'x' * (17 << 20): 1}"))
    assert broken_off(seen) == {"tests.boundary", "examples.broken"}


def test_a_module_that_writes_one_large_file_is_refused(place):
    """D-S8-11: a file of a run has a limit."""
    seen = run(_with("open('big', 'wb').write(b'x' * (17 << 20))"))
    assert "tests.failed" in broken_off(seen)
    assert not list(place.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood",
    [
        "[open(f'{n}', 'wb').write(b'x' * (8 << 20)) for n in range(1000)]",
        "[open(f'{n}', 'wb').close() for n in range(1_000_000)]",
    ],
    ids=["large files", "many files"],
)
def test_a_module_that_fills_the_disk_is_stopped(place, flood):
    """D-S8-11: the files of a run have a limit together, by size and by number."""
    assert "tests.disk" in broken_off(run(_with(flood)))
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    "left",
    spread(
        [
            "import os; [(os.mkdir('d'), os.chdir('d')) for _ in range(3000)]",
            "import os; os.mkdir('locked'); open('locked/x', 'w').close(); os.chmod('locked', 0)",
            "import os; os.symlink('/', 'root'); os.symlink('loop', 'loop'); os.mkfifo('pipe')",
            "import os; [open(bytes([n]) * 200, 'w').close() for n in range(128, 256)]",
        ],
        fast=4,
    ),
    ids=["deep", "locked", "links", "odd names"],
)
def test_whatever_a_module_leaves_is_removed(place, left):
    """D-S8-11: no file is left behind, however it is made."""
    run(_with(f"\n    try:\n        {left}\n    except OSError:\n        pass"))
    assert not list(place.iterdir())


def test_a_gate_that_is_killed_takes_its_processes_along(place, kind):
    """Rule 3, D-S8-11: nothing goes on without anybody who would stop it."""
    code = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from gate_testkit.running import run\nfrom test_bounds import _with\n"
        "run(_with('import select; select.select((), (), (), 600)'), kind=sys.argv[2], timeout_seconds=60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    gate = subprocess.Popen([sys.executable, "-c", code, str(place), kind], env=environment)
    inside = f"{place}/gate-"
    until(lambda: len(survivors(inside, 0)) >= 2)
    time.sleep(0.5)
    gate.kill()
    gate.wait()
    until(lambda: not survivors(inside, 0))


ATTEMPTS = """
import errno, os, sys

def _attempt(deed):
    try:
        deed()
    except OSError as error:
        assert error.errno == errno.EPERM, error
    else:
        raise AssertionError(deed)

_attempt(os.fork)
_attempt(lambda: os.kill(os.getppid(), 0))
_attempt(os.setsid)
_attempt(lambda: os.execv(sys.executable, ["python"]))
"""

CACHE = "__pycache__"
"""Of the files that it sees, their bytecode alone."""

SEES = """
import os, sys

def _is_there(path):
    try:
        return bool(os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1))
    except OSError:
        return False

assert _is_there({inside!r})
for _path in {others!r}:
    assert not _is_there(_path), _path
"""


def _variant(place, kind, before):
    """The run of the tests on a module with something before its source, in a sandbox of a kind."""
    whole = candidate("tally_words")
    staged = stage(place / "staged", whole, whole.files, Sandbox(SandboxKind(kind)))
    with start_runner(staged, draws=False) as runner:
        (ran,) = run_variants(
            staged, "tally_words", [Variant(ENTRY, before + SOURCE, whole=True)], runner, seconds=10
        )
    return ran.outcome


def test_what_a_script_of_the_gate_forks_may_not_fork(place, kind):
    """D-S8-11: the mutants run in forks, which are confined further than the process that made them."""
    assert _variant(place, kind, ATTEMPTS) == "passed"
    assert _variant(place / "again", kind, "raise AssertionError\n") == "stillborn"


def test_a_sandboxed_process_sees_no_folder_of_the_gate_but_inside(place, kind):
    """D-S8-11: neither the module's process nor the fork of a mutant reads anything else of the factory."""
    gate = Path(ship_gate.__file__).parent
    others = [path for path in gate.iterdir() if path.name not in ("inside", "base")]
    others += [path for path in (gate / "base").iterdir() if path.name not in ("boundary_values.py", CACHE)]
    sees = SEES.format(
        inside=str(gate / "inside"), others=[*map(str, others), str(gate / "strength/check.py")]
    )
    assert run({ENTRY: sees + SOURCE}, kind=kind).findings == ()
    assert _variant(place, kind, sees) == "passed"
