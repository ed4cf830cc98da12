"""A TCP proxy on loopback whose line can be cut and repaired: the network between a client and a real server."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["Proxy", "proxy_to"]


class Proxy:
    """Forwards bytes both ways while the line holds; what connects while it is cut is closed at once.

    Args:
        host: Of the server.
        port: Of the server.
        address: Of this machine, that clients connect to.
        silence: Seconds after which a client that does not even acknowledge is given up, as a server would by its
            keepalives; 0 for never.
    """

    def __init__(self, host: str, port: int, address: str = "127.0.0.1", silence: int = 0) -> None:
        self._target = host, port
        self._cut = False
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server((address, 0))
        self._silence = silence
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cut the line, also for what is connected."""
        with self._lock:
            self._cut = True
            for each in self._sockets:
                _end(each)
            self._sockets.clear()

    def mend(self) -> None:
        """Let new connections through."""
        with self._lock:
            self._cut = False

    def close(self) -> None:
        """End it."""
        self.cut()
        _end(self._listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._cut:
                    client.close()
                    continue
                _give_up_after(client, self._silence)
                server = socket.create_connection(self._target)
                self._sockets |= {client, server}
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_forward, args=(source, sink), daemon=True).start()


def _give_up_after(client: socket.socket, silence: int) -> None:
    if silence:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, silence)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * silence)


def _forward(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(65_536):
            sink.sendall(block)
    _end(source)
    _end(sink)


def _end(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


@contextmanager
def proxy_to(host: str, port: int, address: str = "127.0.0.1", silence: int = 0) -> Iterator[Proxy]:
    """A proxy to a server; ended after the block. For the arguments see `Proxy`."""
    proxy = Proxy(host, port, address, silence)
    try:
        yield proxy
    finally:
        proxy.close()
