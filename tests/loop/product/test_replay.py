"""A journal is a recording: `replay:<journal>` makes a finished run again, with no model at all (design: journal).

In crash recovery a request that differs from the recorded one is an error; as a recording it answers by place and
reports the drift. The prompt is really edited here: another copy of the package runs.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specwright.application.stages.status import ProjectStatus
from specwright.bootstrap.project import Composition, Silent, open_project
from specwright.settings import Settings
from testkit.endpoint import Endpoint, Fault
from testkit.killing import Job
from testkit.loop.processes import Uninterrupted
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.roles.overheard import Lenient
from testkit.stores import differences, records
from testkit.workshop import KILLED, ROOT, Finished, Workshop


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Processes of a factory whose prompts for planner and Challenger have one more sentence."""
    base = tmp_path_factory.mktemp("edited")
    shutil.copytree(ROOT / "src", base / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("schemas", "contracts", "fixtures"):
        (base / name).symlink_to(ROOT / name)
    for role in ("planner", "challenger"):
        prompt = base / f"src/specwright/roles/prompts/{role}.md"
        prompt.write_text(prompt.read_text() + "\nBe brief.\n")
    made = Workshop(tmp_path_factory.mktemp("workshop-edited"), path=[base / "src"])
    yield made
    made.close()


def replay(workshop: Workshop, uninterrupted: Uninterrupted, project: Path) -> Finished:
    """Make the finished run again from its journal."""
    model = f"replay:{uninterrupted.draws}"
    return workshop.command("run", project, "--spec", NAMEPLATE_SPEC, "--model", model, "--approve", "--json")


@pytest.mark.slow
def test_a_replay_makes_the_same_store_byte_by_byte(
    workshop: Workshop, uninterrupted: Uninterrupted, tmp_path: Path
):
    """Answers, ids, times and durations are those of the journal; the endpoint is gone (D-S4-06, D-04-02)."""
    finished = replay(workshop, uninterrupted, tmp_path / "again")
    assert finished.code == 0, finished.err
    assert finished.document["replay_drift"] == []
    assert differences(tmp_path / "again", uninterrupted.project) == []
    again, before = (
        [record._replace(answer=None) for record in records(project, "model")]
        for project in (tmp_path / "again", uninterrupted.project)
    )
    assert again == before


@pytest.mark.slow
def test_a_recording_is_replayed_under_a_gate_of_other_stages(uninterrupted: Uninterrupted, tmp_path: Path):
    """As one that was made with an earlier version: what was measured of its stages is left aside (D-S4-06)."""
    settings = Settings(model=f"replay:{uninterrupted.draws}")
    composition = Composition(lambda adapters: replace(adapters, gate=Lenient(adapters.gate)))
    with open_project(tmp_path, settings, Silent(), NAMEPLATE_SPEC.read_text(), composition) as opened:
        assert opened.run(approve=True) is ProjectStatus.RELEASED


@pytest.mark.nightly
def test_a_replay_of_a_replay_is_one_too(workshop: Workshop, uninterrupted: Uninterrupted, tmp_path: Path):
    """The journal that a replay writes is a recording as good as the first (D-S4-06)."""
    replay(workshop, uninterrupted, tmp_path / "again")
    first = uninterrupted._replace(project=tmp_path / "again")
    finished = replay(workshop, first, tmp_path / "thrice")
    assert finished.code == 0, finished.err
    assert differences(tmp_path / "thrice", tmp_path / "again") == []


@pytest.mark.slow
def test_an_edited_prompt_is_reported_and_not_refused(
    edited: Workshop, uninterrupted: Uninterrupted, tmp_path: Path
):
    """Answers come by place, and every request that differs is named (D-S4-06)."""
    finished = replay(edited, uninterrupted, tmp_path / "again")
    assert finished.code == 0, finished.err
    assert finished.document["replay_drift"] == [
        "TSK-001.1/plan/round-1/planner, answer 1",
        "TSK-001.1/plan/round-1/planner, answer 2",
        "TSK-001.1/contracts/round-1/challenger, answer 1",
        "TSK-001.1/initials/round-1/challenger, answer 1",
    ]
    assert differences(tmp_path / "again", uninterrupted.project) == []


def test_a_journal_that_ends_too_early_says_where(
    workshop: Workshop, uninterrupted: Uninterrupted, tmp_path: Path
):
    """A miss is an error that names the place; nothing is made up (D-S4-06, D-S9-04)."""
    lines = Path(uninterrupted.draws).read_bytes().splitlines(keepends=True)
    cut = next(
        i
        for i, line in enumerate(lines)
        if b'"TSK-001.1/contracts/round-1/challenger","kind":"model"' in line
    )
    (tmp_path / "short.jsonl").write_bytes(b"".join(lines[:cut]))
    options = ("--spec", NAMEPLATE_SPEC, "--model", f"replay:{tmp_path / 'short.jsonl'}", "--approve")
    finished = workshop.command("run", tmp_path / "again", *options)
    assert finished.code == 1  # the spec is approved
    assert "no answer 1 for TSK-001.1/contracts/round-1/challenger" in finished.err
    assert "Traceback" not in finished.err


@pytest.mark.slow
def test_after_a_crash_a_request_that_differs_is_refused(
    workshop: Workshop, edited: Workshop, endpoint: Endpoint, job: Job
):
    """Exit 1, the place, what to do; no model is asked; with the old version the run goes on (D-S4-02)."""
    endpoint.misbehave(Fault("hang", "planner", ordinal=1))
    running = workshop.begin("drive", job._asdict())
    assert endpoint.hanging.wait(60)
    running.kill()
    assert workshop.wait(running).code == KILLED
    endpoint.misbehave()
    asked = len(endpoint.log)

    options = ("--spec", job.spec, "--model", job.model, "--base-url", job.base_url, "--json")
    finished = edited.command("run", job.directory, *options)
    assert finished.code == 1
    assert "the request differs from the one that was recorded" in finished.document["error"]["what"]
    assert "TSK-001.1/plan/round-1/planner" in finished.document["error"]["where"]
    assert len(endpoint.log) == asked
    assert workshop.drive(job).code == 0
