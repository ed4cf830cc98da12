"""What a request must have before a page sees it: who sends it, and from where (design: studio).

Every program of this machine reaches a port of it, those of other users too, so a browser shows a token. A page of another
site could still send requests here, or give its own name this machine's address; so the name that a request asks for, its
origin and the secret of its form are checked.
"""

import hmac
import ipaddress
import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp

LARGEST_BODY = 4_000_000
"""Bytes of a form; a fix carries whole files."""

SESSION = "specwright_studio"
"""The cookie that names a browser."""

ACCESS = "specwright_access"
"""The cookie of a browser that has shown the token."""

SHORTEST_TOKEN = 16

HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer says to the browser."""

_LOOPBACK = ["localhost", "127.0.0.1", "::1", "[::1]"]
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
    def hosts(self) -> list[str]:
        """The names that a request may ask for; any where other machines reach the studio and need its token."""
        return ["*"] if self.token and not is_loopback(self.host) else [*_LOOPBACK, self.host]

    def csrf(self, session: str) -> str:
        """The secret of the forms of a browser."""
        return self._signed(f"form:{session}")

    def admits_form(self, session: str, given: str) -> bool:
        """Whether a form comes from a page that this studio made for this browser."""
        return hmac.compare_digest(self.csrf(session).encode(), given.encode())

    def admits_token(self, given: str) -> bool:
        """Whether this is the token; the comparison takes the same time for each."""
        return hmac.compare_digest(self._signed(self.token), self._signed(given))

    @property
    def access(self) -> str:
        """The cookie's value of a browser that has shown the token."""
        return self._signed("access")

    def admits(self, request: Request) -> bool:
        """Whether a request shows the token, as a cookie or as a bearer's."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self.admits_token(given.strip())
        cookie = request.cookies.get(ACCESS, "")
        return not self.token or hmac.compare_digest(cookie.encode(), self.access.encode())

    def _signed(self, text: str) -> str:
        return hmac.new(self.secret, text.encode(), "sha256").hexdigest()


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_own_origin(headers: Headers) -> bool:
    """Whether a request that changes something was sent by a page of this studio."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    return urlsplit(headers.get("origin", "")).netloc == headers.get("host", "")


def with_access(gatekeeper: Gatekeeper, path: str = "/") -> Response:
    """The way to a page of the studio, with the cookie of a browser that has shown the token."""
    answer = RedirectResponse(path if _PAGE.fullmatch(path) else "/", 303)
    answer.set_cookie(ACCESS, gatekeeper.access, httponly=True, samesite="strict")
    return answer


_PAGE = re.compile(r"(/[\w.@-]+)+")  # no other host


class Guard(BaseHTTPMiddleware):
    """Middleware that asks for the token, names each browser, and gives each answer its headers.

    Args:
        app: What it guards.
        gatekeeper: Decides.
    """

    def __init__(self, app: ASGIApp, gatekeeper: Gatekeeper) -> None:
        super().__init__(app)
        self._gatekeeper = gatekeeper

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Answer a request."""
        session = request.cookies.get(SESSION, "")
        is_new = not (len(session) == 32 and session.isalnum())
        request.state.session = os.urandom(16).hex() if is_new else session
        if request.url.path.startswith(_OPEN_PATHS) or self._gatekeeper.admits(request):
            answer = await call_next(request)
        elif request.method == "GET" and self._gatekeeper.admits_token(request.query_params.get("token", "")):
            answer = with_access(
                self._gatekeeper, request.url.path
            )  # the address that was printed, or below it
        elif request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            answer = RedirectResponse("/login", 303)
        else:
            answer = PlainTextResponse("this studio asks for its token\n", 401)
        answer.headers.update(HEADERS)
        if request.url.path.startswith("/assets/"):
            answer.headers["cache-control"] = "no-cache"
        if is_new:
            answer.set_cookie(SESSION, request.state.session, httponly=True, samesite="strict")
        return answer
