"""Cheap processes, an endpoint, and one uninterrupted run to compare with."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from factory.scripts import NAMEPLATE_SPEC, PLAYBOOK
from support.endpoint import Endpoint, serving
from support.killing import Job
from support.stores import journal_of
from support.workshop import Workshop


class Uninterrupted(NamedTuple):
    """A run of the nameplate that nothing disturbed.

    Args:
        project: Its directory.
        endpoint: What it asked; stopped by now.
        effects: What it left on the disk, in order, each as its kind and a name.
    """

    project: Path
    endpoint: Endpoint
    effects: list[str]

    @property
    def draws(self) -> str:
        """The journal whose draws another run may repeat."""
        return str(journal_of(self.project))


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """New processes of the factory."""
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def uninterrupted(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    """The nameplate, from SPEC.md to the wheel, asked of an endpoint."""
    base = tmp_path_factory.mktemp("uninterrupted")
    with serving(PLAYBOOK) as endpoint:
        job = Job(
            str(base / "project"),
            str(NAMEPLATE_SPEC),
            "openai:test",
            endpoint.base_url,
            trace=str(base / "trace"),
        )
        finished = workshop.drive(job)
    assert finished.code == 0, finished.err
    return Uninterrupted(base / "project", endpoint, json.loads((base / "trace").read_text()))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that answers for the nameplate."""
    with serving(PLAYBOOK) as served:
        yield served


@pytest.fixture
def job(tmp_path: Path, endpoint: Endpoint, uninterrupted: Uninterrupted) -> Job:
    """A run of the nameplate in a new directory, with the draws of the uninterrupted one."""
    return Job(
        str(tmp_path / "project"),
        str(NAMEPLATE_SPEC),
        "openai:test",
        endpoint.base_url,
        draws=uninterrupted.draws,
    )
