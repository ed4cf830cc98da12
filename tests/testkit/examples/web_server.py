"""A web server on loopback with pages that answer, move, loop, wait and refuse, and a log of what was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from testkit.loopback import Asked, Reply, answering

__all__ = ["WebServer", "pages"]


class WebServer(NamedTuple):
    """A server with its address and the requests that came."""

    url: str
    asked: list[Asked]


@contextmanager
def pages(address: str) -> Iterator[WebServer]:
    """Answer by the path: `/404` with that status, `/301/PATH` with a redirect to `/PATH`, `/loop` with one to itself,
    `/no-head` only GET, `/slow` after the block ends."""
    asked, closed = list[Asked](), threading.Event()

    def page(request: Asked) -> Reply:
        asked.append(request)
        first, _, rest = request.path.removeprefix("/").partition("/")
        if first == "slow":
            closed.wait(60)
        code = int(first) if first.isdecimal() else 200
        code = {"loop": 302, "no-head": 405 if request.method == "HEAD" else 200}.get(first, code)
        moved = {"Location": "/loop" if first == "loop" else f"/{rest}"} if 300 <= code < 400 else {}
        return Reply(code, headers=moved)

    with answering(page, address) as url:
        yield WebServer(url, asked)
        closed.set()
