"""A finished project is proven from its files alone, and whatever was touched is named."""

import hashlib
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_wire.entries import LogEntry
from agent_wire.log import SqliteWireLog
from specwright.application.logged_debates import debate_findings
from specwright.application.store.artifacts import FILE_HASHES
from specwright.application.verify import read_log
from specwright.bootstrap.verify import verify_project
from specwright.domain.artifacts import ArtifactEnvelope, ArtifactStatus, Purpose
from specwright.storage.files import DiskStateStore
from testkit.application.verifying import checked, flip
from testkit.cli.commands import specwright
from testkit.wires_heard import Wire, logged
from wire_testkit.damage import TOPIC, stored, tamper


def version(project: Path) -> Path:
    """The one sealed version."""
    (found,) = project.glob("state_store/modules/*/*")
    return found


def named(project: Path) -> set[str]:
    """The files that are told to be wrong, below `state_store/` and in short."""
    base = version(project).relative_to(project / "state_store").as_posix()
    return {fault.where.removeprefix(f"{base}/") for fault in checked(project).findings}


def test_a_project_that_nobody_touched_is_proven(released_once: Path):
    """Everything that was shipped is looked at, and nothing is written (D-S9-11, D-20-03, D-29-01, D-29-02)."""
    before = {
        path: path.read_bytes() for path in (released_once / "state_store").rglob("*") if path.is_file()
    }
    seen = checked(released_once)
    assert seen.findings == ()
    assert seen.modules == 1
    assert seen.definitions >= 3
    assert seen.records > 10
    assert seen.wires >= 6
    assert before == {p: p.read_bytes() for p in (released_once / "state_store").rglob("*") if p.is_file()}


def test_nothing_of_it_needs_a_network(released_once: Path, monkeypatch: pytest.MonkeyPatch):
    """Offline means that no socket is ever made (D-S9-11)."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "socket", refused)
    assert checked(released_once).findings == ()


SEALED = [
    "implementation/__init__.py",
    "tests/test_initials.py",
    "tests/obligations.json",
    "tests/execution_log.json",
    "examples.md",
    "contract.json",
    "ship.json",
]


@pytest.mark.parametrize("path", SEALED)
def test_a_sealed_version_is_bound_by_the_log_alone_too(project: Path, path: str):
    """Whoever changes a file and takes the journal's notes away is found by the announcement (D-20-03, D29)."""
    journal = project / ".specwright/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if f'"kind":"{FILE_HASHES}"'.encode() not in line))
    flip(version(project) / path)
    found = {(fault.code.partition(".")[0], fault.where.split("/")[0]) for fault in checked(project).findings}
    assert ("seal", "modules") in found


@pytest.mark.parametrize("path", SEALED)
def test_a_sealed_file_that_is_gone_is_named(project: Path, path: str):
    """Also the seal itself: the log knows that it was there (D-20-01, D-20-03)."""
    (version(project) / path).unlink()
    assert path in named(project)


@pytest.mark.parametrize("path", ["implementation/extra.py", "tests/test_more.py", "notes.txt"])
def test_a_file_that_was_added_to_a_sealed_version_is_named(project: Path, path: str):
    """Sealed means that nothing comes to it either (D-20-03)."""
    (version(project) / path).write_text("x = 1\n")
    assert named(project) == {path}


def test_a_sealed_version_that_is_gone_is_named(project: Path):
    """The log announced it (D-20-01)."""
    base = version(project)
    shutil.rmtree(base)
    where = base.relative_to(project / "state_store").as_posix()
    assert ("seal.missing", where) in {(fault.code, fault.where) for fault in checked(project).findings}


def test_a_drifted_interface_is_told_even_where_every_hash_was_forged(project: Path):
    """The fingerprint is recomputed from the source, not believed (F-11.2-02, D-20-03)."""
    source = version(project) / "implementation/__init__.py"
    text = source.read_text(encoding="utf-8")
    head, _, rest = text.partition("\ndef initials(")
    source.write_text(f"{head}\ndef initials(other: int = 1, {rest}", encoding="utf-8")
    assert "seal.surface" in {fault.code for fault in checked(project).findings}


