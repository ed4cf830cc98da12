"""The functions of `os` that change the metadata of files, for a process under Landlock (design: ship-gate).

Each calls the function that it replaces first: that one checks the arguments and raises the audit event, and the filter
of system calls lets it do nothing. Then `metadata_server` makes the change.

Left out: what compiled code, such as SQLite, asks the kernel for. It seems to succeed and does nothing.
"""

import os
import sys
from collections.abc import Callable
from operator import index
from typing import Any

from ship_gate.inside import metadata_server


def install(plan: dict[str, Any]) -> None:
    """Start the server and replace the functions, before anything of a candidate is loaded.

    Args:
        plan: Of this process.
    """
    functions = _functions(metadata_server.start(plan))
    for name, function in functions.items():
        original = getattr(os, name)
        function.__name__ = function.__qualname__ = name
        function.__doc__ = original.__doc__
        for module in (os, sys.modules["posix"]):
            setattr(module, name, function)
        for supporting in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if original in supporting:
                supporting.add(function)


def _functions(change: Callable[..., None]) -> dict[str, Callable[..., None]]:
    originals = {
        name: getattr(os, name)
        for name in ("chmod", "fchmod", "chown", "fchown", "lchown", "utime", "setxattr", "removexattr")
    }

    def chmod(path: Any, mode: int, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> None:
        originals["chmod"](path, mode, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        change("chmod", path, index(mode), folder=dir_fd, follows=follow_symlinks)

    def fchmod(fd: int, mode: int) -> None:
        originals["fchmod"](fd, mode)
        change("chmod", fd, index(mode))

    def chown(
        path: Any, uid: int, gid: int, *, dir_fd: int | None = None, follow_symlinks: bool = True
    ) -> None:
        originals["chown"](path, uid, gid, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        change("chown", path, index(uid), index(gid), folder=dir_fd, follows=follow_symlinks)

    def fchown(fd: int, uid: int, gid: int) -> None:
        originals["fchown"](fd, uid, gid)
        change("chown", fd, index(uid), index(gid))

    def lchown(path: Any, uid: int, gid: int) -> None:
        originals["lchown"](path, uid, gid)
        change("chown", path, index(uid), index(gid), follows=False)

    def utime(
        path: Any,
        times: tuple[float, float] | None = None,
        *,
        dir_fd: int | None = None,
        follow_symlinks: bool = True,
        **ns: tuple[int, int],
    ) -> None:
        originals["utime"](path, times, dir_fd=dir_fd, follow_symlinks=follow_symlinks, **ns)
        given = ("ns", *ns["ns"]) if ns else ("times", *times) if times else ()
        change("utime", path, *given, folder=dir_fd, follows=follow_symlinks)

    def setxattr(
        path: Any, attribute: Any, value: Any, flags: int = 0, *, follow_symlinks: bool = True
    ) -> None:
        originals["setxattr"](path, attribute, value, flags, follow_symlinks=follow_symlinks)
        text = bytes(value).decode("latin-1")
        change("setxattr", path, os.fsdecode(attribute), text, index(flags), follows=follow_symlinks)

    def removexattr(path: Any, attribute: Any, *, follow_symlinks: bool = True) -> None:
        originals["removexattr"](path, attribute, follow_symlinks=follow_symlinks)
        change("removexattr", path, os.fsdecode(attribute), follows=follow_symlinks)

    made = (chmod, fchmod, chown, fchown, lchown, utime, setxattr, removexattr)
    return dict(zip(originals, made, strict=True))
