"""A product whose second task is open: it is not released as if it were whole (F§15.4)."""

from pathlib import Path

import pytest

from testkit.cli.commands import specwright
from testkit.loop.changed_products import banner_product
from testkit.loop.products import NAMEPLATE_SPEC


@pytest.mark.slow
def test_half_a_product_is_released_only_by_its_modules_and_says_so(tmp_path: Path) -> None:
    """All of it is refused with what is open; modules that are named are released, and page and manifest say what is not in
    it (F-15-01, F-15-02)."""
    playbook, project = banner_product(tmp_path / "playbook"), tmp_path / "project"
    (playbook / "TSK-002/planner.json").unlink()
    options = ("--spec", NAMEPLATE_SPEC, "--model", f"playbook:{playbook}", "--approve")
    specwright("run", project, *options).refuses("TSK-002/planner.json", code=1)

    missing = "1 of 2 tasks; TSK-002"
    specwright("release", project).refuses(missing, "is not in it", "specwright run", "--module", code=1)
    assert not list((project / "state_store/releases").glob("*"))

    (row,) = specwright("modules", project, "--json").document["modules"]
    told = specwright("release", project, "--module", row["module_ref"])
    assert told.code == 0, told
    page = " ".join(told.out.split())
    assert f"Missing: {missing}" in page
    assert "1 task, 1 module" not in page
    (manifest,) = (project / "state_store/releases").glob("*/manifest.json")
    assert f"Only a part of the product: {missing}" in manifest.read_text()
