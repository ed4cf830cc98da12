"""Reading a file of a project that somebody may have sent: a regular one, of a size that fits into memory."""

import errno
import os
import stat
import zipfile
from pathlib import Path

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
