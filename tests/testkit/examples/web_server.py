"""A web server on loopback with pages that answer, move, loop, wait and refuse, and a log of what was asked."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, NamedTuple

__all__ = ["AskedPage", "WebServer"]


class AskedPage(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    mark: str
    """The header X-Mark."""


class WebServer:
    """Answers by the path: `/404` with that status, `/301/PATH` with a redirect to `/PATH`, `/loop` with one to itself,
    `/no-head` only GET, `/slow` after the server is closed."""

    def __init__(self, address: str) -> None:
        self.asked: list[AskedPage] = []
        self.closed = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version: ClassVar[str] = "HTTP/1.0"

            def do_GET(self) -> None:
                server.asked.append(AskedPage(self.command, self.path, self.headers.get("X-Mark", "")))
                first, _, rest = self.path.removeprefix("/").partition("/")
                if first == "slow":
                    server.closed.wait(60)
                code = int(first) if first.isdecimal() else 200
                code = {"loop": 302, "no-head": 405 if self.command == "HEAD" else 200}.get(first, code)
                self.send_response(code)
                if 300 <= code < 400:
                    self.send_header("Location", "/loop" if first == "loop" else f"/{rest}")
                self.end_headers()

            do_HEAD = do_GET  # noqa: N815 - the name that the library calls

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{address}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def close(self) -> None:
        """Stop answering."""
        self.closed.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
