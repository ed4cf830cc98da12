"""The directory of a role: made anew from its context pack for each invocation; its file tools reach nothing else (design:
journal, role-access)."""

import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from deepagents.backends import CompositeBackend, FilesystemBackend, StateBackend
from deepagents.backends.protocol import BackendProtocol, EditResult, GlobResult, GrepResult, WriteResult

from agent_wire.canonical_json import digest
from ship_gate.base.text import MAX_CHARACTERS, edited_length
from specwright.domain.base.glob_patterns import compile_glob
from specwright.files import write_files
from specwright.ports import Assignment, Files

_TOO_LONG = f"the file would be too long; it has at most {MAX_CHARACTERS:,} characters."
_BAD_PATTERN = "this pattern is not valid here."

LONGEST_NAME = 200
"""Of a directory; the names of many modules in one are cut."""

Guard = Callable[[FilesystemBackend, Collection[str], Collection[str]], BackendProtocol]
"""Limits a backend to the files that may be read, and the files or `directories/` that may be written."""


class Workspace:
    """The directory of one role invocation.

    Args:
        base: Where workspaces are made, `.specwright/work`.
        assignment: Its pack is written there.
        guard: Limits the file tools to the pack, although the directory holds nothing else (design: role-access).
    """

    def __init__(self, base: Path, assignment: Assignment[Any], guard: Guard) -> None:
        name = assignment.place.run_id.replace("/", "--")
        self.root = base / (name if len(name) <= LONGEST_NAME else f"{name[:100]}-{digest(name)[:8]}")
        self._writable = assignment.writable
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        write_files(self.root, assignment.pack)
        self._guarded = guard(
            FilesystemBackend(root_dir=self.root, virtual_mode=True),
            [f"/{name}" for name in assignment.pack],
            [f"/{name}" for name in assignment.writable],
        )

    def backend(self) -> CompositeBackend:
        """The agent's file system: this directory; what middleware offloads goes to the agent's own state."""
        return CompositeBackend(
            default=self._guarded, routes={"/.offloaded/": Offloaded()}, artifacts_root="/.offloaded"
        )

    def files(self) -> Files:
        """The files below the writable prefixes; anything else that was written is ignored."""
        return {
            path: (self.root / path).read_bytes()
            for path in sorted(
                p.relative_to(self.root).as_posix()
                for p in self.root.rglob("*")
                if p.is_file() and not p.is_symlink()
            )
            if path.startswith(self._writable) and "__pycache__" not in path
        }

    def read(self, path: str) -> bytes:
        """A file of this directory, by the virtual path that the agent knows.

        Raises:
            ValueError: outside, or not there.
        """
        (found,) = self._guarded.download_files([path])
        if found.content is None:
            raise ValueError(f"there is no file {path}")
        return found.content

    def remove(self) -> None:
        """Delete the directory."""
        shutil.rmtree(self.root, ignore_errors=True)


class Offloaded(StateBackend):
    """The part of an agent's file system that is its own state: results too long for the conversation (design:
    role-access). Patterns and file sizes are bounded like those of its directory."""

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Lines with a text."""
        try:
            wanted = compile_glob(glob) if glob else None
        except ValueError:
            return GrepResult(error=_BAD_PATTERN, matches=[])
        matches = super().grep(pattern, path)
        wanted_matches = [
            m for m in matches.matches or [] if wanted is None or wanted(_below(m["path"], path))
        ]
        cut = max_count is not None and len(wanted_matches) > max_count
        return GrepResult(
            error=matches.error, matches=wanted_matches[:max_count] if cut else wanted_matches, truncated=cut
        )

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files by a pattern."""
        try:
            wanted = compile_glob(pattern)
        except ValueError:
            return GlobResult(error=_BAD_PATTERN)
        everything = [*(super().glob("*", path).matches or []), *(super().glob(".*", path).matches or [])]
        wanted_matches = [info for info in everything if wanted(_below(info["path"], path))]
        return GlobResult(matches=sorted(wanted_matches, key=lambda info: info["path"]))

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a file."""
        if len(content) > MAX_CHARACTERS:
            return WriteResult(error=_TOO_LONG)
        return super().write(file_path, content)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edit a file."""
        data = super().read(file_path, 0, MAX_CHARACTERS).file_data
        text = data["content"] if data else ""
        if edited_length(text, old_string, new_string, replace_all=replace_all) > MAX_CHARACTERS:
            return EditResult(error=_TOO_LONG)
        return super().edit(file_path, old_string, new_string, replace_all)


def _below(path: str, base: str | None) -> str:
    return path.removeprefix((base or "/").rstrip("/")).lstrip("/")
