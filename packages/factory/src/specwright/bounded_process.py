"""Processes of other programs, bounded in time and output, that leave nothing behind."""

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
"""The process groups that are at work."""


class TooMuchOutputError(OSError):
    """A command was ended, since it printed too much."""


def run_bounded(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    most: int = MOST_PRINTED,
    given: bytes = b"",
) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, and end all that it started with it.

    Args:
        command: Program and arguments.
        cwd: Its working directory.
        env: Its whole environment.
        seconds: That it may take.
        most: How many bytes it may print to each stream.
        given: Its standard input.

    Raises:
        TimeoutError: it was ended, since its time ran out.
        TooMuchOutputError: it was ended, since it printed too much.
        OSError: it cannot be started.
    """
    # files, because a descendant that left the process group may hold a pipe open for ever
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
            raise TimeoutError(f"was not done after {seconds:g} s")
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
    """An interrupted run leaves no process behind that goes on."""
    for group in tuple(_running):
        _end(group)
