"""Files on disk: write-once publishing, atomic replacement, and the lock that allows one driver per project (design:
journal, role-access).

A file is written elsewhere, fsynced, and then linked (write-once) or renamed (replacement) into place, so that a crash
leaves it whole or absent. The directory is fsynced, so that the name survives too. Partly written files are in a
directory of their own, which the next driver clears.

The operating system releases the lock when its process ends, however it ends. A note beside the lock names the process;
without the lock the note means nothing.
"""

import fcntl
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import cast

from agent_wire import canonical_json
from specwright.application.store import layout
from specwright.errors import BusyError, CorruptionError, RefusedError
from specwright.files import TEMPORARY, read_bounded, sync_directory, write_temporary
from specwright.ports import FileTree

ANOTHER_VERSION = "continue with the version and settings that began this run, or start in a new directory"
# where a run would write a published file otherwise: an older version began it, and its checkpoints are gone


_DEEPEST = 32


def below(folder: Path) -> Iterator[Path]:
    """Everything below a folder that somebody else may have filled.

    Raises:
        RefusedError: a name is none that Specwright writes, or folders are nested too deep.
    """
    for path in folder.rglob("*"):
        check_path(path.relative_to(folder).as_posix())
        yield path


def check_path(path: str) -> None:
    """Check that a path, which may have been written by somebody else, names a file inside the store.

    Raises:
        RefusedError: it is absolute or too deep, or has an empty part, `.`, `..`, a backslash or a control character.
    """
    parts = path.split("/")
    if {"", ".", ".."} & {*parts} or re.search(r"[\x00-\x1f\x7f\\]", path) or len(parts) > _DEEPEST:
        raise RefusedError(
            f"a path must stay inside the store, at most {_DEEPEST} folders deep",
            where=repr(path[:200]),
            remedy="do not use this project: Specwright writes no such path",
        )


def check_links(root: Path, folders: Iterable[str]) -> None:
    """Check that no link in some folders of a project leads out of it: what is there would be exported, or deleted.

    Raises:
        RefusedError: one does.
    """
    for folder in folders:
        for path in (root / folder, *below(root / folder)):
            if path.is_symlink():
                check_inside(root, path)


def check_inside(root: Path, path: Path) -> None:
    """Check that no link on the way to a path of a project leads out of it.

    Raises:
        RefusedError: one does.
    """
    # asked for every file that is read: where nothing below the root is a link, nothing is resolved
    steps = accumulate(path.parts[len(root.parts) :], "{}/{}".format, initial=root)
    if any(map(os.path.islink, islice(steps, 1, None))) and not Path(os.path.realpath(path)).is_relative_to(
        os.path.realpath(root)
    ):
        raise RefusedError(
            "a link leads out of the project",
            where=str(path),
            remedy="put the file or folder itself there, or remove the link",
        )


