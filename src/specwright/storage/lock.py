"""One driver per project, held by a lock that says who holds it (DESIGN §4, ADR 0052).

Whether somebody drives is what the lock says, which the system lets go of with its holder, however that ends. The note
beside it says who; left behind by a killed driver it means nothing, whatever process has its number by now.
"""

import json
import os
import shutil
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from specwright.errors import HeldError

__all__ = ["UNFINISHED", "driver_of", "driving"]

UNFINISHED = "unfinished"
"""The directory in `.specwright/` for files that have not taken their place yet."""

_LOCK, _NOTE = "driver.lock", "driver.json"

_PATIENCE = 0.2
"""Seconds that a driver waits for the lock: who only looks tries it too, for some microseconds."""


@contextmanager
def driving(directory: Path) -> Generator[None]:
    """Hold a project while driving it, free of what an earlier driver left half-written.

    Args:
        directory: The project's `.specwright/`.

    Raises:
        HeldError: another process drives it; the message says which.
    """
    directory.mkdir(parents=True, exist_ok=True)
    holder = directory / _NOTE
    lock = FileLock(directory / _LOCK)
    try:
        lock.acquire(timeout=_PATIENCE, poll_interval=_PATIENCE / 10)
    except Timeout as error:
        raise HeldError(
            f"the project is being driven by {_who(holder)}",
            where=str(directory.parent),
            remedy="wait for it, or stop it; what it did is kept",
        ) from error
    try:
        holder.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        shutil.rmtree(directory / UNFINISHED, ignore_errors=True)
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def driver_of(directory: Path) -> str:
    """Who drives a project, for those who only look; empty if nobody does. Nothing is written."""
    return _who(directory / _NOTE) if _is_held(directory / _LOCK) else ""


if sys.platform == "win32":

    def _is_held(path: Path) -> bool:
        if not path.is_file():
            return False  # nobody has driven here yet
        try:
            with FileLock(path).acquire(timeout=0):
                return False
        except Timeout:
            return True

else:
    import fcntl

    def _is_held(path: Path) -> bool:
        """Whether a process holds the lock, asked by a shared one: those who look neither see each other nor write."""
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            return False  # nobody has driven here yet
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True  # held; or the file system has no locks, and then the file is there while it is held
        finally:
            os.close(descriptor)
        return False


def _who(holder: Path) -> str:
    try:
        data = json.loads(holder.read_text())
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
