"""What a run is doing, as others see it while it waits for a model (DESIGN §9)."""

import json
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from specwright.bootstrap.views import AT_WORK, AtWork
from specwright.ports import RequestDone, RequestSent, RoleDone, RoleStarted, RunEvent
from testkit.cli.commands import ROOT, SMALL, command, specwright
from testkit.endpoint import Endpoint, Fault, serving
from testkit.processes import until

STARTED = RoleStarted("TSK-001.1/parse/round-2/proposer", "proposer", "TSK-001", "parse", "round-2")


@pytest.fixture
def server() -> Iterator[Endpoint]:
    """A server that answers for the nameplate."""
    with serving(SMALL / "playbook") as served:
        yield served


@contextmanager
def waiting(directory: Path, server: Endpoint, role: str) -> Generator[subprocess.Popen[str]]:
    """A run in a process of its own, while the model of a role does not answer; it is killed in the end."""
    server.misbehave(Fault("hang", role))
    given = ("run", directory, "--spec", SMALL / "SPEC.md", "--model", "openai:some", "--approve")
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command(*given, "--base-url", server.base_url), **quiet) as process:
        try:
            assert server.hanging.wait(60)
            yield process
        finally:
            process.kill()


def page(*arguments: object) -> str:
    """What a command shows, on one line."""
    return " ".join(specwright(*arguments).out.split())


def document(name: str, *arguments: object) -> dict[str, Any]:
    """The document of a command, which holds to its schema."""
    told = specwright(*arguments, "--json").document
    schema = (ROOT / f"schemas/command-line/v1/{name}.schema.json").read_text(encoding="utf-8")
    Draft202012Validator(json.loads(schema)).validate(told)
    return told


def test_a_first_request_that_waits_is_told_by_status_and_costs(tmp_path: Path, server: Endpoint) -> None:
    """Which role waits for which model, and since when; killed, the project says no more of it (D-S9-01)."""
    directory, model = tmp_path / "p", "openai:some"
    with waiting(directory, server, "researcher") as process:
        status = page("status", directory)
        assert f"Now: researcher · waiting for the first answer of {model} for " in status
        assert f"A run is at work: process {process.pid}" in status
        costs = page("costs", directory)
        assert f"researcher · waiting for the first answer of {model} for " in costs
        assert "No model has been asked" not in costs
        now = document("status", "status", directory)["at_work"]
        assert (now["role"], now["task"], now["waits_for"], now["first_answer"]) == (
            "researcher",
            None,
            f"{model} at {server.base_url}",
            True,
        )
        assert document("costs", "costs", directory)["waiting"] == now
    assert (directory / AT_WORK).exists()
    assert "waiting" not in specwright("status", directory).out
    assert "No model has been asked yet." in specwright("costs", directory).out
    assert document("status", "status", directory)["at_work"] is None
    assert document("costs", "costs", directory)["waiting"] is None


@pytest.mark.slow
def test_a_later_request_names_its_task_and_is_no_first_one(tmp_path: Path, server: Endpoint) -> None:
    """The task and the round beside the role; the costs of what was answered stay below it (D-S9-01)."""
    directory = tmp_path / "p"
    with waiting(directory, server, "arbiter"):
        status = page("status", directory)
        assert "Now: TSK-001 Initials · arbiter contracts · waiting for an answer of openai:some" in status
        costs = page("costs", directory)
        assert costs.startswith("A request has no answer yet: TSK-001 · arbiter contracts · waiting")
        assert "researcher" in costs


def test_each_event_leads_to_what_is_done_next() -> None:
    """A role at work, waiting, at work again; then code works for the same task (D-S9-01)."""
    task = AtWork().after(RunEvent("task", "TSK-001", "Parse"), "1")
    assert task == AtWork(since="1", task="TSK-001")
    role = task.after(STARTED, "2")
    assert role == AtWork(since="2", task="TSK-001", role="proposer", subject="parse", stage="round-2")
    asked = role.after(RequestSent(STARTED.run_id, "openai:some", first=True), "3")
    assert asked == role.model_copy(update={"since": "3", "waits_for": "openai:some", "first_answer": True})
    assert asked.after(RequestDone(STARTED.run_id), "4") == role.model_copy(update={"since": "4"})
    done = role.after(RoleDone(STARTED.run_id, 1, 2, 3, replayed=False), "5")
    assert done == AtWork(since="5", task="TSK-001")
    assert done.after(RunEvent("sealed", "TSK-001", "parse"), "6") == done


@pytest.mark.slow
def test_a_note_that_cannot_be_read_says_nothing(tmp_path: Path, server: Endpoint) -> None:
    """What others see of the run does not depend on it (D-S9-01)."""
    directory = tmp_path / "p"
    with waiting(directory, server, "researcher") as process:
        for damaged in (b"", b"[1, 2]", b'{"role": "researcher", "mood": "good"}', b'{"since": "yesterday"}'):
            (directory / AT_WORK).write_bytes(damaged)
            status = specwright("status", directory)
            assert (status.code, f"process {process.pid}" in status.out) == (0, True), damaged


@pytest.mark.slow
def test_status_after_an_interruption_has_the_keys_of_every_other_end(
    waiting_once: Path, tmp_path: Path, server: Endpoint
) -> None:
    """Where it is and the code of that, whether the run was stopped while it opened the project, at the first request or
    in a task (D-S9-03)."""
    opening = tmp_path / "opening"
    (opening / ".specwright").mkdir(parents=True)
    shutil.copy(SMALL / "SPEC.md", opening)
    begun, working = tmp_path / "begun", tmp_path / "working"
    for directory, role in ((begun, "researcher"), (working, "planner")):
        with waiting(directory, server, role):
            until((directory / AT_WORK).exists)
    other = document("status", "status", waiting_once)
    for directory, where, code in ((opening, "new", 0), (begun, "new", 1), (working, "running", 1)):
        ended = document("status", "status", directory)
        assert (ended["where"], ended["exit_code"]) == (where, code)
        assert ended.keys() >= {"where", "exit_code", "tasks", "escalations", "asked", "at_work", "driven_by"}
        assert ended.keys() <= other.keys() | {"missing"}
