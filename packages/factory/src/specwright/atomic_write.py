"""Writing a file so that a reader finds the old content or the new, never half of it."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

TEMPORARY = ".tmp-"
"""How the name of an unfinished file begins."""


def write_atomically(path: Path, data: bytes, rights: int = 0o666) -> None:
    """Write or replace a file: the content reaches the disk beside it, then takes its place.

    Args:
        path: The file.
        data: Its content.
        rights: Of the file, less what the umask takes away.

    Raises:
        OSError: the system refuses; the old file is untouched and nothing is left behind.
    """
    temporary = write_temporary(path, data, rights=rights)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_temporary(path: Path, data: bytes, directory: Path | None = None, *, rights: int = 0o666) -> Path:
    """Write content that a rename or a link will put in its place, and sync it.

    The file gets the rights that the umask allows, which `tempfile` would not give it.

    Args:
        path: Where the content belongs.
        data: The content.
        directory: Where to write it, on the same file system; by default beside `path`.
        rights: Of the file.

    Raises:
        OSError: the system refuses; nothing is left behind.
    """
    temporary = (directory or path.parent) / f"{TEMPORARY}{os.getpid()}-{threading.get_ident()}-{path.name}"
    temporary.unlink(missing_ok=True)  # a killed process with the same ids left it
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def sync_directory(directory: Path) -> None:
    """Sync a directory, so that the names of its new files survive a crash too."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a directory that nobody reads yet, by their paths."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
