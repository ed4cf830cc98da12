"""A studio over a database shows the projects in it (DESIGN §13.5, §13.2)."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from specwright.errors import InputError
from specwright.studio.actions import Jobs
from specwright.studio.app import Studio
from specwright.studio.projects import Projects
from specwright.studio.security import Gatekeeper
from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.postgres import postgres, postgres_once
from testkit.studio import shown_of

__all__ = ["postgres", "postgres_once"]


def test_the_projects_of_a_database_are_shown_and_decided(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a directory of their own: what waits, and the form that answers it (D48)."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"{postgres}?project=tags"
    words = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK, "--store", url, "--json")
    assert specwright("run", tmp_path / "first", *words).code == 3
    made = Studio(Projects([], postgres), Gatekeeper.create(), Jobs())
    browser = TestClient(made.app(), base_url="http://127.0.0.1", follow_redirects=False)
    assert "waits for your approval." in browser.get("/").text
    page = browser.get("/p/tags/spec").text
    assert len(shown_of(page)) == 64
    (settings,) = (tmp_path / "cache").rglob("specwright.toml")
    assert settings.read_text() == f'store = "{url}"\n'


def test_an_address_with_a_password_is_refused() -> None:
    """It would be written into settings (D48)."""
    with pytest.raises(InputError, match="password"):
        Projects([], "postgresql://me:hunter2@127.0.0.1/x")
