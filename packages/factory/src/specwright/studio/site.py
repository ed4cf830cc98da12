"""Where pages are and how they are written: links, templates, the files beside them (design: studio).

The same templates make the pages of the server and those of the static export. Only the links differ: those of the export
are relative and end in `.html`. Everything that is put into a page is escaped.
"""

import hashlib
import posixpath
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from specwright.domain.tasks.project_state import MARKS
from specwright.ports.roles import Role

_PACKAGE = "specwright.studio"

ASSETS: Mapping[str, str] = {
    "studio.css": "text/css; charset=utf-8",
    "studio.js": "text/javascript; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""The files beside the pages, with their types."""

SIGNS: Mapping[str, str] = {
    **{status.value: sign for status, sign in MARKS.items()},
    "PASS": "✓",
    "FAIL": "✗",
    "APPROVE": "✓",
    "APPROVE_WITH_AMENDMENTS": "±",
    "REJECT": "✗",
    "SKIPPED": "–",
    "NOT_RUN": "–",
    "SHOWN": "✓",
    "MET": "✓",
    "NOT_MET": "✗",
    "approval": "?",
    "halted": "✗",
    "stalled": "✗",
    "running": "▶",
    "stopped": "◌",
    "released": "✓",
    "release_failed": "✗",
    "release_due": "○",
    "new": "○",
    "damaged": "!",
}
"""A sign for each status, so that no colour is needed to read it."""

TONES: Mapping[str, str] = {
    "✓": "good",
    "✗": "bad",
    "▶": "busy",
    "±": "warn",
    "?": "ask",
    "◌": "warn",
    "!": "bad",
}
"""The tone of a sign, which gives its colour."""


@cache
def asset(name: str) -> bytes:
    """A file beside the pages."""
    return (files(_PACKAGE) / "assets" / name).read_bytes()


@cache
def asset_version(name: str) -> str:
    """What tells the versions of a file apart, so that a browser never keeps an old one."""
    return hashlib.sha256(asset(name)).hexdigest()[:12]


class Site:
    """Where the pages of a project are, seen from one page.

    Args:
        key: Of the project; empty for the pages of the studio itself.
        static: Whether they are files.
        here: The page from which a static link leads, `module/initials`.
    """

    def __init__(self, key: str = "", *, static: bool = False, here: str = "") -> None:
        self.key = key
        self.static = static
        self.here = here

    def to(self, page: str) -> str:
        """The link to a page of the project."""
        path, _, query = page.partition("?")
        path, _, anchor = path.partition("#")
        tail = (f"?{query}" if query and not self.static else "") + (f"#{anchor}" if anchor else "")
        if self.static:
            return _relative(f"{file_of(path)}.html", self.here) + tail
        return f"/p/{self.key}/{quote(path)}{tail}"

    def home(self) -> str:
        """The link to the first page."""
        return self.to("run") if self.static else "/"

    def asset(self, name: str) -> str:
        """The link to a file beside the pages."""
        if self.static:
            return _relative(f"assets/{name}", self.here)
        return f"/assets/{name}?v={asset_version(name)}"


def file_of(page: str) -> str:
    """The name of a page's file without its ending: what a file system may not take is replaced."""
    return "/".join(quote(part, safe="@+=,").replace("%", "_") for part in page.split("/"))


def _relative(target: str, here: str) -> str:
    return quote(posixpath.relpath(target, posixpath.dirname(file_of(here)) or "."))


@cache
def environment() -> Environment:
    """The templates, with everything escaped that is put into them."""
    made = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"moment": moment, "sign": sign, "tone": tone, "words": words, "size": size}
    return made


_STEERING = dict.fromkeys(
    (*range(9), 11, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    "\ufffd",
)
"""Characters that control a terminal or reorder a text, as a page shows them."""


def render(template: str, site: Site, context: Mapping[str, Any]) -> str:
    """A page as text."""
    made = environment().get_template(template).render(site=site, roles=list(Role), **context)
    return made.translate(_STEERING)


def moment(text: str) -> str:
    """A time as a person reads it, `25 Nov 2026, 14:45:02 UTC`."""
    try:
        found = datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00")
    except ValueError:
        return text
    return f"{found:%d %b %Y, %H:%M:%S} UTC".lstrip("0")


def sign(status: object) -> str:
    """The sign of a status."""
    return SIGNS.get(str(status), "·")


def tone(status: object) -> str:
    """The tone of a status."""
    return TONES.get(sign(status), "calm")


def words(status: object) -> str:
    """A status in words, `in progress`."""
    return str(status).replace("_", " ").lower()


def size(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"
