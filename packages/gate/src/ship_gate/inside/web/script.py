"""Hosts as a test describes them: what they answer, how they fail, and what they were asked (design: contracts).

It opens nothing: a request comes in as bytes and an answer goes out as bytes. It is `web` of `modules.testing`, in the
process of the tests and examples; what it is asked there comes from the module's process over the gate.

Left out: what a connection does with an answer, `connections`.
"""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

FAILURES = {
    "no such host": "connect",
    "refused": "connect",
    "certificate": "connect",
    "no TLS": "connect",
    "timeout": "answer",
    "reset": "answer",
    "closed": "answer",
    "malformed": "answer",
    "cut off": "body",
    "reset in body": "body",
    "timeout in body": "body",
}
"""How a host can fail, and where it is noticed: while a connection is made, in place of an answer, or in its body."""

_PORTS = {"http": 80, "https": 443}
_WITHOUT_BODY = {204, 304}
_MOST_REQUESTS = 10_000


class Request(NamedTuple):
    """What a host was asked.

    Args:
        method: `GET`, `POST` and so on.
        url: Whole, without a port that is the scheme's own.
        headers: By name, `Content-Type`.
        body: As it was sent.
        at: How far the module's clock was put forward by then: what was slept, and what answers took.
    """

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    at: float


class Answer(NamedTuple):
    """What a host does when it is asked: the bytes of an answer, after a time, and how it fails, if it does."""

    data: bytes = b""
    delay: float = 0.0
    failure: str = ""


class Page(NamedTuple):
    """What an address answers: to requests of which method, all if empty, and how it fails, if it does."""

    method: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    delay: float
    failure: str = ""


class Web:
    """Hosts that a test describes; nothing else can be reached.

    Args:
        described: Is called when a host is.
    """

    def __init__(self, described: Callable[[], None] = lambda: None) -> None:
        self._described = described
        self._pages: dict[str, list[Page]] = {}
        self._given: set[tuple[str, int]] = set()
        self._log: list[Request] = []

    @property
    def requests(self) -> list[Request]:
        """What the hosts were asked since the test began, in order."""
        return [*self._log]

    def clear(self) -> None:
        """Forget what was described and asked; it happens before each test and example."""
        self._pages, self._given, self._log = {}, set(), []

    def serve(
        self,
        url: str,
        *,
        method: str = "",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        body: str | bytes | dict[str, Any] | list[Any] = "",
        delay: float = 0.0,
    ) -> None:
        """Answer requests of an address. Several for one address are given in turn, and the last again and again.

        Args:
            url: With its query, as it is asked.
            method: Only for requests of this method.
            status: Of the answer.
            headers: Of the answer; its length is added.
            body: A dict or a list is sent as JSON.
            delay: Seconds before the answer; nobody waits for them, the module's clock is put forward.

        Raises:
            ValueError: the address is none, or a value cannot be sent.
        """
        given = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            given = {"Content-Type": "application/json", **given}
        data = body.encode() if isinstance(body, str) else body
        if not 100 <= status <= 999:
            raise ValueError(f"{status} is no status of an answer")
        if any("\r" in text or "\n" in text for pair in given.items() for text in pair):
            raise ValueError("a header is one line")
        self._add(url, Page(method.upper(), status, tuple(given.items()), data, delay))

    def fail(self, url: str, how: str, *, method: str = "") -> None:
        """Let requests of an address fail, in its turn as an answer of `serve`.

        Args:
            url: With its query; a host that cannot be connected to fails for all its addresses.
            how: One of `FAILURES`.
            method: Only for requests of this method.

        Raises:
            ValueError: there is no such failure, or the address is none.
        """
        if how not in FAILURES:
            raise ValueError(f"a host does not fail by {how!r}; these are known: {', '.join(FAILURES)}")
        self._add(url, Page(method.upper(), 200, (), b"", 0.0, how))

    def _add(self, url: str, page: Page) -> None:
        self._pages.setdefault(normal_url(url), []).append(page)
        self._described()

    def asked(self, scheme: str, host: str, port: int, data: bytes, at: float = 0.0) -> Answer:
        """Note a request, and answer it.

        Args:
            scheme: `http` or `https`.
            host: In lower case.
            port: Of the host.
            data: The request as it was sent.
            at: How far the module's clock was put forward.
        """
        request = read_request(scheme, host, port, data, at)
        page = self._page(request, origin_of(scheme, host, port))
        # whoever cannot connect asks nothing
        if FAILURES.get(page.failure) != "connect" and len(self._log) < _MOST_REQUESTS:
            self._log.append(request)
        return Answer(bytes_of(page, request.method), page.delay, page.failure)

    def _page(self, request: Request, origin: str) -> Page:
        pages = self._pages.get(request.url, [])
        places = [place for place, page in enumerate(pages) if page.method in {"", request.method}]
        if places:
            fresh = [place for place in places if (request.url, place) not in self._given]
            place = fresh[0] if fresh else places[-1]
            self._given.add((request.url, place))
            return pages[place]
        others = [page for url, found in self._pages.items() if _is_within(url, origin) for page in found]
        for page in others:
            if FAILURES.get(page.failure) == "connect":
                return page
        if not others:
            return Page("", 200, (), b"", 0.0, "no such host")
        return Page("", 405 if pages else 404, (), b"", 0.0)

    def alter(self, since: int, how: str) -> None:
        """Change what was asked since some request, to see who reads it: `unasked` or `altered`."""
        if how == "unasked":
            del self._log[since:]
        for place in range(since, len(self._log)):
            one = self._log[place]
            changed = {"body": one.body + b"~"} if one.body else {"url": one.url + "~"}
            self._log[place] = one._replace(**changed)


