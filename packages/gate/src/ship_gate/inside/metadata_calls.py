"""The functions of `os` that change the metadata of files, for a process under Landlock (design: ship-gate).

Each calls the function that it replaces first: that one checks the arguments and raises the audit event, and the filter
of system calls lets it do nothing. Then `metadata_server` makes the change.

Left out: what compiled code, such as SQLite, asks the kernel for. It seems to succeed and does nothing.
"""

import inspect
import os
import sys
from collections.abc import Callable
from operator import index
from typing import Any

from ship_gate.inside import metadata_server

_NAMES = ("chmod", "fchmod", "chown", "fchown", "lchown", "utime", "setxattr", "removexattr")


def _as_it_is(value: Any) -> Any:
    return value


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "attribute": os.fsdecode,
    "value": lambda value: bytes(value).decode("latin-1"),
    "times": _as_it_is,
    "ns": _as_it_is,
}
"""How an argument goes to the server; all others are numbers."""


def install(plan: dict[str, Any]) -> None:
    """Start the server and replace the functions, before anything of a candidate is loaded.

    Args:
        plan: Of this process.
    """
    change = metadata_server.start(plan)
    for name in _NAMES:
        original = getattr(os, name)
        function = _changing(name, original, change)
        for module in (os, sys.modules["posix"]):
            setattr(module, name, function)
        for supporting in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            if original in supporting:
                supporting.add(function)


def _changing(name: str, original: Callable[..., None], change: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(_utime if name == "utime" else original)
    first = next(iter(signature.parameters))
    deed = name.removeprefix("f").removeprefix("l")

    def function(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        target, folder = given.pop(first), given.pop("dir_fd", None)
        follows = given.pop("follow_symlinks", name != "lchown")
        plain = {key: _PLAIN.get(key, index)(value) for key, value in given.items()}
        change(deed, target, plain, folder=folder, follows=follows)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = original.__doc__
    return function


def _utime(
    path: Any, times: Any = None, *, ns: Any = None, dir_fd: Any = None, follow_symlinks: Any = True
) -> None:
    """As `os.utime` is called, which does not say so itself."""
