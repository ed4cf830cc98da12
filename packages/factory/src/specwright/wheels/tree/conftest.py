"""Every test runs in an empty folder of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, for tests that look into it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
