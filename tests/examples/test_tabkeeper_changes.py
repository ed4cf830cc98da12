"""The example product is changed twice: a criterion is added, then an interface breaks (D38)."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.verify import verify_project
from specwright.bootstrap.views import reading_project
from testkit.cli.commands import specwright
from testkit.examples.tabkeeper_changes import changed_tabkeeper
from testkit.examples.tabkeeper_playbook import python
from testkit.paths import TABKEEPER
from testkit.stores import records

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


def tasks_of(project: Path) -> dict[str, Any]:
    """The tasks by their ids in the spec."""
    return {row["spec_task_id"]: row for row in specwright("tasks", project, "--json").document["tasks"]}


def asked(project: Path) -> dict[str, int]:
    """How many calls each attempt and each change took."""
    counts: dict[str, int] = {}
    for record in records(project, "model"):
        place = record.place.scope.partition("/")[0]
        counts[place] = counts.get(place, 0) + 1
    return counts


def change(project: Path, request: str) -> dict[str, int]:
    """A change, from the request to the release; the calls that it took."""
    before = asked(project)
    assert specwright("change", project, "--request", request).code == 3
    told = specwright("approve", project)
    assert told.code == 0, told
    assert verify_project(project).findings == ()
    return {place: count for place, count in asked(project).items() if before.get(place) != count}


SPLIT = 'print(split_evenly(Decimal("1.00"), ["Ana", "Ben"]))'
BALANCES = 'print(compute_balances([("Ana", Decimal("9.00"), ["Ana", "Ben"])])["Ben"])'


def said(project: Path, release: str, target: Path) -> list[str]:
    """What the wheel of a release prints, unpacked into a directory of its own."""
    (wheel,) = (project / "state_store/releases" / release).glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    program = f"from decimal import Decimal\nfrom tabkeeper import compute_balances, split_evenly\n{SPLIT}\n{BALANCES}"
    return python(["-c", program], target).splitlines()


@pytest.mark.nightly
def test_the_example_is_changed_twice(tmp_path: Path):
    """One task runs, one consumer is judged again; then one is migrated; the others are not touched (D-38-06, D-38-08,
    D-38-09, D-38-13)."""
    playbook, project = changed_tabkeeper(tmp_path / "playbook"), tmp_path / "project"
    options = ("--spec", TABKEEPER / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
    built = specwright("run", project, *options)
    assert built.code == 0, built
    first = tasks_of(project)

    calls = change(project, "An amount of zero gives everybody zero.")
    assert calls.keys() == {"change-1.1", "TSK-002.2"}
    assert sum(calls.values()) == 7
    second = tasks_of(project)
    assert second["TSK-002"]["module_ref"] == first["TSK-002"]["module_ref"].replace("@1.0.0", "@1.1.0")
    assert second["TSK-003"]["module_ref"] == first["TSK-003"]["module_ref"].replace("@1.0.0", "@1.0.1")
    untouched = set(first) - {"TSK-002", "TSK-003"}
    assert all(second[task] == first[task] for task in untouched)

    calls = change(project, "Shares are pairs in the order of the names.")
    assert calls.keys() == {"change-2.1", "TSK-002.3", "TSK-007.1"}
    third = tasks_of(project)
    assert third["TSK-002"]["module_ref"].endswith("@2.0.0")
    assert third["TSK-007"]["module_ref"] == third["TSK-003"]["module_ref"]
    assert third["TSK-003"]["module_ref"].endswith("@1.0.2")
    assert all(third[task] == first[task] for task in untouched)

    with reading_project(project) as view:
        releases = list(view.projection.releases)
    shares = "{'Ana': Decimal('0.50'), 'Ben': Decimal('0.50')}"
    assert said(project, releases[0], tmp_path / "1") == [shares, "-4.50"]
    assert said(project, releases[1], tmp_path / "2") == [shares, "-4.50"]
    pairs = "[('Ana', Decimal('0.50')), ('Ben', Decimal('0.50'))]"
    assert said(project, releases[2], tmp_path / "3") == [pairs, "-4.50"]
