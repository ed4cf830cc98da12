"""What a page says to somebody who sees it for the first time, and what it must not repeat."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ship_gate.terminal.output import printable
from testkit.cli.commands import SMALL, each_in_one_process, specwright
from testkit.paths import ROOT

COMMANDS = (
    *("", "init", "run", "approve", "amend", "reject", "resolve", "release", "status", "tasks", "modules"),
    *("module", "escalations", "gate", "verify", "doctor", "wire", "wire log", "wire verify"),
)


def test_help_fits_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns for each command, and no summary is cut off (D-S9-01)."""
    monkeypatch.setenv("COLUMNS", "80")
    for command in COMMANDS:
        told = specwright(*command.split(), "--help")
        assert told.code == 0
        assert [line for line in told.out.splitlines() if len(line) > 80] == []
        if command in ("", "wire"):
            listed = told.out.partition("Commands:" if command else "Build:")[2].splitlines()
            summaries = [line for line in listed if line.startswith("  ") and line.strip()]
            assert len(summaries) >= 2
            assert [line for line in summaries if line.endswith("...")] == []


def test_what_a_shell_would_expand_is_quoted() -> None:
    """`?` is a pattern: bash takes a file of one letter for it, zsh refuses (D-S9-04)."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert [page.name for page in pages if re.search(r"--[a-z-]+ [?*]", page.read_text())] == []


def test_names_that_a_model_gives_stay_on_their_line(tmp_path: Path) -> None:
    """Line ends, direction overrides, escapes and a thousand characters change no page (D-S9-04)."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    path = playbook / "researcher/spec.json"
    spec = json.loads(path.read_text())
    spec["title"] = "\x1b[31mName\u202eplate\x07"
    spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["name"] = (
        "Initials\nTSK-009  Forged " + "x" * 900
    )
    path.write_text(json.dumps(spec))
    given = ("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}")
    told = specwright(*given)
    assert told.code == 3, told
    assert not {"\x1b", "\u202e", "\x07"} & set(told.out)
    assert not [line for line in told.out.splitlines() if line.strip().startswith("TSK-009")]
    assert max(map(len, (line for line in told.out.splitlines() if "TSK-001" in line))) <= 80


def test_marks_that_reorder_a_line_are_not_printed() -> None:
    """A text must not look like another one (D-S9-04)."""
    assert {printable(f"a{mark}b") for mark in "\u202e\u2066\u200f\u2028\x9b"} == {"ab"}


def test_warnings_at_the_gate_are_said_once(tmp_path: Path) -> None:
    """`warning: <part> <field>: <what>`, without the severity again, a path or a number (D-S9-04, F-3.2.3-08)."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    path = playbook / "researcher/spec.json"
    spec = json.loads(path.read_text())
    spec["pillars"][0]["epics"][0]["description"] = "Short."
    path.write_text(json.dumps(spec))
    given = ("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}")
    told = specwright(*given)
    assert "  warning: EPC-001 description: has fewer" in told.out
    assert "(criterion" not in told.out
    page = specwright("status", tmp_path / "p")
    spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]["subtasks"] = []
    waits = tmp_path / "p/state_store/product/spec.json"
    waits.write_text(json.dumps(spec))
    specwright("status", tmp_path / "p").refuses(
        "edited", "TSK-001 subtasks: needs at least 2", "specwright run"
    )
    # an approval would drop the edit unseen
    specwright("approve", tmp_path / "p").refuses("edited", "TSK-001 subtasks: needs at least 2")
    assert json.loads(waits.read_text()) == spec
    assert specwright("run", tmp_path / "p").code == 3
    assert specwright("status", tmp_path / "p").out == page.out


def test_a_project_in_which_all_was_abandoned_says_what_is_left_to_do(
    halted_once: Path, tmp_path: Path
) -> None:
    """Not `run`, which would be refused, but a new SPEC.md (D-S9-02)."""
    project = Path(shutil.copytree(halted_once, tmp_path / "halted"))
    codes: list[int] = []
    while waiting := specwright("escalations", project, "--json").document["escalations"]:
        given = (waiting[0]["escalation_id"], "ABANDON_TASK", project, "--rationale", "Not worth it.")
        codes.append(specwright("resolve", *given).code)
    assert codes[-1] == 1
    page = specwright("status", project).out
    assert "there is nothing to release" in page
    assert "specwright run" not in page


def test_tasks_name_each_other_as_the_spec_does(tmp_path: Path) -> None:
    """TSK-001, not the name of a folder; a program gets the whole id (D-S9-01)."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    path = playbook / "researcher/spec.json"
    spec = json.loads(path.read_text())
    tasks = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    tasks.append({**tasks[0], "task_id": "TSK-002", "name": "Second", "depends_on": ["TSK-001"]})
    path.write_text(json.dumps(spec))
    shutil.rmtree(playbook / "TSK-001")  # so that it stops there
    model = f"playbook:{playbook}"
    specwright("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", model, "--approve")
    page = specwright("tasks", tmp_path / "p")
    assert "waits for TSK-001" in page.out, page
    assert "T-" not in page.out
    assert "T-" in specwright("tasks", tmp_path / "p", "--json").out
    assert "1 in progress" in specwright("status", tmp_path / "p").out


