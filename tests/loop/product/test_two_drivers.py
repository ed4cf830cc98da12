"""One driver at a time: a second run is told who holds the project (DESIGN §4)."""

import pytest

from testkit.endpoint import Endpoint, Fault
from testkit.killing import Job
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.workshop import KILLED, Workshop


@pytest.mark.slow
def test_a_second_driver_is_told_who_holds_the_project(workshop: Workshop, endpoint: Endpoint, job: Job):
    """Exit 1 and the holder; looking stays possible; a killed holder holds nothing (D-S4-08, D-S9-02)."""
    endpoint.misbehave(Fault("hang", "researcher", ordinal=0))
    first = workshop.begin("drive", job._asdict())
    assert endpoint.hanging.wait(60)
    options = ("--spec", NAMEPLATE_SPEC, "--model", job.model, "--base-url", job.base_url)

    second = workshop.command("run", job.directory, *options, "--json")
    assert second.code == 1
    assert f"process {first.pid}" in second.document["error"]["what"]
    assert second.document["error"]["do"]
    assert workshop.command("status", job.directory).code == 0

    first.kill()
    assert workshop.wait(first).code == KILLED
    endpoint.misbehave()
    assert workshop.command("run", job.directory, *options).code == 3
