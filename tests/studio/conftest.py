"""A folder of projects at each stage, and a studio over it in this process."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from specwright.studio.actions import Jobs
from specwright.studio.app import Studio
from specwright.studio.projects import Projects
from specwright.studio.security import Gatekeeper
from testkit.bare_environment import bare_environment
from testkit.cli.projects import halted_once, released_once, waiting_once
from testkit.trusting import trusting

__all__ = ["bare_environment", "halted_once", "released_once", "waiting_once"]

BASE = "http://127.0.0.1"


@pytest.fixture(scope="session")
def folder_once(waiting_once: Path, halted_once: Path, released_once: Path) -> Path:
    """A folder with a project that waits for approval, a halted one and a released one; only looked at."""
    place = waiting_once.parent / "work"
    for name, source in {"waits": waiting_once, "halted": halted_once, "done": released_once}.items():
        shutil.copytree(source, place / name, symlinks=True)
    return place


@pytest.fixture
def folder(folder_once: Path, tmp_path: Path) -> Path:
    """A copy of that folder, for a test that changes something in it."""
    return Path(shutil.copytree(folder_once, tmp_path / "work", symlinks=True))


@pytest.fixture
def studio() -> Iterator[Callable[..., TestClient]]:
    """Opens a studio over directories; the client is a browser that follows no redirects. At the end the commands are
    waited for."""
    started: list[Jobs] = []

    def open_studio(*directories: Path, gatekeeper: Gatekeeper | None = None) -> TestClient:
        trusting(*directories, *(inside for directory in directories for inside in directory.iterdir()))
        jobs = Jobs()
        # on a busy machine a command takes longer than a person waits
        made = Studio(Projects(directories), gatekeeper or Gatekeeper.create(), jobs, patience=100.0)
        started.append(jobs)
        return TestClient(made.app(), base_url=BASE, follow_redirects=False, raise_server_exceptions=False)

    yield open_studio
    for jobs in started:
        jobs.wait()