def test_a_definition_that_the_log_refers_to_must_be_there(project: Path):
    """Every hash in a Wire resolves (D-29-02)."""
    shutil.rmtree(project / "state_store/definitions")
    faults = checked(project).findings
    assert {"definition.missing", "state.unprovable"} <= {fault.code for fault in faults}


def test_a_state_file_is_not_compared_while_a_run_goes_on(project: Path):
    """During a run it may lag behind by a second (D29)."""
    (project / "state_store/project/state_machine.json").write_text("{}\n")
    assert verify_project(project, at_rest=False).findings == ()


def test_one_changed_wire_is_found_at_its_entry(project: Path):
    """Also with the database's triggers dropped (D-36-02, D-S9-11)."""
    log = project / ".specwright/wire.db"
    tamper(
        log, "UPDATE entry SET body = CAST(replace(body, 'task', 'tusk') AS BLOB) WHERE sequence_number = 3"
    )
    faults = checked(project).findings
    assert ("log.changed", ".specwright/wire.db") in {(fault.code, fault.where) for fault in faults}
    assert any(fault.message.startswith("Wire 3:") for fault in faults)


def test_a_log_that_was_cut_off_is_found(project: Path):
    """Its end is recorded in the log, by the project and by the release: three findings of one damage (D-36-02)."""
    tamper(project / ".specwright/wire.db", "DELETE FROM entry WHERE sequence_number > 4")
    assert {fault.code for fault in checked(project).findings} == {"log.cut_off"}


