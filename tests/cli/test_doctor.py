"""`specwright doctor`: what it says of the embedder."""

from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import PLAYBOOK, specwright


def index_check(project: Path, embedder: str) -> dict[str, Any]:
    """The check of the index with an embedder."""
    (project / "specwright.toml").write_text(f'model = "{PLAYBOOK}"\nembedder = "{embedder}"\n')
    checks = specwright("doctor", project, "--json").document["checks"]
    (check,) = [check for check in checks if check["name"] == "index"]
    return check


def test_the_local_embedder_is_tried(project: Path) -> None:
    """It embeds a word, since that costs nothing (D-S9-12)."""
    check = index_check(project, "wordllama")
    assert check["ok"]
    assert check["detail"].startswith("wordllama: local, no network; gave a vector of ")


def test_a_providers_embedder_is_named_and_said_not_to_be_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is configured is what is reported; asking it may cost money, so that is not done and said (D-S9-12)."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    check = index_check(project, "openai:text-embedding-3-small")
    assert (check["ok"], check["detail"]) == (True, "openai:text-embedding-3-small: set up, not asked")


def test_an_embedder_that_cannot_be_set_up_is_missing(project: Path) -> None:
    """With what to do about it (D-S9-12)."""
    check = index_check(project, "nowhere:nothing")
    assert not check["ok"]
    assert "nowhere:nothing" in check["detail"]
    assert check["do"]
