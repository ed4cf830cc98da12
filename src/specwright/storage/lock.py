"""One driver per project, held by a lock that says who holds it (DESIGN §4)."""

import json
import os
import shutil
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from specwright.errors import HeldError

__all__ = ["UNFINISHED", "driver_of", "driving"]

UNFINISHED = "unfinished"
"""The directory in `.specwright/` for files that have not taken their place yet."""


@contextmanager
def driving(directory: Path) -> Generator[None]:
    """Hold a project while driving it, free of what an earlier driver left half-written.

    Args:
        directory: The project's `.specwright/`.

    Raises:
        HeldError: another process drives it; the message says which.
    """
    directory.mkdir(parents=True, exist_ok=True)
    holder = directory / "driver.json"
    lock = FileLock(directory / "driver.lock")
    try:
        lock.acquire(timeout=0)
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
    """Who drives a project, for those who only look: a process of this host that lives; empty if there is none.

    The lock itself is not tried, so that a look never gets in the way of a driver.
    """
    try:
        data = json.loads((directory / "driver.json").read_text())
        if os.name == "posix" and data["host"] == socket.gethostname():
            os.kill(int(data["pid"]), 0)
    except PermissionError:
        pass  # it lives, and belongs to somebody else
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return _who(directory / "driver.json")


def _who(holder: Path) -> str:
    try:
        data = json.loads(holder.read_text())
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
