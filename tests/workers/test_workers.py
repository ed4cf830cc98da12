"""Workers drive queued projects from stop to stop, whatever becomes of one of them (D46)."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.drive import MOST_ATTEMPTS, DriveRecord, note_drive
from specwright.bootstrap.stores import opened_store
from specwright.bootstrap.transfer import export_project, import_project
from specwright.bootstrap.verify import verify_project
from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.endpoint import Endpoint, Fault
from testkit.killing import Job
from testkit.loop.processes import Uninterrupted
from testkit.loop.products import failing, rejecting, rewrite
from testkit.postgres import own_database
from testkit.postgres_projects import connected, project_urls
from testkit.processes import until
from testkit.sampling import nightly
from testkit.workers import QueuedProject, queued, tell, worker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
]  # of a crowded machine; each takes seconds on a quiet one

RUN = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)


@pytest.fixture(scope="module")
def addresses() -> Iterator[Iterator[str]]:
    """Addresses of projects in a database that has a worker."""
    with own_database() as database, worker(database, concurrency=2):
        yield project_urls(database)


@pytest.fixture
def url(addresses: Iterator[str]) -> str:
    """One of them."""
    return next(addresses)


@pytest.fixture
def project(postgres_url: str, tmp_path: Path) -> QueuedProject:
    """The nameplate, queued where there is no worker."""
    return queued(tmp_path / "p", postgres_url, *RUN)


def finish(project: QueuedProject, **options: object) -> list[str]:
    """Have a worker of its own drive a project until nothing is queued; the events that say how an attempt ended."""
    with worker(project.url, until_idle=True, **options) as running:
        running.finish()
    return [event["event"] for event in running.events if "event" in event][1:-1]


def stop_of(project: QueuedProject) -> str:
    """Where the worker of the database has brought a project."""

    def at_rest() -> dict[str, Any]:
        state = project.status()
        return state if not state["queue"]["jobs"] and not state["driven_by"] else {}

    until(at_rest)
    state = project.status()  # what was read first may be older than the rest of that document
    assert state["queue"]["last_attempt"]["ended"] == "stopped", state
    return state["where"]


def as_directory(project: QueuedProject, tmp_path: Path) -> Path:
    """A copy of a project in a directory."""
    export_project(project.url, tmp_path / "project.tar")
    import_project(str(tmp_path / "copy"), tmp_path / "project.tar")
    return tmp_path / "copy"


def test_a_project_goes_from_stop_to_stop_by_queued_answers(url: str, tmp_path: Path):
    """To the approval and to the release (D-46-03)."""
    project = queued(tmp_path / "p", url, *RUN)
    assert stop_of(project) == "approval"
    shown = project.status()
    specwright("approve", project.directory, "--sha256", "0" * 64).refuses(
        "not the one that was shown", code=1
    )
    assert project.state().jobs == []
    tell(project, "approve", "--sha256", shown["sha256"])
    assert stop_of(project) == "released"
    assert verify_project(as_directory(project, tmp_path)).findings == ()


def test_an_amendment_is_taken_once_and_its_draft_waits_again(url: str, tmp_path: Path):
    """Each draft is answered by itself (D-46-04)."""
    playbook = shutil.copytree(SMALL / "playbook", tmp_path / "playbook")
    spec = playbook / "researcher/spec.json"
    shutil.copy(spec, amended := spec.with_name("amended-1.json"))
    rewrite(amended, title="Nameplates")
    project = queued(tmp_path / "p", url, "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}")
    shown: list[str] = []
    for answer in (
        ("amend", "--feedback", "Call it Nameplates."),
        ("run",),
        ("reject", "--reasons", "It says too little."),
    ):
        assert stop_of(project) == "approval"
        shown.append(project.status()["sha256"])
        tell(project, *answer)
    assert stop_of(project) == "approval"
    first, amended_one, same = shown
    assert amended_one == same != first
    assert project.status()["sha256"] not in shown


@pytest.mark.nightly
def test_an_approval_in_advance_goes_through_to_the_release(url: str, tmp_path: Path):
    """`run --approve` (D-46-03)."""
    project = queued(tmp_path / "p", url, *RUN, "--approve")
    assert stop_of(project) == "released"


def test_a_project_halted_here_is_resolved_and_finished_there(url: str, tmp_path: Path):
    """Queued, halted, answered from another directory, finished by a worker (D-46-05)."""
    playbook = shutil.copytree(SMALL / "playbook", tmp_path / "playbook")
    debate = playbook / "TSK-001/initials"
    failing(debate, 3)
    rejecting(debate / "round-3")
    script = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
    here = queued(tmp_path / "here", url, *script)
    assert stop_of(here) == "halted"
    (escalation,) = here.status()["escalations"]
    there = QueuedProject(tmp_path / "there", url)
    there.directory.mkdir()
    settings = (here.directory / "specwright.toml").read_bytes()
    (there.directory / "specwright.toml").write_bytes(settings)
    answer = (escalation["escalation_id"], "APPROVE_OVERRIDE", there.directory, "--rationale", "Good enough.")
    assert specwright("resolve", *answer).code == 2  # its scripted model came with the store
    assert specwright("trust", there.directory).code == 0
    assert specwright("resolve", *answer).code == 0
    assert stop_of(there) == "released"
    assert here.status()["escalations"] == []


@pytest.fixture
def asked(postgres_url: str, tmp_path: Path, endpoint: Endpoint) -> QueuedProject:
    """The nameplate, queued, with answers of an endpoint."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url, "--approve")
    return queued(tmp_path / "p", postgres_url, "--spec", SMALL / "SPEC.md", *model)