def normal_url(url: str) -> str:
    """An address as requests are told: host in lower case, no port that goes without saying, a path, no fragment.

    Raises:
        ValueError: it is none of a host.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no address of a host; write `https://a.example/path`")
    port = parts.port or _PORTS[parts.scheme]
    query = f"?{parts.query}" if parts.query else ""
    return f"{origin_of(parts.scheme, parts.hostname, port)}{parts.path or '/'}{query}"


def origin_of(scheme: str, host: str, port: int) -> str:
    """`https://a.example`, with a port that is not the scheme's own."""
    host = f"[{host}]" if ":" in host else host
    return f"{scheme}://{host}" + ("" if port == _PORTS[scheme] else f":{port}")


def _is_within(url: str, origin: str) -> bool:
    return url.startswith(f"{origin}/")


def read_request(scheme: str, host: str, port: int, data: bytes, at: float) -> Request:
    """What a request says; whoever sent it may have written anything."""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    target = rest.rpartition(" ")[0] or rest or "/"
    headers = {
        name.strip().title(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if not target.startswith("/"):
        target = "/" + target
    return Request(method, origin_of(scheme, host, port) + target, headers, body, round(at, 6))


def bytes_of(page: Page, method: str) -> bytes:
    """What is sent for a page in answer to a request of a method."""
    if page.failure == "malformed":
        return b"\x00\x01 no answer at all\r\n\r\n"
    where = FAILURES.get(page.failure, "")
    # whoever does not look at a bad certificate gets an answer
    if where in {"connect", "answer"} and page.failure != "certificate":
        return b""
    headers = {name.lower() for name, _ in page.headers}
    length = len(page.body)
    body = page.body
    if where == "body":
        # it says more than comes
        body, length = b"cut", 100
    lines = [
        f"HTTP/1.1 {page.status} {_reason(page.status)}",
        *(f"{name}: {text}" for name, text in page.headers),
    ]
    if (
        "content-length" not in headers
        and "transfer-encoding" not in headers
        and page.status not in _WITHOUT_BODY
    ):
        lines.append(f"Content-Length: {length}")
    without = method == "HEAD" or page.status in _WITHOUT_BODY or page.status < 200
    head = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
    return head if without else head + body


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
