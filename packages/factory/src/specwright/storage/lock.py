"""The lock that allows one driver per project (design: journal).

The operating system releases the lock when its process ends, however it ends. A note beside the lock names the process;
without the lock the note means nothing, so the note of a killed driver does no harm.
"""

import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent_wire import canonical_json
from specwright.bounded_read import read_bounded
from specwright.errors import BusyError

STAGING = "unfinished"
"""The directory in `.specwright/` for files that are not in place yet."""

_NOTE = "driver.json"

_PATIENCE = 0.2
"""Seconds that a driver waits for the lock: `driver_of` takes it too, for some microseconds."""


@contextmanager
def driver_lock(directory: Path) -> Generator[None]:
    """Hold the lock of a project, and remove the partly written files of an earlier driver.

    Args:
        directory: The project's `.specwright/`.

    Raises:
        BusyError: another process drives it; the message says which.
    """
    directory.mkdir(parents=True, exist_ok=True)
    note = directory / _NOTE
    with ExitStack() as stack:
        ends = time.monotonic() + _PATIENCE
        while not _lock(directory, stack):
            if time.monotonic() > ends:
                raise BusyError(
                    f"the project is being driven by {_process(note)}",
                    where=str(directory.parent),
                    remedy="wait for it, or stop it; its results are kept",
                )
            time.sleep(_PATIENCE / 10)
        note.unlink(missing_ok=True)  # nothing is written into a pipe or a link that lies there
        stack.callback(note.unlink, missing_ok=True)
        with note.open("x") as file:
            file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        shutil.rmtree(directory / STAGING, ignore_errors=True)
        yield


def driver_of(directory: Path) -> str:
    """The process that drives a project, empty if there is none. Nothing is written."""
    return _process(directory / _NOTE) if _is_locked(directory) else ""


def _lock(directory: Path, stack: ExitStack) -> bool:
    # the directory itself: a lock file that is deleted under its driver would let a second one in
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    stack.callback(os.close, descriptor)
    return True


def _is_locked(directory: Path) -> bool:
    """Whether a process holds the lock. A shared lock asks, so that several readers do not see each other."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return False  # the project has had no driver yet
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _process(note: Path) -> str:
    try:
        data = canonical_json.loads(read_bounded(note))
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