def hang(endpoint: Endpoint) -> None:
    """Have the Challenger's first answer never come."""
    endpoint.misbehave(Fault("hang", role="challenger"))


def went_well(project: QueuedProject, endpoint: Endpoint, uninterrupted: Uninterrupted, lost: int) -> None:
    """Released, and nothing was answered twice; so many requests were lost on the way."""
    assert project.status()["where"] == "released"
    assert set(endpoint.answered.values()) == {1}
    assert len(endpoint.answered) == len(uninterrupted.endpoint.answered)
    assert endpoint.asked.total() == endpoint.answered.total() + lost


@pytest.mark.parametrize("how", [nightly("SIGTERM"), "SIGKILL"])
def test_a_worker_that_is_stopped_or_killed_loses_nothing(
    asked: QueuedProject, endpoint: Endpoint, uninterrupted: Uninterrupted, how: str
):
    """Another goes on: at once after SIGTERM, once the heartbeat is missed after SIGKILL (D-46-04)."""
    hang(endpoint)
    with worker(asked.url) as first:
        first.wait_for(lambda event: event.get("step") == "proposed")
        assert endpoint.hanging.wait(600)
        assert asked.status()["queue"]["jobs"][0]["claimed"] is True
        assert asked.status()["driven_by"]
        assert "A worker has it since" in specwright("status", asked.directory).out
        if how == "SIGTERM":
            assert first.terminate() == 0
            assert "interrupted" in [event.get("event") for event in first.events]
            (job,) = asked.state().jobs
            assert not job.claimed
        else:
            first.kill()
            until(lambda: not asked.status()["driven_by"])
    endpoint.release()
    ended = finish(asked)
    assert ended[-2:] == ["begun", "stopped"]
    went_well(asked, endpoint, uninterrupted, 1)


def test_the_process_of_a_project_that_dies_is_noticed_and_tried_again(
    asked: QueuedProject, endpoint: Endpoint, uninterrupted: Uninterrupted
):
    """The worker outlives it, and says by which signal it went (D-46-04)."""
    hang(endpoint)
    with worker(asked.url, until_idle=True) as running:
        running.wait_for(lambda event: event.get("step") == "proposed")
        assert endpoint.hanging.wait(600)
        driver = asked.status()["driven_by"].split()[1]
        os.kill(int(driver), signal.SIGKILL)
        told = running.wait_for(lambda event: event.get("event") == "waiting")
        assert "SIGKILL" in told["error"]["what"]
        endpoint.release()
        assert running.finish() == 0
    went_well(asked, endpoint, uninterrupted, 1)


