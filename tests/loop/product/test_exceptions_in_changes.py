"""An interface change exception that is raised while a change is under way: the change can still be given up (F§13, D38)."""

import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from specwright.bootstrap.verify import verify_project
from testkit.cli.commands import specwright
from testkit.loop.changed_products import banner_product, spec_of_change, write_json
from testkit.loop.doors import DOORS
from testkit.loop.products import NAMEPLATE_SPEC

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

JUDGED_LAST = "TSK-002/attempt-3/banner/round-1/challenger.json"


def playbook_of(directory: Path) -> Path:
    """The change asks for another banner, whose Challenger finds the contract of `initials` wrong."""
    banner_product(directory)
    spec = spec_of_change(directory, "1.1.0")
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][1]
    task["acceptance_criteria"][0] += " Each time."
    write_json(directory / "change-1/spec.json", spec)
    shutil.copytree(DOORS / "TSK-001/changed", directory / "TSK-001/changed")
    first = directory / "TSK-002"
    for attempt in (3, 2):
        ignored = shutil.ignore_patterns("attempt-*")
        shutil.copytree(first, first / f"attempt-{attempt}", ignore=ignored)
    (exception,) = DOORS.rglob("*-exception.json")
    shutil.copyfile(exception, first / "attempt-2/contracts/round-1/challenger-exception.json")
    return directory


@pytest.fixture
def halted(tmp_path: Path) -> Path:
    """The change is approved, and its task has halted by an exception. Its playbook lacks the last answer but one."""
    playbook, project = playbook_of(tmp_path / "playbook"), tmp_path / "project"
    (playbook / JUDGED_LAST).rename(tmp_path / "kept.json")
    options = ("--spec", NAMEPLATE_SPEC, "--model", f"playbook:{playbook}", "--approve")
    assert specwright("run", project, *options).code == 0
    assert specwright("change", project, "--request", "The same each time.").code == 3
    halted = specwright("approve", project, "--json")
    assert (halted.code, halted.document["where"]) == (3, "halted"), halted
    (listed,) = specwright("exceptions", "list", project, "--json").document["exceptions"]
    specwright("exceptions", "approve", listed["exception_id"], project).refuses("challenger.json", code=1)
    return project


def statuses(project: Path) -> dict[tuple[str, str], str]:
    """Of the versions of all modules."""
    rows = specwright("modules", project, "--json").document["modules"]
    return {(row["name"], row["version"]): row["status"] for row in rows}


def description(document: Any) -> str:
    """What the wheel of a release says of itself."""
    with ZipFile(document["release"]["wheel"]) as opened:
        (name,) = (name for name in opened.namelist() if name.endswith("METADATA"))
        return opened.read(name).decode()


def test_the_old_version_is_retired_by_the_release_of_the_change(halted: Path, tmp_path: Path) -> None:
    """Until then both are active; the notes of the release say which exception asked for it (F-13-16, D-38-14)."""
    (listed,) = specwright("exceptions", "list", halted, "--json").document["exceptions"]
    before = statuses(halted)
    assert before["initials", "1.0.0"] == before["initials", "1.1.0"] == "SHIPPED"
    assert verify_project(halted).findings == ()
    (tmp_path / "kept.json").rename(tmp_path / "playbook" / JUDGED_LAST)
    finished = specwright("run", halted, "--json")
    assert (finished.code, finished.document["where"]) == (0, "released"), finished
    assert statuses(halted)["initials", "1.0.0"] == "SUPERSEDED"
    assert verify_project(halted).findings == ()
    assert f"{listed['exception_id']}: {listed['reason']}" in " ".join(description(finished.document).split())


@pytest.mark.nightly
def test_a_change_with_an_exception_can_be_given_up(halted: Path) -> None:
    """What the exception made is DEPRECATED, the old version is what it was, and the product releases again (D-38-14)."""
    assert specwright("change", halted, "--abandon").code == 0
    after = statuses(halted)
    assert (after["initials", "1.0.0"], after["initials", "1.1.0"]) == ("SHIPPED", "DEPRECATED")
    assert verify_project(halted).findings == ()
    assert specwright("release", halted).code == 0
