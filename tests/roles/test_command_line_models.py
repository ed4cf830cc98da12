"""A coding agent's command line as a model: one prompt in, one answer out, no tools, an empty directory (DESIGN §6).

The executables are fakes that note how they were called and print what the real ones print.
"""

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from specwright.errors import InputError, ModelUnavailableError
from specwright.journal.journal import FileJournal
from specwright.ports import Place, Role, usage_of
from specwright.roles.models.journalled_model import Meter, journalled
from specwright.roles.models.sources import model_sources
from specwright.settings import Settings

PLACE = Place("TSK-001", 1, "shout", "round-1", Role.ARBITER)
TOOL = {
    "type": "function",
    "function": {"name": "submit", "description": "Ends.", "parameters": {"type": "object"}},
}
FAKE = """#!{python}
import json, os, sys, time
note = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "files": os.listdir("."), "env": dict(os.environ)}}
note["in"] = sys.stdin.read()
open({note!r}, "w").write(json.dumps(note))
open("left behind", "w").write("x")
{then}
"""


class Fake:
    """An executable that prints one thing."""

    def __init__(self, directory: Path, name: str, printed: str, then: str = "") -> None:
        self._note = directory / "note.json"
        program = directory / name
        text = FAKE.format(python=sys.executable, note=str(self._note), then=then)
        program.write_text(f"{text}sys.stdout.write({printed!r})\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    @property
    def note(self) -> dict[str, Any]:
        """How it was called."""
        return json.loads(self._note.read_text())


def claude(text: str, **more: Any) -> str:
    """What `claude -p --output-format json` prints."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7}
    return json.dumps({"type": "result", "is_error": False, "result": text, "usage": usage, **more})


def codex(*items: dict[str, Any]) -> str:
    """What `codex exec --json` prints."""
    events = [{"type": "thread.started"}, *({"type": "item.completed", "item": item} for item in items)]
    events.append({"type": "turn.completed", "usage": {"input_tokens": 100, "output_tokens": 7}})
    return "".join(json.dumps(event) + "\n" for event in events)


SAID = {
    "claude": claude,
    "codex": lambda text: codex({"type": "reasoning"}, {"type": "agent_message", "text": text}),
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on PATH, before all others."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PLANTED_TOKEN", "planted-0123456789")
    return directory


def model(name: str, seconds: float = 60.0) -> Any:
    """The model of a name."""
    return model_sources(Settings(model=name, timeout_seconds=seconds))[Role.ARBITER].model(PLACE)


@pytest.mark.parametrize("name", SAID)
def test_an_answer_is_journalled_and_counted(path: Path, tmp_path: Path, name: str) -> None:
    """As any model's; instructions and tools stand in the prompt, which is all that goes in (D-S6-01)."""
    fake = Fake(path, name, SAID[name]('```json\n{"decision": "APPROVE"}\n```'))
    journal, meter = FileJournal(tmp_path / "journal.jsonl"), Meter()
    asked = journalled(model(f"cli:{name}"), journal.scope(PLACE.run_id), meter).bind(tools=[TOOL])
    answer = asked.invoke([SystemMessage("Be fair."), HumanMessage("Is it?")])
    assert answer.content == '```json\n{"decision": "APPROVE"}\n```'
    assert fake.note["in"].startswith("# Instructions\n\nBe fair.\n\n# Message\n\nIs it?")
    assert json.dumps(TOOL["function"]) in fake.note["in"]
    (record,) = journal.records("model")
    assert usage_of(record.answer)[:2] == (100, 7)
    journal.close()


@pytest.mark.parametrize("name", SAID)
def test_the_agent_has_an_empty_directory_and_no_tools(path: Path, name: str) -> None:
    """What it leaves there is gone; of the environment it sees no other secrets (D-S6-15)."""
    fake = Fake(path, name, SAID[name]("yes"))
    assert model(f"cli:{name}:small").invoke("Well?").content == "yes"
    assert fake.note["files"] == []
    assert not Path(fake.note["cwd"]).exists()
    assert "planted" not in json.dumps(fake.note)
    words = fake.note["argv"]
    assert words[-2:] == ["--model", "small"]
    if name == "claude":
        assert words[words.index("--tools") + 1] == ""
    else:
        assert words[words.index("--sandbox") + 1] == "read-only"


def test_calls_of_a_roles_tools_are_read_from_the_answer(path: Path) -> None:
    """One turn of an agent: the tools and the conversation go in as text, calls come out (D-S6-01)."""
    calls = {"calls": [{"name": "submit", "args": {"a": 1}}, {"name": "submit", "args": {}}]}
    fake = Fake(path, "claude", claude(f"Here:\n```json\n{json.dumps(calls)}\n```"))
    before = AIMessage("", tool_calls=[{"name": "submit", "args": {"a": 0}, "id": "1"}])
    said = [SystemMessage("S"), HumanMessage("H"), before, ToolMessage("no", tool_call_id="1", name="submit")]
    answer = model("cli:claude").bind(tools=[TOOL]).invoke(said)
    assert [(call["name"], call["args"]) for call in answer.tool_calls] == [
        ("submit", {"a": 1}),
        ("submit", {}),
    ]
    assert len({call["id"] for call in answer.tool_calls}) == 2
    for words in ("# Instructions\n\nS", "# Message\n\nH", '{"a": 0}', "# Result of submit\n\nno", "# Tools"):
        assert words in fake.note["in"]


def test_what_else_an_agent_prints_is_read(path: Path) -> None:
    """Text that is no call stays text: the role hears that it did not submit; the result is found among all messages, as
    the user's own `verbose` prints them (D-S6-04, D-S6-01)."""
    Fake(path, "claude", claude('{"verdict": "PASS"}'))
    answer = model("cli:claude").bind(tools=[TOOL]).invoke("Well?")
    assert (answer.tool_calls, answer.content) == ([], '{"verdict": "PASS"}')
    Fake(path, "claude", json.dumps([{"type": "system"}, json.loads(claude("yes"))]))
    assert model("cli:claude").invoke("Well?").content == "yes"


FAILURES = {
    "an error": ("claude", claude("not logged in", is_error=True), "", "not logged in"),
    "no JSON": ("claude", "Welcome!", "", "gave no answer"),
    "no result": ("claude", claude("x").replace('"x"', "null"), "", "None"),
    "a list of nothing": ("claude", "[[]]", "", "gave no answer"),
    "a bad exit": ("claude", "", f"sys.stdout.write({claude('x')!r}); sys.exit(3)", "exit code 3"),
    "an error event": ("codex", '{"type": "error", "message": "usage limit"}\n', "", "usage limit"),
    "a tool": ("codex", codex({"type": "command_execution"}), "", "a tool of its own"),
}  # fmt: skip


def test_what_is_no_answer_is_told_in_one_message(path: Path) -> None:
    """The program, what it said, what to do; an agent that did something is not believed (D-S6-01)."""
    for kind, (name, printed, then, words) in FAILURES.items():
        Fake(path, name, printed, then)
        with pytest.raises(ModelUnavailableError) as caught:
            model(f"cli:{name}").invoke("Well?")
        assert words in f"{caught.value.what} {caught.value.where}", kind
        assert "by hand" in caught.value.remedy, kind


def test_a_command_that_takes_too_long_is_ended(path: Path) -> None:
    """The process too, not only the waiting for it (D-S6-12)."""
    Fake(path, "claude", claude("x"), "time.sleep(60)")
    with pytest.raises(ModelUnavailableError, match="in time"):
        model("cli:claude", seconds=1.0).invoke("Well?")


def test_what_an_agent_started_ends_with_it(path: Path, tmp_path: Path) -> None:
    """A wrapper's child would go on buying (D-S6-12)."""
    left = tmp_path / "left"
    child = f"import pathlib, time; time.sleep(2); pathlib.Path({str(left)!r}).touch()"
    Fake(
        path, "claude", claude("x"), f"import subprocess; subprocess.Popen([sys.executable, '-c', {child!r}])"
    )
    assert model("cli:claude").invoke("Well?").content == "x"
    assert not left.exists()
    time.sleep(2.5)
    assert not left.exists()


def test_an_agent_that_prints_without_end_is_ended(path: Path) -> None:
    """What it prints is hostile input (D-S6-15)."""
    Fake(
        path, "claude", claude("x"), "sys.stdout.write('x' * 17_000_000); sys.stdout.flush(); time.sleep(60)"
    )
    with pytest.raises(ModelUnavailableError, match="no answer") as caught:
        model("cli:claude").invoke("Well?")
    assert "it printed more than 16,777,216 bytes" in str(caught.value.where)


def test_an_agent_that_is_not_there_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-04: unknown, or not installed."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match="not installed"):
        model("cli:claude")
    with pytest.raises(InputError, match="known are claude, codex"):
        model("cli:nobody")
