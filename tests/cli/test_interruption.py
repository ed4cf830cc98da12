"""Stopping a run, and coming back to it (D-S9-02)."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from specwright.cli.output import complain
from specwright.errors import InputError, InterruptedRunError
from testkit.cli.commands import SMALL, command, specwright
from testkit.processes import until
from testkit.sampling import spread

STOP = "TSK-001/initials/round-1/proposer.json"
"""Where the playbook stops: an answer that is a pipe, so that the run waits in the middle of a role."""


@pytest.fixture
def stopping(tmp_path: Path) -> Path:
    """A playbook that waits for ever in the middle of the proposer's work."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    (playbook / STOP).unlink()
    os.mkfifo(playbook / STOP)
    return playbook


@contextmanager
def running(directory: Path, playbook: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own, once it has come to the proposer."""
    given = ("run", directory, "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
    with subprocess.Popen(
        command(*given, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            until(lambda: _at_the_proposer(directory))
            yield process
        finally:
            process.kill()


def _at_the_proposer(directory: Path) -> bool:
    journal = directory / ".specwright/journal.jsonl"
    return journal.is_file() and b"contracts/round-1/arbiter" in journal.read_bytes()


def mend(playbook: Path) -> None:
    """Put the answer there."""
    (playbook / STOP).unlink()
    shutil.copy(SMALL / "playbook" / STOP, playbook / STOP)


@pytest.mark.parametrize("number", spread([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], slow=3))
def test_an_interrupted_run_says_that_it_can_go_on_and_does(
    number: signal.Signals, tmp_path: Path, stopping: Path
) -> None:
    """D-S9-02: Ctrl-C gives 130 and the command that goes on; no answered call is made again (DESIGN §4)."""
    directory = tmp_path / "project"
    with running(directory, stopping) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert f"go on with `specwright run {directory}`" in err
    verified = specwright("verify", directory)
    cut_short = (verified.code, verified.out.split()[0], "0 findings" in verified.out)
    assert cut_short == (1, "INCOMPLETE", True), verified
    answered = _model_answers(directory)
    assert answered
    mend(stopping)
    told = specwright("run", directory, "--json")
    assert told.code == 0, told
    assert _model_answers(directory)[: len(answered)] == answered
    usage = told.document["usage"]
    asked_anew = usage["calls"] - usage["calls_from_journal"]
    assert asked_anew == len(_model_answers(directory)) - len(answered)


def _model_answers(directory: Path) -> list[list[object]]:
    lines = (directory / ".specwright/journal.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return [[r["scope"], r["ordinal"], r["request"]] for r in records if r["kind"] == "model"]


@pytest.mark.slow
def test_an_interrupted_run_is_one_json_document_too(tmp_path: Path, stopping: Path) -> None:
    """D-S9-03: stdout carries the error as JSON, with the exit code."""
    with running(tmp_path / "project", stopping, "--json") as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["exit_code"] == 130


@pytest.mark.slow
def test_a_second_driver_is_told_who_drives_and_a_look_is_free(tmp_path: Path, stopping: Path) -> None:
    """D-S9-02: exit 1 and the process's number; `status` reads the log meanwhile."""
    directory = tmp_path / "project"
    with running(directory, stopping) as process:
        for name in ("run", "release"):
            told = specwright(name, directory)
            told.refuses("being driven by process", str(process.pid), code=1)
        status = specwright("status", directory)
        assert f"A run is at work: process {process.pid}" in status.out
        assert "TSK-001 Initials" in status.out
        assert process.poll() is None
    left = specwright("status", directory)
    assert (left.code, "at work" in left.out) == (0, False)
    assert f"specwright run {directory}" in left.out


class _Terminal(io.StringIO):
    """Standard error as a terminal has it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_what_is_said_of_an_interruption_begins_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-02: on a terminal it stands below the question or the live line, not behind it; other errors are as ever."""
    said = {}
    for error in (InterruptedRunError("interrupted"), InputError("wrong")):
        monkeypatch.setattr(sys, "stderr", screen := _Terminal())
        complain(error, as_json=False)
        said[error.what] = screen.getvalue()
    assert said["interrupted"].startswith("\n")
    assert not said["wrong"].startswith("\n")


UNWINDING_BLOCKS = """
import signal, sys, time
from pathlib import Path
from specwright.cli import interruption
with interruption.interruptible("specwright run", as_json="--json" in sys.argv):
    try:
        print("ready", file=sys.stderr, flush=True)
        time.sleep(60)
    finally:
        time.sleep(60)
"""


@pytest.mark.parametrize("signals", [1, 2])
def test_an_interrupt_ends_the_process_even_if_unwinding_blocks(signals: int) -> None:
    """D-S9-02: after a few seconds, or at once at the second Ctrl-C, with the same words and code."""
    with subprocess.Popen(
        [sys.executable, "-c", UNWINDING_BLOCKS, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr
        process.stderr.readline()
        for _ in range(signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)  # or the two would be merged into one
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out)["exit_code"] == 130
    assert "go on with `specwright run`" in err


def test_the_state_is_that_of_the_log_after_an_error(stopping: Path, tmp_path: Path):
    """F-4.2-01: an answer that is missing ends the run in the middle of a task."""
    (stopping / STOP).unlink()
    directory = tmp_path / "product"
    told = specwright(
        "run", directory, "--spec", SMALL / "SPEC.md", "--model", f"playbook:{stopping}", "--approve"
    )
    assert told.code
    state = json.loads((directory / "state_store/project/state_machine.json").read_text())
    tasks = json.loads(specwright("tasks", directory, "--json").out)["tasks"]
    assert [entry["status"] for entry in state["tasks"].values()] == [task["status"] for task in tasks]
    assert "IN_PROGRESS" in {task["status"] for task in tasks}
