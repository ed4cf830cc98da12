"""Reading and writing single files safely.

A write leaves either the old content or the new. A read accepts only regular files that fit into memory, because the
project may come from somebody else.
"""

import errno
import os
import stat
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

TEMPORARY = ".tmp-"
"""The prefix of an unfinished file's name."""


def write_atomically(path: Path, data: bytes, rights: int = 0o666) -> None:
    """Write or replace a file, by way of a synced temporary file beside it.

    Args:
        path: The file.
        data: Its content.
        rights: The file mode, before the umask.

    Raises:
        OSError: the write failed; the old file is untouched and the temporary file removed.
    """
    temporary = write_temporary(path, data, rights=rights)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_temporary(path: Path, data: bytes, directory: Path | None = None, *, rights: int = 0o666) -> Path:
    """Write and sync a temporary file, to be renamed or linked to its final path.

    Unlike a file from `tempfile`, it gets the mode that the umask allows.

    Args:
        path: The final path.
        data: The content.
        directory: Where to write the temporary file, on the same file system; by default beside `path`.
        rights: The file mode, before the umask.

    Raises:
        OSError: the write failed; the temporary file is removed.
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
    """Sync a directory, so that the names of its new files survive a crash."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their relative paths, not atomically, below a directory that nothing reads yet."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


MOST_BYTES = 256 * 1024 * 1024
"""The size limit of a file of the store or the journal."""
MOST_UNPACKED = 16 * 1024 * 1024
"""The size limit of an unpacked file of a wheel."""


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a regular file. Pipes and devices are rejected, because they may never end.

    Args:
        path: The file; symbolic links are followed.
        most: The size limit in bytes.

    Raises:
        OSError: the file is not regular, is larger than `most`, or cannot be read.
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
    """Read a file of an archive.

    Raises:
        zipfile.BadZipFile: it unpacks to more than `MOST_UNPACKED` bytes.
        KeyError: there is no such file.
    """
    with archive.open(name) as member:
        data = member.read(MOST_UNPACKED + 1)
    if len(data) > MOST_UNPACKED:
        raise zipfile.BadZipFile(f"{name} unpacks to more than {MOST_UNPACKED:,} bytes")
    return data
