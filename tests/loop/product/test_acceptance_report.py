"""Every release says of every criterion what showed it, and where (DESIGN §13.2, D41)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import specwright
from testkit.layout import examine_store
from testkit.loop.acceptance_reports import holds_against_the_spec, report_of, resolved
from testkit.loop.approved_products import CRITERIA, LIMIT, REFUSED, WHY, approved_product
from testkit.loop.products import NAMEPLATE_SPEC


def test_a_release_says_of_each_criterion_what_showed_it(approved: Path) -> None:
    """An example that ran on the wheel, tests that roles name for it, the reason of the spec, a ruling (D-41-06)."""
    document = report_of(approved)
    holds_against_the_spec(approved, document)
    (task,) = document["tasks"]
    criteria: list[dict[str, Any]] = task["criteria"]
    assert [one["status"] for one in criteria] == ["SHOWN", "TESTED", "JUDGED", "SET_ASIDE"]
    assert [one["executable"] for one in criteria] == [True, False, False, False]
    (example,) = criteria[0]["evidence"]
    assert (example["kind"], example["name"], example["result"]) == ("example", "Two words", "PASS")
    assert example["detail"] == "initials('ada lovelace') gives 'AL', against the installed wheel"
    assert resolved(approved, example["stated_in"])["gives"] == "'AL'"
    wheel, gate = example["ran_in"]
    assert wheel.endswith(".whl")
    assert resolved(approved, gate)["observed"] == {"examples": 1}
    assert [one["kind"] for one in criteria[1]["evidence"]] == ["module_test", "falsifying_test"]
    named, tried = criteria[1]["evidence"]
    assert resolved(approved, named["named_in"]) == f"2: {REFUSED}"
    assert REFUSED in {
        resolved(approved, ref)["name"].split("::")[1].partition("[")[0] for ref in named["ran_in"]
    }
    assert resolved(approved, tried["named_in"]) == CRITERIA[1]
    assert resolved(approved, tried["ran_in"][0])["name"] == "falsifying"
    assert criteria[2]["reason"] == f"no example, property or test names it: judged by models; {WHY}"
    assert (criteria[3]["ruling"]["reason"], criteria[3]["ruling"]["answer"]) == (LIMIT, "")
    (module,) = task["modules"]
    assert module["functions"] == ["initials"]
    assert resolved(approved, module["judged_in"])["criterion"] == "R5"


def test_the_page_for_a_person_says_the_same(approved: Path) -> None:
    """Each criterion under its number with its files; what nobody shows says so in words (D-41-06)."""
    (file,) = (approved / "state_store/releases").glob("*/acceptance.md")
    page = file.read_text()
    assert all(text in page for text in CRITERIA)
    assert "4 criteria, 1 with an approved example or property" in page
    said = f"No example, property or test names it: judged by models; {WHY}"
    assert f"### Criterion 3: not shown by code\n\n{CRITERIA[2]}\n\n{said}\n" in page
    assert "- PASS approved example 'Two words': initials('ada lovelace') gives 'AL', against" in page
    assert f"- PASS test of the module '{REFUSED}'" in page
    for task in report_of(approved)["tasks"]:
        for one in (one for criterion in task["criteria"] for one in criterion["evidence"]):
            assert {f"`{ref}`" in page for ref in (one["stated_in"], *one["ran_in"])} == {True}
        for module in task["modules"]:
            assert {f"`{ref}`" in page for ref in (*module["source"], module["judged_in"])} == {True}
    assert "state_store/" in page
    assert examine_store(approved) >= {"releases"}


@pytest.mark.slow
def test_the_answer_of_a_person_and_a_change_of_bytes_are_told(approved: Path, tmp_path: Path) -> None:
    """The next release has the answer; `verify` names a report that was edited (D-41-06)."""
    project = Path(shutil.copytree(approved, tmp_path / "project"))
    (question,) = specwright("escalations", project, "--json").document["escalations"]
    words = ("ACCEPT_UNSHOWN", project, "--rationale", "We know it.")
    assert specwright("resolve", question["escalation_id"], *words).code == 0
    assert specwright("release", project).code == 0
    document = report_of(project)
    holds_against_the_spec(project, document)
    ruling = document["tasks"][0]["criteria"][3]["ruling"]
    assert ruling["answer"] == "accepted without being shown: We know it."
    assert resolved(project, ruling["answered_in"])
    assert specwright("verify", project).code == 0
    for name in ("acceptance.json", "acceptance.md"):
        file = project / f"state_store/releases/{document['release_id']}/{name}"
        text = file.read_text()
        file.write_text(text.replace("TESTED", "SHOWN").replace("tested", "shown"))
        assert name in specwright("verify", project).out
        file.write_text(text)


@pytest.mark.slow
def test_a_spec_without_examples_says_that_models_judged_it(released_once: Path) -> None:
    """None missing, none made out to be shown (D-41-06)."""
    document = report_of(released_once)
    holds_against_the_spec(released_once, document)
    statuses = {c["status"] for task in document["tasks"] for c in task["criteria"]}
    assert statuses == {"JUDGED"}
    assert document["counts"]["judged"] == document["counts"]["criteria"]


@pytest.mark.nightly
def test_an_example_that_fails_on_the_wheel_is_told_with_what_came(tmp_path: Path) -> None:
    """The gate of the module let it pass, where the function has another home; the release fails and has its report all the
    same (D-41-06)."""
    playbook = approved_product(tmp_path / "playbook")
    file = playbook / "researcher/spec.json"
    spec = json.loads(file.read_text())
    acceptance = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["acceptance"]
    at_home = "from nameplate import initials\ninitials('ada lovelace') + initials.__module__"
    wrong = {"title": "At home", "criteria": [1], "code": at_home, "gives": "'ALmodules.initials'"}
    acceptance["examples"].append(wrong)
    file.write_text(json.dumps(spec))
    options = ("--spec", NAMEPLATE_SPEC, "--model", f"playbook:{playbook}", "--approve")
    told = specwright("run", tmp_path / "project", *options)
    assert told.code == 1, told
    document = report_of(tmp_path / "project")
    holds_against_the_spec(tmp_path / "project", document)
    criterion = document["tasks"][0]["criteria"][0]
    passed, failed = criterion["evidence"]
    assert (criterion["status"], passed["result"], failed["result"]) == ("FAILED", "PASS", "FAIL")
    assert "'ALnameplate" in failed["detail"]
    assert document["counts"]["failed"] == 1
