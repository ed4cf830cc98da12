"""Fixtures: a finished project, and the overheard run of the roles."""

import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.roles.overheard_run import run
from testkit.shared_fixtures import made_once

__all__ = ["finished", "project", "run"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A small product, run to its release; copied, never used."""

    def make(directory: Path) -> None:
        options = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK, "--approve")
        finished = specwright("run", directory / "project", *options)
        assert finished.code == 0, finished

    return made_once(tmp_path_factory, worker_id, "finished", make) / "project"


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """A finished project to be tampered with."""
    return Path(shutil.copytree(finished, tmp_path / "project"))
