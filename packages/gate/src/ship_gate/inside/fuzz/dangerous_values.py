"""The values that break programs, by kind (design: module-directory, ship-gate).

Loaded by `inside.fuzz.runner`, which runs without the module and loads nothing else of the factory.

Left out: integers beyond 64 bits and deeply nested JSON, which every plain program refuses in its own way;
paths that hold NUL or lie outside the scratch directory; times with a zone, unless something speaks of zones."""

import contextlib
import copy
import datetime
import functools
import math
import sqlite3
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.inside.fuzz.hosts import ADDRESSES
from ship_gate.inside.values.value_types import VALUE_ROWS, examples_of

_TEXTS = [
    "", " ", "\n", "\t", "a", "0", "-1", "1.5", "\x00", "\ud800", "a\udfffb", "²", "٣", "½", "Ⅷ", "1e400", "nan", "inf",
    "1" * 4301, "-" + "9" * 5000, "0." + "3" * 4400, "1_000", "+1", "1,000", "0x10", ".", "..", "-", "--", "=",
    "ß", "İ", "ﬁ", "é", "e\u0301", "\u00a0", "\u2028", "\x85", "\ufeff", "\u200b", "\u202e", "😀", "\U0010ffff",
    "\r\n", "a\r", "%s", "{}", "{0}", "\\", "'", '"', "(", "[", "*", "<a>", "a,b", "a\nb\n", "  a  b  ", "A", "Aa",
]  # fmt: skip
_BYTES = [b"", b"\x00", b"\xff", b"\xed\xa0\x80", b"a", b"\r\n", b"\xef\xbb\xbfa", b"0" * 5000]
_INTS = [
    0, 1, -1, 2, 3, 7, 10, -10, 99, 100, 255, 256, 1000, 65536, 2**31, -(2**31), 2**53 + 1, 2**63, -(2**63), 10**18,
]  # fmt: skip
_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 2.675, 1e16, 1e308, -1e308, 5e-324, *map(float, ("nan", "inf", "-inf")),
]  # fmt: skip
_DECIMALS = [
    "0", "1", "-1", "-0", "0.01", "0.005", "1.00", "10.50", "1E+2", "NaN", "sNaN", "Infinity", "-Infinity",
    "1E+999999", "-1E+999999", "1E-999999", "1E+30", "0E+10", "9" * 40, "0." + "1" * 40, "-0.001",
]  # fmt: skip
_UTC = datetime.UTC
_MOMENTS = [
    datetime.datetime.fromisoformat(text)
    for text in (
        *("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2000-02-29T23:59:59"),
        *("2024-12-31T23:59:59.999999", "2024-01-01T00:00:00", "1900-03-01T00:00:00"),
    )
]
_TIMES = [datetime.time.min, datetime.time.max, datetime.time(12), datetime.time(23, 59, 59)]
_SPANS = [
    *(datetime.timedelta(0), datetime.timedelta.min, datetime.timedelta.max, datetime.timedelta.resolution),
    *(datetime.timedelta(days=days) for days in (1, -1, 365)),
    *(datetime.timedelta(hours=25), datetime.timedelta(microseconds=-1)),
]
_PATHS = [
    "new.txt", "old.txt", "empty.txt", "bytes.bin", "folder", "folder/new.txt", "missing/new.txt", "old.txt/x",
    "a b.txt", "ä\u0308.txt", "new", ".hidden", "-x", "n" * 300, "folder/../new.txt", "loop", "Old.TXT", "x.tar.gz",
]  # fmt: skip
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
    zones = [None, _UTC] if sources.aware else [None]
    found = _dangerous_values(sources, zones)
    if not sources.ordinary:
        return found
    return {kind: list(filter(is_ordinary, values)) for kind, values in found.items()}


def is_ordinary(value: Any) -> bool:
    """Whether a number is finite, or a text can be written as UTF-8; of anything else it is true."""
    if isinstance(value, Decimal):
        return value.is_finite()
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _dangerous_values(sources: Sources, zones: list[Any]) -> dict[str, list[Any]]:
    texts = [text for text in _TEXTS if sources.huge or len(text) <= _LARGE]
    return {
        "str": [*(map(confined, texts) if sources.confined else texts), *(ADDRESSES if sources.web else ())],
        "bytes": [data for data in _BYTES if sources.huge or len(data) <= _LARGE],
        "bool": [True, False],
        "int": [*_INTS, *sources.leaves.get("int", ())],
        "float": [*_FLOATS, *sources.leaves.get("float", ())],
        "Decimal": [*map(Decimal, _DECIMALS), *sources.leaves.get("Decimal", ())],
        "datetime": [moment.replace(tzinfo=zone) for moment in _MOMENTS for zone in zones],
        "date": [moment.date() for moment in _MOMENTS],
        "time": [time.replace(tzinfo=zone) for time in _TIMES for zone in zones],
        "timedelta": _SPANS,
        "UUID": [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)],
        **{row.name: list(map(copy.copy, examples_of(row.name))) for row in VALUE_ROWS},
        "Path": [sources.folder, *(sources.folder / name for name in (*_PATHS, *_more_paths(sources.found)))],
    }


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
