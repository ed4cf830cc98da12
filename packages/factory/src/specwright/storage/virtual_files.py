"""The files of a directory as an agent names them: one spelling of each path, no way out, search in a stable order
(design: role-access).

A path becomes canonical (`/a/b`) or is refused. A path that leaves the root through links, that has another name by a
hard link, or that is neither file nor directory, is not available.

Search never looks at hidden files, so that no error, limit or delay reveals them. The searches of the deepagents
backend are not used: they look first and filter later, their order depends on the disk and on the programs of the
machine, and a pattern can occupy them for hours.
"""

import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from deepagents.backends.protocol import FileInfo, GrepMatch


class ResolvedPath(NamedTuple):
    """A path below the root.

    Args:
        virtual: The path as it was named, in its canonical spelling.
        resolved: The path after following links, below the same root.
        has_one_name: Whether it does not exist, is a directory, or is a file without other hard links.
    """

    virtual: str
    resolved: str
    has_one_name: bool


class VirtualRoot:
    """The directory that an agent knows as `/`."""

    def __init__(self, directory: str) -> None:
        self.path = os.path.realpath(directory)

    def real(self, virtual: str) -> str:
        """The real path of a canonical path."""
        return self.path + virtual

    def resolve(self, path: str) -> ResolvedPath | None:
        """Resolve a path; None if it is not a path below the root."""
        virtual = canonical(path)
        if virtual is None:
            return None
        try:
            real = os.path.realpath(self.real(virtual))
            has_one_name = _has_one_name(real)
        except (OSError, ValueError):
            return None
        if real != self.path and not real.startswith(self.path + os.sep):
            return None
        return ResolvedPath(virtual, self._virtual(real) or "/", has_one_name)

    def names(self, virtual: str) -> list[str]:
        """The names in a directory, links not followed, sorted.

        Raises:
            OSError, ValueError: it is not a directory.
        """
        return sorted(os.listdir(self.real(virtual)))  # noqa: PTH208 - names, not Paths

    def is_directory(self, virtual: str) -> bool:
        """Whether it is a directory itself, not a link to one."""
        real = self.real(virtual)
        return os.path.isdir(real) and not os.path.islink(real)  # noqa: PTH112, PTH114 - called for every entry

    def is_file(self, virtual: str) -> bool:
        """Whether it is a file or a link to one."""
        return Path(self.real(virtual)).is_file()

    def below(self, virtual: str) -> Iterator[str]:
        """Everything below a directory."""
        for directory, subdirectories, files in os.walk(os.path.realpath(self.real(virtual))):
            for name in (*subdirectories, *files):
                yield self._virtual(os.path.join(directory, name))  # noqa: PTH118 - os.walk gives texts

    def _virtual(self, real: str) -> str:
        return real[len(self.path) :].replace(os.sep, "/")


class Search:
    """Search in a directory, without its hidden files.

    Args:
        root: The directory.
        hidden: Whether a canonical path is hidden.
    """

    def __init__(self, root: VirtualRoot, hidden: Callable[[str], bool]) -> None:
        self._root = root
        self._hidden = hidden

    def entries(self, virtual: str) -> list[str]:
        """The visible entries of a directory.

        Raises:
            OSError, ValueError: it is not a directory.
        """
        children = [posixpath.join(virtual, name) for name in self._root.names(virtual)]
        return [child for child in children if not self._hidden(child)]

    def files(self, base: str, matches: Callable[[str], bool] | None = None) -> Iterator[str]:
        """The files at or below a path whose path below it matches; links to directories are not followed."""
        if self._hidden(base):
            return
        if not self._root.is_directory(base):
            if self._root.is_file(base) and (matches is None or matches(posixpath.basename(base))):
                yield base
            return
        waiting, start = [base], len(base.rstrip("/")) + 1
        while waiting:
            with suppress(OSError, ValueError):  # it was removed meanwhile, or cannot be read
                children = self.entries(waiting.pop())
                waiting += [child for child in reversed(children) if self._root.is_directory(child)]
                files = [child for child in children if self._root.is_file(child)]
                yield from (child for child in files if matches is None or matches(child[start:]))

    def lines(self, text: str, files: Iterator[str]) -> Iterator[GrepMatch]:
        """The lines with a text in files that are UTF-8."""
        for virtual in files:
            try:
                content = Path(self._root.real(virtual)).read_text(encoding="utf-8")
            except (OSError, ValueError):
                continue
            for number, line in enumerate(content.split("\n"), start=1):
                if text in line:
                    yield GrepMatch(path=virtual, line=number, text=line)

    def info(self, virtual: str) -> FileInfo:
        """An entry of a listing, without size and time, which differ when a run is repeated."""
        is_directory = Path(self._root.real(virtual)).is_dir()
        return FileInfo(path=virtual + ("/" if is_directory else ""), is_dir=is_directory)


def canonical(path: str) -> str | None:
    """`/a/b`, or None for a path that is refused, as any with `..`: the deepagents backend raises its real root for it."""
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


def _has_one_name(real: str) -> bool:
    """Another hard link would bypass a rule about paths, and reading a pipe would never end."""
    try:
        status = os.lstat(real)
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)
