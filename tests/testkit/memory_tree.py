"""The store port in memory, for tests in which files matter only by what they say."""

from collections.abc import Mapping
from pathlib import Path

from specwright.errors import CorruptionError, RefusedError
from specwright.storage.files import DiskStateStore, ImmutableArtifactBackend, check_path

__all__ = ["MemoryStore", "MemoryTree", "in_memory"]


class MemoryTree:
    """`FileTree` on a dict; behaves as `specwright.storage.DiskTree` does."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    @property
    def address(self) -> str:
        """Where they are, for messages."""
        return "memory"

    def directory(self, path: str) -> Path:
        """There is none."""
        raise NotImplementedError

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once."""
        check_path(path)
        if self.files.setdefault(path, data) != data:
            raise RefusedError("a published file never changes", where=path)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file in place of an older one."""
        check_path(path)
        self.files[path] = data

    def read(self, path: str) -> bytes:
        """A file's bytes."""
        if path not in self.files:
            raise CorruptionError("a record is missing", where=path)
        return self.files[path]

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return path in self.files

    def names(self, path: str) -> list[str]:
        """The names of a directory's entries."""
        return sorted({name.split("/")[0] for name in self.tree(path)})

    def tree(self, path: str) -> dict[str, bytes]:
        """Every file below a directory."""
        below = f"{path}/"
        return {name.removeprefix(below): data for name, data in self.files.items() if name.startswith(below)}

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files."""
        for name, data in files.items():
            self.publish(f"{path}/{name}", data)


class MemoryStore(ImmutableArtifactBackend, MemoryTree):
    """`state_store/` on a dict: only the files that change are replaced."""


def in_memory(tree: object) -> MemoryTree:
    """What stands for a tree of files on a disk."""
    return MemoryStore() if isinstance(tree, DiskStateStore) else MemoryTree()
