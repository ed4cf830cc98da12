"""A subprocess that is bounded in time and output, and leaves nothing running behind."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

__all__ = ["Finished", "run_bounded"]

_CHUNK = 65_536
_GRACE_SECONDS = 2.0


class Finished(NamedTuple):
    """How a process ended; `code` is None if its time ran out."""

    code: int | None
    stdout: bytes
    stderr: bytes


class _Tap:
    """Reads a pipe to its end in a thread, keeping the first bytes: a flood neither blocks nor fills."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._kept = bytearray()
        self._pipe = pipe
        self._limit = limit
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), _CHUNK):
                self._kept += chunk[: self._limit - len(self._kept)]

    def finish(self) -> bytes:
        # a descendant that left the process group may hold the pipe open for ever
        self._thread.join(_GRACE_SECONDS)
        return bytes(self._kept)


def run_bounded(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float, output_limit: int
) -> Finished:
    """Run a command to its end or its timeout, then end its whole process group.

    Args:
        command: Program and arguments.
        cwd: Where it runs.
        env: Its whole environment.
        timeout: Seconds.
        output_limit: Bytes kept of each stream; the rest is read and dropped.

    Raises:
        OSError: the program cannot be started.
    """
    process = subprocess.Popen(
        list(command),
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    pipes = (process.stdout, process.stderr)
    taps = [_Tap(pipe, output_limit) for pipe in pipes if pipe is not None]
    code: int | None = None
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _end(process)
    stdout, stderr = (tap.finish() for tap in taps)
    return Finished(code, stdout, stderr)


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
