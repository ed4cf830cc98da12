"""What a module's process has in place of a network: connections that end at the script of a test (design: contracts).

`socket.create_connection` and `SSLContext.wrap_socket` are where `http.client`, and what is built on it, meet the
network; `httpcore`, below httpx, meets it there as well. Here they give a connection of this process alone: what is sent
over it is one question to whoever holds the script, and what comes back is read from it. No socket is made; the sandbox
refuses each.

Left out: anything but HTTP over TCP, and waiting. Certificates are not made: a connection is told that its peer's is bad.
"""

import errno
import io
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.web.script import FAILURES, Answer, origin_of

_MOST_BYTES = 8 * 1024 * 1024
_END = b"\r\n\r\n"
_NO_NAME = -2
_NO_SERVICE = -8
_MOST_PORT = 65_535
_CORES = ("httpcore", "httpcore2")
"""What httpx and httpx2 stand on."""


class HostRequest(NamedTuple):
    """A request on its way to the script.

    Args:
        scheme: `http` or `https`.
        host: As it is resolved, in lower case.
        port: Of the host.
        at: What the clock was put forward so far.
    """

    scheme: str
    host: str
    port: int
    at: float


Ask = Callable[[HostRequest, bytes], Answer]
Tell = Callable[[str, str], None]


def install(ask: Ask, passed: ModuleClock, tell: Tell) -> None:
    """Put the connections in place.

    Args:
        ask: Takes a request to the script.
        passed: The module's clock.
        tell: Takes the kind of an effect and what is to be said about it.
    """
    import socket
    import ssl

    unset = getattr(socket, "_GLOBAL_DEFAULT_TIMEOUT")  # noqa: B009 - how the library says that none was given
    wrap = ssl.SSLContext.wrap_socket

    def create_connection(
        address: tuple[Any, int],
        timeout: Any = unset,
        source_address: object = None,
        *,
        all_errors: bool = False,
    ) -> Any:
        most = socket.getdefaulttimeout() if timeout is unset else timeout
        host, port = resolved(*address)
        if most is None:
            tell("ENDLESS", f"{host}:{port}")
        return Connection(host, port, most, ask, passed)

    def wrap_socket(self: Any, sock: Any, *args: Any, server_hostname: Any = None, **kwargs: Any) -> Any:
        if not isinstance(sock, Connection):
            return wrap(self, sock, *args, server_hostname=server_hostname, **kwargs)
        if self.check_hostname and not server_hostname:
            raise ValueError("check_hostname requires server_hostname")
        checks = self.verify_mode == ssl.CERT_REQUIRED and self.check_hostname
        if not checks:
            tell("UNCHECKED", sock.name())
        sock.encrypt(checks=checks)
        return sock

    socket.create_connection = create_connection
    ssl.SSLContext.wrap_socket = wrap_socket  # type: ignore[method-assign]  # that is the purpose


def resolved(host: Any, port: int) -> tuple[str, int]:
    """A host's name as the system would take it.

    Raises:
        UnicodeError: a part of the name is empty or too long, as the library says.
        OSError: there is no such port, or no name.
    """
    import socket

    text = host.decode("ascii") if isinstance(host, bytes) else str(host)
    if "\0" in text:
        raise ValueError("embedded null character")
    text = text.encode("idna").decode("ascii").lower()
    if not text:
        raise socket.gaierror(_NO_NAME, "Name or service not known")
    if not 0 <= port <= _MOST_PORT:
        raise socket.gaierror(_NO_SERVICE, "Servname not supported for ai_socktype")
    return text, port


