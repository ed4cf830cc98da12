"""`specwright wire`: files and a project's log."""

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specwright.bootstrap import RUNTIME, TOPIC
from specwright.canonical_json import canonical
from specwright.cli.main import app
from specwright.log.sqlite_log import SqliteWireLog
from wire.story import FIXTURES, HAPPY_PATH, TASK, Story


def wire(*arguments):
    """The exit code and standard output of a wire command."""
    result = CliRunner().invoke(app, ["wire", *map(str, arguments)])
    return result.exit_code, result.stdout


@pytest.fixture
def happy() -> list[dict]:
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
def project(tmp_path: Path, happy) -> Path:
    """A project whose log holds that task."""
    log = SqliteWireLog(tmp_path / RUNTIME / "wire.db", TOPIC, lambda: 1_700_000_000_000_000_000)
    log.append(happy)
    log.close()
    return tmp_path


def test_every_valid_fixture_is_called_valid():
    """D-S9-10, W-2-01: documents are checked one by one, exit 0."""
    files = [FIXTURES / f"{name.replace('.', '-')}.valid.json" for name in HAPPY_PATH]
    code, told = wire("validate", *files, "--json")
    assert code == 0
    assert [row["valid"] for row in json.loads(told)["wires"]] == [True] * len(files)


def test_an_invalid_fixture_is_named_with_its_code():
    """D-S9-10, W-2-02: exit 1; file, code and place are told."""
    file = FIXTURES / "task-complete.invalid-verification-fail.json"
    code, told = wire("validate", file, "--json")
    row = json.loads(told)["wires"][0]
    assert code == 1
    assert (row["file"], row["valid"]) == (str(file), False)
    assert row["code"]
    assert "verification" in row["pointer"]


def test_a_happy_path_reduces_to_completed(lines):
    """D-S9-10, W-2-06: state and artifacts of every task."""
    code, told = wire("reduce", lines, "--json")
    task = json.loads(told)["tasks"][TASK]
    assert (code, task["task_state"], task["artifact_count"]) == (0, "completed", 1)


def test_what_cannot_be_admitted_is_told_and_fails(lines):
    """D-S9-10, D-31-02: a repeated line with other bytes is rejected by its place; exit 1."""
    kept = lines.read_bytes().splitlines()
    lines.write_bytes(b"\n".join([*kept[:3], kept[5], *kept[3:]]))
    code, told = wire("reduce", lines, "--json")
    assert code == 1
    assert json.loads(told)["rejected"][0]["position"] == 4


def test_the_same_wires_are_an_a2a_task(lines):
    """D-S9-10, D-35-01: one A2A task, its Task first and a terminal state last."""
    code, told = wire("a2a", lines, "--json")
    (stream,) = json.loads(told).values()
    assert code == 0
    assert "task" in stream[0]
    assert "COMPLETED" in json.dumps(stream[-1])


def test_a_projects_log_is_shown_with_its_proof(project):
    """D-S9-10, W-3-08: HCS metadata stands beside the body, never in it."""
    code, told = wire("log", project, "--json")
    rows = json.loads(told)
    assert code == 0
    assert [row["wire"]["type"] for row in rows] == list(HAPPY_PATH)
    assert [row["hcs"]["sequence_number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert "hcs" not in rows[0]["wire"]


def test_an_intact_log_passes_and_an_altered_entry_is_named(project):
    """D-S9-10, D-36-02: one altered byte is found and its entry named; exit 1."""
    assert wire("verify", project)[0] == 0
    connection = sqlite3.connect(project / RUNTIME / "wire.db")
    triggers = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    for name in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(
        "UPDATE entry SET body = CAST(REPLACE(CAST(body AS TEXT), 'quinn-03', 'quinn-04') AS BLOB)"
        " WHERE sequence_number = 3"
    )
    connection.commit()
    connection.close()
    code, told = wire("verify", project, "--json")
    assert code == 1
    assert 3 in [finding["sequence_number"] for finding in json.loads(told)["findings"]]


@pytest.mark.parametrize("command", ["log", "verify"])
def test_without_a_project_there_is_one_message(tmp_path, command):
    """D-S9-04: what, where and what to do."""
    result = CliRunner().invoke(app, ["wire", command, str(tmp_path)])
    assert result.exception is not None
    assert "no run has begun" in str(result.exception)
