"""Whether a run uses up its disk (D-S8-11): looked at from outside while it runs, since a folder has no quota."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from specwright.gate.sandbox.plan import Limits

__all__ = ["overfull"]

_MOST_DEPTH = 50


def overfull(folder: Path, limits: Limits) -> bool:
    """Whether there is too much below a folder: bytes, files, or folders within folders."""
    size = files = 0
    for used, depth in _sizes(folder):
        size, files = size + used, files + 1
        if size > limits.scratch_size or files > limits.scratch_files or depth > _MOST_DEPTH:
            return True
    return False


def _sizes(folder: Path) -> Iterator[tuple[int, int]]:
    """What each file and folder takes, and how deep it lies; links are not followed."""
    waiting = [(str(folder), 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_blocks * 512, depth
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            # it went away, or is locked: then it is counted where it can be
            continue
