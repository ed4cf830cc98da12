"""The researcher at work: its tools, its directory, and how its work ends (F§3.2.1)."""

import copy
import json
from pathlib import Path
from typing import Any

from deepagents.backends import StateBackend
from deepagents.middleware.filesystem import FilesystemMiddleware

from specwright.application.stages import product
from specwright.domain.spec.product_spec import ProductSpec
from testkit.domain.product_specs import draft_data
from testkit.model.fake_model import SUMMARY, OrderedReplies, calls
from testkit.roles.roles_workbench import RolesWorkbench

SOUND = draft_data()
DOCUMENTED = {
    "web_search",
    "read_file",
    "write_file",
    "validate_spec",
    "search_code_index",
    "emit_structured_spec",
}
HARMLESS = {"edit_file", "write_todos"}


def emit(spec: Any) -> tuple[str, dict[str, Any]]:
    """The terminal call."""
    return "emit_structured_spec", {"spec": spec}


def written(path: str, content: str) -> tuple[str, dict[str, Any]]:
    """A file."""
    return "write_file", {"file_path": path, "content": content}


def spoilt() -> Any:
    """A spec with three faults: a task without criteria, an open effect, a reference to nothing."""
    spec = copy.deepcopy(SOUND)
    tasks = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    tasks[0]["acceptance_criteria"] = []
    tasks[1]["io_contract_sketch"]["effects"] = "TBD"
    tasks[2]["depends_on"] = ["TSK-404"]
    return spec


def researched(directory: Path, *answers: Any, **how: Any) -> OrderedReplies:
    """The researcher gives its replies until its work ends; all of them are asked for."""
    replies = OrderedReplies(*answers)
    with RolesWorkbench(directory, replies, **how) as bench:
        product.research(bench.factory)
    assert len(replies.requests) == len(answers)
    return replies


def test_the_tools_are_the_six_that_are_documented_and_harmless_ones(tmp_path: Path):
    """The six, what the middleware adds for files and to-dos, and nothing that runs or delegates (F-3.2.1-08)."""
    offered = set(researched(tmp_path, calls(emit(SOUND))).requests[0].tools)

    assert offered >= DOCUMENTED
    assert offered - DOCUMENTED == HARMLESS
    assert not {"execute", "task"} & offered


def test_it_can_search_the_code_index(tmp_path: Path):
    """The tool is there, and answers from the index of this project (F-3.2.1-05)."""
    replies = researched(
        tmp_path, calls(("search_code_index", {"query": "sort the rows of a table"})), calls(emit(SOUND))
    )

    assert "query" in replies.requests[0].tools["search_code_index"]["parameters"]["properties"]
    assert replies.requests[1].tool_results == ["Nothing in the index matches; it may be empty."]


def test_its_files_are_those_of_its_directory_and_of_no_other_place(tmp_path: Path):
    """The middleware's own tools: SPEC.md and the draft are there; absolute paths and `..` lead nowhere (F-3.2.1-03)."""
    outside = tmp_path / "secret.txt"
    outside.write_text("a secret of this machine")
    project = tmp_path / "project"
    tried = [str(outside), f"/../../../..{outside}", "../../../secret.txt", "~/secret.txt", "/etc/passwd"]
    reads = [("read_file", {"file_path": path}) for path in ("/SPEC.md", *tried)]
    writes = [written(path, "overwritten") for path in (*tried, "/SPEC.md")]
    replies = researched(
        project, calls(*reads), calls(*writes), calls(written("/spec.json", "{}")), calls(emit(SOUND))
    )

    read, *refused = replies.requests[1].tool_results
    assert "It keeps tables." in read
    assert len(refused) == len(tried)
    assert not any("secret of this machine" in told or "root:" in told for told in refused)
    assert all("rror" in told or "not" in told for told in [*refused, *replies.requests[2].tool_results])
    assert outside.read_text() == "a secret of this machine"
    assert {path.name for path in tmp_path.iterdir()} == {"secret.txt", "project"}
    assert "/spec.json" in replies.requests[3].tool_results[0]
    library = FilesystemMiddleware(backend=StateBackend()).tools
    theirs: dict[str, Any] = {tool.name: tool.tool_call_schema for tool in library}
    ours = replies.requests[0].tools
    for name in ("read_file", "write_file"):
        assert set(ours[name]["parameters"]["properties"]) == set(theirs[name].model_fields)


