"""deepagents backends that enforce a policy at the storage level, sync and async (F§6.3, F§7, F§12.5, DESIGN §7).

One wrapper serves all three rules. It asks the policy for the path that was named and for the path that links lead to,
refuses what leaves the root and what has other names (hard links), and answers a refused listing by silence. The
async methods of the protocol run the sync ones in a thread. A method that a later deepagents adds and that is not
covered here fails the import.
"""

import os
import posixpath
from collections.abc import Callable, Collection
from pathlib import Path

from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)

from specwright.storage.policy import Operation, Policy, context_pack, immutable, opaque

__all__ = [
    "ContextPackBackend",
    "GuardedBackend",
    "ImmutableArtifactBackend",
    "OpaqueEnforcementBackend",
    "uncovered",
]

INVALID = "the path is not valid here."


class GuardedBackend(BackendProtocol):
    """A backend under a policy.

    Args:
        inner: A `FilesystemBackend` in virtual mode, or another guarded backend over one.
        policy: Decides on every path.
    """

    def __init__(self, inner: "FilesystemBackend | GuardedBackend", policy: Policy) -> None:
        self._inner = inner
        self._policy = policy
        self.root = inner.root if isinstance(inner, GuardedBackend) else os.path.realpath(inner.cwd)

    def ls(self, path: str) -> LsResult:
        """The entries that may be seen."""
        if refusal := self._refusal(Operation.LIST, path):
            return LsResult(error=refusal)
        base = self._canonical(path) or "/"
        try:
            names = sorted(os.listdir(self.root + base))  # noqa: PTH208 - names, not Paths, and links untouched
        except OSError:
            return LsResult(error=f"'{path}' is no directory.")
        entries: list[FileInfo] = []
        for name in names:
            virtual = posixpath.join(base, name)
            if not self._refused_deep(Operation.LIST, virtual):
                is_directory = Path(self.root + virtual).is_dir()
                entries.append(FileInfo(path=virtual + ("/" if is_directory else ""), is_dir=is_directory))
        return LsResult(entries=entries)

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """A file's content, or the reason why not."""
        if refusal := self._refusal(Operation.READ, file_path):
            return ReadResult(error=refusal)
        return self._inner.read(self._canonical(file_path) or "/", offset, limit)

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Matches in files that may be seen; the cap counts after the filter."""
        if refusal := self._refusal(Operation.LIST, path or "/"):
            return GrepResult(error=refusal)
        found = self._inner.grep(pattern, self._canonical(path or "/"), glob)
        seen = [
            match for match in found.matches or [] if not self._refused_deep(Operation.LIST, match["path"])
        ]
        cut = max_count is not None and len(seen) > max_count
        error = "the search is incomplete." if found.error else None
        return GrepResult(
            error=error, matches=seen[:max_count] if cut else seen, truncated=cut or found.truncated
        )

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files that may be seen."""
        if refusal := self._refusal(Operation.LIST, path or "/"):
            return GlobResult(error=refusal)
        try:
            found = self._inner.glob(pattern, self._canonical(path or "/"))
        except (ValueError, OSError):
            return GlobResult(error="the pattern is not valid here.")
        seen = [info for info in found.matches or [] if not self._refused_deep(Operation.LIST, info["path"])]
        return GlobResult(error="the search is incomplete." if found.error else None, matches=seen)

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a file where it is allowed."""
        if refusal := self._refusal(Operation.WRITE, file_path):
            return WriteResult(error=refusal)
        return self._inner.write(self._canonical(file_path) or "/", content)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edit a file that may be read and written."""
        refusal = self._refusal(Operation.READ, file_path) or self._refusal(Operation.EDIT, file_path)
        if refusal:
            return EditResult(error=refusal)
        return self._inner.edit(self._canonical(file_path) or "/", old_string, new_string, replace_all)

    def delete(self, file_path: str) -> DeleteResult:
        """Delete a file, or a directory of which everything may be deleted."""
        if refusal := self._refusal(Operation.DELETE, file_path):
            return DeleteResult(error=refusal)
        real = Path(self.root + (self._canonical(file_path) or "/"))
        if real.is_dir() and not real.is_symlink():
            for directory, subdirectories, files in os.walk(real):
                for name in (*subdirectories, *files):
                    virtual = (Path(directory) / name).as_posix()[len(self.root) :]
                    if refusal := self._refusal(Operation.DELETE, virtual):
                        return DeleteResult(error=refusal)
        return self._inner.delete(self._canonical(file_path) or "/")

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Upload where writing is allowed."""
        return [
            FileUploadResponse(path=path, error="permission_denied")
            if self._refusal(Operation.WRITE, path)
            else self._inner.upload_files([(self._canonical(path) or "/", data)])[0]
            for path, data in files
        ]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Download what may be read."""
        return [
            FileDownloadResponse(path=path, error="permission_denied")
            if self._refusal(Operation.READ, path)
            else self._inner.download_files([self._canonical(path) or "/"])[0]
            for path in paths
        ]

    def _refusal(self, operation: Operation, path: str) -> str:
        """Why an operation is refused, by the path that was named and by the one that links lead to."""
        virtual = self._canonical(path)
        if virtual is None:
            return INVALID
        try:
            real = os.path.realpath(self.root + virtual)
        except (OSError, ValueError):
            return INVALID
        if real != self.root and not real.startswith(self.root + os.sep):
            return INVALID
        resolved = real[len(self.root) :].replace(os.sep, "/") or "/"
        refusal = self._policy(operation, virtual) or self._policy(operation, resolved)
        return refusal or ("" if self._has_one_name(real) else INVALID)

    def _refused_deep(self, operation: Operation, path: str) -> str:
        """As `_refusal`, through every guard below."""
        below = self._inner._refused_deep(operation, path) if isinstance(self._inner, GuardedBackend) else ""
        return below or self._refusal(operation, path)

    @staticmethod
    def _canonical(path: str) -> str | None:
        virtual = posixpath.normpath("/" + path.replace("\\", "/").lstrip("/"))
        # the inner backend refuses any `..` by raising, with the real root in its message
        return None if ".." in virtual or "\0" in virtual or "~" in virtual else virtual

    @staticmethod
    def _has_one_name(real: str) -> bool:
        """Whether a file has no hard link elsewhere, by which a policy on paths could be got round."""
        try:
            status = os.lstat(real)
        except OSError:
            return True  # nothing there yet
        return Path(real).is_dir() or status.st_nlink == 1


