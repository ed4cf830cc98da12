"""The approval gate: approve, reject, amend, each in a process of its own (F§3.2.4)."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testkit.endpoint import Endpoint, serving
from testkit.killing import Job, Kill
from testkit.loop.products import NAMEPLATE, NAMEPLATE_SPEC, PLAYBOOK
from testkit.stores import records
from testkit.workshop import KILLED, Finished, Workshop

ASKED_FOR = "Say in the description that names may hold digits"


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    """An endpoint whose researcher can be sent back again and again."""
    playbook = tmp_path / "playbook"
    shutil.copytree(PLAYBOOK, playbook)
    for number in range(1, 6):
        spec = json.loads((playbook / "researcher/spec.json").read_text())
        spec["description"] += f" Names may hold digits, said {number} times."
        (playbook / f"researcher/amended-{number}.json").write_text(json.dumps(spec))
    with serving(playbook) as served:
        yield served


@pytest.fixture
def waiting(workshop: Workshop, endpoint: Endpoint, tmp_path: Path) -> Path:
    """A project that waits for approval."""
    project = tmp_path / "project"
    options = ("--spec", NAMEPLATE_SPEC, "--model", "openai:test", "--base-url", endpoint.base_url)
    finished = workshop.command("run", project, *options)
    assert finished.code == 3, finished.err
    return project


def last_messages(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The conversation of the newest request."""
    return list(endpoint.requests[-1]["messages"])


def description(project: Path) -> str:
    """What the spec that waits says of the product."""
    return str(json.loads((project / "state_store/product/spec.json").read_text())["description"])


def test_a_run_without_approval_stops_at_the_gate_and_says_what_to_type(
    workshop: Workshop, waiting: Path, endpoint: Endpoint
):
    """Exit 3, the spec as Markdown, the next command; nothing of the project yet (F-3.2-01, F-3.2.4-01, D-S9-02)."""
    again = workshop.command("run", waiting)
    assert again.code == 3
    assert f"specwright approve {waiting}" in again.out
    assert (waiting / "state_store/product/spec.md").read_text().startswith("# ")
    assert not (waiting / "project").exists()
    assert not (waiting / "state_store/project").exists()
    assert set(endpoint.asked.values()) == {1}


@pytest.mark.slow
def test_approve_in_a_new_process_drives_the_run_to_its_end(workshop: Workshop, waiting: Path):
    """With the options of the last run (F-3.2.4-02, D-S9-02)."""
    finished = workshop.command("approve", waiting, "--json")
    assert finished.code == 0, finished.err
    assert finished.document["where"] == "released"
    assert Path(finished.document["release"]["wheel"]).is_file()


def test_a_rejection_starts_over_with_its_reasons_and_nothing_else(
    workshop: Workshop, waiting: Path, endpoint: Endpoint
):
    """A fresh conversation over SPEC.md and `## Rejection Feedback`; SPEC.md is as it was (F-3.2.4-04)."""
    before, spec = len(endpoint.log), (waiting / "SPEC.md").read_bytes()
    finished = workshop.command("reject", waiting, "--reasons", "It forgets names with hyphens")
    assert finished.code == 3, finished.err
    first = endpoint.requests[before]["messages"]
    assert [message["role"] for message in first] == ["system", "user"]
    assert "## Rejection Feedback\n\n- It forgets names with hyphens" in first[1]["content"]
    assert "SPEC-001" not in json.dumps(first)
    assert (waiting / "SPEC.md").read_bytes() == spec
    workshop.command("reject", waiting, "--reasons", "It forgets short names")
    said = endpoint.requests[-1]["messages"][1]["content"]
    assert "- It forgets names with hyphens\n- It forgets short names" in said


def test_an_amendment_continues_the_same_conversation(workshop: Workshop, waiting: Path, endpoint: Endpoint):
    """The earlier messages and the feedback as one more; nothing is asked twice (F-3.2.4-05)."""
    before, conversation = len(endpoint.log), last_messages(endpoint)
    finished = workshop.command("amend", waiting, "--feedback", ASKED_FOR)
    assert finished.code == 3, finished.err
    continued = endpoint.requests[before]["messages"]
    assert continued[: len(conversation)] == conversation
    assert continued[-1]["role"] == "user"
    assert ASKED_FOR in continued[-1]["content"]
    journal = (waiting / ".specwright/journal.jsonl").read_text()
    calls = re.findall(r'"name": ?"(write_file|validate_spec|emit_structured_spec)"', journal)
    assert calls == ["emit_structured_spec"] * 2
    assert description(waiting).endswith("said 1 times.")
    assert set(endpoint.asked.values()) == {1}


def amended(workshop: Workshop, project: Path) -> Finished:
    """One more amendment, in a process of its own."""
    finished = workshop.command("amend", project, "--feedback", ASKED_FOR, "--json")
    assert finished.code == 3, finished.err
    return finished


@pytest.mark.slow
def test_the_third_amendment_in_a_row_comes_with_advice(workshop: Workshop, waiting: Path):
    """Counted over processes; a fourth is taken all the same; a rejection counts anew (F-3.2.4-07, F-3.2.4-08)."""
    advice = [bool(amended(workshop, waiting).document["advice"]) for _ in range(3)]
    assert advice == [False, False, True]
    assert (
        "Amended so often: approve it with" in workshop.command("amend", waiting, "--feedback", ASKED_FOR).out
    )
    assert description(waiting).endswith("said 4 times.")
    assert workshop.command("reject", waiting, "--reasons", "Too wordy by now").code == 3
    assert not amended(workshop, waiting).document["advice"]


@pytest.mark.slow
def test_an_approval_that_a_crash_followed_at_once_is_kept(workshop: Workshop, tmp_path: Path):
    """Killed when the log says approved and no checkpoint does: a plain `run` goes on, nobody can take it back (D29)."""
    project = tmp_path / "project"
    job = Job(str(project), str(NAMEPLATE_SPEC), NAMEPLATE, kill=Kill(("wire",), 1))
    assert workshop.drive(job).code == KILLED

    (project / "specwright.toml").write_text(f'model = "{NAMEPLATE}"\n')
    shutil.copy(NAMEPLATE_SPEC, project / "state_store/product/SPEC.md")

    refused = workshop.command("reject", project, "--reasons", "Too late", "--json")
    assert refused.code == 1
    assert "no spec waits for approval" in refused.document["error"]["what"]
    finished = workshop.command("run", project)
    assert finished.code == 0, finished.err
    assert len(records(project, "model")) == 8
