"""A browser's part in a talk with a studio: the secret of a form, and a form that is sent with it; and logs cut short."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from httpx import Response
from starlette.testclient import TestClient

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')
_SHOWN = re.compile(r'name="sha256" value="([0-9a-f]{64})"')


def csrf_of(page: str) -> str:
    """The secret of a page's forms."""
    found = _CSRF.search(page)
    assert found, page
    return found[1]


def shown_of(page: str) -> str:
    """The hash of what a page shows."""
    found = _SHOWN.search(page)
    assert found, page
    return found[1]


def send(browser: TestClient, address: str, form: dict[str, Any], **headers: str) -> Response:
    """Send a form as a page of this studio does."""
    secret = form.get("csrf") or csrf_of(browser.get("/login").text)
    return browser.post(
        address, data={**form, "csrf": secret}, headers={"origin": "http://127.0.0.1", **headers}
    )


def cut_after(number: int, log: Path) -> None:
    """Take the entries after this one out of a log."""
    with closing(sqlite3.connect(log)) as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute("DELETE FROM entry WHERE sequence_number > ?", (number,))
        database.commit()
