"""`specwright wire`: a project's log."""

import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_wire import cli as agent_wire
from agent_wire.canonical_json import canonical
from agent_wire.log import SqliteWireLog
from specwright.bootstrap.views import RUNTIME, TOPIC
from specwright.cli.main import app
from wire_testkit.damage import START, tamper
from wire_testkit.story import HAPPY_PATH, TASK, Story


def wire(*arguments: object) -> tuple[int, str]:
    """The exit code and standard output of a command."""
    result = CliRunner().invoke(app, ["wire", *map(str, arguments)])
    return result.exit_code, result.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose log holds one task from created to complete."""
    log = SqliteWireLog(tmp_path / RUNTIME / "wire.db", TOPIC, lambda: START)
    log.append(Story().wires(*HAPPY_PATH))
    log.close()
    return tmp_path


def test_the_lines_of_a_log_are_canonical_and_agent_wire_reads_them(project, monkeypatch, capsys):
    """D-S9-10: `log --lines` writes the canonical bytes, one Wire a line."""
    code, lines = wire("log", project, "--lines")
    assert code == 0
    assert [canonical(json.loads(line)).decode() for line in lines.splitlines()] == lines.splitlines()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert agent_wire.main(["reduce", "-"]) == 0
    assert capsys.readouterr().out == f"{TASK}  completed  1 artifact\n"


def test_a_project_shows_its_log_with_proofs_and_verifies_it(project):
    """D-S9-10, D-36-02, W-3-08: sequence numbers beside the Wires; an altered entry is named, exit 1."""
    rows = json.loads(wire("log", project, "--json")[1])["wires"]
    assert [row["wire"]["type"] for row in rows] == list(HAPPY_PATH)
    assert [row["hcs"]["sequence_number"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert wire("verify", project)[0] == 0
    tamper(
        project / RUNTIME / "wire.db",
        "UPDATE entry SET body = CAST(body || ' ' AS BLOB) WHERE sequence_number = 3",
    )
    code, told = wire("verify", project, "--json")
    assert code == 1
    assert [finding["sequence_number"] for finding in json.loads(told)["findings"]] == [3]