def test_a_spec_with_faults_is_not_taken_and_all_of_them_are_told(tmp_path: Path):
    """Validated once more although nobody asked for it; the whole list comes back, and the work goes on (F-3.2.1-06)."""
    replies = researched(tmp_path, calls(emit(spoilt())), calls(emit(SOUND)))

    (told,) = replies.requests[1].tool_results
    faults = [line for line in told.splitlines() if line.startswith("- ")]
    expected = [str(error) for error in product.validate(spoilt()).errors]
    assert faults == [f"- {error}" for error in expected]
    for place in ("tasks[0]", "tasks[1]", "tasks[2]"):
        assert any(place in fault for fault in faults)
    assert json.loads((tmp_path / "state_store/product/spec.json").read_text())["title"] == SOUND["title"]


def test_an_unknown_field_is_refused_when_it_is_emitted(tmp_path: Path):
    """By what `validate_spec` says of it: it is not dropped unseen (F-3.2.1-06, F-3.2.2-06, F-3.2.3-07)."""
    strange = {**SOUND, "priority": "high"}
    replies = researched(tmp_path, calls(emit(strange)), calls(emit(SOUND)))

    (told,) = replies.requests[1].tool_results
    (error,) = product.validate(strange).errors
    assert [line for line in told.splitlines() if line.startswith("- ")] == [f"- {error}"]


def test_an_emission_by_path_is_validated_as_well(tmp_path: Path):
    """What lies in the draft is looked at, not what was said about it (F-3.2.1-06)."""
    replies = researched(
        tmp_path,
        calls(written("/spec.json", json.dumps(spoilt()))),
        calls(("emit_structured_spec", {"spec_path": "/spec.json"})),
        calls(emit(SOUND)),
    )

    assert "TSK-404" in replies.requests[2].tool_results[0]


def test_a_successful_emission_ends_the_work(tmp_path: Path):
    """No model call comes after it, also when it was called together with other tools (F-3.2.1-07, D-S6-07)."""
    todo = ("write_todos", {"todos": [{"content": "Go on for ever", "status": "pending"}]})
    for number, turn in enumerate(
        (
            [emit(SOUND)],
            [emit(SOUND), todo, written("/notes/a.md", "More to do.")],
            [written("/spec.json", json.dumps(SOUND)), ("emit_structured_spec", {"spec_path": "/spec.json"})],
            [emit(SOUND), emit(spoilt())],
        )
    ):
        assert len(researched(tmp_path / str(number), calls(*turn)).requests) == 1


def test_an_emission_that_fails_does_not_end_the_work(tmp_path: Path):
    """Neither alone, nor beside other calls, nor with arguments that are no spec at all (F-3.2.1-06, D-S6-07)."""
    replies = researched(
        tmp_path,
        calls(emit(spoilt())),
        calls(emit(spoilt()), written("/notes/a.md", "Later.")),
        calls(("emit_structured_spec", {"spec": "see my draft"})),
        calls(("emit_structured_spec", {})),
        calls(emit(SOUND)),
    )

    refusals = [
        told
        for asked in replies.requests[1:]
        for told in asked.tool_results
        if told.startswith("Not accepted.")
    ]
    assert len(refusals) == 4