class _NoConnectionError(Exception):
    """A host cannot be connected to."""

    def __init__(self, refusal: OSError) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class Connection:
    """A connection to a scripted host, as `http.client` uses a socket."""

    family, type, proto = 2, 1, 6

    def __init__(self, host: str, port: int, timeout: float | None, ask: Ask, passed: ModuleClock) -> None:
        self._host, self._port = host, port
        self._timeout = timeout
        self._ask, self._passed = ask, passed
        self._scheme, self._checks = "http", True
        self._out = bytearray()
        self._answers = _AnswerStream(self)
        self._closed = False

    def name(self) -> str:
        """The host, as an address begins."""
        return origin_of(self._scheme, self._host, self._port)

    def encrypt(self, *, checks: bool) -> None:
        """Speak TLS from here on."""
        self._scheme, self._checks = "https", checks

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send; a whole request is asked at once."""
        try:
            self._take(data)
        except _NoConnectionError as error:
            raise error.refusal from None

    def _take(self, data: Any) -> None:
        if self._closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        self._out += data
        if len(self._out) > _MOST_BYTES:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        if _is_whole(bytes(self._out)):
            data, self._out = bytes(self._out), bytearray()
            self._asked(data)

    def _asked(self, data: bytes) -> None:
        asked = HostRequest(self._scheme, self._host, self._port, self._passed.seconds)
        answer = self._ask(asked, data)
        if FAILURES.get(answer.failure) == "connect" and (self._checks or answer.failure != "certificate"):
            raise _NoConnectionError(_refusal(answer.failure, is_tls=self._scheme == "https"))
        self._answers.take(answer)

    def waited(self, seconds: float | None) -> None:
        """Let time pass before bytes come; None is for ever.

        Raises:
            TimeoutError: that is longer than the connection waits.
        """
        if seconds is None or (self._timeout is not None and seconds > self._timeout):
            self._passed.advance(self._timeout or 0.0)
            raise TimeoutError("timed out")
        self._passed.advance(seconds)

    def send(self, data: Any, flags: int = 0) -> int:
        """As `sendall`; how much was sent.

        A host is asked with the first whole request, so that only here it fails to be connected to. `http.client` raises
        that as it comes; httpcore passes over what fails while it sends, so it gets the error that its connecting raises.
        """
        try:
            self._take(data)
        except _NoConnectionError as error:
            library = sys.modules.get(sys._getframe(1).f_globals["__name__"].partition(".")[0])  # pyright: ignore[reportPrivateUsage] - who sends
            if library is None or library.__name__ not in _CORES:
                raise error.refusal from None
            raise library.ConnectError(str(error.refusal)) from error.refusal
        return len(data)

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Read what has come."""
        return self._answers.take_bytes(size)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """Read into a buffer."""
        return self._answers.readinto(memoryview(buffer)[: nbytes or None])

    def makefile(self, mode: str = "r", buffering: int | None = None, **_: Any) -> Any:
        """What is read, as a file; only bytes are read by the library."""
        return io.BufferedReader(_Reader(self._answers))

    def settimeout(self, value: float | None) -> None:
        """How long to wait."""
        self._timeout = value

    def gettimeout(self) -> float | None:
        """How long it waits."""
        return self._timeout

    def setsockopt(self, *_: Any) -> None:
        """Nothing depends on it."""

    def fileno(self) -> int:
        """There is none."""
        return -1

    def getpeercert(self, binary_form: bool = False) -> Any:
        """No certificate is made."""
        return b"" if binary_form else {}

    def shutdown(self, how: int) -> None:
        """Nothing more is sent."""
        self._closed = True

    def close(self) -> None:
        """Nothing more is sent; what came can still be read, as from a socket's file."""
        self._closed = True

    def unwrap(self) -> "Connection":
        """Without TLS again."""
        return self

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Reader(io.RawIOBase):
    """A file over what comes; that it is closed closes no connection."""

    def __init__(self, answers: "_AnswerStream") -> None:
        super().__init__()
        self._answers = answers

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._answers.readinto(buffer)


class _AnswerStream:
    """What comes over a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._data = b""
        self._delay: float | None = 0.0
        self._failure = ""
        self._is_due = False

    def take(self, answer: Answer) -> None:
        """An answer has come, or a failure in its place."""
        self._data = self._data + answer.data
        self._delay = None if answer.failure == "timeout" else answer.delay
        self._failure = answer.failure
        self._is_due = True

    def take_bytes(self, size: int) -> bytes:
        """What is there, at most so much."""
        if self._is_due:
            self._is_due = False
            self._connection.waited(self._delay)
        if not self._data:
            self._fail()
        data, self._data = self._data[:size], self._data[size:]
        return data

    def _fail(self) -> None:
        """At the end of what came: how the host fails there, if not by closing the connection."""
        failure, self._failure = self._failure, ""
        if failure in {"reset", "reset in body"}:
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        if failure == "timeout in body":
            self._connection.waited(None)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; how much."""
        data = self.take_bytes(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _is_whole(data: bytes) -> bool:
    """Whether a request has come to its end."""
    head, end, body = data.partition(_END)
    if not end:
        return False
    fields = head.lower().split(b"\r\n")[1:]
    named = {name.strip(): value.strip() for name, _, value in (field.partition(b":") for field in fields)}
    if b"chunked" in named.get(b"transfer-encoding", b""):
        return body.endswith(b"0\r\n\r\n")
    length = named.get(b"content-length", b"0")
    return not length.isdigit() or len(body) >= int(length)


def _refusal(failure: str, *, is_tls: bool) -> OSError:
    """What making a connection raises."""
    import socket
    import ssl

    match failure:
        case "no such host":
            return socket.gaierror(_NO_NAME, "Name or service not known")
        case "certificate" if is_tls:
            message = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1000)"
            return ssl.SSLCertVerificationError(1, message)
        case "no TLS" if is_tls:
            return ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1000)")
        case _:
            return ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
