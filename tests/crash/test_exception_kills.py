"""An interface change that breaks a shipped module survives crashes: it is carried out exactly once, with the migration that
follows, and no answered call is repeated (F§13, D26)."""

import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import SMALL
from testkit.killing import Job
from testkit.loop.processes import assert_kills_change_nothing
from testkit.sampling import nightly
from testkit.workshop import Workshop


def approval_of(halted_doors: Path, project: Path) -> Job:
    """The approval of the exception for which the third task waits, and all that follows."""
    shutil.copytree(halted_doors / "halted", project)
    model = f"playbook:{halted_doors / 'playbook'}"
    return Job(str(project), str(SMALL / "SPEC.md"), model, approve_exceptions=True)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("step", "forgetting"), [nightly(31, True), nightly(7, False)])
def test_an_exception_with_a_migration_is_carried_out_once(
    workshop: Workshop, halted_doors: Path, tmp_path: Path, step: int, forgetting: bool
):
    """From the decision to the release: the same bytes, every answer and verdict once (F-13-16, D-26-04, D-26-06)."""
    whole, again = (approval_of(halted_doors, tmp_path / name) for name in ("whole", "again"))
    assert_kills_change_nothing(workshop, whole, again, step, forgetting=forgetting)
