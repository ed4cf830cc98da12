"""Versions of a product spec at the approval gate: the difference, and a spec that a person gives (F§3.2.4)."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from specwright.application.stages import product
from specwright.application.stages.product import send_back
from specwright.bootstrap.spec_file import MAX_SPEC_BYTES, read_spec, structured_spec
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.errors import InputError
from testkit.domain.product_specs import draft_data, spec_of_graph
from testkit.model.fake_model import OrderedReplies, calls
from testkit.paths import ROOT
from testkit.roles.roles_workbench import RolesWorkbench

SOUND = draft_data()
SHORTER = GateAnswer(action=GateAction.AMEND, text="Shorter.")


def emit(spec: Any) -> Any:
    """The researcher's last call."""
    return calls(("emit_structured_spec", {"spec": spec}))


def amended() -> Any:
    """The spec with a criterion added, a task renamed, and one removed."""
    spec = copy.deepcopy(SOUND)
    tasks = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    tasks[0]["acceptance_criteria"].append("Returns an empty list for an empty text")
    tasks[1]["name"] = "Another name"
    del tasks[2]
    return spec


def test_what_an_amendment_changed_is_shown(tmp_path: Path) -> None:
    """As the difference of the page; in spec.md and in what the gate asks; the amended spec is validated like the first
    (F-3.2.4-05, F-3.2.4-06, F-3.2.4-01)."""
    faulty = amended()
    faulty["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["depends_on"] = ["TSK-404"]
    replies = OrderedReplies(emit(SOUND), emit(faulty), emit(amended()))
    with RolesWorkbench(tmp_path, replies) as bench:
        product.research(bench.factory)
        first = product.approval_question(bench.factory)
        send_back(bench.factory, SHORTER)
        for _ in range(2):  # the step runs again after a crash
            product.research(bench.factory)
            second = product.approval_question(bench.factory)
            gone, new = ([one for one in second["changes"] if one.startswith(sign)] for sign in "-+")
            assert "-- name: Sort the rows" in gone
            assert [line for line in new if "Returns an empty list for an empty text" in line]
            assert "+- name: Another name" in new
    (refused,) = replies.requests[2].tool_results
    assert "TSK-404" in refused
    assert first["changes"] == []
    assert first["sha256"] != second["sha256"]
    page = (tmp_path / "state_store/product/spec.md").read_text()
    assert "## Changes since the last version\n\n```diff\n" + "\n".join(second["changes"]) in page


def test_a_rejected_draft_is_not_in_the_directory_of_the_next_researcher(tmp_path: Path) -> None:
    """It begins with SPEC.md alone (F-3.2.4-04)."""
    looks = calls(*(("read_file", {"file_path": path}) for path in ("/SPEC.md", "/spec.json", "/notes/a.md")))
    drafted = calls(
        *(("write_file", {"file_path": path, "content": "{}"}) for path in ("/spec.json", "/notes/a.md"))
    )
    replies = OrderedReplies(drafted, emit(SOUND), looks, emit(SOUND))
    with RolesWorkbench(tmp_path, replies) as bench:
        product.research(bench.factory)
        send_back(bench.factory, GateAnswer(action=GateAction.REJECT, text="It is too long."))
        product.research(bench.factory)
    source, *rejected = replies.requests[3].tool_results
    assert "It keeps tables." in source
    assert ["there is no file" in told for told in rejected] == [True, True], rejected


def test_words_that_follow_a_person_s_example_are_heard(tmp_path: Path) -> None:
    """A conversation is repeated from its beginning, where nobody knew of the example; it comes with the words, once and as
    it was edited last. A new conversation hears the same (F-3.2.4-05, D-40-06)."""
    first = json.loads((ROOT / "examples/tabkeeper/playbook/researcher/spec.json").read_text())
    acceptance = first["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["acceptance"]
    kept = copy.deepcopy(first)
    kept["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["acceptance"]["examples"].append(
        {**acceptance["examples"][0], "title": "Mine, corrected", "author": "person"}
    )
    replies = OrderedReplies(emit(first), emit(kept), emit(first), emit(kept))
    with RolesWorkbench(tmp_path, replies) as bench:
        product.research(bench.factory)
        page = tmp_path / "state_store/product/acceptance.md"
        item = f"## A currency sign{page.read_text().split('## A currency sign')[1].partition('## ')[0]}"
        for title in ("Mine", "Mine, corrected"):
            own = item.replace("A currency sign", title)
            text = page.read_text()
            text = (
                text.replace("## Mine", f"## {title}")
                if "## Mine" in text
                else text.replace(item, own + item)
            )
            send_back(bench.factory, product.edited_examples(bench.factory, text, "acceptance.md"))
            product.research(bench.factory)
        assert len(replies.requests) == 1
        send_back(bench.factory, SHORTER)
        product.research(bench.factory)
        assert len(replies.requests) == 2
        send_back(bench.factory, GateAnswer(action=GateAction.RESTART))
        product.research(bench.factory)
    for asked in replies.requests[1::2]:
        told = asked.messages[-1].text
        assert "Shorter." in told
        assert told.count("## Mine, corrected") == 1
        assert "## Mine\n" not in told
    assert "Mine" not in replies.requests[2].messages[-1].text


def test_the_gate_asks_with_the_warnings(tmp_path: Path) -> None:
    """Each with its place; they do not keep the spec from the gate (F-3.2.3-07, F-3.2.3-08, F-3.2.4-01)."""
    thin = copy.deepcopy(SOUND)
    thin["pillars"][0]["epics"][0]["description"] = "Short."
    with RolesWorkbench(tmp_path, OrderedReplies(emit(thin))) as bench:
        product.research(bench.factory)
        (warning,) = product.approval_question(bench.factory)["warnings"]
    assert (warning["field"], warning["severity"]) == ("description", "WARNING")


def test_three_amendments_bring_advice(tmp_path: Path) -> None:
    """F-3.2.4-07: at the third, and at each after it."""
    with RolesWorkbench(tmp_path, OrderedReplies(emit(SOUND))) as bench:
        product.research(bench.factory)
        advised = [product.approval_question(bench.factory)["advise"]]
        for _ in range(4):
            send_back(bench.factory, SHORTER)
            advised.append(product.approval_question(bench.factory)["advise"])
    assert advised == [False] * 3 + [True] * 2


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump], ids=["JSON", "YAML"])
def test_a_spec_that_a_person_gives_goes_to_the_gate_as_it_is(tmp_path: Path, write: Any) -> None:
    """No model is asked; the gate shows it as it shows any other (F-3.2.4-01)."""
    given = structured_spec(write(SOUND))
    assert given == SOUND
    replies = OrderedReplies(emit(SOUND), emit(amended()))
    with RolesWorkbench(tmp_path, replies) as bench:
        factory = replace(bench.factory, given_spec=given, spec_text=write(SOUND))
        product.research(factory)
        assert not replies.requests
        assert len(list(product.current_spec(factory).tasks())) == 3
        send_back(factory, SHORTER)
        product.research(factory)
        assert len(list(product.current_spec(factory).tasks())) == 2
    assert SOUND["title"] in str(replies.requests[0].messages)


