"""What a dotted path into the standard library really means (design: ship-gate).

Modules of the library can be reached through each other: `pathlib.os.remove` is `os.remove`, `posix.remove` too. The
static checks decide by the name that a thing has where it belongs, so every path is followed through the library itself.

Left out: modules that warn or act when they are imported; their paths are taken as they are written.
"""

import functools
import importlib
import sys
import types
from collections.abc import Mapping

_NOT_LOADED = {
    "__main__", "antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle", "turtledemo", "aifc",
    "asynchat", "asyncore", "audioop", "cgi", "cgitb", "chunk", "crypt", "distutils", "imghdr", "imp", "mailcap",
    "msilib", "nis", "nntplib", "ossaudiodev", "pipes", "smtpd", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib",
}  # fmt: skip
_SAME = {
    "posixpath": "os.path",
    "ntpath": "os.path",
    "genericpath": "os.path",
    "posix": "os",
    "nt": "os",
    "_io": "io",
}
_MOST_PARTS = 12
_WITH_ERRORS = (
    *(
        "binascii",
        "configparser",
        "csv",
        "decimal",
        "email.errors",
        "graphlib",
        "http.client",
        "ipaddress",
        "json",
    ),
    *(
        "lzma",
        "shutil",
        "sqlite3",
        "socket",
        "ssl",
        "struct",
        "subprocess",
        "tarfile",
        "tomllib",
        "urllib.error",
    ),
    *("zipfile", "zlib", "zoneinfo"),
)
"""Modules of the library that define errors of their own which modules handle."""


@functools.cache
def canonical(dotted: str) -> str:
    """The path of what a dotted path leads to, from the module that it belongs to."""
    root, *rest = dotted.split(".")
    if root == "builtins" or root not in sys.stdlib_module_names or root in _NOT_LOADED:
        return dotted
    name, value = root, _loaded(root)
    while rest and isinstance(value, types.ModuleType) and len(rest) < _MOST_PARTS:
        found = getattr(value, rest[0], None) or _loaded(f"{name}.{rest[0]}")
        if not isinstance(found, types.ModuleType):
            break
        name, value = found.__name__, found
        del rest[0]
    return ".".join([_SAME.get(name, name), *rest])


def is_private(dotted: str) -> bool:
    """Whether a path leads through what the standard library keeps to itself."""
    root, *rest = dotted.split(".")
    if not is_standard(dotted):
        return False
    return any(part.startswith("_") and not part.endswith("__") for part in (root, *rest))


def is_standard(dotted: str) -> bool:
    """Whether a path begins with a module of the standard library."""
    return dotted.partition(".")[0] in sys.stdlib_module_names


@functools.cache
def error_bases() -> Mapping[str, frozenset[str]]:
    """The names of the bases of the library's errors, by the last part of their names; of two of a name those that they
    share."""
    found: dict[str, frozenset[str]] = {}
    for module in filter(None, map(_loaded, _WITH_ERRORS)):
        for name, kind in vars(module).items():
            if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ != "builtins":
                bases = frozenset(base.__name__ for base in kind.__mro__[1:])
                found[name] = found.get(name, bases) & bases
    return found


def _loaded(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:
        # a module of another system, or no module at all
        return None
