"""Fixtures: cheap processes, an endpoint, and one uninterrupted run to compare with."""

import json
import pickle
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from specwright.bootstrap.verify import verify_project
from testkit.endpoint import Endpoint, serving
from testkit.killing import EFFECTS, Job, Kill
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK
from testkit.loop.project_workbench import lose_checkpoints
from testkit.shared_fixtures import made_once
from testkit.stores import differences, journal_of, records
from testkit.workshop import KILLED, Workshop


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
def uninterrupted(
    workshop: Workshop, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Uninterrupted:
    """The nameplate, from SPEC.md to the wheel, asked of an endpoint."""

    def make(base: Path) -> None:
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
        (base / "endpoint").write_bytes(pickle.dumps(endpoint))

    base = made_once(tmp_path_factory, worker_id, "uninterrupted", make)
    endpoint = pickle.loads((base / "endpoint").read_bytes())
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


RECORDED = tuple(kind for kind in EFFECTS if kind != "checkpoint")


def killed_again_and_again(
    workshop: Workshop, job: Job, step: int, *, forgetting: bool = False, ends: int = 0
) -> int:
    """Kill the run after each so many new effects, until it ends; how often it was killed.

    Args:
        workshop: Makes the processes.
        job: The run.
        step: So many.
        forgetting: Whether the graph's checkpoints are lost each time as well.
        ends: The exit code in the end.
    """
    deadly = job._replace(kill=Kill(RECORDED, step))
    for kills in count():
        finished = workshop.drive(deadly)
        if finished.code != KILLED:
            assert finished.code == ends, finished.err
            return kills
        if forgetting:
            lose_checkpoints(Path(job.directory))
    raise AssertionError


def assert_kills_change_nothing(
    workshop: Workshop, whole: Job, again: Job, step: int, *, forgetting: bool = False, least: int = 3
) -> None:
    """The same job twice, once undisturbed and once killed again and again: the same bytes, every answer and verdict once.

    Args:
        workshop: Makes the processes.
        whole: The undisturbed run.
        again: The run that is killed, in another directory.
        step: After how many new effects each time.
        forgetting: Whether the graph's checkpoints are lost each time as well.
        least: How often it is killed at least.
    """
    finished = workshop.drive(whole)
    assert finished.code == 0, finished.err
    left, right = Path(again.directory), Path(whole.directory)
    killed = again._replace(draws=str(journal_of(right)))
    assert killed_again_and_again(workshop, killed, step, forgetting=forgetting) >= least
    assert not (differing := differences(left, right)), differing
    for kind in ("model", "verdict"):
        places = [record.place for record in records(left, kind)]
        assert places == [record.place for record in records(right, kind)]
        assert len(set(places)) == len(places)
    assert verify_project(left).findings == ()
