"""`specwright exceptions`: an interface change exception as a person sees it and decides about it (F§13.5)."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specwright.bootstrap.verify import verify_project
from testkit.cli.commands import SMALL, everything, specwright
from testkit.loop.doors import doors
from testkit.loop.raised_product import raised_once

__all__ = ["raised_once"]

pytestmark = pytest.mark.slow
"""The halted project alone takes longer than a fast test may."""


@pytest.fixture
def raised(raised_once: Path, tmp_path: Path) -> Path:
    """A project whose second task halted by an exception."""
    return Path(shutil.copytree(raised_once, tmp_path / "raised"))


def test_a_person_sees_the_exception_and_defers_it(raised: Path) -> None:
    """F-13-20, D-26-01: listed before and after, the task still halted; everything is bound and verified."""
    (listed,) = specwright("exceptions", "list", raised, "--json").document["exceptions"]
    assert (listed["status"], listed["decisions"]) == ("RAISED", [])
    name = listed["exception_id"]
    page = specwright("exceptions", "list", raised).out
    assert name in page
    assert "A step other than one cannot be asked for." in page
    assert listed["escalation"] in specwright("status", raised).out
    assert name in specwright("escalations", listed["escalation"], raised).out
    deferred = specwright("exceptions", "defer", name, raised, "--reason", "After the fair.")
    assert deferred.code == 3, deferred
    (later,) = specwright("exceptions", "list", raised, "--json").document["exceptions"]
    assert (later["status"], later["decisions"][0]["reason"]) == ("DEFERRED", "After the fair.")
    assert verify_project(raised).findings == ()
    assert verify_project(raised).unbound == ()


def test_the_page_of_its_escalation_recommends_the_decision(raised: Path) -> None:
    """F-13-11: not an answer to the halt; what each decision means, and what to type."""
    (listed,) = specwright("exceptions", "list", raised, "--json").document["exceptions"]
    name, page = listed["exception_id"], specwright("escalations", listed["escalation"], raised).out
    recommended = page.partition("Recommended")[2].partition("Other answers")[0]
    for decision in ("approve", "reject", "defer"):
        assert f"exceptions {decision} {name}" in recommended
    assert "REVISE_PLAN" not in recommended
    assert "REVISE_PLAN" in page.partition("Other answers")[2]
    short = specwright("status", raised).out
    assert f"decide about {name}" in short
    assert f"exceptions approve {name}" in short
    document = specwright("escalations", listed["escalation"], raised, "--json").document
    assert f"exceptions approve {name}" in document["command"]


def test_a_person_rejects_it_and_the_task_waits(raised: Path) -> None:
    """F-13-19: `--hold` leaves the escalation for another answer."""
    (listed,) = specwright("exceptions", "list", raised, "--json").document["exceptions"]
    held = specwright(
        "exceptions", "reject", listed["exception_id"], raised, "--reason", "No.", "--hold", "--json"
    )
    assert (held.code, held.document["where"]) == (3, "halted")
    (later,) = specwright("exceptions", "list", raised, "--json").document["exceptions"]
    assert (later["status"], later["escalation"]) == ("REJECTED", listed["escalation"])


def test_an_unusable_decision_gets_one_message(raised: Path) -> None:
    """F-13-19: with neither or both: exit 2; nothing is written."""
    (listed,) = specwright("exceptions", "list", raised, "--json").document["exceptions"]
    before = everything(raised / "state_store")
    for words, why in (
        (("reject", "{}", "--reason", "No."), "--requeue or --hold"),
        (("reject", "{}", "--reason", "No.", "--requeue", "--hold"), "--requeue or --hold"),
        (("reject", "{}", "--hold"), "a rejection needs a reason"),
        (("reject", "{}", "--hold", "--reason", "  "), "a rejection needs a reason"),
        (("reject", "ICE-00000000", "--hold", "--reason", "No."), "there is no interface change exception"),
        (("defer", "ESC-00000000"), "exception_id"),
        (("defer", "{}", "--reason", "x" * 4_001), "4000"),
    ):
        command, name, *more = (word.format(listed["exception_id"]) for word in words)
        specwright("exceptions", command, name, raised, *more).refuses(why)
        assert everything(raised / "state_store") == before, words


@pytest.mark.timeout(600)
def test_an_approved_change_ends_in_a_release(tmp_path: Path) -> None:
    """F-13-16, D-26-04, D-26-05, F-7-08: gate and wheel are real; both versions verify, and the wheel has the later ones."""
    playbook = doors(tmp_path / "playbook")
    project = tmp_path / "project"
    halted = specwright(
        "run", project, "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve"
    )
    assert halted.code == 3, halted
    (listed,) = specwright("exceptions", "list", project, "--json").document["exceptions"]
    old = {ref: everything(path) for ref, path in versions(project).items()}
    approved = specwright("exceptions", "approve", listed["exception_id"], project, "--json")
    assert (approved.code, approved.document["where"]) == (0, "released"), approved
    rows = specwright("modules", project, "--json").document["modules"]
    assert sorted((row["name"], row["version"], row["status"]) for row in rows) == [
        ("banner", "1.0.0", "SUPERSEDED"),
        ("banner", "1.0.1", "SHIPPED"),
        ("initials", "1.0.0", "SUPERSEDED"),
        ("initials", "1.1.0", "SHIPPED"),
        ("monogram", "1.0.0", "SHIPPED"),
    ]
    assert {ref: everything(path) for ref, path in versions(project).items() if ref in old} == old
    assert (verify_project(project).findings, verify_project(project).unbound) == ((), ())
    use = "from nameplate import banner, initials, monogram; print(banner('a b'), initials('a b'), monogram('a b'))"
    used = subprocess.run(
        [sys.executable, "-c", use],
        env={"PYTHONPATH": approved.document["release"]["wheel"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert used.stdout == "* AB * AB A.B\n", used.stderr
    assert specwright("module", "banner", project, "--trail").code == 0
    again = specwright("exceptions", "approve", listed["exception_id"], project)
    assert (again.code, "its task has continued" in again.err) == (1, True)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_change_that_breaks_ends_in_a_release(halted_doors: Path, tmp_path: Path) -> None:
    """F-13-16, D-26-06: until the banner has moved the old version is verified and the gates of a release name it; then they
    pass, and the trail of both names the exception."""
    project = Path(shutil.copytree(halted_doors / "halted", tmp_path / "project"))
    playbook = Path(shutil.copytree(halted_doors / "playbook", tmp_path / "playbook"))
    plan_of_migration = (playbook / "TSK-004/planner.json").read_bytes()
    (playbook / "TSK-004/planner.json").unlink()
    specwright("run", project, "--model", f"playbook:{playbook}")
    (listed,) = specwright("exceptions", "list", project, "--json").document["exceptions"]
    name = listed["exception_id"]
    specwright("exceptions", "approve", name, project).refuses("TSK-004/planner.json", code=1)
    cut_short = verify_project(project)
    assert (cut_short.findings, len(cut_short.unbound)) == ((), 1), "no stop of the log names what was begun"
    specwright("release", project).refuses("3 of 4 tasks", "Migrate: Banner", code=1)
    rows = specwright("modules", project, "--json").document["modules"]
    newest = {row["name"]: row["module_ref"] for row in sorted(rows, key=lambda row: row["module_ref"])}
    named = [part for ref in newest.values() for part in ("--module", ref)]
    refused = specwright("release", project, *named, "--json")
    assert refused.code == 1, refused
    assert refused.document["manifest"]["overall_result"] == "FAIL"
    (banner,) = (row for row in rows if row["name"] == "banner")
    assert banner["module_ref"] in refused.out + refused.err
    (playbook / "TSK-004/planner.json").write_bytes(plan_of_migration)
    finished = specwright("run", project, "--json")
    assert (finished.code, finished.document["where"]) == (0, "released"), finished
    rows = specwright("modules", project, "--json").document["modules"]
    assert sorted((row["name"], row["version"], row["status"]) for row in rows) == [
        ("banner", "1.0.0", "SUPERSEDED"),
        ("banner", "1.0.1", "SHIPPED"),
        ("initials", "1.0.0", "SUPERSEDED"),
        ("initials", "2.0.0", "SHIPPED"),
        ("monogram", "1.0.0", "SHIPPED"),
    ]
    tasks = [
        (row["spec_task_id"], row["attempt"])
        for row in specwright("tasks", project, "--json").document["tasks"]
    ]
    assert tasks == [("TSK-001", 1), ("TSK-002", 1), ("TSK-003", 2), ("TSK-004", 1)]
    assert (verify_project(project).findings, verify_project(project).unbound) == ((), ())
    for module in ("initials", "banner"):
        assert specwright("module", module, project, "--trail", "--json").document["exceptions"] == [name]
        assert name in specwright("module", module, project, "--trail").out
    assert specwright("module", "monogram", project, "--trail", "--json").document["exceptions"] == []


def versions(project: Path) -> dict[str, Path]:
    """The sealed versions."""
    found = (project / "state_store").glob("modules/*/*")
    return {f"{path.parent.name}@{path.name}": path for path in found}
