"""An environment without the settings of whoever runs the tests, for tests that start processes."""

import os
from pathlib import Path

import pytest

from testkit.paths import FACTORY

__all__ = ["bare_environment"]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of whoever runs the tests, and a cache of the test's own."""
    for name in os.environ:
        if name.startswith("SPECWRIGHT_") and name != "SPECWRIGHT_REQUIRE_SERVICES":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(FACTORY))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
