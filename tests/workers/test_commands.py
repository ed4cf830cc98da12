"""Commands of a project that workers drive: they take the answer, queue it and say so (D46)."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from specwright.application.factory import Factory
from specwright.bootstrap import queueing
from specwright.bootstrap.drive import approved_in_advance
from specwright.bootstrap.stores import opened_store
from specwright.domain.escalation import Action, HumanResolution
from specwright.errors import BusyError
from specwright.settings import load_settings
from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.postgres_projects import connected
from testkit.workers import QueuedProject, queued, tell

RUN = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)


def test_a_run_is_queued_and_status_says_so(postgres_url: str, tmp_path: Path):
    """Nothing is asked, and no key of the model is needed where the command is typed (D-46-03)."""
    project = queued(tmp_path / "p", postgres_url, "--spec", SMALL / "SPEC.md", "--model", "openai:gpt-5")
    (job,) = project.state().jobs
    assert not job.claimed
    shown = specwright("status", project.directory)
    assert "Queued since" in shown.out
    assert "No worker is alive" in shown.out
    document = project.status()
    assert document["where"] == "new"
    assert document["queue"]["jobs"][0]["claimed"] is False
    with opened_store(project.directory, project.url) as store:
        assert not store.has_answers()


def test_a_run_in_words_names_the_next_command(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """By the variable as by the file (D-46-03)."""
    monkeypatch.setenv("SPECWRIGHT_DRIVE", "workers")
    told = specwright("run", tmp_path / "p", *RUN, "--store", postgres_url)
    assert told.code == 0, told
    assert "a worker drives the project to its next stop" in told.out
    assert "specwright status" in told.out


def test_a_project_in_a_directory_is_not_queued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Told before anything is written (D-46-03)."""
    monkeypatch.setenv("SPECWRIGHT_DRIVE", "workers")
    specwright("run", tmp_path / "p", *RUN).refuses("in its directory", "`store`")
    assert not (tmp_path / "p" / ".specwright" / "journal.jsonl").exists()
    assert specwright("status", tmp_path / "p").code == 2


def test_an_answer_that_nothing_waits_for_is_refused_and_not_queued(postgres_url: str, tmp_path: Path):
    """As it is where the command drives (D-46-03)."""
    project = queued(tmp_path / "p", postgres_url, *RUN)
    before = project.state().jobs
    for command in (("approve",), ("amend", "--feedback", "more"), ("reject", "--reasons", "no")):
        specwright(command[0], project.directory, *command[1:]).refuses("no spec waits", code=1)
    specwright("approve", project.directory, "--sha256", "zz").refuses("not a SHA-256")
    specwright("change", project.directory, "--request", "more").refuses("no spec was approved")
    specwright(
        "resolve", "ESC-00000001", "ABANDON_TASK", project.directory, "--rationale", "why not"
    ).refuses("no escalation ESC-00000001")
    assert project.state().jobs == before


@pytest.mark.slow
def test_whoever_drives_here_meanwhile_is_named(postgres_url: str, tmp_path: Path):
    """A second driver is told who drives; a queued command too (D-46-03, D-S4-08)."""
    project = queued(tmp_path / "p", postgres_url, *RUN)
    with opened_store(tmp_path, postgres_url) as store, store.driving():
        specwright("run", project.directory).refuses("being driven by process", code=1)


def test_what_the_gate_judges_first_holds_no_transaction_and_has_the_packages(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The server may end a session that idles in one; the lock of the session is held all the while (D-46-04)."""
    project, states = queued(tmp_path / "p", postgres_url, *RUN), list[set[str]]()

    def judged(factory: Factory, *_: Any, **__: Any) -> None:
        assert [one.requirement for one in factory.packages] == ["attrs"]
        query = "SELECT state FROM pg_stat_activity WHERE application_name LIKE %s"
        with connected(postgres_url) as connection, opened_store(tmp_path, postgres_url) as other:
            found = connection.execute(query, (f"specwright {os.getpid()} %",)).fetchall()
            states.append({state for (state,) in found})
            with pytest.raises(BusyError):
                other.driving().__enter__()

    monkeypatch.setattr("specwright.bootstrap.project.try_report", judged)
    monkeypatch.setattr(queueing, "check_fix", judged)
    for name in ("check", "resolve"):
        monkeypatch.setattr(queueing, name, lambda *_: None)
    settings = load_settings(project.directory).model_copy(update={"packages": ["attrs"]})
    with queueing.open_queued(project.directory, settings, "") as opened:
        opened.try_report("initials", "", "")
        opened.resolve(
            HumanResolution(
                action=Action.ABANDON_TASK, payload={"rationale": "no"}, escalation_id="ESC-00000001"
            )
        )
    assert states == [{"idle"}] * 2


def test_an_approval_in_advance_is_left_for_the_worker(postgres_url: str, tmp_path: Path):
    """`run --approve` (D-46-03)."""
    project: QueuedProject = queued(tmp_path / "p", postgres_url, *RUN, "--approve")
    with opened_store(project.directory, project.url) as store:
        assert approved_in_advance(store.folder, 0)
        tell(project, "run")
        assert not approved_in_advance(store.folder, 0)


def test_a_worker_needs_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One clear error each (D-46-03)."""
    monkeypatch.chdir(tmp_path)
    specwright("worker").refuses("needs the database", "--store")
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "specwright.bootstrap.worker", None)
        specwright("worker", "--store", "mysql://x").refuses("no Postgres address")
    specwright("worker", "--store", "postgresql://postgres@127.0.0.1:1/none").refuses(
        "cannot be reached", code=1
    )
    specwright("worker", "--store", "postgresql://h/d", "--concurrency", "0").refuses("--concurrency")
