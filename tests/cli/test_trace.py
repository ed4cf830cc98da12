"""`specwright trace` leads from a sentence of SPEC.md to tests and code, and back (DESIGN §9, D41)."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import SMALL, specwright
from testkit.loop.approved_products import CRITERIA, REFUSED, WHY
from testkit.paths import ROOT

GIVES = 'Initials. `"ada lovelace"` gives `"AL"`.'
"""A sentence of SPEC.md, and what it has in common with a criterion."""


def traced(text: str, project: Path) -> dict[str, Any]:
    """What a text leads to."""
    told = specwright("trace", text, project, "--json")
    assert told.code == 0, told
    document: dict[str, Any] = told.document
    return document


def criteria_of(document: dict[str, Any]) -> list[tuple[str, int]]:
    """The criteria that it leads to."""
    return [(task["task_id"], one["criterion"]) for task in document["tasks"] for one in task["criteria"]]


def lines_of(document: dict[str, Any]) -> set[int]:
    """The lines of SPEC.md that it leads to."""
    return {one["line"] for one in document["sentences"]}


def line(project: Path, part: str) -> int:
    """The line of SPEC.md in which something stands."""
    rows = (project / "state_store/product/SPEC.md").read_text().splitlines()
    return next(number for number, row in enumerate(rows, 1) if part in row)


def test_a_sentence_leads_to_its_example_and_its_code(approved: Path) -> None:
    """With its line, what links it, the example that ran, the module, its file and its function (D-41-07)."""
    document = traced('"ADA   lovelace"` gives', approved)
    assert document["found_as"] == ["sentence"]
    (sentence,) = document["sentences"]
    assert (sentence["line"], sentence["text"]) == (line(approved, "gives"), GIVES)
    assert sentence["links"][0] == {
        "task_id": "TSK-001",
        "criterion": 1,
        "by": "the same values: ada lovelace, AL",
    }
    (task,) = document["tasks"]
    shown = next(one for one in task["criteria"] if one["criterion"] == 1)
    assert [(one["kind"], one["result"]) for one in shown["evidence"]] == [("example", "PASS")]
    assert shown["evidence"][0]["detail"] == "against the installed wheel"
    (module,) = task["modules"]
    assert module["functions"] == ["initials"]
    assert (approved / "state_store" / module["source"][0]).is_file()


@pytest.mark.parametrize("text", ["TSK-001 criterion 2", "tsk-001/2", CRITERIA[1], "ValueError for ''"])
def test_a_criterion_leads_to_its_tests(approved: Path, text: str) -> None:
    """By its id, or by its words or a part of them (D-41-07)."""
    document = traced(text, approved)
    assert document["found_as"] == ["criterion"]
    assert criteria_of(document) == [("TSK-001", 2)]
    (criterion,) = document["tasks"][0]["criteria"]
    assert [one["kind"] for one in criterion["evidence"]] == ["module_test", "falsifying_test"]
    assert criterion["evidence"][0]["name"] == REFUSED


def test_a_task_leads_to_all_of_its_criteria_and_back_to_the_sentences(approved: Path) -> None:
    """By its id (D-41-07)."""
    document = traced("TSK-001", approved)
    assert document["found_as"] == ["task"]
    assert criteria_of(document) == [("TSK-001", number) for number in range(1, 5)]
    assert line(approved, "gives") in lines_of(document)


def test_a_module_leads_back_to_criteria_and_sentences(approved: Path) -> None:
    """By name, id or version, to the criteria that something of it shows (D-41-07)."""
    (row,) = specwright("modules", approved, "--json").document["modules"]
    found = [traced(text, approved) for text in ("initials", row["module_ref"], row["module_ref"][:11])]
    assert [one["found_as"] for one in found] == [["module"]] * 3
    assert {tuple(criteria_of(one)) for one in found} == {(("TSK-001", 1), ("TSK-001", 2))}
    assert all(line(approved, "gives") in lines_of(one) for one in found)


def test_the_page_says_what_each_link_is(approved: Path) -> None:
    """What is recorded and what only is alike, the files, and what nobody shows (D-41-07)."""
    page = specwright("trace", "TSK-001", approved).out
    assert "From which sentence a criterion comes is not" in " ".join(page.split())
    assert "- TSK-001 criterion 1, by the same values: ada lovelace, AL" in page
    assert "- PASS approved example Two words: against the installed wheel" in page
    assert f"- PASS test of the module {REFUSED}" in page
    assert "/implementation/__init__.py" in page
    assert WHY in " ".join(page.split())


def test_a_text_that_stands_nowhere_is_refused_with_what_is_like_it(approved: Path) -> None:
    """Exit 2, one message, and what was perhaps meant (D-41-07)."""
    specwright("trace", "initals", approved).refuses(
        "'initals' stands nowhere", "did you mean `", "nitials`?"
    )
    specwright("trace", "TSK-001 criterion 9", approved).refuses("stands nowhere", "specwright tasks")
    specwright("trace", "TSK-009", approved).refuses("stands nowhere", "did you mean `TSK-001`?")
    specwright("trace", " ", approved).refuses("stands nowhere")
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


def test_a_sentence_that_nothing_answers_to_says_so(approved: Path) -> None:
    """It stands in SPEC.md, so that this is no error (D-41-07)."""
    assert "Out of scope" in (SMALL / "SPEC.md").read_text()
    document = traced("Out of scope", approved)
    assert (document["found_as"], document["tasks"]) == (["sentence"], [])
    assert "No task has anything in common with it" in specwright("trace", "Out of scope", approved).out


def test_what_the_readme_traces_is_found(approved: Path) -> None:
    """Whoever copies it gets a page, not an error (D-S9-04)."""
    (text,) = re.findall(r'specwright trace "([^"]+)"', (ROOT / "README.md").read_text())
    assert criteria_of(traced(text, approved)) == [("TSK-001", 2)]


def test_a_trace_changes_nothing(approved: Path, tmp_path: Path) -> None:
    """It reads a project that it may not write to (D-41-07)."""
    project = Path(shutil.copytree(approved, tmp_path / "project"))
    before = {path: path.read_bytes() for path in (project / "state_store").rglob("*") if path.is_file()}
    traced("initials", project)
    assert {p: p.read_bytes() for p in (project / "state_store").rglob("*") if p.is_file()} == before


def test_a_sentence_that_nothing_covers_is_said_to_be_so_first(approved: Path) -> None:
    """Words in common are no evidence; and the marks of code are not asked for (D-41-07)."""
    path = approved / "state_store/product/SPEC.md"
    path.write_text(path.read_text() + "\nSettings of a name stand in `names.toml`.\n")
    page = specwright("trace", "Settings of a name stand in names.toml", approved).out
    assert page.splitlines()[1].startswith("No criterion quotes this sentence."), page
    assert "No criterion quotes" not in specwright("trace", "ada lovelace", approved).out


def test_a_criterion_that_models_judged_leads_to_what_they_named(released_once: Path) -> None:
    """To the statement and the test that the Challenger named, with where they are (D-41-07)."""
    document = traced("TSK-001 criterion 2", released_once)
    (judged,) = document["judged"]
    assert (judged["task_id"], judged["criterion"]) == ("TSK-001", 2)
    rows = {one["shows"]: one for one in judged["judged_from"]}
    assert set(rows) == {"/error_surfaces/0", REFUSED.rpartition("::")[2]}
    assert all("#" in one["stated_in"] and "rubric_assessments" in one["named_in"] for one in rows.values())
    assert rows[REFUSED.rpartition("::")[2]]["ran_in"]
    page = " ".join(specwright("trace", "TSK-001 criterion 2", released_once).out.split())
    assert "judged by models from these" in page
    assert f"test {REFUSED.rpartition('::')[2]}, which passed" in page


def test_a_criterion_leads_to_its_own_sentence_alone(released_once: Path) -> None:
    """By the error that both name; what another criterion of the task says is left out (D-41-07)."""
    document = traced("TSK-001 criterion 2", released_once)
    first = document["sentences"][0]
    assert first["text"] == "A name without a letter is refused with a ValueError."
    assert first["links"] == [{"task_id": "TSK-001", "criterion": 2, "by": "the same error: ValueError"}]
    assert GIVES not in [one["text"] for one in document["sentences"]]
