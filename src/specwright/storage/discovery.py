"""What an agent finds: entries, files and lines among what it may see, in one order on every disk (F§12.5, DESIGN §7).

What is hidden is never looked at, so that neither an error, nor a cap, nor the time that it takes tells of it. The
searches of the backend below are not used: they look first and are filtered later, their order depends on the disk and
on which programs the machine has, and a pattern can hold them for hours.
"""

import posixpath
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from deepagents.backends.protocol import FileInfo, GrepMatch

from specwright.storage.real_paths import RealRoot

__all__ = ["Discovery"]


class Discovery:
    """A directory without what is hidden in it.

    Args:
        root: The directory.
        hidden: Whether a canonical path is.
    """

    def __init__(self, root: RealRoot, hidden: Callable[[str], bool]) -> None:
        self._root = root
        self._hidden = hidden

    def entries(self, virtual: str) -> list[str]:
        """What may be seen in a directory.

        Raises:
            OSError, ValueError: it is none.
        """
        children = [posixpath.join(virtual, name) for name in self._root.names(virtual)]
        return [child for child in children if not self._hidden(child)]

    def files(self, base: str, wanted: Callable[[str], bool] | None = None) -> Iterator[str]:
        """The files at or below a path, by what follows it; a link to a directory leads nowhere."""
        if self._hidden(base):
            return
        if not self._root.is_directory(base):
            if self._is_file(base) and (wanted is None or wanted(posixpath.basename(base))):
                yield base
            return
        waiting, start = [base], len(base.rstrip("/")) + 1
        while waiting:
            with suppress(OSError, ValueError):  # it is gone by now, or cannot be read
                children = self.entries(waiting.pop())
                waiting += [child for child in reversed(children) if self._root.is_directory(child)]
                files = [child for child in children if self._is_file(child)]
                yield from (child for child in files if wanted is None or wanted(child[start:]))

    def lines(self, text: str, files: Iterator[str]) -> Iterator[GrepMatch]:
        """The lines of files that hold a text; what is no text has none."""
        for virtual in files:
            try:
                content = Path(self._root.real(virtual)).read_text(encoding="utf-8")
            except (OSError, ValueError):
                continue
            for number, line in enumerate(content.split("\n"), start=1):
                if text in line:
                    yield GrepMatch(path=virtual, line=number, text=line)

    def info(self, virtual: str) -> FileInfo:
        """An entry as listings tell it; no size and no time, which differ when a run is repeated."""
        is_directory = Path(self._root.real(virtual)).is_dir()
        return FileInfo(path=virtual + ("/" if is_directory else ""), is_dir=is_directory)

    def _is_file(self, virtual: str) -> bool:
        return Path(self._root.real(virtual)).is_file()
