"""A bug report survives crashes: its repair is begun and released exactly once, no answered call is repeated (D39)."""

import shutil
from pathlib import Path

import pytest

from specwright.bootstrap.verify import verify_project
from testkit.killing import Job
from testkit.loop.processes import killed_again_and_again
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.loop.reported_products import POINTER, example
from testkit.sampling import nightly, slow
from testkit.stores import differences, journal_of, records
from testkit.workshop import Workshop


def report_on(faulty: Path, project: Path) -> Job:
    """The report of the fault of a released product."""
    shutil.copytree(faulty / "released", project)
    reported = str(example(project.parent / "bug.md")), POINTER
    return Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{faulty / 'playbook'}", report=reported)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("step", "forgetting"), [slow(29, True), nightly(7, False), nightly(3, True)])
def test_a_report_that_is_killed_again_and_again_is_applied_once(
    workshop: Workshop, faulty: Path, tmp_path: Path, step: int, forgetting: bool
):
    """From the report to the release of the patch: the same bytes, every answer and verdict once (D-38-16)."""
    whole = report_on(faulty, tmp_path / "whole")
    finished = workshop.drive(whole)
    assert finished.code == 0, finished.err
    again = report_on(faulty, tmp_path / "again")._replace(draws=str(journal_of(tmp_path / "whole")))
    assert killed_again_and_again(workshop, again, step, forgetting=forgetting) > 2
    assert differences(tmp_path / "again", tmp_path / "whole") == []
    for kind in ("model", "verdict"):
        places = [record.place for record in records(tmp_path / "again", kind)]
        assert places == [record.place for record in records(tmp_path / "whole", kind)]
        assert len(set(places)) == len(places)
    assert verify_project(tmp_path / "again").findings == ()
