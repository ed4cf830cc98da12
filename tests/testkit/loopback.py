"""A web server on loopback whose answers a function gives: the one that every scripted endpoint of the tests stands on."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

__all__ = ["Asked", "Reply", "answering"]


class Asked(NamedTuple):
    """A request as it came.

    Args:
        method: `POST`, `GET` or `HEAD`.
        path: With its query.
        headers: In the capitals of the client, found by any.
        body: As it was sent.
        client: The address that it comes from.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    client: str

    @property
    def document(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Reply(NamedTuple):
    """What goes out for a request.

    Args:
        status: Of the reply.
        body: Bytes as they are, anything else as JSON.
        headers: Beside the type and the length.
        drip: Seconds between two bytes of the body.
        cut: Whether the connection is cut in the middle of the body.
        sent: Called when all of it went out.
    """

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = {}
    drip: float = 0.0
    cut: bool = False
    sent: Callable[[], None] = lambda: None


@contextmanager
def answering(reply: Callable[[Asked], Reply | None], host: str = "127.0.0.1") -> Iterator[str]:
    """Answer as the function says, None by closing the connection, until the block ends; the address of the server."""
    over = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = reply(Asked(self.command, self.path, self.headers, body, self.client_address[0]))
            try:
                if said is None or not _is_sent(self, said, over):
                    self.close_connection = True
            except OSError:  # whoever asked is gone
                self.close_connection = True

        do_POST = do_GET = do_HEAD = _answer  # noqa: N815 - the names that the library calls

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer((host, 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _is_sent(request: http.server.BaseHTTPRequestHandler, said: Reply, over: threading.Event) -> bool:
    """Send a reply; whether it went out in full."""
    body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
    request.send_response(said.status)
    for name, value in {"Content-Type": "application/json", **said.headers}.items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    body = body[: len(body) // 2] if said.cut else body
    parts = [bytes([one]) for one in body] if said.drip else [body]
    for part in parts if request.command != "HEAD" else []:
        if said.drip and over.wait(said.drip):
            return False
        request.wfile.write(part)
    request.wfile.flush()
    if not said.cut:
        said.sent()
    return not said.cut
