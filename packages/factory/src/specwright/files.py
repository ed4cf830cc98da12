"""Reading and writing single files safely.

A write leaves the old content or the new, never half of it. A read takes only a regular file of a size that fits into
memory, since somebody else may have written the project.
"""

import errno
import os
import stat
import threading
import zipfile
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


MOST_BYTES = 256 * 1024 * 1024
"""Of a file of the store or of the journal."""
MOST_UNPACKED = 16 * 1024 * 1024
"""Of a file in a wheel, whose packed size says nothing of it."""


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file. A pipe or a device, which may never end, is not read.

    Args:
        path: The file; a link is followed.
        most: Its largest size.

    Raises:
        OSError: it is no regular file, is larger, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a pipe, socket or device"
            raise OSError(errno.EINVAL, f"it is {kind}", str(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes; the limit is {most:,}", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(descriptor)


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a file in an archive.

    Raises:
        zipfile.BadZipFile: it unpacks to more than `MOST_UNPACKED`.
        KeyError: there is no such file.
    """
    with archive.open(name) as member:
        data = member.read(MOST_UNPACKED + 1)
    if len(data) > MOST_UNPACKED:
        raise zipfile.BadZipFile(f"{name} unpacks to more than {MOST_UNPACKED:,} bytes")
    return data
