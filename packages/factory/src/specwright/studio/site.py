"""Where pages are and how they are written: links, templates, the files beside them (design: studio).

The same templates make the pages of the server and those of the static export. Only the links differ: those of the export
are relative and end in `.html`. Everything that is put into a page is escaped.
"""

import json
import posixpath
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader

from specwright.ports import Role

PACKAGE = "specwright.studio"

ASSETS = ("studio.css", "studio.js", "icon.svg")
"""The files beside the pages of an export."""

_STATUSES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("✓", "good"): ("SHIPPED", "PASS", "APPROVE", "SHOWN", "TESTED", "MET", "released", "task.complete"),
    ("✗", "bad"): ("HALTED", "FAIL", "FAILED", "REJECT", "NOT_MET", "halted", "stalled", "release_failed"),
    ("!", "bad"): ("damaged", "task.blocked", "task.failed"),
    ("▶", "busy"): ("IN_PROGRESS", "running", "task.started"),
    ("?", "ask"): ("approval", "review.recorded"),
    ("±", "warn"): ("APPROVE_WITH_AMENDMENTS", "DEPRECATED", "SUPERSEDED"),
    ("◌", "warn"): ("BLOCKED", "stopped"),
    ("–", "calm"): ("SKIPPED", "NOT_RUN", "ABANDONED"),
}
"""The statuses by their sign, so that no colour is needed to read one, and their tone, which gives the colour."""

_SIGNS = {status: found for found, statuses in _STATUSES.items() for status in statuses}


@cache
def asset(name: str) -> bytes:
    """A file beside the pages."""
    return (files(PACKAGE) / "assets" / name).read_bytes()


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
        self.linked: list[str] = []
        """The pages of the project to which the page links."""

    def to(self, page: str) -> str:
        """The link to a page of the project."""
        path, mark, anchor = page.partition("#")
        self.linked.append(path)
        place = (
            _relative(f"{file_of(path)}.html", self.here) if self.static else f"/p/{self.key}/{quote(path)}"
        )
        return f"{place}{mark}{anchor}"

    def home(self) -> str:
        """The link to the first page."""
        return self.to("run") if self.static else "/"

    def asset(self, name: str) -> str:
        """The link to a file beside the pages."""
        return _relative(f"assets/{name}", self.here) if self.static else f"/assets/{name}"


def file_of(page: str) -> str:
    """The name of a page's file without its ending: what a file system may not take is replaced."""
    return "/".join(quote(part, safe="@+=,").replace("%", "_") for part in page.split("/"))


def _relative(target: str, here: str) -> str:
    return quote(posixpath.relpath(target, posixpath.dirname(file_of(here)) or "."))


@cache
def environment() -> Environment:
    """The templates, with everything escaped that is put into them."""
    made = Environment(loader=PackageLoader(PACKAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        "moment": moment,
        "sign": lambda status: _SIGNS.get(str(status), ("○", ""))[0],
        "tone": lambda status: _SIGNS.get(str(status), ("", "calm"))[1],
        "words": lambda status: str(status).replace("_", " ").lower(),
        "size": lambda number: f"{number:,}",
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    }
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
