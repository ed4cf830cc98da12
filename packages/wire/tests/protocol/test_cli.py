"""The command `agent-wire`: files of Wires, and logs."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from agent_wire import cli
from agent_wire.canonical_json import canonical
from agent_wire.log import SqliteWireLog
from wire_testkit.damage import START, TOPIC, tamper
from wire_testkit.story import CONTEXT, FIXTURES, HAPPY_PATH, TASK, Story, expectations

VALID = sorted(FIXTURES.glob("*.valid*.json"))


@pytest.fixture
def wire(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs a command: the exit code and standard output; standard error is kept in `wire.stderr`."""

    def run(*arguments: object, given: bytes = b"") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        run.stderr = captured.err
        return code, captured.out

    run.stderr = ""
    return run


@pytest.fixture
def happy() -> list[dict[str, Any]]:
    """One task from created to complete."""
    story = Story()
    return [story.wire(event) for event in HAPPY_PATH]


@pytest.fixture
def lines(tmp_path: Path, happy) -> Path:
    """The same as a file, one Wire a line."""
    path = tmp_path / "happy.jsonl"
    path.write_bytes(b"\n".join(map(canonical, happy)) + b"\n")
    return path


@pytest.fixture
def log_file(tmp_path: Path, happy) -> Path:
    """A log that holds that task."""
    log = SqliteWireLog(tmp_path / "wire.db", TOPIC, lambda: START)
    log.append(happy)
    log.close()
    return tmp_path / "wire.db"


def test_every_valid_fixture_is_called_valid(wire):
    """D-S9-10, W-2-01, W-7-01..03: Wires and what stands beside them are checked one by one, exit 0."""
    code, told = wire("validate", *VALID, "--json")
    rows = json.loads(told)["wires"]
    assert code == 0
    assert [row["valid"] for row in rows] == [True] * len(VALID)
    assert {row["kind"] for row in rows} == {
        *("wire", "message", "part", "artifact", "agent-card", "hcs-metadata")
    }


def test_no_fixture_that_is_invalid_by_itself_is_called_valid(wire):
    """D-S9-10, W-2-02, W-3-05: what only the Wires before it make invalid is left to `reduce`."""
    expected = expectations()["invalid"]
    own = {"wire.secret", "wire.date", "wire.extension_text", "state.category", "state.terminal"}
    alone = [name for name, row in expected.items() if row["layer"] != "admission" or row["code"] in own]
    _, told = wire("validate", *(FIXTURES / name for name in expected), "--json")
    refused = {Path(row["file"]).name for row in json.loads(told)["wires"] if not row["valid"]}
    assert refused == set(alone)
    assert len(alone) > 70


def test_an_invalid_fixture_is_named_with_its_code(wire):
    """D-S9-10, W-2-02: exit 1; file, code and place are told."""
    file = FIXTURES / "task-complete.invalid-verification-fail.json"
    code, told = wire("validate", file, "--json")
    row = json.loads(told)["wires"][0]
    assert code == 1
    assert (row["file"], row["valid"]) == (str(file), False)
    assert row["code"]
    assert "verification" in row["pointer"]


def test_a_happy_path_reduces_to_completed(wire, lines):
    """D-S9-10, W-2-06: state and artifacts of every task."""
    code, told = wire("reduce", lines, "--json")
    task = json.loads(told)["tasks"][TASK]
    assert (code, task["task_state"], task["artifact_count"]) == (0, "completed", 1)


def test_a_stream_is_reduced_alone(wire, tmp_path):
    """D-47-07: a file of one stream, or one of several by its name; nothing of the others is missed."""
    story = Story()
    first = [story.wire("review.recorded", CONTEXT)]
    story_of_task = [story.wire("task.created", causation_id=first[0]["wire_id"])]
    whole, alone = tmp_path / "whole.jsonl", tmp_path / "alone.jsonl"
    whole.write_bytes(b"\n".join(map(canonical, [*first, *story_of_task])))
    alone.write_bytes(b"\n".join(map(canonical, story_of_task)))

    expected = (0, f"{TASK}  created  0 artifacts\n")
    assert wire("reduce", alone) == wire("reduce", whole, "--stream", TASK) == expected
    assert wire("reduce", whole, "--stream", "task:TSK-7:attempt:1")[0] == 2
    assert [
        text for text in ("the source has no such stream", "task:TSK-7:attempt:1") if text not in wire.stderr
    ] == []


def test_what_cannot_be_admitted_is_told_and_fails(wire, lines):
    """D-S9-10, D-31-02: a repeated line with other bytes is rejected by its place; exit 1."""
    kept = lines.read_bytes().splitlines()
    lines.write_bytes(b"\n".join([*kept[:3], kept[5], *kept[3:]]))
    code, told = wire("reduce", lines, "--json")
    assert code == 1
    assert json.loads(told)["rejected"][0]["position"] == 4


def test_the_same_wires_are_an_a2a_task(wire, lines):
    """D-S9-10, D-35-01: one A2A task, its Task first and a terminal state last."""
    code, told = wire("a2a", lines, "--json")
    (stream,) = json.loads(told)["tasks"].values()
    assert code == 0
    assert "task" in stream[0]
    assert "COMPLETED" in json.dumps(stream[-1])


