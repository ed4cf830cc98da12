"""Which files a call wrote, created or removed outside of what its contract's WRITE effects name (design: ship-gate).

The folder in which a module may write is looked at before and after each call. A target that is an input of type Path
allows that path, what SQLite keeps beside a database of that name, what lies below it, and the folders above it; any
other target that names an input allows the folder of what was given as well. What was there only during the call, such
as a file that then takes the target's place, is left out.

Left out: contracts with a target that names no input, calls that leave such an input out, folders with very many files.
"""

import contextlib
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.inside.values import members_of

_MOST_FILES = 1000
_MOST_BYTES = 64 * 1024
_MOST_LEAVES = 100

_Tree = Mapping[str, tuple[int, ...]]
"""What lies below a folder: kind, and of a file what tells its content from another."""


class _Call(NamedTuple):
    """A call that is being made: the paths that it may write to, and what lay there before."""

    allowed: tuple[str, ...]
    before: _Tree


class WrittenFiles:
    """Compares the folder of a run before and after calls.

    Args:
        folder: Below which the module may write.
        targets: Of `static.effects.write_targets`, by module.
    """

    def __init__(self, folder: str, targets: Mapping[str, Mapping[str, Any]]) -> None:
        self._folder = folder
        self._targets = targets
        self._call: _Call | None = None

    def before_call(self, module: str, folder: str, args: list[object], kwargs: dict[str, object]) -> None:
        """A call of a module is made in a folder."""
        self._call = None
        targets = self._targets.get(module)
        allowed = targets and _allowed(targets, folder, args, kwargs)
        if allowed and (before := _tree(self._folder)) is not None:
            self._call = _Call(tuple(allowed), before)

    def undeclared(self) -> Iterator[str]:
        """The paths that the call changed and was not to, each once."""
        call, self._call = self._call, None
        after = _tree(self._folder) if call else None
        if call is None or after is None:
            return
        for path in sorted(call.before.keys() | after.keys()):
            if call.before.get(path) != after.get(path) and not _is_allowed(
                path, call.allowed, is_folder=stat.S_ISDIR((after.get(path) or (0,))[0])
            ):
                yield path


def _allowed(
    targets: Mapping[str, Any], folder: str, args: list[object], kwargs: dict[str, object]
) -> list[str] | None:
    """The paths that a call's targets come to; None if one of them was left out, or is no path."""
    names, many = targets["parameters"], targets["many"]
    given: dict[str, object] = {**dict(zip(names, args, strict=False)), **kwargs}
    if many:
        given[many] = args[names.index(many) :]
    found: list[str] = []
    for name, is_exact in targets["names"].items():
        paths = [os.path.join(folder, path) for path in _paths(given.get(name))]  # noqa: PTH118 - texts that may be no paths
        if not paths:
            return None
        for path in paths:
            with contextlib.suppress(ValueError, OSError):
                both = {os.path.normpath(path), os.path.realpath(path)}
                found += _with_companions(both) if is_exact else map(os.path.dirname, both)
    return found or None


def _with_companions(paths: set[str]) -> list[str]:
    """Paths, and what SQLite keeps beside a database."""
    return [path + end for path in paths for end in ("", "-journal", "-wal", "-shm")]


def _paths(value: object) -> list[str]:
    """The paths and texts in a value."""
    found: list[str] = []
    waiting: list[Any] = [value]
    while waiting and len(found) < _MOST_LEAVES:
        part = waiting.pop()
        if isinstance(part, (str, Path)):
            found.append(str(part))
        else:
            waiting += members_of(part) or ()
    return found


def _is_allowed(path: str, allowed: tuple[str, ...], *, is_folder: bool) -> bool:
    for target in allowed:
        if path == target or path.startswith(target.rstrip("/") + "/"):
            return True
        if is_folder and target.startswith(path + "/"):
            return True
    return False


def _tree(folder: str) -> _Tree | None:
    """What lies below a folder; None if that is too much. Links are not followed."""
    found: dict[str, tuple[int, ...]] = {}
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode):
                        found[entry.path] = (status.st_mode,)
                        waiting.append(entry.path)
                    else:
                        found[entry.path] = _content(entry.path, status)
                    if len(found) > _MOST_FILES:
                        return None
        except OSError:
            continue  # nobody may look there, the module neither
    return found


def _content(path: str, status: os.stat_result) -> tuple[int, ...]:
    """What tells a file's content from another; of a large one, what the system says of it."""
    known = status.st_mode, status.st_size
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        return *known, status.st_ino, status.st_mtime_ns
    try:
        return *known, zlib.crc32(Path(path).read_bytes())
    except OSError:
        return *known, status.st_ino, status.st_mtime_ns
