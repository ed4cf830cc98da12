"""deepagents backends that enforce a policy at the storage level, sync and async (F§6.3, F§7, F§12.5, DESIGN §7).

One wrapper serves all rules. It asks the policy for the path that was named and for the path that links lead to,
refuses what leaves the root, what has other names (hard links) and what is no file, and answers a refused listing by
silence. What the backend below says of the real directory, or of a search that met what is sealed, is not passed on.
The async methods of the protocol run the sync ones in a thread. A method that a later deepagents adds and that is
not covered here fails the import.
"""

import os
import posixpath
import stat
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

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

INVALID = "'{path}' is not a valid path here."
INCOMPLETE = "the search is incomplete; look in fewer places."
BAD_PATTERN = "this pattern is not valid here."

R = TypeVar("R", ReadResult, WriteResult, EditResult, DeleteResult)


class GuardedBackend(BackendProtocol):
    """A backend under a policy.

    Args:
        inner: A `FilesystemBackend` in virtual mode, or another guarded backend over one.
        policy: Decides on every path.
        mounted: The route that a composite takes off before it asks, `/modules`; messages put it back.
    """

    def __init__(
        self, inner: "FilesystemBackend | GuardedBackend", policy: Policy, mounted: str = ""
    ) -> None:
        if isinstance(inner, FilesystemBackend) and not inner.virtual_mode:
            raise ValueError("a guarded backend needs virtual paths")
        self._inner = inner
        self._policy = policy
        self._mounted = mounted.rstrip("/")
        self._root: str = inner._root if isinstance(inner, GuardedBackend) else os.path.realpath(inner.cwd)

    def ls(self, path: str) -> LsResult:
        """The entries that may be seen; none where nothing may be."""
        virtual = self._canonical(path)
        if virtual is None:
            return LsResult(error=self._named(INVALID, path))
        if self._refused_deep(Operation.LIST, path):
            return LsResult(entries=[])
        try:
            names = sorted(os.listdir(self._root + virtual))  # noqa: PTH208 - names, not Paths, and links untouched
        except (OSError, ValueError):
            return LsResult(error=self._named("'{path}' is no directory.", path))
        seen = [
            child
            for name in names
            if not self._refused_deep(Operation.LIST, child := posixpath.join(virtual, name))
        ]
        return LsResult(entries=[self._entry(child) for child in seen])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """A file's content, or the reason why not."""
        if refusal := self._refusal(Operation.READ, file_path):
            return ReadResult(error=refusal)
        virtual = self._virtual(file_path)
        if not isinstance(self._inner, GuardedBackend) and not Path(self._root + virtual).is_file():
            return ReadResult(error=self._named("there is no file '{path}'.", file_path))
        return self._asked(
            lambda: self._inner.read(virtual, offset, limit),
            ReadResult(error=self._named("'{path}' cannot be read.", file_path)),
        )

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Matches in files that may be seen; the cap counts after the filter."""
        base = self._canonical(path or "/")
        if base is None:
            return GrepResult(error=self._named(INVALID, path or "/"))
        if self._refused_deep(Operation.LIST, base):
            return GrepResult(matches=[])
        try:
            found = self._inner.grep(pattern, base, glob)
        except (OSError, ValueError, RuntimeError):
            return GrepResult(error=INCOMPLETE, matches=[])
        seen = [
            match for match in found.matches or [] if not self._refused_deep(Operation.LIST, match["path"])
        ]
        cut = max_count is not None and len(seen) > max_count
        return GrepResult(
            error=INCOMPLETE if found.error else None,
            matches=seen[:max_count] if cut else seen,
            truncated=cut or found.truncated,
        )

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files that may be seen."""
        base = self._canonical(path or "/")
        if base is None:
            return GlobResult(error=self._named(INVALID, path or "/"))
        if self._refused_deep(Operation.LIST, base):
            return GlobResult(matches=[])
        try:
            found = self._inner.glob(pattern, base)
        except (OSError, ValueError, RuntimeError):
            return GlobResult(error=BAD_PATTERN)
        if found.matches is None:
            return GlobResult(error=BAD_PATTERN)
        seen = [info for info in found.matches if not self._refused_deep(Operation.LIST, info["path"])]
        return GlobResult(
            error=INCOMPLETE if found.error else None,
            matches=seen,
            truncated=found.truncated,
            truncation_reason=found.truncation_reason,
        )

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a file where it is allowed."""
        failed = WriteResult(error=self._named("'{path}' cannot be written.", file_path))
        if refusal := self._refusal(Operation.WRITE, file_path):
            return WriteResult(error=refusal)
        if not _is_text(content):  # the backend below would truncate the file first
            return failed
        return self._asked(lambda: self._inner.write(self._virtual(file_path), content), failed)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edit a file that may be read and written."""
        refusal = self._refusal(Operation.READ, file_path) or self._refusal(Operation.EDIT, file_path)
        if refusal:
            return EditResult(error=refusal)
        failed = EditResult(error=self._named("'{path}' cannot be edited; is it a text file?", file_path))
        if not _is_text(new_string):
            return failed
        return self._asked(
            lambda: self._inner.edit(self._virtual(file_path), old_string, new_string, replace_all), failed
        )

    def delete(self, file_path: str) -> DeleteResult:
        """Delete a file, or a directory of which everything may be deleted; the root stays."""
        if refusal := self._refusal(Operation.DELETE, file_path) or self._refusal_below(file_path):
            return DeleteResult(error=refusal)
        failed = DeleteResult(error=self._named("'{path}' cannot be deleted; is it there?", file_path))
        return self._asked(lambda: self._inner.delete(self._virtual(file_path)), failed)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Upload where writing is allowed."""
        return [self._upload(path, data) for path, data in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Download what may be read."""
        return [self._download(path) for path in paths]

    def _upload(self, path: str, data: bytes) -> FileUploadResponse:
        if self._refusal(Operation.WRITE, path):
            return FileUploadResponse(path=path, error="permission_denied")
        try:
            (response,) = self._inner.upload_files([(self._virtual(path), data)])
        except (OSError, ValueError, RuntimeError):
            return FileUploadResponse(path=path, error="invalid_path")
        return FileUploadResponse(path=path, error=response.error)

    def _download(self, path: str) -> FileDownloadResponse:
        if self._refusal(Operation.READ, path):
            return FileDownloadResponse(path=path, error="permission_denied")
        try:
            (response,) = self._inner.download_files([self._virtual(path)])
        except (OSError, ValueError, RuntimeError):
            return FileDownloadResponse(path=path, error="invalid_path")
        return FileDownloadResponse(path=path, content=response.content, error=response.error)

    def _asked(self, ask: Callable[[], R], failed: R) -> R:
        """What the backend below answers; what it says of the real directory is put in our words."""
        try:
            answer = ask()
        except (OSError, ValueError, RuntimeError):
            return failed
        told = answer.error or ""
        return failed if self._root in told or "[Errno" in told else answer

    def _entry(self, virtual: str) -> FileInfo:
        is_directory = Path(self._root + virtual).is_dir()
        return FileInfo(path=virtual + ("/" if is_directory else ""), is_dir=is_directory)

    def _refusal(self, operation: Operation, path: str) -> str:
        """Why an operation is refused, by the path that was named and by the one that links lead to."""
        virtual = self._canonical(path)
        if virtual is None or (virtual == "/" and operation is Operation.DELETE):
            return self._named(INVALID, path)
        try:
            real = os.path.realpath(self._root + virtual)
            plain = _is_plain(real)
        except (OSError, ValueError):
            return self._named(INVALID, path)
        if real != self._root and not real.startswith(self._root + os.sep):
            return self._named(INVALID, path)
        resolved = real[len(self._root) :].replace(os.sep, "/") or "/"
        refusal = self._policy(operation, virtual) or self._policy(operation, resolved)
        return self._named(refusal or ("" if plain else INVALID), path)

    def _refusal_below(self, path: str) -> str:
        """Why a directory cannot go: something in it cannot; which, stays unsaid."""
        real = os.path.realpath(self._root + self._virtual(path))
        for directory, subdirectories, files in os.walk(real):
            for name in (*subdirectories, *files):
                virtual = (Path(directory) / name).as_posix()[len(self._root) :]
                if self._refusal(Operation.DELETE, virtual):
                    return self._named("'{path}' holds what cannot be deleted.", path)
        return ""

    def _refused_deep(self, operation: Operation, path: str) -> str:
        """As `_refusal`, through every guard below."""
        below = self._inner._refused_deep(operation, path) if isinstance(self._inner, GuardedBackend) else ""
        return below or self._refusal(operation, path)

    def _named(self, reason: str, path: str) -> str:
        """A reason with the path as the agent knows it."""
        return reason.replace("{path}", f"{self._mounted}{path}" if self._mounted else path)

    def _virtual(self, path: str) -> str:
        return self._canonical(path) or "/"

    @staticmethod
    def _canonical(path: str) -> str | None:
        """`/a/b`, or None for what is no path here; the inner backend refuses any `..` by raising its real root."""
        if ".." in path or "\0" in path or "~" in path or not _is_text(path):
            return None
        return posixpath.normpath("/" + path.replace("\\", "/").lstrip("/"))


