"""The file system of a role: a deepagents backend restricted to its context pack (design: role-access).

A path becomes canonical (`/a/b`) or is refused. The backend checks the path that was named and the path that links lead
to: one that leaves the root, has another name by a hard link, or is neither file nor directory, is not available. `ls`,
`glob` and `grep` omit what may not be read, without an error, and never look at hidden files, so that no error, limit or
delay reveals them. The searches of deepagents are not used: they look first and filter later, their order depends on the
disk, and a pattern can occupy them for hours.

Changes are made one at a time, and the length of a file is bounded. Messages of the deepagents backend about the real
directory are not passed on. A method that a later deepagents adds and that is not covered here fails the import.
"""

import os
import posixpath
import stat
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import (
    BackendProtocol,
    DeleteResult,
    EditResult,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepMatch,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)

from ship_gate.base.text import MAX_CHARACTERS, edited_length
from specwright.domain.artifacts import NOT_IN_PACK
from specwright.domain.base.glob_patterns import compile_glob


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


SEALED = (
    "ACCESS DENIED: '{path}' is a sealed implementation directory. This module is a closed-source service — "
    "integrate via contract.json, examples.md, and ship.json only. See §12 (Opaque Implementation Rule) and §6.8 "
    "(Black-Box Integration) for rationale. If the contract is insufficient, raise an Interface Change Exception (§13)."
)
"""The literal message of docs/design.md#role-access."""

_EVIDENCE = "ship.json"
"""The file that only the public surface of a sealed module has."""

_INVALID = "'{path}' is not a valid path here."
_BAD_PATTERN = "this pattern is not valid here."
_TOO_LONG = f"'{{path}}' would be too long; a file has at most {MAX_CHARACTERS:,} characters."

R = TypeVar("R", ReadResult, WriteResult, EditResult, DeleteResult)


class OpaqueEnforcementBackend(BackendProtocol):
    """Shows no file of a sealed module but its public surface, and lets nobody change one (design: role-access).

    Args:
        inner: A backend in virtual mode.
        readable: Files that may be read, `/contract.json`; the directory of a `ship.json` is that of a sealed module.
    """

    def __init__(self, inner: FilesystemBackend, readable: Collection[str]) -> None:
        if not inner.virtual_mode:
            raise ValueError("the backend of a role needs virtual paths")
        self._inner = inner
        self._files = frozenset(readable)
        shipped = (posixpath.split(name) for name in readable)
        self._sealed = tuple(f"{folder}/" for folder, name in shipped if name == _EVIDENCE and folder != "/")
        self._root = VirtualRoot(str(inner.cwd))
        self._search = Search(self._root, lambda path: bool(self._unreadable(path)))
        # calls of one answer run in parallel, and the deepagents backend reads a file before it writes it
        self._lock = threading.RLock()

    def reading(self, path: str) -> str:
        """Why a canonical path may not be read or listed, with `{path}` for the path as it was named; or nothing."""
        return "" if path in self._files else self._sealed_reason(path)

    def changing(self, path: str) -> str:
        """Why a canonical path may not be written, edited or deleted."""
        return self._sealed_reason(path)

    def _sealed_reason(self, path: str) -> str:
        return SEALED if path.startswith(self._sealed) else ""

    def ls(self, path: str) -> LsResult:
        """The visible entries; none of a directory that may not be read."""
        virtual = canonical(path)
        if virtual is None:
            return LsResult(error=_named(_INVALID, path))
        if self._unreadable(path):
            return LsResult(entries=[])
        try:
            entries = self._search.entries(virtual)
        except (OSError, ValueError):
            return LsResult(error=_named("'{path}' is no directory.", path))
        return LsResult(entries=[self._search.info(entry) for entry in entries])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        """A file's content, or the reason why not."""
        if refusal := self._unreadable(file_path):
            return ReadResult(error=refusal)
        virtual = _virtual(file_path)
        if not self._root.is_file(virtual):
            return ReadResult(error=_named("there is no file '{path}'.", file_path))
        return self._call(
            lambda: self._inner.read(virtual, offset, limit),
            ReadResult(error=_named("'{path}' cannot be read.", file_path)),
        )

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        """Lines with a text, in visible text files."""
        base = canonical(path or "/")
        if base is None:
            return GrepResult(error=_named(_INVALID, path or "/"))
        try:
            files = self._search.files(base, compile_glob(glob) if glob else None)
        except ValueError:
            return GrepResult(error=_BAD_PATTERN, matches=[])
        lines = self._search.lines(pattern, files)
        matches = list(islice(lines, None if max_count is None else max_count + 1))
        truncated = max_count is not None and len(matches) > max_count
        return GrepResult(matches=matches[:max_count] if truncated else matches, truncated=truncated)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        """Visible files."""
        base = canonical(path or "/")
        if base is None:
            return GlobResult(error=_named(_INVALID, path or "/"))
        try:
            matches = compile_glob(pattern)
        except ValueError:
            return GlobResult(error=_BAD_PATTERN)
        files = self._search.files(base, matches) if self._root.is_directory(base) else ()
        return GlobResult(matches=[self._search.info(virtual) for virtual in files])

    def write(self, file_path: str, content: str) -> WriteResult:
        """Write a file where it is allowed."""
        if refusal := self._unchangeable(file_path):
            return WriteResult(error=refusal)
        if len(content) > MAX_CHARACTERS:
            return WriteResult(error=_named(_TOO_LONG, file_path))
        failed = WriteResult(error=_named("'{path}' cannot be written.", file_path))
        if not is_text(content):  # the deepagents backend would truncate the file first
            return failed
        return self._call(lambda: self._inner.write(_virtual(file_path), content), failed)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        """Edit a file that may be read and written."""
        if refusal := self._unreadable(file_path) or self._unchangeable(file_path):
            return EditResult(error=refusal)
        failed = EditResult(error=_named("'{path}' cannot be edited; is it a text file?", file_path))
        if not is_text(new_string):
            return failed
        virtual = _virtual(file_path)

        def edit_if_short() -> EditResult:
            text = Path(self._root.real(virtual)).read_text(encoding="utf-8", errors="replace")
            if edited_length(text, old_string, new_string, replace_all=replace_all) > MAX_CHARACTERS:
                return EditResult(error=_named(_TOO_LONG, file_path))
            return self._inner.edit(virtual, old_string, new_string, replace_all)

        return self._call(edit_if_short, failed)

    def delete(self, file_path: str) -> DeleteResult:
        """Delete a file, or a directory of which everything may be deleted, but not the root."""
        refusal = self._undeletable(file_path)
        if not refusal and any(map(self._undeletable, self._root.below(_virtual(file_path)))):
            refusal = _named("'{path}' holds what cannot be deleted.", file_path)  # what it is stays hidden
        if refusal:
            return DeleteResult(error=refusal)
        failed = DeleteResult(error=_named("'{path}' cannot be deleted; is it there?", file_path))
        return self._call(lambda: self._inner.delete(_virtual(file_path)), failed)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Upload where writing is allowed."""
        return [self._upload(path, data) for path, data in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Download what may be read."""
        return [self._download(path) for path in paths]

    def _upload(self, path: str, data: bytes) -> FileUploadResponse:
        if self._unchangeable(path):
            return FileUploadResponse(path=path, error="permission_denied")
        try:
            with self._lock:
                (response,) = self._inner.upload_files([(_virtual(path), data)])
        except (OSError, ValueError, RuntimeError):
            return FileUploadResponse(path=path, error="invalid_path")
        return FileUploadResponse(path=path, error=response.error)

    def _download(self, path: str) -> FileDownloadResponse:
        if self._unreadable(path):
            return FileDownloadResponse(path=path, error="permission_denied")
        try:
            (response,) = self._inner.download_files([_virtual(path)])
        except (OSError, ValueError, RuntimeError):
            return FileDownloadResponse(path=path, error="invalid_path")
        return FileDownloadResponse(path=path, content=response.content, error=response.error)

    def _call(self, operation: Callable[[], R], failed: R) -> R:
        """The answer of the deepagents backend, or `failed` if it says where the real directory is."""
        try:
            with self._lock:
                answer = operation()
        except (OSError, ValueError, RuntimeError):
            return failed
        error = answer.error or ""
        return failed if self._root.path in error or "[Errno" in error else answer

    def _unreadable(self, path: str) -> str:
        return self._refusal(self.reading, path)

    def _unchangeable(self, path: str) -> str:
        return self._refusal(self.changing, path)

    def _undeletable(self, path: str) -> str:
        return _named(_INVALID, path) if canonical(path) == "/" else self._unchangeable(path)

    def _refusal(self, rule: Callable[[str], str], path: str) -> str:
        """Why a rule refuses a path, as it was named or as links lead to it."""
        resolved = self._root.resolve(path)
        if resolved is None:
            return _named(_INVALID, path)
        reason = rule(resolved.virtual) or rule(resolved.resolved)
        return _named(reason or ("" if resolved.has_one_name else _INVALID), path)


