"""`specwright verify`: one verdict, every finding with its file, exit codes, JSON."""

from pathlib import Path

from specwright.application.projection import Projection
from specwright.bootstrap.stores import DirectoryStore
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
    assert any(line.startswith("record.changed  modules/") and "examples.md" in line for line in lines)
    assert any(line.startswith("state.changed  project/state_machine.json") for line in lines)
    assert all(len(line) <= 100 for line in lines[1:])


def test_json_is_one_document(released: Path):
    """Verdict, findings, counts (D-S9-03)."""
    assert specwright("verify", released, "--json").document["verdict"] == "PASS"
    (contract,) = released.glob("state_store/modules/*/*/contract.json")
    contract.write_text(contract.read_text() + " ")
    told = specwright("verify", released, "--json")
    assert told.code == 1
    assert set(told.document) == {
        "schema",
        "version",
        "verdict",
        "findings",
        "checked",
        "unbound",
        "waiting",
        "edited",
        "spec_edited",
    }
    assert told.document["verdict"] == "FAIL"
    assert {tuple(finding) for finding in told.document["findings"]} == {("code", "where", "message")}
    assert told.document["checked"]["modules"] == 1


def test_an_older_state_file_is_found_unless_a_run_was_cut_short(released: Path):
    """Genuine as it was: a stop writes it, so only a kill leaves one behind, and a record that no stop bound
    (F-17.3-03, D-29-01, D-29-03)."""
    state = released / "state_store/project/state_machine.json"
    log = DirectoryStore(released).log(reading=True)
    before = Projection(log, DiskStateStore(released / "state_store"), lambda: 0.0)
    started = next(e.sequence_number for e in log.entries(0) if e.wire["type"] == "task.started")
    before.apply(entry for entry in log.entries(0) if entry.sequence_number <= started)
    log.close()
    assert before.state is not None
    state.write_bytes(before.state.to_bytes())
    told = specwright("verify", released)
    assert (told.code, "state.changed  project/state_machine.json" in told.out) == (1, True)
    with (released / ".specwright/journal.jsonl").open("ab") as journal:
        journal.write(b'{"scope":"x","kind":"model","ordinal":0,"request":"","answer":{}}\n')
    told = specwright("verify", released)
    assert (told.code, told.out[:10], "cut short" in told.err) == (1, "INCOMPLETE", True)
    for forged in (b'{"garbage": 1}', b"[]", state.read_bytes().replace(b'"attempt": 1', b'"attempt": 2')):
        state.write_bytes(forged)
        told = specwright("verify", released)
        assert (told.code, "state.changed  project/state_machine.json" in told.out) == (1, True), forged
