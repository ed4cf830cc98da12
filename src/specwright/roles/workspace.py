"""A role's directory: made anew from its pack at each entry, the only thing its file tools can reach (DESIGN §4, §7)."""

import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from deepagents.backends import CompositeBackend, FilesystemBackend
from deepagents.backends.protocol import BackendProtocol

from specwright.ports.roles import Assignment, Files
from specwright.roles.offloaded import Offloaded

__all__ = ["Guard", "Workspace"]

Guard = Callable[[FilesystemBackend, Collection[str], Collection[str]], BackendProtocol]
"""Puts a backend under a pack: the files that may be read, and the files or `directories/` that may be written."""


class Workspace:
    """The directory of one role invocation.

    Args:
        base: Where workspaces are made, `.specwright/work`.
        assignment: Whose pack is laid out.
        guard: The second line of enforcement, behind the directory that holds nothing else (F§6.3).
    """

    def __init__(self, base: Path, assignment: Assignment, guard: Guard) -> None:
        self.root = base / assignment.place.run_id.replace("/", "--")
        self._writable = assignment.writable
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        for name, data in assignment.pack.items():
            target = self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
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
        """What lies below the writable prefixes; anything else that was written counts for nothing."""
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
