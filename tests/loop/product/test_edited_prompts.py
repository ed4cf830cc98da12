"""After a crash a request that differs from the journalled one is an error (design: journal).

The prompt is really edited here: another copy of the package runs.
"""

import shutil
from collections.abc import Iterator

import pytest

from testkit.endpoint import Endpoint, Fault
from testkit.killing import Job
from testkit.paths import FACTORY, ROOT
from testkit.workshop import KILLED, Workshop


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Processes of a factory whose prompts for planner and Challenger have one more sentence."""
    base = tmp_path_factory.mktemp("edited")
    shutil.copytree(FACTORY, base / "src", ignore=shutil.ignore_patterns("__pycache__", "examples"))
    for name in ("schemas", "contracts", "fixtures"):
        (base / name).symlink_to(ROOT / name)
    for role in ("planner", "challenger"):
        prompt = base / f"src/specwright/roles/prompts/{role}.md"
        prompt.write_text(prompt.read_text() + "\nBe brief.\n")
    made = Workshop(tmp_path_factory.mktemp("workshop-edited"), path=[base / "src"])
    yield made
    made.close()


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
