"""Changes the files that a call of the module wrote, to see whether a test reads them (design: ship-gate)."""

import contextlib
import os
import shutil
from pathlib import Path

from ship_gate.base.boundary_values import other_bytes
from ship_gate.inside.variants.databases import (
    COMPANIONS,
    change_rows,
    content_of,
    is_companion,
    is_database,
    restore_database,
)

FILE_WAYS = ("alter", "clear", "move", "undo")
"""`alter` changes what is in the files, and `clear` leaves them empty. `undo` puts everything back as it was; `move` does
so where files came, went or changed places, and nothing new is written in any. Of a database rows are changed, or
deleted."""

_MOST_FILES = 500
_MOST_BYTES = 1024 * 1024

Files = dict[str, bytes | None]
"""What lies below a folder: the content of files, and None for folders."""


def files_below(folder: Path) -> Files:
    """What lies below a folder now; of a large number, or of large files, a part."""
    found: Files = {}
    for place, _, names in os.walk(folder):
        found[place] = None
        for name in names:
            path = Path(place, name)
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_size <= _MOST_BYTES and not is_companion(str(path)):
                    found[str(path)] = content_of(path)
        if len(found) > _MOST_FILES:
            break
    return found


def perturb_files(folder: Path, before: Files, variation: str) -> None:
    """Change what was written since.

    Args:
        folder: As for `files_below`.
        before: What lay there then.
        variation: One of `FILE_WAYS`.
    """
    now = files_below(folder)
    written = {path: data for path, data in now.items() if path not in before or before[path] != data}
    if variation == "move" and any(data and data not in before.values() for data in written.values()):
        return
    if variation in {"move", "undo"}:
        _undo(written, before)
        for path in sorted(before.keys() - now.keys()):
            _restore(Path(path), before[path])
        return
    for path, data in written.items():
        if is_database(data):
            change_rows(Path(path), before.get(path), delete=variation == "clear")
        elif data is not None:
            _replace(Path(path), b"" if variation == "clear" else other_bytes(data, "other"))


def _undo(written: Files, before: Files) -> None:
    for path in sorted(written, reverse=True):
        if path in before:
            _restore(Path(path), before[path])
        elif written[path] is None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            for end in ("", *(COMPANIONS if is_database(written[path]) else ())):
                with contextlib.suppress(OSError):
                    Path(path + end).unlink()


def _restore(path: Path, data: bytes | None) -> None:
    if data is None:
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
    elif not (is_database(data) and restore_database(path, data)):
        _replace(path, data)


def _replace(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        path.write_bytes(data)
