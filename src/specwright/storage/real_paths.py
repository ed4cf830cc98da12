"""Virtual paths and the files that they stand for: one spelling, no way out, no other name (DESIGN §7).

Knows nothing of policies. A path that an agent names becomes canonical (`/a/b`) or none at all; what links lead to is
found out; what leaves the root, has another name by a hard link, or is neither file nor directory, is no place.
"""

import os
import posixpath
import stat
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Found", "RealRoot", "canonical", "is_text"]


class Found(NamedTuple):
    """What a path stands for.

    Args:
        virtual: The path as it was named, in its one spelling.
        resolved: The path that links lead to, below the same root.
        plain: Whether that is nothing, a directory, or a file under its only name.
    """

    virtual: str
    resolved: str
    plain: bool


class RealRoot:
    """The directory that an agent knows as `/`."""

    def __init__(self, directory: str) -> None:
        self.path = os.path.realpath(directory)

    def real(self, virtual: str) -> str:
        """Where a canonical path lies."""
        return self.path + virtual

    def find(self, path: str) -> Found | None:
        """What a path stands for; None if it is no path here."""
        virtual = canonical(path)
        if virtual is None:
            return None
        try:
            real = os.path.realpath(self.real(virtual))
            plain = _is_plain(real)
        except (OSError, ValueError):
            return None
        if real != self.path and not real.startswith(self.path + os.sep):
            return None
        return Found(virtual, self._below(real) or "/", plain)

    def names(self, virtual: str) -> list[str]:
        """The names in a directory, links untouched, in one order on every disk.

        Raises:
            OSError, ValueError: it is none.
        """
        return sorted(os.listdir(self.real(virtual)))  # noqa: PTH208 - names, not Paths

    def is_directory(self, virtual: str) -> bool:
        """Whether it is one, by itself and not by a link."""
        real = self.real(virtual)
        return os.path.isdir(real) and not os.path.islink(real)  # noqa: PTH112, PTH114 - asked of every entry

    def below(self, virtual: str) -> Iterator[str]:
        """Everything in a directory and in those below it."""
        for directory, subdirectories, files in os.walk(os.path.realpath(self.real(virtual))):
            for name in (*subdirectories, *files):
                yield self._below(os.path.join(directory, name))  # noqa: PTH118 - as os.walk tells it

    def _below(self, real: str) -> str:
        return real[len(self.path) :].replace(os.sep, "/")


def canonical(path: str) -> str | None:
    """`/a/b`, or None for what is no path here; any `..` is refused, since the backend below raises its real root."""
    if ".." in path or "\0" in path or "~" in path or not is_text(path):
        return None
    return posixpath.normpath("/" + path.replace("\\", "/").lstrip("/"))


def is_text(text: str) -> bool:
    """Whether it can be encoded: no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain(real: str) -> bool:
    """A policy on paths could be got round by another name, and a pipe would never end."""
    try:
        status = os.lstat(real)
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)
