"""A bug report survives crashes: its repair is begun and released exactly once, no answered call is repeated (D39)."""

import shutil
from pathlib import Path

import pytest

from testkit.killing import Job
from testkit.loop.processes import assert_kills_change_nothing
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.loop.reported_products import POINTER, example
from testkit.sampling import nightly
from testkit.workshop import Workshop


def report_on(faulty: Path, project: Path) -> Job:
    """The report of the fault of a released product."""
    shutil.copytree(faulty / "released", project)
    reported = str(example(project.parent / "bug.md")), POINTER
    return Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{faulty / 'playbook'}", report=reported)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("step", "forgetting"), [nightly(29, True), nightly(7, False), nightly(3, True)])
def test_a_report_that_is_killed_again_and_again_is_applied_once(
    workshop: Workshop, faulty: Path, tmp_path: Path, step: int, forgetting: bool
):
    """From the report to the release of the patch: the same bytes, every answer and verdict once (D-38-16)."""
    whole, again = (report_on(faulty, tmp_path / name) for name in ("whole", "again"))
    assert_kills_change_nothing(workshop, whole, again, step, forgetting=forgetting)