def test_a_log_is_shown_with_its_proof_and_read_as_its_lines_are(wire, log_file, lines):
    """D-S9-10, W-3-08: HCS metadata stands beside the body, never in it; `reduce` and `a2a` take the log itself."""
    code, told = wire("log", log_file, "--json")
    rows = json.loads(told)["wires"]
    assert code == 0
    assert [row["wire"]["type"] for row in rows] == list(HAPPY_PATH)
    assert [row["hcs"]["sequence_number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert "hcs" not in rows[0]["wire"]
    assert wire("reduce", log_file) == wire("reduce", lines)
    (placed,) = json.loads(wire("a2a", log_file, "--json")[1])["tasks"].values()
    numbers = [body["metadata"]["sequenceNumber"] for response in placed for body in response.values()]
    assert numbers == [str(number) for number in range(1, 7)]


def test_an_intact_log_passes_and_an_altered_entry_is_named(wire, log_file):
    """D-S9-10, D-36-02: one altered byte is found and its entry named; exit 1."""
    assert wire("verify", log_file) == (0, "The log is intact.\n")
    tamper(
        log_file,
        "UPDATE entry SET body = CAST(REPLACE(CAST(body AS TEXT), 'quinn-03', 'quinn-04') AS BLOB)"
        " WHERE sequence_number = 3",
    )
    code, told = wire("verify", log_file, "--json")
    assert code == 1
    assert 3 in [finding["sequence_number"] for finding in json.loads(told)["findings"]]


def test_a_file_of_lines_is_checked_line_by_line(wire, lines):
    """D-S9-10: each line has its verdict, good or bad, and its place."""
    kept = lines.read_bytes().splitlines()
    lines.write_bytes(b"\n".join([kept[0], b"{", b"", kept[1].replace(b'"1.1"', b'"1.0"')]))
    code, told = wire("validate", lines)
    assert code == 1
    assert told.splitlines() == [
        f"{lines}:2  wire.not_json  the Wire is not JSON: unexpected end of data: line 1 column 2 (char 1)",
        f'{lines}:4  wire.schema at /wire  "1.1" was expected',
        "1 of 3 are valid.",
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_standard_input_is_one_document_or_lines(wire, happy, lines, indent):
    """D-S9-10: `-` takes a Wire in any spelling, or one a line; `reduce` and `a2a` take lines."""
    assert wire("validate", "-", given=json.dumps(happy[0], indent=indent).encode()) == (
        0,
        "1 of 1 are valid.\n",
    )
    assert wire("validate", "-", given=lines.read_bytes()) == (0, "6 of 6 are valid.\n")
    assert wire("reduce", "-", given=lines.read_bytes()) == (0, f"{TASK}  completed  1 artifact\n")
    assert wire("a2a", "-", "--json", given=lines.read_bytes()) == wire("a2a", lines, "--json")


def test_a_story_in_the_wrong_order_is_mapped_as_far_as_it_is_admissible(wire, lines):
    """D-S9-10, W-7-05: A2A shows what the reducer takes, says that there is more, and fails."""
    kept = lines.read_bytes().splitlines()
    lines.write_bytes(b"\n".join([*kept[:2], *kept[3:], b"no Wire"]))
    code, told = wire("a2a", lines, "--json")
    (stream,) = json.loads(told)["tasks"].values()
    assert code == 1
    assert len(stream) == 2
    assert "4 lines skipped" in wire.stderr


def test_a_file_of_which_nothing_can_be_read_is_one_mistake_not_many(wire, tmp_path):
    """Exit 2 with what was expected of a file without Wires or one that is not there, 1 of a database that is no log; one
    message with the file, no traceback. An empty file is a result, and it is said (D-S9-04, D-S9-10)."""
    file, none = tmp_path / "file", "no line of this file is a JSON object"
    for commands, content, code, said in (
        ("reduce a2a", b"# Notes\n\nNo Wires.\n", 2, none),
        ("reduce a2a", b"[\n  {\n", 2, none),
        ("reduce log", b"SQLite format 3\x00\xff", 1, "cannot be read"),
        ("validate reduce a2a", None, 2, "cannot be read"),
    ):
        for command in commands.split():
            file.unlink(missing_ok=True)
            if content is not None:
                file.write_bytes(content)
            assert wire(command, file)[0] == code, (command, content)
            wanted = (said, str(file), *(["do:    name a file"] if code == 2 else []))
            assert [text for text in wanted if text not in wire.stderr] == [], (command, content)
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert wire("reduce", empty) == (0, "The source has no Wires.\n")
    assert wire("validate", empty) == (0, "0 of 0 are valid.\n")


def test_of_many_faults_the_first_are_printed_and_json_has_all(wire, lines):
    """D-S9-10: a file of ten thousand bad lines does not scroll the reason away."""
    lines.write_bytes(lines.read_bytes() + b"{}\n" * 1000)
    code, told = wire("reduce", lines)
    assert code == 1
    assert len(told.splitlines()) == 22
    assert told.endswith("and 980 more; `--json` prints all\n")
    assert len(json.loads(wire("reduce", lines, "--json")[1])["rejected"]) == 1000


def test_control_characters_of_a_file_do_not_reach_the_terminal(wire, tmp_path):
    """A hostile file cannot move the cursor or turn the direction of the text."""
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"wire": "\\u001b]0;x\\u202e"}\n')
    _, told = wire("validate", bad)
    assert "\x1b" not in told
    assert "\u202e" not in told