@pytest.mark.parametrize("number", [1, 2, 5])
def test_one_changed_bit_of_the_log_is_one_finding(project: Path, number: int):
    """Not one for each Wire after it and each file that it spoke of (D-36-02)."""
    log = project / ".specwright/wire.db"
    body = bytearray(stored(log)[number - 1][4])
    body[len(body) // 2] ^= 1
    tamper(log, f"UPDATE entry SET body = ? WHERE sequence_number = {number}", parameters=(bytes(body),))

    (finding,) = checked(project).findings
    assert (finding.code, finding.message.partition(":")[0]) == ("log.changed", f"Wire {number}")


def append(project: Path, wire: dict[str, Any], payload: dict[str, Any]) -> None:
    """Append a Wire once more, with another payload."""
    log = SqliteWireLog(project / ".specwright/wire.db", TOPIC, lambda: 2 * 10**18)
    stream = wire["stream"] | {"stream_seq": log.stream_end(wire["stream"]["stream_id"]).stream_seq + 1}
    log.append([wire | {"wire_id": "wire_7" + "Z" * 25, "payload": payload, "stream": stream}])
    log.close()


@pytest.mark.parametrize("content", [None, b"{}\n"])
def test_a_decision_that_cannot_be_read_is_one_finding(project: Path, content: bytes | None):
    """D-29-02: what it names is gone, or is no such record."""
    (made,) = [w for w in logged(project) if w["payload"].get("subject") == "release.made"]
    sha256 = hashlib.sha256(content or b"").hexdigest()
    if content is not None:
        (project / f"state_store/definitions/{sha256}").write_bytes(content)
    named = {"subject": "exception.resolved", "definition_sha256": sha256, "reference": "ICE-0000000a"}
    append(project, made, made["payload"] | named)
    found = [fault for fault in checked(project).findings if fault.code.startswith("definition.")]
    assert [fault.code for fault in found] == ["definition.changed" if content else "definition.missing"]


@pytest.mark.parametrize("reference", ["", "IMPL-00000bad", "the one that was judged"])
def test_evidence_that_leads_to_nothing_is_named(project: Path, reference: str):
    """Each hash of evidence is that of a record; an admissible Wire about a gate that never decided is found (D-29-02)."""
    (decided,) = [
        w for w in logged(project) if w["type"] == "gate.decided" and w["payload"]["gate"] == "ship"
    ]
    named = {"reference": reference.replace("the one that was judged", decided["payload"]["reference"])}
    payload: Any = {"gate": "ship", "verdict": "pass", "evidence_sha256": "b" * 64} | (
        named if reference else {}
    )
    append(project, decided, payload)

    codes = {finding.code for finding in checked(project).findings}
    assert codes == ({"record.changed"} if "judged" in reference else {"record.missing", "debate.incomplete"})


@pytest.mark.parametrize("kind", ["proposal", "challenge", "adjudication"])
def test_one_changed_bit_of_an_artifact_is_one_finding(project: Path, kind: str):
    """The copies of a record that are whole are not named with it (D-S9-11)."""
    target = sorted((project / "state_store").glob(f"artifacts/*/*/*/body/{kind}.json"))[0]
    flip(target)

    (finding,) = checked(project).findings
    assert finding.where == target.relative_to(project / "state_store").as_posix()


@pytest.mark.parametrize("command", ["status", "verify", "wire verify", "wire log", "run"])
def test_an_emptied_log_is_no_fresh_project(project: Path, command: str):
    """A log of zero bytes was not written by anybody: refused, and not filled (D-36-02, D-S9-04)."""
    log = project / ".specwright/wire.db"
    for file in log.parent.glob("wire.db*"):
        file.write_bytes(b"")

    specwright(*command.split(), project).refuses("the project's log is gone", "from a copy", code=1)
    assert log.stat().st_size == 0


def test_a_log_that_is_no_log_is_a_finding(project: Path):
    """Never a traceback (D-S9-04)."""
    (project / ".specwright/wire.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert "log.unreadable" in {fault.code for fault in checked(project).findings}


@pytest.mark.parametrize(
    "pattern", ["context_packs/*", "contributions/*", "artifacts/*/IMPL-*/*/envelope.json"]
)
def test_a_record_that_is_gone_is_named(project: Path, pattern: str):
    """What was written once is there (D-S9-11, F-5-02, F-5-05)."""
    target = sorted((project / "state_store").glob(pattern))[0]
    target.unlink()
    where = target.relative_to(project / "state_store").as_posix()
    assert ("record.missing", where) in {(fault.code, fault.where) for fault in checked(project).findings}


def test_a_status_without_its_grounds_is_found(project: Path):
    """A status is what the outputs make it, and they name records that are there (F-8-09, D-S9-11)."""
    target = sorted((project / "state_store").glob("artifacts/*/IMPL-*/*/envelope.json"))[0]
    envelope = ArtifactEnvelope.from_bytes(target.read_bytes(), "envelope.json")
    assert envelope.status is ArtifactStatus.SHIPPED
    challenged, *_, sealed = envelope.outputs
    for changes, why in (
        ({"status": ArtifactStatus.DEPRECATED}, "its outputs do not make it DEPRECATED"),
        ({"outputs": envelope.outputs[:-1]}, "its outputs do not make it SHIPPED"),
        (
            {"outputs": [challenged.model_copy(update={"ref": "CHAL-00000000@1.0.0"}), sealed]},
            "there is no CHAL-00",
        ),
        ({"outputs": [challenged.model_copy(update={"purpose": "waved through"}), sealed]}, "do not make it"),
    ):
        target.write_bytes(envelope.model_copy(update=changes).to_bytes())
        assert why in "; ".join(fault.message for fault in checked(project).findings)


def test_a_damaged_journal_is_a_finding(project: Path):
    """What it notes of records is then known only in part (D-S9-11)."""
    journal = project / ".specwright/journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:200] + b"}\n" + journal.read_bytes()[200:])
    assert "journal.damaged" in {fault.code for fault in checked(project).findings}


@pytest.mark.parametrize("instead", ["nothing", "a directory"])
def test_a_journal_that_cannot_be_read_is_a_finding(project: Path, instead: str):
    """It belongs to another user, or is gone: what only it binds is not verified, so nobody says PASS (D-S9-11)."""
    journal = project / ".specwright/journal.jsonl"
    journal.unlink()
    if instead == "a directory":
        journal.mkdir()
    (fault,) = [fault for fault in checked(project).findings if fault.code.startswith("journal.")]
    assert (fault.code, "not verified" in fault.message) == ("journal.unread", True)


def test_what_a_crash_left_before_the_seal_is_no_fault(project: Path):
    """A version is sealed iff `ship.json` exists; a run that ends writes the rest, or else somebody did (D-20-01)."""
    begun = project / "state_store/modules/MM-0000beef/1.0.0"
    begun.mkdir(parents=True)
    (begun / "contract.json").write_text("{}")
    assert [finding.code for finding in checked(project).findings] == ["record.added"]
    with (project / ".specwright/journal.jsonl").open("ab") as journal:
        journal.write(b'{"scope":"x","kind":"model","ordinal":0,"request":"","answer":{}}\n')
    assert (checked(project).findings, checked(project).verdict) == ((), "INCOMPLETE")


def logged_as(project: Path, wires: list[Wire]) -> list[str]:
    """What verification says of the debates if these are the Wires of the log."""
    entries = [LogEntry(TOPIC, number, 0, 0, wire) for number, wire in enumerate(wires, 1)]
    log: Any = SimpleNamespace(entries=lambda: entries)
    findings: list[Any] = []
    bindings, store = read_log(log, findings), DiskStateStore(project / "state_store")
    found = debate_findings(store, bindings.debates.values(), bindings.announced)
    assert findings == []
    return [
        fault.message for fault in found if fault.code == "debate.incomplete" or "by the" in fault.message
    ]


def steps_of_the_debate(project: Path) -> dict[str, int]:
    """Where in the log each step of the debate over the sealed module is."""
    wires = logged(project)
    said = [wire["payload"].get("subject") or wire["payload"].get("gate", "") for wire in wires]
    debate = wires[said.index("module.sealed")]["stream"]["stream_id"]
    return {said[n]: n for n, wire in enumerate(wires) if wire["stream"]["stream_id"] == debate}


@pytest.mark.parametrize("gone", ["debate.proposed", "debate.challenged", "debate.ruled", "ship"])
def test_a_step_of_a_debate_that_the_log_does_not_have_is_named(project: Path, gone: str):
    """W-4-02: a version is sealed once it was proposed, challenged, ruled on and passed by the gate."""
    place, wires = steps_of_the_debate(project)[gone], logged(project)
    (told,) = logged_as(project, wires[:place] + wires[place + 1 :])
    assert f"without `{gone}`" in told
    assert logged_as(project, wires) == []


def test_a_debate_in_another_order_is_named(project: Path):
    """W-4-02: a ruling before the verdict that it rules on, a gate that refused, a seal without any debate."""
    steps = steps_of_the_debate(project)
    swapped, failed, lost = logged(project), logged(project), logged(project)
    ruled, challenged = steps["debate.ruled"], steps["debate.challenged"]
    swapped[ruled], swapped[challenged] = swapped[challenged], swapped[ruled]
    failed[steps["ship"]]["payload"]["verdict"] = "fail"
    del lost[steps["debate.proposed"] : steps["module.sealed"] + 1]
    found = [logged_as(project, wires) for wires in (swapped, failed, lost)]
    wanted = ["without `debate.ruled`", "without `ship`", "the log has no debate of it"]
    assert [words in told for (told,), words in zip(found, wanted, strict=True)] == [True] * 3


@pytest.mark.parametrize("forged", ["dropped", "in another order", "in another round", "all dropped"])
def test_the_list_of_the_records_of_a_debate_is_that_of_the_log(project: Path, forged: str):
    """W-4-02: what was said in which round is read from the envelope of the first proposal, whose outputs change."""
    path = sorted((project / "state_store/artifacts").glob("*/PROP-*/*/envelope.json"))[0]
    envelope = ArtifactEnvelope.from_bytes(path.read_bytes(), "envelope.json")
    challenged, *others = envelope.outputs
    outputs = {
        "dropped": others,
        "in another order": [*others, challenged],
        "in another round": [challenged.model_copy(update={"purpose": Purpose.OPENS_ROUND}), *others],
        "all dropped": [],
    }[forged]
    path.write_bytes(envelope.model_copy(update={"outputs": outputs}).to_bytes())
    where = path.parent.parent.relative_to(project / "state_store").as_posix()
    assert where in {fault.where for fault in checked(project).findings if fault.code == "record.changed"}


def test_the_record_of_a_gate_is_that_of_its_round(project: Path):
    """D-29-02: a record with the name of another round is not what the Wire names."""
    (path,) = (project / "state_store/debates").glob("*/gate-1-IMPL-*")
    path.rename(path.with_name(path.name.replace("gate-1", "gate-2")))
    where = path.relative_to(project / "state_store").as_posix()
    assert ("record.missing", where) in {(fault.code, fault.where) for fault in checked(project).findings}
