"""What a request must have before a page sees it: where it comes from, who sends it, how large it is (design: studio).

Every program of this machine reaches a port of it, those of other users too, so a browser shows a token. A page of another
site could still send requests here, or give its own name this machine's address; so the name that a request asks for, its
origin and the secret of its form are checked.
"""

import hashlib
import hmac
import ipaddress
import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 4_000_000
"""Bytes of a form; a fix carries whole files."""

SESSION = "specwright_studio"
"""The cookie that names a browser."""

ACCESS = "specwright_access"
"""The cookie of a browser that has shown the token."""

SHORTEST_TOKEN = 16

_LOOPBACK = ("localhost", "127.0.0.1", "::1")

HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""What every answer says to the browser."""

_OPEN_PATHS = ("/login", "/assets/")
"""What a browser may see before it has shown the token."""


class Gatekeeper(NamedTuple):
    """The secrets of one studio process, and where it listens.

    Args:
        host: The address that it listens on.
        token: That opens it; empty for none.
        secret: Of this process; forms and cookies are signed with it.
    """

    host: str = "127.0.0.1"
    token: str = ""
    secret: bytes = b""

    @classmethod
    def create(cls, host: str = "127.0.0.1", token: str = "") -> "Gatekeeper":
        """A gatekeeper with a new secret."""
        return cls(host, token, os.urandom(32))

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine reach it."""
        return is_loopback(self.host)

    def admits_host(self, name: str) -> bool:
        """Whether a request may ask for a host of this name, so that no other name leads here unseen."""
        host = (urlsplit(f"//{name}").hostname or "") if name else ""
        if host in _LOOPBACK or host == self.host:
            return True
        return bool(self.token) and not self.is_local

    def csrf(self, session: str) -> str:
        """The secret of the forms of a browser."""
        return self._signed(f"form:{session}")

    def admits_form(self, session: str, given: str) -> bool:
        """Whether a form comes from a page that this studio made for this browser."""
        return bool(session) and hmac.compare_digest(self.csrf(session).encode(), given.encode())

    def admits_token(self, given: str) -> bool:
        """Whether this is the token; the comparison takes the same time for each."""
        if not self.token:
            return True
        digests = (hashlib.sha256(text.encode()).digest() for text in (self.token, given))
        return hmac.compare_digest(*digests)

    @property
    def access(self) -> str:
        """The cookie's value of a browser that has shown the token."""
        return self._signed("access")

    def admits(self, connection: HTTPConnection) -> bool:
        """Whether a request shows the token, as a cookie or as a bearer's."""
        if not self.token:
            return True
        kind, _, given = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.admits_token(given.strip())
        cookie = connection.cookies.get(ACCESS, "")
        return hmac.compare_digest(cookie.encode(), self.access.encode())

    def _signed(self, text: str) -> str:
        return hmac.new(self.secret, text.encode(), "sha256").hexdigest()


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_own_origin(headers: Headers) -> bool:
    """Whether a request that changes something was sent by a page of this studio."""
    origin, host = headers.get("origin", ""), headers.get("host", "")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    return bool(origin) and urlsplit(origin).netloc == host


class Guard:
    """Middleware that turns away what must not reach a page, and gives each answer its headers.

    Args:
        app: What it guards.
        gatekeeper: Decides.
    """

    def __init__(self, app: ASGIApp, gatekeeper: Gatekeeper) -> None:
        self._app = app
        self._gatekeeper = gatekeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        session = connection.cookies.get(SESSION, "")
        is_new = not (len(session) == 32 and session.isalnum())
        scope["session_id"] = os.urandom(16).hex() if is_new else session

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
                if is_new:
                    cookie = f"{SESSION}={scope['session_id']}; HttpOnly; SameSite=Strict; Path=/"
                    headers.append("set-cookie", cookie)
            await send(message)

        refusal = self._refusal(connection, scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _limited(receive), send_guarded)

    def _refusal(self, connection: HTTPConnection, scope: Scope) -> ASGIApp | None:
        """What a request is answered with that must not reach a page."""
        headers, method, path = connection.headers, scope["method"], scope["path"]
        if not self._gatekeeper.admits_host(headers.get("host", "")):
            return _turned_away("this studio is not known by that name", 421)
        if method not in ("GET", "HEAD", "POST"):
            return _turned_away("a studio is asked with GET and POST", 405)
        if method == "POST" and not is_own_origin(headers):
            return _turned_away("this form was not sent by a page of this studio", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return _turned_away(f"a form has at most {LARGEST_BODY:,} bytes", 413)
        if path.startswith(_OPEN_PATHS) or self._gatekeeper.admits(connection):
            return None
        if method == "GET" and self._gatekeeper.admits_token(connection.query_params.get("token", "")):
            return with_access(self._gatekeeper)  # the address that was printed
        if method == "GET" and "text/html" in headers.get("accept", ""):
            return RedirectResponse("/login", 303)
        return _turned_away("this studio asks for its token", 401)


def with_access(gatekeeper: Gatekeeper) -> RedirectResponse:
    """The way to the first page, with the cookie of a browser that has shown the token."""
    answer = RedirectResponse("/", 303)
    answer.set_cookie(ACCESS, gatekeeper.access, httponly=True, samesite="strict")
    return answer


def _turned_away(text: str, status: int) -> ASGIApp:
    return PlainTextResponse(text + "\n", status)


class BodyTooLargeError(Exception):
    """A body without a stated length is longer than a form may be."""


def _limited(receive: Receive) -> Receive:
    """The body of a request, up to what a form may have, whatever its length was said to be."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > LARGEST_BODY:
            raise BodyTooLargeError
        return message

    return limited
