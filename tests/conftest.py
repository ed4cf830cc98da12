"""Hooks and fixtures of all tests of the factory."""

from collections.abc import Iterator

import pytest

from testkit.collection import (
    pytest_collection_modifyitems,
    pytest_runtest_logreport,
    pytest_runtestloop,
    pytest_sessionfinish,
)
from testkit.own_trust import own_trust
from testkit.postgres import own_database
from testkit.postgres_projects import project_urls

__all__ = [
    "own_trust",
    "pytest_collection_modifyitems",
    "pytest_runtest_logreport",
    "pytest_runtestloop",
    "pytest_sessionfinish",
]


@pytest.fixture(scope="session")
def postgres_projects() -> Iterator[Iterator[str]]:
    """Addresses of projects in a database of this worker's own."""
    with own_database() as database:
        yield project_urls(database)


@pytest.fixture
def postgres_url(postgres_projects: Iterator[str]) -> str:
    """The address of a project that is not there yet."""
    return next(postgres_projects)


@pytest.fixture(scope="session", autouse=True)
def recordings(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[None]:
    """Where all workers find what the gate observed before (`testkit.recorded_gate`)."""
    base = tmp_path_factory.getbasetemp()
    directory = (base if worker_id == "master" else base.parent) / "recordings"
    directory.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TESTKIT_RECORDINGS", str(directory))
        yield