def test_a_researcher_that_only_talks_costs_three_calls_and_says_what_to_do(
    tmp_path: Path, endpoint: Callable[[tuple[int, bytes] | None], str]
) -> None:
    """No SPEC.md is worth sixty refusals; the same again asks nothing, so what asks again is named, and what the model
    said is shown (D-S6-04, D-S6-05, D-11-04)."""
    message = {"role": "assistant", "content": "I am sorry, I cannot do that."}
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    url = endpoint((200, json.dumps({**answer, "usage": usage}).encode()))
    given = ("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", "openai:m", "--base-url", url)
    told = specwright(*given)
    told.refuses("in 3 attempts", "--retry researcher", "--model", message["content"], code=1)
    assert "3 model calls, 3,030 tokens" in told.err
    again = specwright(*given)
    assert "no new model call, 3 earlier answers read from the journal, 0 tokens" in again.err
    status = specwright("status", tmp_path / "p")
    assert "Asked:    3 model calls in all; 3,000 tokens in, 30 out" in status.out


def test_tokens_that_a_provider_does_not_count_are_estimated_everywhere(
    tmp_path: Path, endpoint: Callable[[tuple[int, bytes] | None], str]
) -> None:
    """Not shown as none, nor below nothing: the progress says what `costs` says (D-S6-05, D-S6-09)."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    below = {"prompt_tokens": -84, "completion_tokens": -84, "total_tokens": -168}
    for name, usage in (("none", None), ("below", below)):
        url = endpoint((200, json.dumps({**answer, "usage": usage}).encode()))
        given = ("--spec", SMALL / "SPEC.md", "--model", "openai:m", "--base-url", url)
        told = specwright("run", tmp_path / name, *given)
        total = specwright("costs", tmp_path / name, "--json").document["total"]
        assert total["input_tokens"] > 5_000
        assert f"3 model calls, {total['input_tokens'] + total['output_tokens']:,} tokens" in told.err


def test_status_says_what_was_asked_of_models(waiting: Path) -> None:
    """Once each, whatever was repeated since (D-S6-05)."""
    specwright("run", waiting)
    asked = specwright("status", waiting, "--json").document["asked"]
    assert asked.pop("characters") > 5_000
    assert asked.pop("money") == "$0.00"
    assert asked == {"requests": 1, "input_tokens": 0, "output_tokens": 0, "usd": 0, "unpriced": 0}
    assert "Asked:    1 model call in all; scripted" in specwright("status", waiting).out


def test_a_payload_is_printed_to_be_filled_in(
    halted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--draft` prints only the payload; ids and directory in either order (F-17.2-01)."""
    (escalation,) = (halted_once / "state_store/escalations").iterdir()
    page = specwright("escalations", escalation.stem, halted_once).out
    assert f"specwright escalations {escalation.stem} {halted_once} --draft ACTION > answer.json" in page
    for words in ((escalation.stem, halted_once), (halted_once, escalation.stem)):
        told = specwright("escalations", *words, "--draft", "AMEND_SPEC")
        assert told.document["amendment_rationale"] == "..."
        assert told.document["amended_acceptance_criteria"]
    specwright("escalations", escalation.stem, halted_once, "--draft", "NO_SUCH").refuses("AMEND_SPEC")
    specwright("escalations", halted_once, "--draft", "AMEND_SPEC").refuses("ESC-ID")


WRONG_PAYLOADS: list[tuple[str, dict[str, object], list[str]]] = [
    ("AMEND_SPEC", {}, ["`amended_acceptance_criteria` is missing", "--draft AMEND_SPEC"]),
    ("AMEND_SPEC", {"amended_acceptance_criteria": "x", "amendment_rationale": "y"}, ["must be a list"]),
    ("ABANDON_TASK", {"rationale": "y", "foo": 1}, ["`foo` is not a field of this answer"]),
    ("ABANDON_TASK", {"rationale": "..."}, ["`rationale` '...' is a placeholder"]),
]


def test_a_wrong_payload_is_told_in_words(halted_once: Path, tmp_path: Path) -> None:
    """The field and what is wrong with it, without the validator's own prose (F-17.2-01, D-S9-04)."""
    (escalation,) = (halted_once / "state_store/escalations").iterdir()
    file = tmp_path / "answer.json"
    for action, payload, words in WRONG_PAYLOADS:
        file.write_text(json.dumps(payload))
        told = specwright("resolve", escalation.stem, action, halted_once, "--payload", file)
        told.refuses(*words)
        for prose in ("Value error", "got {", "Input should", "Extra inputs"):
            assert prose not in told.err


def test_ids_and_commands_are_whole_on_a_narrow_terminal(
    halted_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On 50 columns prose is wrapped; what is copied is on one line (D-S9-01)."""
    monkeypatch.setenv("COLUMNS", "50")
    (path,) = (halted_once / "state_store/escalations").iterdir()
    page = specwright("escalations", path.stem, halted_once).out
    assert f"specwright resolve {path.stem} APPROVE_OVERRIDE {halted_once} --rationale" in page
    (row,) = specwright("modules", halted_once, "--json").document["modules"]
    assert row["module_ref"] in specwright("modules", halted_once).out
    assert row["module_ref"] in specwright("module", "initials", halted_once).out
    assert row["interface_fingerprint"] in specwright("module", "initials", halted_once).out


def test_a_pipe_gets_no_colours_and_whole_lines(halted_once: Path) -> None:
    """Whatever TERM says; nothing is wrapped, so that a line is a line of the text (D-S9-01)."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    commands = [(name, halted_once) for name in ("status", "tasks", "modules", "escalations")]
    for told in each_in_one_process(*commands, env={**environment, "TERM": "xterm-256color"}):
        assert told.code == 0
        assert "\x1b" not in told.out
        assert not [line for line in told.out.splitlines() if line.endswith(" and")]