class ContextPackBackend(OpaqueEnforcementBackend):
    """A role sees its context pack and nothing else, and writes where it may.

    Args:
        inner: A backend in virtual mode.
        readable: Files of the pack, `/contract.json`.
        writable: Files, or directories ending in `/`, that the role makes.
    """

    def __init__(
        self, inner: FilesystemBackend, readable: Collection[str], writable: Collection[str]
    ) -> None:
        super().__init__(inner, readable)
        self._writable = tuple(writable)
        self._not_yours = (
            f"'{{path}}' is not yours to change; you may write {', '.join(writable) or 'nothing'}."
        )

    def reading(self, path: str) -> str:
        """Only files of the pack, the role's own, and directories above them."""
        if path in self._files or self._is_own(path) or self._is_above(path):
            return ""
        return super().reading(path) or NOT_IN_PACK

    def changing(self, path: str) -> str:
        """Only the role's own files."""
        if self._is_own(path):
            return ""
        return super().reading(path) or self._not_yours

    def _is_own(self, path: str) -> bool:
        return any(
            path == prefix or (prefix.endswith("/") and f"{path}/".startswith(prefix))
            for prefix in self._writable
        )

    def _is_above(self, path: str) -> bool:
        base = "/" if path == "/" else f"{path}/"
        return any(name.startswith(base) for name in (*self._files, *self._writable))


def _named(reason: str, path: str) -> str:
    """A reason with the path as the agent named it, never the one that a link leads to."""
    return reason.replace("{path}", path)


def _virtual(path: str) -> str:
    return canonical(path) or "/"


def uncovered(protocol: type, backend: type) -> list[str]:
    """The public methods of a protocol that a backend does not override; an async method is covered by its sync twin."""
    public = [
        name
        for base in protocol.__mro__
        if base is not object
        for name, value in vars(base).items()
        if callable(value) and not name.startswith("_")
    ]
    own = {name for base in backend.__mro__ if base not in protocol.__mro__ for name in vars(base)}
    return sorted(
        {name for name in public if name not in own and not (name.startswith("a") and name[1:] in own)}
    )


if missing := uncovered(BackendProtocol, ContextPackBackend):
    raise ImportError(
        f"the backend guard does not cover {', '.join(missing)}; this deepagents is too new for it"
    )
