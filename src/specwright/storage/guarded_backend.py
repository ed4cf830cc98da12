"""A deepagents backend under a policy, sync and async (F§6.3, F§7, F§12.5, DESIGN §7).

One wrapper serves all rules. It asks the policy for the path that was named and for the path that links lead to
(`real_paths`), and answers a refused listing by silence (`discovery`). Changes are made one after the other, and no file
grows without end. What the backend below says of the real directory is not passed on. The async methods of the protocol
run the sync ones in a thread. A method that a later deepagents adds and that is not covered here fails the import.
"""

import threading
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path
from typing import TypeVar

from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)

from specwright.domain.file_limits import MAX_CHARACTERS, edited_length
from specwright.domain.glob_patterns import compile_glob
from specwright.storage.discovery import Discovery
from specwright.storage.policy import Operation, Policy, context_pack, immutable, opaque
from specwright.storage.real_paths import RealRoot, canonical, is_text

__all__ = [
    "ContextPackBackend",
    "GuardedBackend",
    "ImmutableArtifactBackend",
    "OpaqueEnforcementBackend",
    "uncovered",
]

INVALID = "'{path}' is not a valid path here."
BAD_PATTERN = "this pattern is not valid here."
TOO_LONG = f"'{{path}}' would be too long; a file has at most {MAX_CHARACTERS:,} characters."

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
        guards = isinstance(inner, GuardedBackend)
        self._root: RealRoot = inner._root if guards else RealRoot(str(inner.cwd))
        self._found = Discovery(self._root, lambda path: bool(self._refused_deep(Operation.LIST, path)))
        # calls of one answer run side by side, and the backend below reads a file before it writes it
        self._one_by_one: threading.RLock = inner._one_by_one if guards else threading.RLock()

    def ls(self, path: str) -> LsResult:
        """The entries that may be seen; none where nothing may be."""
        virtual = canonical(path)
        if virtual is None:
            return LsResult(error=self._named(INVALID, path))
        if self._refused_deep(Operation.LIST, path):
            return LsResult(entries=[])
        try:
            seen = self._found.entries(virtual)
        except (OSError, ValueError):
            return LsResult(error=self._named("'{path}' is no directory.", path))
        return LsResult(entries=[self._found.info(child) for child in seen])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """A file's content, or the reason why not."""
        if refusal := self._refusal(Operation.READ, file_path):
            return ReadResult(error=refusal)
        virtual = self._virtual(file_path)
        if not isinstance(self._inner, GuardedBackend) and not Path(self._root.real(virtual)).is_file():
            return ReadResult(error=self._named("there is no file '{path}'.", file_path))
        return self._asked(
            lambda: self._inner.read(virtual, offset, limit),
            ReadResult(error=self._named("'{path}' cannot be read.", file_path)),
        )

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Lines with a text, in files that may be seen and that are texts."""
        base = canonical(path or "/")
        if base is None:
            return GrepResult(error=self._named(INVALID, path or "/"))
        try:
            files = self._found.files(base, compile_glob(glob) if glob else None)
        except ValueError:
            return GrepResult(error=BAD_PATTERN, matches=[])
        seen = list(islice(self._found.lines(pattern, files), None if max_count is None else max_count + 1))
        cut = max_count is not None and len(seen) > max_count
        return GrepResult(matches=seen[:max_count] if cut else seen, truncated=cut)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Files that may be seen."""
        base = canonical(path or "/")
        if base is None:
            return GlobResult(error=self._named(INVALID, path or "/"))
        try:
            wanted = compile_glob(pattern)
        except ValueError:
            return GlobResult(error=BAD_PATTERN)
        files = self._found.files(base, wanted) if self._root.is_directory(base) else ()
        return GlobResult(matches=[self._found.info(virtual) for virtual in files])

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a file where it is allowed."""
        failed = WriteResult(error=self._named("'{path}' cannot be written.", file_path))
        if refusal := self._refusal(Operation.WRITE, file_path):
            return WriteResult(error=refusal)
        if len(content) > MAX_CHARACTERS:
            return WriteResult(error=self._named(TOO_LONG, file_path))
        if not is_text(content):  # the backend below would truncate the file first
            return failed
        return self._asked(lambda: self._inner.write(self._virtual(file_path), content), failed)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edit a file that may be read and written."""
        refusal = self._refusal(Operation.READ, file_path) or self._refusal(Operation.EDIT, file_path)
        if refusal:
            return EditResult(error=refusal)
        failed = EditResult(error=self._named("'{path}' cannot be edited; is it a text file?", file_path))
        if not is_text(new_string):
            return failed

        virtual = self._virtual(file_path)

        def edited() -> EditResult:
            text = Path(self._root.real(virtual)).read_text(encoding="utf-8", errors="replace")
            if edited_length(text, old_string, new_string, replace_all=replace_all) > MAX_CHARACTERS:
                return EditResult(error=self._named(TOO_LONG, file_path))
            return self._inner.edit(virtual, old_string, new_string, replace_all)

        return self._asked(edited, failed)

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
            with self._one_by_one:
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
            with self._one_by_one:
                answer = ask()
        except (OSError, ValueError, RuntimeError):
            return failed
        told = answer.error or ""
        return failed if self._root.path in told or "[Errno" in told else answer

    def _refusal(self, operation: Operation, path: str) -> str:
        """Why an operation is refused, by the path that was named and by the one that links lead to."""
        found = self._root.find(path)
        if found is None or (found.virtual == "/" and operation is Operation.DELETE):
            return self._named(INVALID, path)
        refusal = self._policy(operation, found.virtual) or self._policy(operation, found.resolved)
        return self._named(refusal or ("" if found.plain else INVALID), path)

    def _refusal_below(self, path: str) -> str:
        """Why a directory cannot go: something in it cannot; which, stays unsaid."""
        held = any(self._refusal(Operation.DELETE, name) for name in self._root.below(self._virtual(path)))
        return self._named("'{path}' holds what cannot be deleted.", path) if held else ""

    def _refused_deep(self, operation: Operation, path: str) -> str:
        """As `_refusal`, through every guard below."""
        below = self._inner._refused_deep(operation, path) if isinstance(self._inner, GuardedBackend) else ""
        return below or self._refusal(operation, path)

    def _named(self, reason: str, path: str) -> str:
        """A reason with the path as the agent knows it."""
        return reason.replace("{path}", f"{self._mounted}{path}" if self._mounted else path)

    def _virtual(self, path: str) -> str:
        return canonical(path) or "/"


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
