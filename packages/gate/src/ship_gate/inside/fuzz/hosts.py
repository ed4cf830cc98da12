"""What hosts do under the fuzz: whatever the other side does, only what the contract declares comes out of a module
(design: contracts, ship-gate).

Loaded by `inside.fuzz.runner`. Every host does the same in one call. Calls of the tests are made with each of these; a drawn
input decides which it meets, so that a shrunk one meets the same.
"""

import copy
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ship_gate.inside.shapes import is_json
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