def test_the_spec_lies_under_product_as_json_and_as_markdown(tmp_path: Path):
    """What the project loop reads is a whole ProductSpec; what a person reads is made from it (F-3.2.4-09)."""
    researched(tmp_path, calls(emit(SOUND)))

    product = tmp_path / "state_store/product"
    spec = ProductSpec.from_bytes((product / "spec.json").read_bytes(), "spec.json")
    assert [task.task_id for task in spec.tasks()] == ["TSK-001", "TSK-002", "TSK-003"]
    shown = (product / "spec.md").read_text()
    assert shown.startswith(f"# {spec.title}")
    assert all(task.name in shown for task in spec.tasks())


def test_a_draft_that_is_no_json_has_a_report_of_the_same_shape(tmp_path: Path):
    """Errors and warnings, each with path, field, severity and message (F-3.2.1-04)."""
    check = ("validate_spec", {"spec_path": "/spec.json"})
    replies = researched(
        tmp_path, calls(check), calls(written("/spec.json", "{half")), calls(check), calls(emit(SOUND))
    )

    for asked in (replies.requests[1], replies.requests[3]):
        report = json.loads(asked.tool_results[0])
        assert report.keys() == {"errors", "warnings"}
        (error,) = report["errors"]
        assert error.keys() == {"path", "field", "severity", "message"}
        assert error["severity"] == "ERROR"


def test_a_long_conversation_is_summed_up(tmp_path: Path):
    """Files and to-dos are tools of the agent; what fills its window is replaced by a summary (F-18-03)."""
    note = calls(written("/notes/long.md", f"{'What is known of tables. ' * 4}\n" * 90))
    reads = [calls(("read_file", {"file_path": "/notes/long.md", "limit": 100 + n})) for n in range(8)]
    replies = researched(tmp_path, note, *reads, calls(emit(SOUND)), window=16_000)

    assert {"read_file", "write_file", "write_todos"} <= replies.requests[0].tools.keys()
    assert replies.summaries >= 1
    last = replies.requests[-1].messages
    assert any(SUMMARY in message.text for message in last)
    assert len(last) <= len(reads)  # whole it were more than twice as many
    files = tmp_path / "state_store"
    assert not [path for path in files.rglob("*") if path.is_file() and SUMMARY.encode() in path.read_bytes()]


def test_what_is_wrong_is_told_without_numbers_that_nobody_can_look_up(tmp_path: Path):
    """Errors and warnings, of a draft that is checked and of one that is handed in; the verbs are named in full
    (F-3.2.3-06, F-3.2.1-06)."""
    faulty = spoilt()
    faulty["pillars"][0]["epics"][0]["stories"][0]["tasks"][1]["acceptance_criteria"][0] = "Quality and speed"
    replies = researched(
        tmp_path,
        calls(written("/spec.json", json.dumps(faulty)), ("validate_spec", {"spec_path": "/spec.json"})),
        calls(emit(faulty)),
        calls(emit(SOUND)),
    )
    checked, refused = replies.requests[1].tool_results[-1], replies.requests[2].tool_results[-1]
    assert "is the id of no task" in checked
    assert "is the id of no task" in refused
    assert "such as returns, raises, writes or rejects" in checked
    assert "(criterion" not in checked + refused


def test_what_a_draft_is_refused_for_is_said_where_it_is_checked(tmp_path: Path):
    """A quotation that SPEC.md does not have is an error of `validate_spec` as of the emission (F-3.2.1-06, F-3.2.3-07)."""
    faulty = {**SOUND, "outside": [{"quote": "It prints labels in nine colours.", "why": "It is a library."}]}
    replies = researched(
        tmp_path,
        calls(written("/spec.json", json.dumps(faulty)), ("validate_spec", {"spec_path": "/spec.json"})),
        calls(emit(faulty)),
        calls(emit(SOUND)),
    )
    (error,) = json.loads(replies.requests[1].tool_results[-1])["errors"]
    assert "does not stand in SPEC.md" in error["message"]
    assert error["message"] in replies.requests[2].tool_results[-1]
