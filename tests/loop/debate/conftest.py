"""Directories for many small projects."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.loop.debate_workbench import IN_MEMORY


@pytest.fixture
def directory() -> Iterator[Path]:
    """A project's directory, in memory where the system offers that: every record is synced, and there are many."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as made:
        yield Path(made)