def test_a_given_spec_that_cannot_be_read_is_no_prose() -> None:
    """A researcher is not paid to write it anew, and nothing grows while it is read; only a mapping that has pillars is
    taken for a spec (D-S9-04, F-3.2-01)."""
    for text, why in (
        ('{"title": "Keeper", "pillars": [],}', "cannot be read"),  # a comma too many
        ("title: Part keeper: a tool\npillars:\n- name: x\n", "cannot be read"),  # a colon in a value
        ("title: x\na: &a [1]\nb: &b [*a, *a]\npillars: [*b, *b]\n", "alias"),
    ):
        with pytest.raises(InputError) as caught:
            structured_spec(text)
        assert why in f"{caught.value.what} {caught.value.where}"
    prose = (
        "# Pillars\n\nIt counts pillars.\n",
        "{pillars",
        "pillars: [",
        "title: x\n",
        "- pillars\n",
        "pillars",
    )
    for text in (*prose, "# Temples\n\npillars: three of them\n"):
        assert structured_spec(text) is None


def test_a_given_spec_that_is_incomplete_is_refused_with_all_that_is_wrong() -> None:
    """Before anything is written, since no researcher mends it (F-3.2.3-01, D-S9-04)."""
    spec = copy.deepcopy(SOUND)
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["acceptance_criteria"], task["depends_on"] = [], ["TSK-404"]
    with pytest.raises(InputError, match="not complete") as caught:
        structured_spec(json.dumps(spec))
    assert "acceptance_criteria" in caught.value.where
    assert "TSK-404" in caught.value.where


def test_a_structured_spec_may_be_as_long_as_its_tasks_are_many(tmp_path: Path):
    """A thousand tasks are taken, though not in one story; prose of that length is not (F-3.2.4-01, F-3.3-03, D-S9-04)."""
    draft: Any = spec_of_graph([[]] * 900).to_json()
    stories = draft["pillars"][0]["epics"][0]["stories"]
    more = [
        {**task, "task_id": f"TSK-{n}", "name": f"Task {n}"}
        for n, task in enumerate(stories[0]["tasks"][:100], 901)
    ]
    stories.append({**stories[0], "story_id": "STR-002", "name": "Export", "tasks": more})
    for stamp in ("created_at", "updated_at"):
        del draft[stamp]
    path = tmp_path / "SPEC.md"
    path.write_text(json.dumps(draft))
    assert path.stat().st_size > MAX_SPEC_BYTES
    assert structured_spec(read_spec(path)) == draft
    stories[0]["tasks"] += stories.pop()["tasks"]
    with pytest.raises(InputError, match="not complete") as caught:
        structured_spec(json.dumps(draft))
    assert "'Import' has 1000 tasks" in caught.value.where
    path.write_text("# A long story\n" * 20_000)
    with pytest.raises(InputError, match="the limit is 262,144"):
        read_spec(path)
