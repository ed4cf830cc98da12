"""A finished project is proven from its files alone, and whatever was touched is named."""

import fnmatch
import hashlib
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_wire.entries import LogEntry
from agent_wire.log import SqliteWireLog
from ship_gate.findings import Finding as Fault
from specwright.application.history.verify import author_findings, debate_findings, read_log
from specwright.application.store.artifacts import FILE_HASHES
from specwright.bootstrap.verify import read_journal, verify_project
from specwright.domain.artifacts import ArtifactEnvelope, ArtifactStatus, Purpose
from specwright.storage.files import DiskStateStore
from testkit.application.verifying import checked, flip
from testkit.cli.commands import specwright
from testkit.wires_heard import Wire, logged
from wire_testkit.damage import TOPIC, stored, tamper

Finding = tuple[str, str]
Damage = Callable[[Path], object]


def version(project: Path) -> Path:
    """The one sealed version."""
    (found,) = project.glob("state_store/modules/*/*")
    return found


def findings(project: Path) -> set[Finding]:
    """The code of each finding, with its place below `state_store/`; a sealed version is `V`."""
    base = version(project).relative_to(project / "state_store").as_posix()
    return {(one.code, one.where.replace(base, "V")) for one in checked(project).findings}


def first(project: Path, pattern: str) -> Path:
    """The first record that fits."""
    return sorted((project / "state_store").glob(pattern))[0]


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


def test_a_sealed_version_is_bound_by_the_log_alone_too(released_once: Path, tmp_path: Path):
    """Whoever changes a file and takes the journal's notes away is found by the announcement (D-20-03, D29)."""
    for number, path in enumerate(SEALED):
        project = shutil.copytree(released_once, tmp_path / str(number))
        journal = project / ".specwright/journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        kept = (line for line in lines if f'"kind":"{FILE_HASHES}"'.encode() not in line)
        journal.write_bytes(b"".join(kept))
        flip(version(project) / path)
        found = {(code.partition(".")[0], where.split("/")[0]) for code, where in findings(project)}
        assert found & {("seal", "V"), ("seal", "modules")}, path


def without(path: str) -> Damage:
    """A sealed file is gone."""
    return lambda project: (version(project) / path).unlink()


def beside(path: str) -> Damage:
    """A file was added to a sealed version."""
    return lambda project: (version(project) / path).write_text("x = 1\n")


def lost(pattern: str) -> Damage:
    """A record is gone."""
    return lambda project: first(project, pattern).unlink()


def drifted(project: Path) -> None:
    """The source has another interface."""
    source = version(project) / "implementation/__init__.py"
    head, _, rest = source.read_text(encoding="utf-8").partition("\ndef initials(")
    source.write_text(f"{head}\ndef initials(other: int = 1, {rest}", encoding="utf-8")


def spliced(project: Path) -> None:
    """A line of the journal is cut in two."""
    journal = project / ".specwright/journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:200] + b"}\n" + journal.read_bytes()[200:])


def in_sql(text: str) -> Damage:
    """Somebody changed the log past its triggers."""
    return lambda project: tamper(project / ".specwright/wire.db", text)


TUSKS = "UPDATE entry SET body = CAST(replace(body, 'task', 'tusk') AS BLOB) WHERE sequence_number = 3"
CUT = "DELETE FROM entry WHERE sequence_number > 4"
NO_LOG = b"SQLite format 3\0" + b"x" * 5000
ENVELOPE = "artifacts/*/IMPL-*/*/envelope.json"
DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    **{f"no {path}": (without(path), {f"V/{path}"}) for path in SEALED},
    "no definitions": (
        lambda project: shutil.rmtree(project / "state_store/definitions"),
        {"definition.missing", "state.unprovable"},
    ),
    "another interface": (drifted, {"seal.surface"}),
    "a changed Wire": (in_sql(TUSKS), {"log.changed", ".specwright/wire.db"}),
    "no log": (lambda project: (project / ".specwright/wire.db").write_bytes(NO_LOG), {"log.unreadable"}),
    "no pack": (lost("context_packs/*"), {"record.missing", "context_packs/*"}),
    "no contribution": (lost("contributions/*"), {"record.missing", "contributions/*"}),
    "no envelope": (lost(ENVELOPE), {"record.missing", ENVELOPE}),
    "a damaged journal": (spliced, {"journal.damaged"}),
}
EXACT: dict[str, tuple[Damage, set[str]]] = {
    **{
        f"one more {path}": (beside(path), {f"V/{path}"})
        for path in ("implementation/extra.py", "tests/test_more.py", "notes.txt")
    },
    "a log that was cut off": (in_sql(CUT), {"log.cut_off"}),
}
"""Those of which nothing else is said; a place may be a pattern."""


