"""`--json`: one document on stdout for every command, also on failure; everything else on stderr (D-S9-03)."""

import json
import os
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, each_in_one_process, in_own_process, specwright


def test_every_look_is_one_document(released: Path) -> None:
    """D-S9-03: exit 0, and what a program needs."""
    status = specwright("status", released, "--json").document
    assert status["where"] == "released"
    assert status["scripted"] is True
    assert status["tasks"] == {"SHIPPED": 1}
    assert Path(status["release"]["wheel"]).is_file()
    assert [row["status"] for row in specwright("tasks", released, "--json").document["tasks"]] == ["SHIPPED"]
    (row,) = specwright("modules", released, "--json").document["modules"]
    seen = specwright("module", row["module_ref"], released, "--json").document
    assert seen["contract"]["name"] == "initials"
    assert seen["evidence"]["ship_id"] == row["ship_id"]


@pytest.mark.slow
def test_a_run_is_one_document_and_its_progress_is_elsewhere(tmp_path: Path) -> None:
    """D-S9-03: in a process of its own, with both streams apart."""
    told = in_own_process("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK, "--json")
    assert told.code == told.document["exit_code"] == 3
    assert told.document["where"] == "approval"
    assert told.document["usage"] == {"calls": 1, "calls_from_journal": 0, "tokens": 0, "usd": 0}
    assert "researcher" in told.err
    assert "researcher" not in told.out


def test_each_answer_to_the_gate_and_doctor_are_one_document(waiting: Path, project: Path) -> None:
    """D-S9-03, D-S9-12: with the place where the run stands afterwards; findings of `doctor` are its result, no error."""
    told = specwright("reject", waiting, "--reasons", "too small", "--json")
    assert told.code == told.document["exit_code"] == 3
    assert told.document["where"] == "approval"
    told = specwright("doctor", project, "--json")
    assert (told.code, told.document["ok"]) == (1, False)


FAILURES: dict[tuple[str, ...], int] = {
    ("run", "{dir}"): 2,
    ("run", "{dir}/nowhere", "--model", "openai:x"): 2,
    ("approve", "{dir}"): 2,
    ("reject", "{dir}"): 2,
    ("amend", "{dir}", "--feedback", "x"): 2,
    ("status", "{dir}/nowhere"): 2,
    ("tasks", "{dir}"): 2,
    ("modules", "{dir}"): 2,
    ("module", "MM-00000000", "{dir}"): 2,
    ("release", "{dir}"): 2,
    ("init", "{dir}/SPEC.md"): 2,
    ("run", "--no-such-option"): 2,
    ("run", "{dir}", "one", "too many"): 2,
    ("module",): 2,
    ("no-such-command",): 2,
    ("run", "--json", "--model"): 2,
    (): 2,
    (
        "run",
        "{dir}",
        "--model",
        "openai:x",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ): 5,  # last, since it begins a run
}


def test_every_failure_is_one_document(project: Path) -> None:
    """D-S9-03: what, where and what to do, with the exit code; bad usage too."""
    for arguments, code in FAILURES.items():
        told = specwright(*(argument.format(dir=project) for argument in arguments), "--json")
        assert told.code == code, (arguments, told)
        document = json.loads(told.out)
        assert set(document) == {"schema", "version", "error", "exit_code"}, arguments
        assert document["exit_code"] == code, arguments
        assert set(document["error"]) == {"what", "where", "do"}, arguments
        assert document["error"]["what"], arguments
        assert document["error"]["do"], arguments
        assert "Traceback" not in told.err, arguments


def test_a_reader_that_goes_away_is_no_failure_of_ours(released: Path) -> None:
    """D-S9-04: `specwright tasks | head -0` ends quietly."""
    reader, writer = os.pipe()
    os.close(reader)
    told = in_own_process("status", released, stdout=writer)
    os.close(writer)
    assert "Traceback" not in told.err
    assert "itself broke" not in told.err


def test_text_that_the_terminal_cannot_show_does_not_stop_a_command(waiting: Path) -> None:
    """D-S9-04: in a Latin-1 terminal other characters are escaped, and JSON stays JSON."""
    spec = waiting / "state_store/product/spec.json"
    spec.write_text(spec.read_text().replace("Nameplate", "名札"))
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    looks = (("status", waiting), ("status", waiting, "--json"))
    plain, document = each_in_one_process(*looks, env=environment)
    assert plain.code == 0, plain
    assert "\\u540d" in plain.out
    assert document.document["where"] == "approval"


def test_a_value_or_a_file_called_json_is_no_request_for_json(project: Path) -> None:
    """D-S9-03: only the option counts, not a word that looks like it; the error is then one message on stderr."""
    for arguments in (
        ("amend", project, "--feedback", "--json"),
        ("status", "--", "--json"),
        ("gate", project, "--dependency", "--json"),
    ):
        told = specwright(*arguments)
        assert told.code in (1, 2), arguments
        assert told.out == "", arguments
        assert told.err.startswith("specwright: "), arguments
