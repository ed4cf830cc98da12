"""The values that break programs, by kind (design: module-directory, ship-gate).

Loaded by `inside.fuzz.runner`, which runs without the module and loads nothing else of the factory.

Left out: integers beyond 64 bits and deeply nested JSON, which every plain program refuses in its own way;
paths that hold NUL or lie outside the scratch directory; times with a zone, unless something speaks of zones."""

import contextlib
import datetime
import functools
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import SCALARS, Scalar, scalar_of
from ship_gate.inside.fuzz.hosts import ADDRESSES

_FILES = {"old.txt": b"one\ntwo\n", "empty.txt": b"", "bytes.bin": b"\xff\xfe\x00\x80"}
_DATABASES = ["other.db", "corrupt.db", "short.db"]
_NOTES = {
    "notes/one.md": b"# One\n",
    "notes/bytes.md": b"\xff\xfe",
    "notes/inner/two.md": b"two\n",
    "notes/inner/x.txt": b"",
}
_LARGE = 100


class Sources(NamedTuple):
    """What there is to draw from.

    Args:
        leaves: Values by kind, from the tests and from the contract's texts.
        whole: Values of the tests.
        given: What the tests give to each parameter.
        lengths: Lengths that the contract mentions.
        folder: The scratch directory, where paths lie.
        aware: Whether times may have a zone.
        confined: Whether a text might be used as a path.
        huge: Whether large values are drawn at all.
        ordinary: Whether only numbers and texts are drawn that equal themselves, are finite, and can be written as UTF-8.
        web: Whether a text may be an address of a host.
        ranges: All values of a parameter whose constraint allows only a few numbers.
        found: What lies in the folder besides: `databases`, `notes`.
    """

    leaves: Mapping[str, Sequence[Any]]
    whole: Sequence[Any]
    by_parameter: Mapping[str, Sequence[Any]]
    lengths: Sequence[int]
    folder: Path
    aware: bool
    confined: bool
    huge: bool
    ordinary: bool
    web: bool
    ranges: Mapping[str, range]
    found: Sequence[str] = ()


def dangerous_values(sources: Sources) -> dict[str, list[Any]]:
    """Dangerous values of every kind, with the numbers that the contract mentions."""
    found = {row.name: _dangerous_values(row, sources) for row in SCALARS}
    if not sources.ordinary:
        return found
    return {kind: list(filter(is_ordinary, values)) for kind, values in found.items()}


def is_ordinary(value: Any) -> bool:
    """Whether a number is finite, or a text can be written as UTF-8; of anything else it is true."""
    row = scalar_of(value)
    return row is None or row.is_ordinary(value)


def _dangerous_values(row: Scalar, sources: Sources) -> list[Any]:
    """The edge cases of a type, as far as they suit what is drawn for."""
    values: list[Any] = [*row.edge_cases(), *(sources.leaves.get(row.name, ()) if row.is_bounded else ())]
    match row.name:
        case "str" | "bytes":
            short = [value for value in values if sources.huge or len(value) <= _LARGE]
            if row.name == "bytes":
                return short
            return [
                *(map(confined, short) if sources.confined else short),
                *(ADDRESSES if sources.web else ()),
            ]
        case "datetime" | "time":
            zones = [None, datetime.UTC] if sources.aware else [None]
            return [value.replace(tzinfo=zone) for value in values for zone in zones]
        case "Path":
            return [
                sources.folder,
                *(sources.folder / name for name in (*values, *_more_paths(sources.found))),
            ]
        case _:
            return values


def _more_paths(found: Sequence[str]) -> list[str]:
    notes = ["notes", *_NOTES, "notes/inner/up", "notes/gone.md"]
    return [*(_DATABASES if "databases" in found else ()), *(notes if "notes" in found else ())]


def lay_out_files(folder: Path, found: Sequence[str] = ()) -> None:
    """The files that a call finds, `_PATHS` among them, in an empty folder; what a module puts there meanwhile stays.

    Args:
        folder: It need not exist.
        found: What lies there besides: `databases` (another program's, a damaged and a short one), and `notes`, folders
            within folders with a file that is no text, a link that leads nowhere, and one that leads back.
    """
    with contextlib.suppress(OSError):
        (folder / "folder").mkdir(parents=True)
        _write(folder, _FILES)
        (folder / "loop").symlink_to("loop")
        if "databases" in found:
            whole = _database()
            _write(
                folder, dict(zip(_DATABASES, (whole, whole[:512] + b"\xff" * 512, whole[:600]), strict=True))
            )
        if "notes" in found:
            (folder / "notes/inner").mkdir(parents=True)
            _write(folder, _NOTES)
            (folder / "notes/inner/up").symlink_to("..")
            (folder / "notes/gone.md").symlink_to("nowhere")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        with (folder / name).open("xb") as file:
            file.write(content)


@functools.cache
def _database() -> bytes:
    """A database of another program."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(
            "pragma page_size = 512; create table other (a, b); insert into other values (1, 'x')"
        )
        return database.serialize()


def confined(text: str) -> str:
    """A text that names no file outside the directory, should the module take it for a name."""
    return text.replace("/", "_").replace("..", "._")
