"""Changes, reports and interface changes of a released product survive crashes: each is carried out exactly once, with all
that follows, and no answered call is repeated (D26, D38, D39, F§13)."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from specwright.bootstrap.verify import verify_project
from testkit.killing import Job
from testkit.loop.changed_products import REQUEST
from testkit.loop.processes import assert_kills_change_nothing, killed_again_and_again
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.loop.reported_products import POINTER, example
from testkit.sampling import nightly, slow
from testkit.stores import differences, journal_of
from testkit.workshop import Workshop


def change_of(shop: Path, project: Path, stage: str = "released") -> Job:
    """The change of a product as it stands at a stage."""
    shutil.copytree(shop / stage, project)
    return Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{shop / 'playbook'}", change=REQUEST)


def report_of(faulty: Path, project: Path) -> Job:
    """The report of the fault of a released product."""
    shutil.copytree(faulty / "released", project)
    reported = str(example(project.parent / "bug.md")), POINTER
    return Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{faulty / 'playbook'}", report=reported)


def approval_of(halted_doors: Path, project: Path) -> Job:
    """The approval of the exception for which the third task waits, and the migration that follows."""
    shutil.copytree(halted_doors / "halted", project)
    model = f"playbook:{halted_doors / 'playbook'}"
    return Job(str(project), str(NAMEPLATE_SPEC), model, approve_exceptions=True)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("product", "job_of", "step", "forgetting"),
    [
        slow("shop", change_of, 29, True),
        *(nightly("shop", change_of, *kills) for kills in ((7, False), (3, True))),
        *(nightly("faulty", report_of, *kills) for kills in ((29, True), (7, False), (3, True))),
        *(nightly("halted_doors", approval_of, *kills) for kills in ((31, True), (7, False))),
    ],
)
def test_what_is_killed_again_and_again_is_carried_out_once(
    workshop: Workshop,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    product: str,
    job_of: Callable[[Path, Path], Job],
    step: int,
    forgetting: bool,
):
    """From the request, the report or the decision to the release: the same bytes, every answer and verdict once (D-38-16,
    F-13-16, D-26-04, D-26-06)."""
    made = request.getfixturevalue(product)
    whole, again = (job_of(made, tmp_path / name) for name in ("whole", "again"))
    assert_kills_change_nothing(workshop, whole, again, step, forgetting=forgetting)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("step", [slow(1), nightly(2)])
def test_a_change_that_is_given_up_under_kills_leads_back(
    workshop: Workshop, shop: Path, tmp_path: Path, step: int
):
    """Killed after every so many effects of `--abandon`: the same bytes as without (D-38-16, D-38-14)."""
    whole = change_of(shop, tmp_path / "whole", "waiting")._replace(change="", abandon=True)
    assert workshop.drive(whole).code == 0
    again = change_of(shop, tmp_path / "again", "waiting")._replace(
        change="", abandon=True, draws=str(journal_of(tmp_path / "whole"))
    )
    assert killed_again_and_again(workshop, again, step) > 0
    assert differences(tmp_path / "again", tmp_path / "whole") == []
    assert verify_project(tmp_path / "again").findings == ()
