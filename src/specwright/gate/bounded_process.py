"""Runs a script of the gate in a process of its own, bounded in time and output (DESIGN rule 4, D-S8-11 in
part).

The process leads its own group and session; whatever happens, the group is killed at the end, so that
nothing that it started goes on. Its environment is empty but for what Python needs, its input is closed,
and its results come over a pipe that only it inherits, as JSON lines.

Left out, for the two-process sandbox: a module that shares the process with its tests can forge their
results, and a child that leaves the group and its session survives."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from specwright.errors import SpecwrightError

__all__ = ["MOST_OUTPUT", "Ran", "run_bounded"]

MOST_OUTPUT = 4 * 1024 * 1024
"""Bytes that a run may print, and again that it may report."""

_CHUNK = 65536
_POLL_SECONDS = 0.05


class Ran(NamedTuple):
    """What a run left.

    Args:
        ended: By itself, or stopped because its time or its output was used up.
        events: Its results, in order.
        garbled: Whether something stood among the results that is none.
        output: The end of what it printed, at most 2,000 characters.
    """

    ended: Literal["exited", "timeout", "output"]
    events: tuple[dict[str, Any], ...]
    garbled: bool
    output: str


def run_bounded(script: Path, arguments: list[str], *, cwd: Path, timeout_seconds: float) -> Ran:
    """Run a script to its end or to its limits.

    Args:
        script: A file of this package; its first argument is the descriptor for its results.
        arguments: The further ones.
        cwd: A fresh directory, also its home and its place for temporary files.
        timeout_seconds: Wall-clock time.

    Raises:
        SpecwrightError: the process could not be started at all.
    """
    reader, writer = os.pipe()
    try:
        process = _start(script, [str(writer), *arguments], cwd, writer)
    except OSError as error:
        os.close(reader)
        raise SpecwrightError(
            f"the gate could not start a process: {error}",
            where=sys.executable,
            remedy="free processes and memory",
        ) from error
    finally:
        os.close(writer)
    try:
        assert process.stdout is not None  # asked for below
        ended, results, printed = _collect(process, reader, process.stdout.fileno(), timeout_seconds)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(reader)
        if process.stdout is not None:
            process.stdout.close()
    events, garbled = _events(results)
    return Ran(ended, events, garbled, printed.decode(errors="replace")[-2000:])


def _start(script: Path, arguments: list[str], cwd: Path, writer: int) -> subprocess.Popen[bytes]:
    # -P -s with an environment of our own is what -I is, except that the hash seed is kept:
    # the gate gives the same verdict twice, also for a module whose output follows a set's order
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-B", "-X", "utf8", str(script), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writer],
        start_new_session=True,
        cwd=cwd,
        env={
            "PATH": os.defpath,
            "HOME": str(cwd),
            "TMPDIR": str(cwd),
            "LC_ALL": "C.UTF-8",
            "PYTHONHASHSEED": "0",
        },
    )


def _collect(
    process: subprocess.Popen[bytes], results: int, output: int, timeout_seconds: float
) -> tuple[Literal["exited", "timeout", "output"], bytes, bytes]:
    deadline = time.monotonic() + timeout_seconds
    received = {results: bytearray(), output: bytearray()}
    with selectors.DefaultSelector() as selector:
        for descriptor in received:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            # asked before reading: what came before the end is then read to the last byte
            exited = process.poll() is not None
            if not exited:
                selector.select(_POLL_SECONDS)
            for descriptor, data in received.items():
                _drain(descriptor, data, selector)
            if any(len(data) > MOST_OUTPUT for data in received.values()):
                return "output", bytes(received[results]), bytes(received[output])
            if exited:
                return "exited", bytes(received[results]), bytes(received[output])
            if time.monotonic() > deadline:
                return "timeout", bytes(received[results]), bytes(received[output])


def _drain(descriptor: int, data: bytearray, selector: selectors.BaseSelector) -> None:
    while len(data) <= MOST_OUTPUT:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            # at its end a descriptor is always ready, and would keep the loop spinning
            with contextlib.suppress(KeyError):
                selector.unregister(descriptor)
            return
        data += chunk


def _events(data: bytes) -> tuple[tuple[dict[str, Any], ...], bool]:
    events: list[dict[str, Any]] = []
    # what stands after the last newline was cut off by the end of the process
    for line in data.split(b"\n")[:-1]:
        try:
            event = json.loads(line)
        except ValueError:
            return tuple(events), True
        if not isinstance(event, dict):
            return tuple(events), True
        events.append(cast("dict[str, Any]", event))
    return tuple(events), False
