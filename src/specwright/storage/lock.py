"""One driver per project, held by a lock that says who holds it (DESIGN §4)."""

import json
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from specwright.errors import HeldError

__all__ = ["driving"]


@contextmanager
def driving(directory: Path) -> Generator[None]:
    """Hold a project while driving it.

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
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _who(holder: Path) -> str:
    try:
        data = json.loads(holder.read_text())
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError):
        return "another process"