class ImmutableArtifactBackend(GuardedBackend):
    """Shipped artifacts cannot be changed (F§5.7, F§6.6)."""

    def __init__(self, inner: FilesystemBackend | GuardedBackend, shipped: Callable[[str], bool]) -> None:
        super().__init__(inner, immutable(shipped))


class OpaqueEnforcementBackend(GuardedBackend):
    """Sealed implementations cannot be seen (F§5.8, F§12)."""

    def __init__(self, inner: FilesystemBackend | GuardedBackend, sealed: Callable[[str], bool]) -> None:
        super().__init__(inner, opaque(sealed))


class ContextPackBackend(GuardedBackend):
    """A role sees its pack and nothing else (F§6.3)."""

    def __init__(
        self, inner: FilesystemBackend | GuardedBackend, readable: Collection[str], writable: Collection[str]
    ) -> None:
        super().__init__(inner, context_pack(readable, writable))


def uncovered(protocol: type, backend: type) -> list[str]:
    """The public methods of a protocol that a backend leaves to the protocol itself; an async twin counts as covered
    where its sync one is."""
    own = vars(backend)
    names = [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]
    return [name for name in names if name not in own and not (name.startswith("a") and name[1:] in own)]


if missing := uncovered(BackendProtocol, GuardedBackend):
    raise ImportError(
        f"the backend guard does not cover {', '.join(missing)}; this deepagents is too new for it"
    )