class DiskTree:
    """The `FileTree` port on a directory.

    Args:
        root: The directory.
        staging: Where files are written before they are moved into place, on the same file system; None is beside them.
    """

    def __init__(self, root: Path, staging: Path | None = None) -> None:
        self.root = root
        self._staging = staging

    @property
    def address(self) -> str:
        """The directory, for messages."""
        return str(self.root)

    def directory(self, path: str) -> Path:
        """The directory below the root."""
        return self.root / path

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once."""
        target = self._target(path)
        with _write_errors(target):
            if self._is_published(target, data):
                return
            temporary = self._write_temporary(target, data)
            try:
                os.link(temporary, target)
            except FileExistsError:
                self._is_published(target, data)
            finally:
                temporary.unlink()
            sync_directory(target.parent)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file, or replace it atomically."""
        target = self._target(path)
        with _write_errors(target):
            temporary = self._write_temporary(target, data)
            try:
                temporary.replace(target)
            except OSError:
                temporary.unlink(missing_ok=True)
                raise
            sync_directory(target.parent)

    def read(self, path: str) -> bytes:
        """A file's bytes."""
        try:
            return read_bounded(self._target(path))
        except FileNotFoundError as error:
            raise CorruptionError("a record is missing", where=str(self.root / path)) from error
        except OSError as error:
            message = f"a record cannot be read: {error.strerror}"
            raise CorruptionError(message, where=str(self.root / path)) from error

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        return self._target(path).is_file()

    def names(self, path: str) -> list[str]:
        """The names in a directory."""
        directory = self._target(path)
        names = os.listdir(directory) if directory.is_dir() else []  # noqa: PTH208 - names are all that is asked for
        return sorted(name for name in names if not name.startswith(TEMPORARY))

    def tree(self, path: str) -> dict[str, bytes]:
        """Every file below a directory."""
        base = self._target(path)
        return {
            (name := p.relative_to(base).as_posix()): read_bounded(self._target(f"{path}/{name}".strip("/")))
            for p in sorted(below(base))
            if p.is_file() and not p.name.startswith(TEMPORARY)
        }

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files below a directory."""
        for name, data in files.items():
            self.publish(f"{path}/{name}", data)

    def move(self, path: str, to: str) -> None:
        """Move a directory."""
        source, target = self._target(path), self._target(to)
        if source.is_dir() and not target.exists():
            with _write_errors(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                source.rename(target)
                sync_directory(target.parent)

    def _target(self, path: str) -> Path:
        if path:
            check_path(path)
        check_inside(self.root, target := self.root / path)
        return target

    def _is_published(self, target: Path, data: bytes) -> bool:
        """Whether the file is there with these bytes; with other bytes, the write is refused."""
        try:
            published = read_bounded(target)
        except FileNotFoundError:
            return False
        if published != data:
            raise RefusedError("a published file never changes", where=str(target), remedy=ANOTHER_VERSION)
        return True

    def _write_temporary(self, target: Path, data: bytes) -> Path:
        staging = self._staging or target.parent
        for directory in (staging, target.parent):
            directory.mkdir(parents=True, exist_ok=True)
        return write_temporary(target, data, staging)


@contextmanager
def _write_errors(target: Path) -> Generator[None]:
    """Raise a `RefusedError` for an `OSError`."""
    try:
        yield
    except OSError as error:
        raise RefusedError(
            f"a file cannot be written: {error.strerror or error}",
            where=str(target),
            remedy="free the disk or correct the permissions, and run again; what was done is kept",
        ) from error


class ImmutableArtifactBackend:
    """The rules of `state_store/` over the tree of a base class that comes after it: what is published never changes, and
    definitions have their SHA-256 as name (design: store-layout)."""

    def replace(self, path: str, data: bytes) -> None:
        """Replace one of the files that change.

        Raises:
            RefusedError: it is published once, for example as a part of a sealed module or of a finished round.
        """
        check_path(path)
        if not layout.may_be_replaced(path):
            raise RefusedError("a published file never changes", where=path)
        cast(FileTree, super()).replace(path, data)

    def move(self, path: str, to: str) -> None:
        """Refuse to move what is published."""
        raise RefusedError("a published file never changes", where=path)

    def define(self: FileTree, data: bytes) -> str:
        """Publish bytes under their SHA-256."""
        name = canonical_json.sha256(data)
        self.publish(f"definitions/{name}", data)
        return name

    def definition(self: FileTree, sha256: str) -> bytes:
        """The bytes of a definition, checked."""
        data = self.read(f"definitions/{sha256}")
        if canonical_json.sha256(data) != sha256:
            raise CorruptionError(
                "a definition was altered",
                where=f"{self.address}/definitions/{sha256}",
                remedy="restore the file from a copy of the project",
            )
        return data


class DiskStateStore(ImmutableArtifactBackend, DiskTree):
    """The `StateStore` port on `state_store/`."""


STAGING = "unfinished"
"""The directory in `.specwright/` for files that are not in place yet."""

_NOTE = "driver.json"

_PATIENCE = 0.2
"""Seconds that a driver waits for the lock: `driver_of` takes it too, for some microseconds."""


@contextmanager
def driver_lock(directory: Path) -> Generator[None]:
    """Hold the lock of a project, and remove the partly written files of an earlier driver.

    Args:
        directory: The project's `.specwright/`.

    Raises:
        BusyError: another process drives it; the message says which.
    """
    directory.mkdir(parents=True, exist_ok=True)
    note = directory / _NOTE
    with ExitStack() as stack:
        ends = time.monotonic() + _PATIENCE
        while not _lock(directory, stack):
            if time.monotonic() > ends:
                raise BusyError(
                    f"the project is being driven by {_process(note)}",
                    where=str(directory.parent),
                    remedy="wait for it, or stop it; its results are kept",
                )
            time.sleep(_PATIENCE / 10)
        note.unlink(missing_ok=True)  # nothing is written into a pipe or a link that lies there
        stack.callback(note.unlink, missing_ok=True)
        with note.open("x") as file:
            file.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        shutil.rmtree(directory / STAGING, ignore_errors=True)
        yield


def driver_of(directory: Path) -> str:
    """The process that drives a project, empty if there is none. Nothing is written."""
    return _process(directory / _NOTE) if _is_locked(directory) else ""


def _lock(directory: Path, stack: ExitStack) -> bool:
    # the directory itself: a lock file that is deleted under its driver would let a second one in
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    stack.callback(os.close, descriptor)
    return True


def _is_locked(directory: Path) -> bool:
    """Whether a process holds the lock. A shared lock asks, so that several readers do not see each other."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return False  # the project has had no driver yet
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _process(note: Path) -> str:
    try:
        data = canonical_json.loads(read_bounded(note))
        return f"process {data['pid']} on {data['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
