"""Functions judged where they are: right ones are never wrong, wrong ones are never shown (design: package-gate)."""

import shutil
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from ship_gate.package.judge import judge_package
from ship_gate.package.reports import REPORTS, PackageReport
from ship_gate.package.tree import installed_folders

ZOO = Path(__file__).with_name("package_zoo.txt")
NOT_SHOWN = {
    *("today_is", "listing", "split_bill", "unreached", "weak", "silent", "forged", "hangs", "waits"),
    *("half_as_float", "truth", "evens"),
}
WRONG = {"doubled", "absent", "tested", "refused", "crashes", "measured"}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> PackageReport:
    """The verdict on all of the zoo, asked for in its own folder."""
    folder = tmp_path_factory.mktemp("zoo")
    for case in ZOO.read_text(encoding="utf-8").split("=== ")[1:]:
        name, _, text = case.partition("\n")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with chdir(folder):
        return judge_package(Path(), seconds=300)


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_what_is_known_of_each_function(zoo: PackageReport):
    """F§11: a function is as its own module says that it is (D-60-01, D-60-02, D-60-05)."""
    found = {
        one.function.qualname: (str(one.verdict), one.basis, one.findings) for one in zoo.verdict.functions
    }
    due = {n: "WRONG" if n in WRONG else "NOT SHOWN" if n in NOT_SHOWN else "SHOWN" for n in found}
    assert {n: one for n, one in found.items() if one[0] != due[n]} == {}
    assert len(found) > 30
    notes = "\n".join(zoo.verdict.notes)
    for part in (
        "test_needs_a_host does not hold",
        "test_ends_the_process",
        "no_such_package_anywhere",
        "(the sandbox refuses",
    ):
        assert part in notes


@pytest.mark.slow
def test_reports_agree_with_the_exit_code(zoo: PackageReport):
    """What is not shown is an error with --strict alone."""
    calm = zoo._replace(
        verdict=zoo.verdict._replace(functions=tuple(f for f in zoo.verdict.functions if not f.findings))
    )
    for report in (calm, calm._replace(strict=True)):
        assert report.failed is report.strict
        assert ('"level": "error"' in REPORTS["sarif"](report)) is report.strict


def test_what_a_project_brings_along_opens_nothing_outside_of_it(tmp_path: Path):
    """Its `.venv` counts, but neither a folder that a `.pth` file names elsewhere nor a link that leads there."""
    project, secret = tmp_path / "project", tmp_path / "secret"
    site = project / f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for folder in (site, project / "src", secret):
        folder.mkdir(parents=True)
    (site / "paths.pth").write_text(f"{secret}\n../../../../src\n{project / 'src'}\n")
    found = {folder.resolve() for folder in installed_folders(project)}
    assert found == {site, project / "src"}
    shutil.rmtree(site)
    site.symlink_to(secret)
    assert not any(folder.resolve().is_relative_to(secret) for folder in installed_folders(project))