def test_a_project_that_another_process_holds_is_tried_a_little_later(project: QueuedProject, tmp_path: Path):
    """As one whose last driver is dying (D-46-04)."""
    with worker(project.url, until_idle=True) as running:
        with opened_store(tmp_path, project.url) as store, store.driving():
            running.wait_for(lambda event: event.get("event") == "busy")
        assert running.finish() == 0
    assert project.status()["where"] == "approval"


@pytest.mark.nightly
def test_a_project_that_cannot_be_driven_is_given_up_and_says_why(postgres_url: str, tmp_path: Path):
    """Bounded attempts, the error in `status`, and a person can queue it again (D-46-03)."""
    playbook = shutil.copytree(SMALL / "playbook", tmp_path / "playbook")
    project = queued(
        tmp_path / "p", postgres_url, "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}"
    )
    script = playbook / "researcher"
    script.rename(tmp_path / "away")
    with worker(project.url, once=True) as running:
        running.finish()
    waiting = project.status()["queue"]
    assert waiting["jobs"][0]["attempts"] >= 1
    assert waiting["last_attempt"]["error"]["what"]
    with opened_store(project.directory, project.url) as store, store.driving():
        note_drive(store.folder, DriveRecord(worker="w", attempts=MOST_ATTEMPTS - 1, ended="waiting"))
    tell(project, "run")  # begins to count anew
    with worker(project.url, once=True) as running:
        running.finish()
    # the job that waited may have become due as well
    assert project.status()["queue"]["last_attempt"]["attempts"] < MOST_ATTEMPTS


@pytest.mark.nightly
def test_a_project_whose_drivers_died_too_often_is_failed(project: QueuedProject):
    """No word of theirs is needed: the attempts count when they begin (D-46-03)."""
    with opened_store(project.directory, project.url) as store, store.driving():
        note_drive(store.folder, DriveRecord(worker="process 1 on host", attempts=MOST_ATTEMPTS))
    with opened_store(project.directory, project.url) as store, store.driving():
        pass
    with connected(project.url) as connection:  # the job of a worker that is dead
        connection.execute("SET search_path = specwright__workers")
        connection.execute(
            "UPDATE procrastinate_jobs SET status = 'doing' WHERE queue_name = %s",
            ("specwright_" + project.url.rpartition("=")[2],),
        )
    with worker(project.url, until_idle=True) as running:
        assert running.finish() == 1
    assert "failed" in [event.get("event") for event in running.events]
    shown = specwright("status", project.directory)
    assert "without saying why" in shown.out
    assert "process 1 on host" in shown.out
    assert project.status()["queue"]["last_attempt"]["ended"] == "failed"
    tell(project, "run")
    assert finish(project)[-1] == "stopped"


@pytest.mark.nightly
def test_a_budget_pauses_the_project_until_a_person_raises_it(asked: QueuedProject, endpoint: Endpoint):
    """A stop like others: no attempt follows of itself (D-46-03)."""
    tell(asked, "run", "--budget-tokens", "200", "--approve")
    assert finish(asked)[-1] == "paused"
    shown = asked.status()
    assert "budget" in shown["queue"]["last_attempt"]["error"]["what"]
    assert shown["queue"]["jobs"] == []
    tell(asked, "run", "--budget-tokens", "0", "--approve")
    assert finish(asked)[-1] == "stopped"
    assert asked.status()["where"] == "released"


def test_a_worker_whose_connection_is_lost_connects_again(asked: QueuedProject, endpoint: Endpoint, job: Job):
    """The server ends every session; the worker reports it and goes on (D-46-04)."""
    hang(endpoint)
    with worker(asked.url, until_idle=True) as running:
        assert endpoint.hanging.wait(600)
        with connected(asked.url) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        endpoint.release()
        assert running.finish() == 0
    assert asked.status()["where"] == "released"
    assert set(endpoint.answered.values()) == {1}
