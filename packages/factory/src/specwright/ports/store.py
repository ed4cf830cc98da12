"""The state store port: named bytes, published write-once or replaced atomically (design: store-layout, journal)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class FileTree(Protocol):
    """Files of a project, by posix paths. Writes are atomic."""

    @property
    def address(self) -> str:
        """Where they are, for messages."""
        ...

    def directory(self, path: str) -> Path:
        """A directory on this machine with the files below `path`, for programs that read them."""
        ...

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once; the same bytes again change nothing.

        Raises:
            RefusedError: the file is published with other bytes.
        """
        ...

    def replace(self, path: str, data: bytes) -> None:
        """Write a file, or replace it atomically."""
        ...

    def read(self, path: str) -> bytes:
        """A file's bytes.

        Raises:
            CorruptionError: there is no such file.
        """
        ...

    def exists(self, path: str) -> bool:
        """Whether the file exists."""
        ...

    def names(self, path: str) -> list[str]:
        """The names in a directory, sorted; empty if it does not exist."""
        ...

    def tree(self, path: str) -> dict[str, bytes]:
        """Every file below a directory by its path relative to it."""
        ...

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files below a directory."""
        ...


class StateStore(FileTree, Protocol):
    """`state_store/`, with the definitions that Wires refer to (design: projection).

    `replace` is refused but for the files that change (design: store-layout).
    """

    def define(self, data: bytes) -> str:
        """Publish bytes under their SHA-256 and return it."""
        ...

    def definition(self, sha256: str) -> bytes:
        """The bytes of a definition.

        Raises:
            CorruptionError: missing, or its bytes have another hash.
        """
        ...
