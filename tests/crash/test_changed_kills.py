"""A change of a released product survives crashes: it is applied exactly once, and no answered call is repeated (D38)."""

import shutil
from pathlib import Path

import pytest

from specwright.bootstrap.verify import verify_project
from testkit.killing import Job
from testkit.loop.changed_products import REQUEST
from testkit.loop.processes import assert_kills_change_nothing, killed_again_and_again
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.sampling import nightly, slow
from testkit.stores import differences, journal_of
from testkit.workshop import Workshop


def change_of(shop: Path, project: Path, stage: str = "released") -> Job:
    """The change of a product as it stands at a stage."""
    shutil.copytree(shop / stage, project)
    return Job(str(project), str(NAMEPLATE_SPEC), f"playbook:{shop / 'playbook'}", change=REQUEST)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("step", "forgetting"), [slow(29, True), nightly(7, False), nightly(3, True)])
def test_a_change_that_is_killed_again_and_again_is_applied_once(
    workshop: Workshop, shop: Path, tmp_path: Path, step: int, forgetting: bool
):
    """From the request to the second release: the same bytes, every answer and verdict once (D-38-16)."""
    whole, again = (change_of(shop, tmp_path / name) for name in ("whole", "again"))
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
