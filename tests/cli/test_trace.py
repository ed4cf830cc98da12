"""`specwright trace` leads from a criterion, a task or a module to tests and code (D41)."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import specwright
from testkit.loop.approved_products import CRITERIA, REFUSED, WHY
from testkit.paths import ROOT


def traced(text: str, project: Path) -> dict[str, Any]:
    """What a text leads to."""
    told = specwright("trace", text, project, "--json")
    assert told.code == 0, told
    document: dict[str, Any] = told.document
    return document


def criteria_of(document: dict[str, Any]) -> list[tuple[str, int]]:
    """The criteria that it leads to."""
    return [(task["task_id"], one["criterion"]) for task in document["tasks"] for one in task["criteria"]]


def test_a_criterion_leads_to_its_example_and_its_code(approved: Path) -> None:
    """With the example that ran, the module, its file and its function (D-41-07)."""
    (task,) = traced("TSK-001 criterion 1", approved)["tasks"]
    (shown,) = task["criteria"]
    assert [(one["kind"], one["result"]) for one in shown["evidence"]] == [("example", "PASS")]
    assert (
        shown["evidence"][0]["detail"] == "initials('ada lovelace') gives 'AL', against the installed wheel"
    )
    (module,) = task["modules"]
    assert module["functions"] == ["initials"]
    assert (approved / "state_store" / module["source"][0]).is_file()


@pytest.mark.parametrize("text", ["TSK-001 criterion 2", "tsk-001/2", CRITERIA[1], "ValueError for ''"])
def test_a_criterion_leads_to_its_tests(approved: Path, text: str) -> None:
    """By its id, or by its words or a part of them (D-41-07)."""
    document = traced(text, approved)
    assert document["found_as"] == "criterion"
    assert criteria_of(document) == [("TSK-001", 2)]
    (criterion,) = document["tasks"][0]["criteria"]
    assert [one["kind"] for one in criterion["evidence"]] == ["module_test", "falsifying_test"]
    assert criterion["evidence"][0]["name"] == REFUSED


def test_a_task_leads_to_all_of_its_criteria(approved: Path) -> None:
    """By its id (D-41-07)."""
    document = traced("TSK-001", approved)
    assert document["found_as"] == "task"
    assert criteria_of(document) == [("TSK-001", number) for number in range(1, 5)]


def test_a_module_leads_back_to_criteria(approved: Path) -> None:
    """By name, id or version, to the criteria that something of it shows (D-41-07)."""
    (row,) = specwright("modules", approved, "--json").document["modules"]
    found = [traced(text, approved) for text in ("initials", row["module_ref"], row["module_ref"][:11])]
    assert [one["found_as"] for one in found] == ["module"] * 3
    assert {tuple(criteria_of(one)) for one in found} == {(("TSK-001", 1), ("TSK-001", 2))}


def test_the_page_says_what_shows_each_criterion(approved: Path) -> None:
    """What is recorded, the files, and what nobody shows (D-41-07)."""
    page = specwright("trace", "TSK-001", approved).out
    assert "- PASS approved example Two words: initials('ada lovelace') gives 'AL', against" in page
    assert f"- PASS test of the module {REFUSED}" in page
    assert "/implementation/__init__.py" in page
    assert WHY in " ".join(page.split())


def test_an_unknown_text_is_refused_with_what_is_like_it(approved: Path) -> None:
    """Exit 2, one message, and what was perhaps meant (D-41-07)."""
    specwright("trace", "initals", approved).refuses(
        "'initals' is no criterion", "did you mean `", "nitials`?"
    )
    specwright("trace", "TSK-001 criterion 9", approved).refuses("is no criterion", "specwright tasks")
    specwright("trace", "TSK-009", approved).refuses("is no criterion", "did you mean `TSK-001`?")
    specwright("trace", " ", approved).refuses("is no criterion")
    assert specwright("trace", "zebra", approved, "--json").document["error"]["what"].startswith("'zebra'")


def test_a_product_in_progress_is_traced_as_far_as_it_is(halted_once: Path) -> None:
    """What shipped has its module, what halted has none yet (D-41-07)."""
    document = traced("TSK-001", halted_once)
    (task,) = document["tasks"]
    assert (task["status"], task["modules"]) == ("HALTED", [])
    assert {one["status"] for one in task["criteria"]} == {"UNRELEASED"}
    assert "none is shipped yet" in specwright("trace", "TSK-001", halted_once).out


def test_before_the_approval_nothing_is_traced(waiting_once: Path) -> None:
    """There is no approved spec that something could answer to (D-41-07)."""
    specwright("trace", "TSK-001", waiting_once).refuses("no spec is approved yet", code=1)


def test_what_the_list_of_commands_traces_is_found(approved: Path) -> None:
    """Whoever copies it gets a page, not an error (D-S9-04)."""
    text, *_ = re.findall(r'specwright trace "([^"]+)"', (ROOT / "docs/how-to.md").read_text())
    assert criteria_of(traced(text, approved)) == [("TSK-001", 2)]


def test_a_trace_changes_nothing(approved: Path, tmp_path: Path) -> None:
    """It reads a project that it may not write to (D-41-07)."""
    project = Path(shutil.copytree(approved, tmp_path / "project"))
    before = {path: path.read_bytes() for path in (project / "state_store").rglob("*") if path.is_file()}
    traced("initials", project)
    assert {p: p.read_bytes() for p in (project / "state_store").rglob("*") if p.is_file()} == before
