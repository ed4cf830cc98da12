"""Run external programs with limits on time and output, and kill all processes that they start."""

import atexit
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

MOST_PRINTED = 16 * 1024 * 1024
_PAUSE = 0.05

_running: set[int] = set()
"""The process groups that are running."""


class TooMuchOutputError(OSError):
    """A command was killed because it printed too much."""


def run_bounded(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    most: int = MOST_PRINTED,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run a command, then kill its process group.

    Args:
        command: Program and arguments.
        cwd: The working directory.
        env: The complete environment.
        seconds: The time limit.
        most: The limit in bytes on each output stream.
        given: The standard input.

    Raises:
        TimeoutError: the command exceeded its time and was killed.
        TooMuchOutputError: the command exceeded its output limit and was killed.
        OSError: the command cannot be started.
    """
    # files, because a descendant that left the process group may hold a pipe open forever
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(given)
        stdin.seek(0)
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        _running.add(process.pid)
        try:
            _wait(process, (stdout, stderr), seconds, most)
        finally:
            _end(process.pid)
            process.wait()
            _running.discard(process.pid)
        texts = (_beginning(file, most) for file in (stdout, stderr))
        return subprocess.CompletedProcess(command, process.returncode, *texts)


def _wait(process: subprocess.Popen[bytes], printed: Sequence[IO[bytes]], seconds: float, most: int) -> None:
    end = time.monotonic() + seconds
    while process.poll() is None:
        if time.monotonic() > end:
            raise TimeoutError(f"did not finish within {seconds:g} s")
        if any(os.fstat(file.fileno()).st_size > most for file in printed):
            raise TooMuchOutputError(f"printed more than {most:,} bytes")
        time.sleep(_PAUSE)


def _beginning(file: IO[bytes], length: int) -> bytes:
    file.seek(0)
    return file.read(length)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@atexit.register
def _end_all() -> None:
    """Kill the processes of an interrupted run."""
    for group in tuple(_running):
        _end(group)
