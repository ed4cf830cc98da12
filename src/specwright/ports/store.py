"""The state store port: named bytes, published write-once or replaced atomically (F§7, DESIGN §4, §7)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

__all__ = ["FileTree", "StateStore"]


class FileTree(Protocol):
    """Files below one directory, by posix paths relative to it. A write is whole or did not happen."""

    @property
    def location(self) -> Path:
        """The directory, for programs that read what is published there."""
        ...

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once; the same bytes again are passed over.

        Raises:
            RefusedError: other bytes are published there.
        """
        ...

    def replace(self, path: str, data: bytes) -> None:
        """Write a file, atomically taking the place of an older one."""
        ...

    def read(self, path: str) -> bytes:
        """A file's bytes.

        Raises:
            CorruptionError: there is no such file.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        ...

    def names(self, path: str) -> list[str]:
        """The names of a directory's entries, sorted; empty if there is none."""
        ...

    def tree(self, path: str) -> dict[str, bytes]:
        """Every file below a directory by its path relative to it."""
        ...

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files below a directory."""
        ...


class StateStore(FileTree, Protocol):
    """`state_store/`, with the definitions that Wires refer to (D29)."""

    def define(self, data: bytes) -> str:
        """Publish bytes under their SHA-256 and return it."""
        ...

    def definition(self, sha256: str) -> bytes:
        """The bytes of a definition.

        Raises:
            CorruptionError: missing, or its bytes have another hash.
        """
        ...
