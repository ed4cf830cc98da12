"""Fixtures: a finished project, and the overheard run of the roles."""

import shutil
from pathlib import Path

import pytest

from testkit.cli.projects import released_once, waiting_once
from testkit.roles.overheard_run import run

__all__ = ["project", "released_once", "run", "waiting_once"]


@pytest.fixture
def project(released_once: Path, tmp_path: Path) -> Path:
    """A finished project to be tampered with."""
    return Path(shutil.copytree(released_once, tmp_path / "project"))
