"""Changes the metadata of files for a process under Landlock (design: ship-gate).

Landlock does not see such changes, so the filter of system calls keeps a confined process from making them. A process
beside it makes them, for files below the one folder that may be written to. It is forked before anything of a candidate
is loaded, and confines itself. A request brings the file, already opened, and a pipe for the answer, so threads and forks
can send requests at the same time.
"""

import _socket
import array
import contextlib
import errno
import json
import os
from collections.abc import Callable
from typing import Any

from ship_gate.inside.confine import confine

_MOST_BYTES = 1 << 18
_ANSWER_BYTES = 4
_DESCRIPTORS = 2


def start(plan: dict[str, Any]) -> Callable[..., None]:
    """Fork the server of the process that calls this; it ends with that one.

    Args:
        plan: Of the process that calls this.

    Returns:
        What has a change made: `change(name, target, arguments, folder=None, follows=True)` takes the name of a function
        of `os`, a path or a descriptor, the other arguments by name, and the folder of a relative path. It raises OSError.
    """
    here, there = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            here.close()
            _serve(there, plan)
        finally:
            os._exit(0)
    there.close()
    # a module may replace the functions of `os`
    open_, close = os.open, os.close

    def change(
        name: str, target: Any, arguments: dict[str, Any], *, folder: int | None = None, follows: bool = True
    ) -> None:
        request = json.dumps([name, arguments]).encode()
        if isinstance(target, int):
            number = _answer(here, request, target)
        else:
            flags = os.O_PATH | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
            file = open_(target, flags, dir_fd=folder)
            try:
                number = _answer(here, request, file)
            finally:
                close(file)
        if number:
            raise OSError(number, os.strerror(number), target)

    return change


def _answer(server: _socket.socket, request: bytes, file: int) -> int:
    reads, writes = os.pipe()
    try:
        try:
            descriptors = array.array("i", [file, writes])
            server.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
        finally:
            os.close(writes)
        answer = os.read(reads, _ANSWER_BYTES)
    finally:
        os.close(reads)
    return int.from_bytes(answer, "big") if answer else errno.EIO


def _serve(requests: _socket.socket, plan: dict[str, Any]) -> None:
    os.close(plan["from_gate"])
    os.close(plan["to_gate"])
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    folder: str = plan["writes"][0]
    confine(
        {**plan, "role": "metadata_server", "reads": [], "writes": [folder], "forks": False}, pretend=False
    )
    space = _socket.CMSG_SPACE(_DESCRIPTORS * array.array("i").itemsize)
    while True:
        request, ancillary, _, _ = requests.recvmsg(_MOST_BYTES, space)
        if not request:
            return
        descriptors = array.array("i")
        for _, _, data in ancillary:
            descriptors.frombytes(data)
        with contextlib.suppress(OSError):
            if len(descriptors) == _DESCRIPTORS:
                file, answer = descriptors
                os.write(answer, _changed(request, file, folder).to_bytes(_ANSWER_BYTES, "big"))
        for descriptor in descriptors:
            os.close(descriptor)


def _changed(request: bytes, file: int, folder: str) -> int:
    """Make a change; its error number."""
    path = f"/proc/self/fd/{file}"
    try:
        if not f"{os.readlink(path)}/".startswith(f"{folder}/"):  # noqa: PTH115 - of a descriptor
            return errno.EROFS
        name, arguments = json.loads(request)
        _CHANGES[name](path, **arguments)
    except OSError as error:
        return error.errno or errno.EIO
    except (LookupError, ValueError, TypeError, OverflowError, RecursionError):
        return errno.EINVAL
    return 0


def _chown(path: str, uid: int, gid: int) -> None:
    if {uid, gid} - {-1, os.getuid(), os.getgid()}:
        raise OSError(errno.EINVAL, "as in a user namespace with one user")
    os.chown(path, uid, gid)


def _utime(path: str, **given: Any) -> None:
    moments: dict[str, Any] = {key: value and tuple(value) for key, value in given.items()}
    os.utime(path, **moments)


def _setxattr(path: str, attribute: str, value: str, flags: int = 0) -> None:
    os.setxattr(path, attribute, value.encode("latin-1"), flags)


_CHANGES: dict[str, Callable[..., None]] = {
    "chmod": os.chmod,
    "chown": _chown,
    "utime": _utime,
    "setxattr": _setxattr,
    "removexattr": os.removexattr,
}