def _is_plain(real: str) -> bool:
    """Whether there is nothing, a directory, or a file without a hard link elsewhere: a policy on paths could be got
    round by another name, and a pipe would never end."""
    try:
        status = os.lstat(real)
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)


def _is_text(text: str) -> bool:
    """Whether it can be encoded: no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class ImmutableArtifactBackend(GuardedBackend):
    """Shipped artifacts cannot be changed (F§5.7, F§6.6)."""

    def __init__(
        self, inner: FilesystemBackend | GuardedBackend, shipped: Callable[[str], bool], mounted: str = ""
    ) -> None:
        super().__init__(inner, immutable(shipped), mounted)


class OpaqueEnforcementBackend(GuardedBackend):
    """Sealed implementations cannot be seen (F§5.8, F§12)."""

    def __init__(
        self, inner: FilesystemBackend | GuardedBackend, sealed: Callable[[str], bool], mounted: str = ""
    ) -> None:
        super().__init__(inner, opaque(sealed), mounted)


class ContextPackBackend(GuardedBackend):
    """A role sees its pack and nothing else (F§6.3)."""

    def __init__(
        self, inner: FilesystemBackend | GuardedBackend, readable: Collection[str], writable: Collection[str]
    ) -> None:
        super().__init__(inner, context_pack(readable, writable))


def uncovered(protocol: type, backend: type) -> list[str]:
    """The public methods of a protocol that a backend leaves to the protocol itself; an async twin counts as covered
    where its sync one is."""
    offered = [
        name
        for base in protocol.__mro__
        if base is not object
        for name, value in vars(base).items()
        if callable(value) and not name.startswith("_")
    ]
    own = {name for base in backend.__mro__ if base not in protocol.__mro__ for name in vars(base)}
    return sorted(
        {name for name in offered if name not in own and not (name.startswith("a") and name[1:] in own)}
    )


if missing := uncovered(BackendProtocol, GuardedBackend):
    raise ImportError(
        f"the backend guard does not cover {', '.join(missing)}; this deepagents is too new for it"
    )