def test_what_was_touched_is_named(released_once: Path, tmp_path: Path):
    """By its finding or its place: a sealed file that is gone or added, a hash that resolves to nothing, an interface that
    is recomputed from the source, a log that was changed or cut off, records that are gone (D-20-01, D-20-03, D-29-02,
    D-36-02, F-11.2-02, F-5-02, F-5-05, D-S9-04, D-S9-11)."""
    missed = {}
    for number, (kind, (damage, named)) in enumerate((DAMAGES | EXACT).items()):
        project = shutil.copytree(released_once, tmp_path / str(number))
        damage(project)
        found = findings(project)
        said = {code for code, _ in found} | {where for _, where in found}
        only = kind in EXACT and not all(named & set(one) for one in found)
        if only or not all(fnmatch.filter(said, one) for one in named):
            missed[kind] = found
    assert missed == {}


def test_a_state_file_is_not_compared_while_a_run_goes_on(project: Path):
    """During a run it may lag behind by a second (D29)."""
    (project / "state_store/project/state_machine.json").write_text("{}\n")
    assert verify_project(project, at_rest=False).findings == ()


def test_one_changed_bit_is_one_finding(released_once: Path, tmp_path: Path):
    """Of the log, not one for each Wire after it and each file that it spoke of; of an artifact, without the copies of the
    record that are whole (D-36-02, D-S9-11)."""
    for number in (1, 2, 5):
        project = shutil.copytree(released_once, tmp_path / str(number))
        log = project / ".specwright/wire.db"
        body = bytearray(stored(log)[number - 1][4])
        body[len(body) // 2] ^= 1
        tamper(log, f"UPDATE entry SET body = ? WHERE sequence_number = {number}", parameters=(bytes(body),))
        (finding,) = checked(project).findings
        assert (finding.code, finding.message.partition(":")[0]) == ("log.changed", f"Wire {number}")
    for kind in ("proposal", "challenge", "adjudication"):
        project = shutil.copytree(released_once, tmp_path / kind)
        flip(target := first(project, f"artifacts/*/*/*/body/{kind}.json"))
        (finding,) = checked(project).findings
        assert finding.where == target.relative_to(project / "state_store").as_posix()


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


def test_an_emptied_log_is_no_fresh_project(project: Path):
    """A log of zero bytes was not written by anybody: refused, and not filled (D-36-02, D-S9-04)."""
    log = project / ".specwright/wire.db"
    for command in ("status", "verify", "wire verify", "wire log", "run"):
        for file in log.parent.glob("wire.db*"):
            file.write_bytes(b"")
        specwright(*command.split(), project).refuses("the project's log is gone", "from a copy", code=1)
        assert log.stat().st_size == 0, command


def test_a_status_without_its_grounds_is_found(project: Path):
    """A status is what the outputs make it, and they name records that are there (F-8-09, D-S9-11)."""
    target = first(project, ENVELOPE)
    envelope = ArtifactEnvelope.from_bytes(target.read_bytes(), "envelope.json")
    assert envelope.status is ArtifactStatus.SHIPPED
    challenged, *_, sealed = envelope.outputs
    nowhere = challenged.model_copy(update={"ref": "CHAL-00000000@1.0.0"})
    waved = challenged.model_copy(update={"purpose": "waved through"})
    for changes, why in (
        ({"status": ArtifactStatus.DEPRECATED}, "its outputs do not make it DEPRECATED"),
        ({"outputs": envelope.outputs[:-1]}, "its outputs do not make it SHIPPED"),
        ({"outputs": [nowhere, sealed]}, "there is no CHAL-00"),
        ({"outputs": [waved, sealed]}, "do not make it"),
    ):
        target.write_bytes(envelope.model_copy(update=changes).to_bytes())
        assert why in "; ".join(fault.message for fault in checked(project).findings)


def test_a_journal_that_cannot_be_read_is_a_finding(project: Path):
    """It belongs to another user, or is gone: what only it binds is not verified, so nobody says PASS (D-S9-11)."""
    journal = project / ".specwright/journal.jsonl"
    journal.unlink()
    for instead in ("nothing", "a directory"):
        if instead == "a directory":
            journal.mkdir()
        (fault,) = [fault for fault in checked(project).findings if fault.code.startswith("journal.")]
        assert (fault.code, "not verified" in fault.message) == ("journal.unread", True), instead


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
    return [fault.message for fault in checked_as(project, wires) if fault.code == "debate.incomplete"]


def checked_as(project: Path, wires: list[Wire]) -> list[Fault]:
    """All that verification finds in the debates if these are the Wires of the log, which is chained anew."""
    entries = [LogEntry(TOPIC, number, 0, 0, wire) for number, wire in enumerate(wires, 1)]
    log: Any = SimpleNamespace(entries=lambda: entries)
    findings: list[Fault] = []
    bindings, store = read_log(log, findings), DiskStateStore(project / "state_store")
    assert findings == []
    journal, damaged = read_journal(project / ".specwright/journal.jsonl")
    assert damaged == []
    return [
        *debate_findings(store, bindings.debates.values(), bindings.announced),
        *author_findings(store, bindings.debates.values(), journal.authors),
    ]


def steps_of_the_debate(project: Path) -> dict[str, int]:
    """Where in the log each step of the debate over the sealed module is."""
    wires = logged(project)
    said = [wire["payload"].get("subject") or wire["payload"].get("gate", "") for wire in wires]
    debate = wires[said.index("module.sealed")]["stream"]["stream_id"]
    return {said[n]: n for n, wire in enumerate(wires) if wire["stream"]["stream_id"] == debate}


def test_a_step_of_a_debate_that_the_log_does_not_have_is_named(released_once: Path):
    """W-4-02: a version is sealed once it was proposed, challenged, ruled on and passed by the gate (D-55-02)."""
    wires, steps = logged(released_once), steps_of_the_debate(released_once)
    assert logged_as(released_once, wires) == []
    for gone in ("debate.proposed", "debate.challenged", "debate.ruled", "ship"):
        (told,) = logged_as(released_once, wires[: steps[gone]] + wires[steps[gone] + 1 :])
        assert f"without `{gone}`" in told


def test_a_step_of_another_role_or_model_than_made_the_record_is_named(released_once: Path):
    """A log may be chained anew: the envelope names the invocation, and the journal the model that answered it, a
    playbook's too. Whoever exchanges or drops a model, has the Proposer challenge itself, the Challenger rule, or code
    propose what a model wrote, is found (D-55-02)."""
    steps, missed = steps_of_the_debate(released_once), list[str]()
    assert checked_as(released_once, logged(released_once)) == []
    models = [
        (step, {"model": model}) for step in ("proposed", "challenged", "ruled") for model in ("gpt-5", "")
    ]
    roles = [("proposed", "factory"), ("challenged", "proposer"), ("ruled", "challenger")]
    for step, change in [*models, *((step, {"sender": f"agent:{role}"}) for step, role in roles)]:
        wires = logged(released_once)
        wire = wires[steps[f"debate.{step}"]]
        (wire if "sender" in change else wire["payload"]).update(change)
        found = [fault.message for fault in checked_as(released_once, wires) if fault.code == "debate.author"]
        if [f"debate.{step}" in told and "playbook:nameplate" in told for told in found] != [True]:
            missed.append(f"{step}, {change}: {found}")
    assert not missed, "\n".join(missed)


def test_a_debate_in_another_order_is_named(project: Path):
    """W-4-02: a ruling before the verdict that it rules on, a gate that refused, a seal without any debate (D-55-02)."""
    steps = steps_of_the_debate(project)
    swapped, failed, lost = logged(project), logged(project), logged(project)
    ruled, challenged = steps["debate.ruled"], steps["debate.challenged"]
    swapped[ruled], swapped[challenged] = swapped[challenged], swapped[ruled]
    failed[steps["ship"]]["payload"]["verdict"] = "fail"
    del lost[steps["debate.proposed"] : steps["module.sealed"] + 1]
    found = [logged_as(project, wires) for wires in (swapped, failed, lost)]
    wanted = ["without `debate.ruled`", "without `ship`", "the log has no debate of it"]
    assert [words in told for (told,), words in zip(found, wanted, strict=True)] == [True] * 3


def test_a_gate_or_a_seal_that_is_doubled_or_of_another_module_is_named(project: Path):
    """A log may be chained anew, so its steps are held against each other and against the record of the gate (D-55-02)."""
    wires, steps = logged(project), steps_of_the_debate(project)
    for step, words in (("ship", "after it had passed IMPL-"), ("module.sealed", "without `ship`")):
        at = steps[step]
        (told,) = logged_as(project, [*wires[: at + 1], *wires[at:]])
        assert words in told, step
    wires[steps["module.sealed"]]["payload"]["reference"] = "MM-0000beef@1.0.0"
    told = "; ".join(logged_as(project, wires))
    assert "MM-0000beef@1.0.0 is sealed or locked, and the gate passed MM-" in told


def test_the_list_of_the_records_of_a_debate_is_that_of_the_log(project: Path):
    """W-4-02: what was said in which round is read from the envelope of the first proposal, whose outputs change."""
    path = first(project, "artifacts/*/PROP-*/*/envelope.json")
    envelope = ArtifactEnvelope.from_bytes(path.read_bytes(), "envelope.json")
    challenged, *others = envelope.outputs
    elsewhere = challenged.model_copy(update={"purpose": Purpose.OPENS_ROUND})
    where = path.parent.parent.relative_to(project / "state_store").as_posix()
    for outputs in (others, [*others, challenged], [elsewhere, *others], []):
        path.write_bytes(envelope.model_copy(update={"outputs": outputs}).to_bytes())
        assert ("record.changed", where) in findings(project)


def test_a_sealed_version_that_is_gone_is_named_and_the_record_of_another_round(project: Path):
    """The log announced the one; what has the name of another round is not what the Wire names (D-20-01, D-29-02)."""
    (path,) = (project / "state_store/debates").glob("*/gate-1-IMPL-*")
    path.rename(path.with_name(path.name.replace("gate-1", "gate-2")))
    base = version(project)
    shutil.rmtree(base)
    found = {(fault.code, fault.where) for fault in checked(project).findings}
    for code, gone in (("record.missing", path), ("seal.missing", base)):
        assert (code, gone.relative_to(project / "state_store").as_posix()) in found
