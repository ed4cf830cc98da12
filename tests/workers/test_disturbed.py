"""Projects end as on one machine, whatever becomes of the workers: kills and network cuts at random (D46)."""

import sys
import zipfile
from pathlib import Path

import pytest

from specwright.bootstrap.stores import opened_store
from specwright.bootstrap.transfer import export_project, import_project
from specwright.bootstrap.verify import verify_project
from testkit.disturbed_workers import Disturbances, disturbed
from testkit.loop.processes import Uninterrupted
from testkit.stores import records
from testkit.workers import QueuedProject

FEW = pytest.param(
    2, 2, Disturbances(kills=2, cuts=2, among=16), marks=[pytest.mark.slow, pytest.mark.timeout(1000)]
)
MANY = pytest.param(
    30, 6, Disturbances(kills=40, cuts=30, among=240), marks=[pytest.mark.nightly, pytest.mark.timeout(1800)]
)


def python_files(wheel: Path) -> dict[str, bytes]:
    """The Python files of a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist() if name.endswith(".py")}


def wheel_of(project: Path) -> Path:
    """The one wheel of a project."""
    (wheel,) = project.rglob("*.whl")
    return wheel


def as_directory(project: QueuedProject, directory: Path) -> Path:
    """A copy of a project."""
    export_project(project.url, directory.with_suffix(".tar"))
    import_project(str(directory), directory.with_suffix(".tar"))
    return directory


@pytest.mark.parametrize(("projects", "workers", "planned"), [FEW, MANY])
def test_projects_end_as_on_one_machine(
    tmp_path: Path, uninterrupted: Uninterrupted, projects: int, workers: int, planned: Disturbances
):
    """Every project is released with what an undisturbed run makes; no answered call is repeated (D-46-03, D-46-04)."""
    whole = uninterrupted.project
    with disturbed(tmp_path, projects, workers, planned, patience=1200.0) as ended:
        print(  # noqa: T201  # the numbers of the run, with `-s`
            f"{projects} projects, {workers} workers, {dict(ended.disturbances)}: {ended.seconds:.0f} s,"
            f" {ended.requests} requests, {ended.answered} answered, {len(ended.repeated)} repeated",
            file=sys.stderr,
        )
        assert ended.repeated == []
        assert ended.requests > ended.answered  # the disturbances have met calls under way
        assert ended.answered == projects * len(records(whole, "model"))
        for project in ended.projects:
            assert project.status()["where"] == "released"
            copy = as_directory(project, tmp_path / f"copy-{project.directory.name}")
            assert python_files(wheel_of(copy)) == python_files(wheel_of(whole))
            assert len(records(copy, "model")) == len(records(whole, "model"))
            assert verify_project(copy).findings == ()
            with opened_store(project.directory, project.url) as store:
                assert store.driver() == ""
