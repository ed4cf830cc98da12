"""`specwright verify`: one verdict, every finding with its file, exit codes, JSON."""

from pathlib import Path

import pytest

from specwright.application.projection import Projection
from specwright.bootstrap.storage.stores import DirectoryStore
from specwright.storage.files import DiskStateStore
from testkit.cli.commands import specwright


def test_a_finished_project_is_proven(released_once: Path):
    """PASS first, then what was looked at; exit 0 (D-S9-02, D-S9-11)."""
    told = specwright("verify", released_once)
    assert told.code == 0, told
    assert told.out.startswith("PASS  ")
    assert "1 module, " in told.out
    assert "0 findings" in told.out
    assert told.err == ""


def test_a_tampered_project_is_told_file_by_file(released: Path):
    """FAIL first, a line per finding of at most 100 columns, exit 1 (D-S9-02, D-S9-11, F-17.3-03)."""
    state = released / "state_store/project/state_machine.json"
    state.write_text(state.read_text().replace("SHIPPED", "PENDING"))
    (examples,) = released.glob("state_store/modules/*/*/examples.md")
    examples.write_text(examples.read_text() + "\nmore\n")
    told = specwright("verify", released)
    assert told.code == 1
    lines = told.out.splitlines()
    assert lines[0].startswith("FAIL  ")
    assert any(line.startswith("seal.changed  modules/") and "examples.md" in line for line in lines)
    assert any(line.startswith("state.changed  project/state_machine.json") for line in lines)
    assert all(len(line) <= 100 for line in lines[1:])


def test_json_is_one_document(released: Path):
    """Verdict, findings, counts (D-S9-03)."""
    assert specwright("verify", released, "--json").document["verdict"] == "PASS"
    (contract,) = released.glob("state_store/modules/*/*/contract.json")
    contract.write_text(contract.read_text() + " ")
    told = specwright("verify", released, "--json")
    assert told.code == 1
    assert set(told.document) == {"schema", "version", "verdict", "findings", "checked", "unbound"}
    assert told.document["verdict"] == "FAIL"
    assert {tuple(finding) for finding in told.document["findings"]} == {("code", "where", "message")}
    assert told.document["checked"]["modules"] == 1


def test_an_older_copy_of_the_state_file_is_found(released: Path):
    """Genuine as it was: the run came to a stop since, and wrote another (F-17.3-03, D-29-01)."""
    state = released / "state_store/project/state_machine.json"
    log = DirectoryStore(released).log(reading=True)
    entries = list(log.entries(0))
    for entry in entries:
        before = Projection(log, DiskStateStore(released / "state_store"), lambda: 0.0)
        before.apply(one for one in entries if one.sequence_number <= entry.sequence_number)
        if before.state is None or before.state.to_bytes() == state.read_bytes():
            continue
        older = before.state.to_bytes()
        break
    else:
        pytest.fail("the state never changed")
    log.close()
    state.write_bytes(older)
    told = specwright("verify", released)
    assert told.code == 1
    assert "state.changed  project/state_machine.json" in told.out


def test_a_state_file_that_a_kill_left_behind_the_log_is_no_fault(released: Path):
    """The log counts, and what it said once is not tampering; the next run writes the file again (D-29-03, D-S9-11)."""
    state = released / "state_store/project/state_machine.json"
    log = DirectoryStore(released).log(reading=True)
    before = Projection(log, DiskStateStore(released / "state_store"), lambda: 0.0)
    started = next(e.sequence_number for e in log.entries(0) if e.wire["type"] == "task.started")
    before.apply(entry for entry in log.entries(0) if entry.sequence_number <= started)
    log.close()
    assert before.state is not None
    state.write_bytes(before.state.to_bytes())
    (released / "state_store/project/log_end.json").unlink()  # written at a stop, to which the run never came
    told = specwright("verify", released)
    assert (told.code, told.out[:4]) == (0, "PASS")
    state.write_bytes(before.state.to_bytes().replace(b"IN_PROGRESS", b"PENDING"))
    assert specwright("verify", released).code == 1
