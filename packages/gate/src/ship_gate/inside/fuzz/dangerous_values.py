"""The values that break programs, by kind, and what hosts do that breaks them: whatever the other side does, only what the
contract declares comes out of a module (design: module-directory, ship-gate).

Loaded by `inside.fuzz.runner`, which runs without the module and loads nothing else of the project. Every host does the same
in one call. Calls of the tests are made with each of these; a drawn input decides which it meets, so that a shrunk one meets
the same.

Left out: integers beyond 64 bits and deeply nested JSON, which every plain program refuses in its own way;
paths that hold NUL or lie outside the scratch directory; times with a zone, unless something speaks of zones.
"""

import contextlib
import copy
import datetime
import functools
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from ship_gate.base.boundary_values import SCALARS, Scalar, scalar_of
from ship_gate.inside.values import is_json
from ship_gate.inside.web.script import FAILURES, Answer, Page, bytes_of

_MOST_BODIES = 60
_MOST_LARGE = 100_000
_DEEP = 50_000
_OTHER_PARTS: tuple[Any, ...] = (None, 7, "x", [], {}, True)

ADDRESSES = (
    "http://a.example/", "https://a.example", "https://a.example/%zz?q=%", "https://a.example/ä?q=ö", "https://ä.example/",
    "https://a.example/a b", "https://a.example:99999/", "https://a.example:x/", "https://a.example:/", "https:///a",
    "https://", "http://[::1", "http://[::1]/", "http://[x]/", "https://a..example/", "https://.example/",
    "https://" + "a" * 64 + ".example/", "https://user:pass@a.example/", "https://a.example\n/",
    "https://a.example/\r\nX: y",
    "https://a.example/\x00", "https://a.example/\ud800", "//a.example/", "a.example", "mailto:a@a.example", "javascript:1",
    "data:text/plain,a", "ftp://a.example/", "file:///etc/hostname", "unknown://a.example/", "HTTPS://A.EXAMPLE/",
)  # fmt: skip
"""Addresses that break programs; texts of a module that asks hosts may be one."""


class Behaviour(NamedTuple):
    """What each host does in a call: an answer for each request, the last one again and again."""

    text: str
    pages: tuple[Page, ...]

    def answer(self, place: int, method: str) -> Answer:
        """To the request at a place of the call."""
        page = self.pages[min(place, len(self.pages) - 1)]
        return Answer(bytes_of(page, method), page.delay, page.failure)


def behaviours(values: Sequence[Any]) -> list[Behaviour]:
    """What hosts do, the plainest first.

    Args:
        values: Of the tests; those that can be JSON are answered as well, with one part replaced.
    """
    found = [_one(f"with {how}", failure=how) for how in FAILURES]
    found += [
        _one(f"with status {status}", status)
        for status in (200, 204, 301, 400, 401, 403, 404, 429, 500, 503, 599, 999)
    ]
    for status, name, text in _HEADERS:
        found.append(_one(f"with status {status} and {name}: {text[:40]!r}", status, {name: text}))
    for body in _BODIES:
        found.append(_one(f"with the body {_short(body)}", body=body))
    after = Page("", 429, (("Retry-After", "1"),), b"", 0.0)
    found += [
        Behaviour(f"with 429, and then with {how}", (after, Page("", 200, (), b"", 0.0, how)))
        for how in ("reset", "cut off")
    ]
    for value in _changed_bodies(values):
        found.append(
            _one(f"with the body {_short(json.dumps(value).encode())}", body=json.dumps(value).encode())
        )
    return found


def of_input(found: Sequence[Behaviour], text: bytes) -> Behaviour:
    """What a drawn input meets."""
    return found[zlib.crc32(text) % len(found)]


_JSON = {"Content-Type": "application/json"}
_PLACES = ("/", "http://[::1", "\xff\x80", "https://elsewhere.example/")
_TIMES = ("", "-1", "soon", "1e400", "nan", "99999999999999999999", "Wed, 21 Oct 2015 07:28:00 GMT")
_HEADERS = (
    *((status, "Location", text) for status in (301, 302, 308) for text in _PLACES),
    (301, "Location", ""), (301, "Location", "ftp://a.example/"), (301, "Location", "file:///etc/hostname"),
    *((429, "Retry-After", text) for text in _TIMES),
    (200, "Content-Length", "x"), (200, "Content-Length", "-1"), (200, "Content-Length", "99999999"),
    (200, "Transfer-Encoding", "chunked"), (200, "Content-Encoding", "gzip"),
    (200, "Content-Type", "text/html; charset=no-such"), (200, "Content-Type", ""), (200, "Link", "<"),
    (200, "X-" + "a" * 70_000, "a"), (401, "WWW-Authenticate", "Digest"),
)  # fmt: skip
_BODIES = (
    b"\xff\xfe\xed\xa0\x80", b"null", b"[]", b"{}", b"7", b'"x"', b"true", b'{"a": ', b"NaN", b"<html", b"\xef\xbb\xbf{}",
    b"[" * _DEEP, b'{"a": 1e999}', b"1" * 5000, b"x" * _MOST_LARGE, b"[null]", b"[[]]", b"[{}]", b'["x"]',
)  # fmt: skip


def _one(
    text: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    failure: str = "",
) -> Behaviour:
    return Behaviour(text, (Page("", status, tuple((headers or {}).items()), body, 0.0, failure),))


def _changed_bodies(values: Sequence[Any]) -> Iterator[Any]:
    """The bodies of the tests, and each with one of its parts replaced or left out."""
    made = 0
    for value in values:
        if not isinstance(value, (dict, list)) or not is_json(value):
            continue
        whole = cast("dict[str, Any] | list[Any]", value)
        for changed in (whole, *_with_other_parts(whole)):
            if made >= _MOST_BODIES:
                return
            made += 1
            yield changed


def _with_other_parts(value: dict[str, Any] | list[Any]) -> Iterator[Any]:
    keys: list[Any] = [*value] if isinstance(value, dict) else [*range(min(len(value), 2))]
    for key in keys:
        for other in _OTHER_PARTS:
            whole: Any = copy.deepcopy(value)
            whole[key] = other
            yield whole
        whole = copy.deepcopy(value)
        del whole[key]
        yield whole
        inner: Any = cast("Any", value)[key]
        for changed in (
            _with_other_parts(cast("dict[str, Any]", inner)) if isinstance(inner, (dict, list)) else ()
        ):
            whole = copy.deepcopy(value)
            whole[key] = changed
            yield whole


def _short(body: bytes) -> str:
    text = body.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 60 else text[:57] + "...")


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
