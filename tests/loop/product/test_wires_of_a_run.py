"""The log of a run from SPEC.md to the wheel: what it says, what follows from it, and how A2A sees it (D29-D35, W)."""

import json
import shutil
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from agent_wire import cli as agent_wire
from agent_wire.a2a import a2a_task_id
from agent_wire.envelope import StreamId
from agent_wire.reducer import reduce_wires
from specwright.application.projection import STATE_FILE
from testkit.cli.commands import specwright
from testkit.loop.halted_products import SHOUT, halted
from testkit.loop.processes import Uninterrupted
from testkit.loop.products import failing, pair, rejecting
from testkit.loop.project_workbench import ProjectWorkbench
from testkit.wires_heard import Wire, logged, texts, types
from testkit.workshop import Workshop
from wire_testkit.a2a_types import task_of

TASK, SECOND = "task:TSK-001:attempt:1", "task:TSK-002:attempt:1"


@pytest.fixture(scope="session")
def told(uninterrupted: Uninterrupted) -> list[Wire]:
    """The Wires of the nameplate."""
    return logged(uninterrupted.project)


def payloads(told: list[Wire], event: str) -> list[dict[str, Any]]:
    """What the Wires of one type carry."""
    return [wire["payload"] for wire in told if wire["type"] == event]


def test_a_run_has_one_context_and_streams_named_by_spec_ids(told: list[Wire]):
    """context_id and correlation_id are the project's in every Wire (W-6-01, D-30-01, W-5-01)."""
    context = told[0]["stream"]["stream_id"]
    assert context.startswith("project:nameplate-")
    assert {(w["stream"]["context_id"], w["stream"]["correlation_id"]) for w in told} == {(context, context)}
    debates = [w["stream"]["stream_id"] for w in told if w["payload"].get("subject") == "debate.proposed"]
    assert {w["stream"]["stream_id"] for w in told} == {context, TASK, *debates}


def test_no_wire_is_older_than_the_one_before(told: list[Wire]):
    """D-59-03."""
    times = [wire["ts"] for wire in told]
    assert times == sorted(times)


def test_every_cause_is_an_earlier_wire_of_the_log(told: list[Wire]):
    """Only the approval, with which everything began, has none (W-6-02, W-3-04)."""
    known: set[str] = set()
    for wire in told:
        assert known == set() or wire["stream"]["causation_id"] in known
        known.add(wire["wire_id"])
    assert "causation_id" not in told[0]["stream"]
    assert len(known) == len(told)


def test_each_gate_s_decision_is_told_with_the_hash_of_what_it_saw(
    told: list[Wire], uninterrupted: Uninterrupted
):
    """The lock behind the contract debate, then the ship gate; the hash is that of the debate's record (D-33-02, W-7-08)."""
    decided = payloads(told, "gate.decided")
    assert [(one["gate"], one["verdict"]) for one in decided] == [("lock", "pass"), ("ship", "pass")]
    records = (uninterrupted.project / "state_store/debates").glob("*/gate-*.json")
    there = {sha256(path.read_bytes()).hexdigest(): path.stem.split("-", 2)[2] for path in records}
    assert {one["evidence_sha256"]: one["reference"].partition("@")[0] for one in decided} == there


def test_the_record_of_a_gate_says_what_passed(uninterrupted: Uninterrupted):
    """Which contracts were locked; which files passed which stages and tests (D-29-02)."""
    folder = uninterrupted.project / "state_store/debates"
    lock, ship = (
        json.loads(next(folder.glob(f"*/gate-*-{kind}-*.json")).read_bytes()) for kind in ("MP", "IMPL")
    )
    (evidence,) = (
        json.loads(path.read_bytes())
        for path in uninterrupted.project.glob("state_store/modules/*/*/ship.json")
    )
    ref = f"{evidence['module_id']}@{evidence['module_version']}"
    fingerprint = evidence["verification"]["interface_fingerprint"]

    assert (lock["failures"], lock["passed"]) == ([], {"contracts": {ref: fingerprint}})
    passed = ship["passed"]
    assert (passed["module"], passed["interface_fingerprint"]) == (ref, fingerprint)
    stages = [(check["name"], check["result"]) for check in evidence["gate"] if check["name"] != "notes"]
    assert [(stage["name"], stage["result"]) for stage in passed["stages"]] == stages
    assert len(passed["tests"]) == evidence["execution_log"]["summary"]["total"] > 0
    assert passed["notes"]


def test_a_run_reduces_without_a_rejected_wire(told: list[Wire]):
    """Places are dense from 1, states are true, the task is completed with its artifact (W-5-03, W-2-06, D-34-01)."""
    reduction = reduce_wires(told)
    assert reduction.rejected == ()
    (task,) = reduction.tasks().values()
    assert (task["task_state"], task["artifact_count"]) == ("completed", 1)
    for stream, state in reduction.streams.items():
        places = [w["stream"]["stream_seq"] for w in told if w["stream"]["stream_id"] == stream]
        assert places == list(range(1, state.seq + 1))


def test_what_else_changes_the_state_is_a_review_on_the_projects_stream(told: list[Wire]):
    """Approval and release (D-29-05, W-4-01)."""
    streams = [(w["payload"].get("subject"), StreamId.parse(w["stream"]["stream_id"]).kind) for w in told]
    assert [subject for subject, kind in streams if kind == "project"] == [
        "spec.approved",
        "release.made",
        "journal.head",
    ]


def test_each_debate_is_told_from_its_proposal_to_what_came_of_it(
    told: list[Wire], uninterrupted: Uninterrupted
):
    """W-4-02, W-7-08: on a stream of its own, begun by the task, with the role as the sender and the hash of each record; a
    product of one module has at most 30 Wires (D-55-01)."""
    (started,) = (w for w in told if w["type"] == "task.started")
    debates = [list(wires) for _, wires in groupby(sorted(told, key=_debate), _debate)][1:]
    steps = [
        [(w["sender"], w["payload"].get("subject") or w["payload"]["gate"]) for w in one] for one in debates
    ]
    judged = [("agent:challenger", "debate.challenged"), ("agent:arbiter", "debate.ruled")]
    proposed = {by: (f"agent:{by}", "debate.proposed") for by in ("planner", "proposer")}
    contracts = [proposed["planner"], *judged, ("system", "lock"), ("system", "plan.locked")]
    module = [proposed["proposer"], *judged, ("system", "ship"), ("system", "module.sealed")]
    assert sorted(steps) == sorted([contracts, module])
    for one in debates:
        assert one[0]["stream"]["causation_id"] == started["wire_id"]
        for wire in one[:3]:
            name = wire["payload"]["reference"].partition("@")[0]
            (record,) = uninterrupted.project.glob(f"state_store/artifacts/*/{name}/*/body/*.json")
            assert sha256(record.read_bytes()).hexdigest() == wire["payload"]["definition_sha256"]
    assert len(told) <= 30


def _debate(wire: Wire) -> str:
    stream = wire["stream"]["stream_id"]
    return stream if stream.startswith("artifact:") else ""


def test_every_reference_in_a_wire_leads_to_what_it_binds(uninterrupted: Uninterrupted, told: list[Wire]):
    """Definitions by their hash, a sealed module at its uri with its version and lineage (D-29-02, W-4-04, D-37-02)."""
    for wire in told:
        sha256, subject = (wire["payload"].get(name, "") for name in ("definition_sha256", "subject"))
        if sha256 and subject not in ("module.sealed", "journal.head") and not subject.startswith("debate."):
            assert (uninterrupted.project / "state_store/definitions" / sha256).is_file()
    (ready,) = payloads(told, "artifact.ready")
    module = uninterrupted.project / ready["uri"]
    assert json.loads((module / "ship.json").read_text())["module_version"] == ready["version"]
    assert ready["lineage"] == {"task": "TSK-001", "attempt": 1, "inputs": []}
    assert ready["size_bytes"] == sum(p.stat().st_size for p in module.rglob("*") if p.is_file())


def test_no_wire_of_a_run_carries_working_content(uninterrupted: Uninterrupted, told: list[Wire]):
    """No prose of the spec, no source, no answers: ids, references and hashes (D-30-04, W-4-02, D-55-01)."""
    spec = json.loads((uninterrupted.project / "state_store/product/spec.json").read_text())
    log = json.dumps(told)
    assert [text for text in texts(spec) if " " in text and text in log] == []
    said = [value for wire in told for value in texts(wire["payload"])]
    assert [value for value in said if " " in value or "\n" in value] == []
    assert {w["name"] for w in payloads(told, "artifact.ready")} == {"initials"}


@pytest.mark.slow
def test_a_module_that_ships_within_a_task_that_halts_is_announced(workshop: Workshop, tmp_path: Path):
    """artifact.ready as it is sealed, the block after it; the task that waits says nothing (W-7-10, D-33-02)."""
    playbook = pair(tmp_path / "playbook")
    failing(playbook / SHOUT, 3)
    rejecting(playbook / SHOUT / "round-3")
    found = halted(workshop, tmp_path / "project", "--model", f"playbook:{playbook}")
    told = logged(found.project)
    task = [w for w in told if w["stream"]["stream_id"] == TASK]
    assert types(task[-2:]) == ["artifact.ready", "task.blocked"]
    assert task[-2]["payload"]["name"] == "initials"
    assert types([w for w in told if w["stream"]["stream_id"] == SECOND]) == ["task.created"]


@pytest.fixture
def bare(uninterrupted: Uninterrupted, tmp_path: Path) -> Path:
    """A directory that holds the log and the definitions, and nothing else."""
    directory = tmp_path / "bare"
    (directory / ".specwright").mkdir(parents=True)
    for file in uninterrupted.project.glob(".specwright/wire.db*"):
        shutil.copy2(file, directory / ".specwright")
    shutil.copytree(uninterrupted.project / "state_store/definitions", directory / "state_store/definitions")
    return directory


def test_the_state_is_rebuilt_from_log_and_definitions_in_an_empty_directory(
    bare: Path, uninterrupted: Uninterrupted
):
    """The same bytes as the live file, which is not there to copy from (D-29-01, D-29-02)."""
    rebuild_and_compare(bare, uninterrupted.project)


def rebuild_and_compare(bare: Path, live: Path) -> None:
    """Project what is there, and hold the file against the live one."""
    file = bare / "state_store" / STATE_FILE
    assert not file.exists()
    with ProjectWorkbench(bare) as bench:
        bench.projection.write(now=True)
    assert file.read_bytes() == (live / "state_store" / STATE_FILE).read_bytes()


def test_the_wires_of_a_run_are_an_a2a_stream_by_the_official_types(
    bare: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """`specwright wire log --lines` into `agent-wire a2a`: Task first, COMPLETED last; an A2A task manager
    follows it (W-7-04, W-7-05)."""
    lines = tmp_path / "wires.jsonl"
    lines.write_text(specwright("wire", "log", bare, "--lines").out)
    assert agent_wire.main(["a2a", str(lines), "--json"]) == 0
    tasks = json.loads(capsys.readouterr().out)["tasks"]
    (context,) = {wire["stream"]["context_id"] for wire in logged(bare)}
    assert tasks.keys() == {a2a_task_id(context, TASK)}
    (stream,) = tasks.values()
    assert [next(iter(response)) for response in stream] == [
        *("task", "statusUpdate", "statusUpdate", "statusUpdate"),
        *("artifactUpdate", "statusUpdate"),
    ]
    assert stream[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    task = task_of(stream)
    assert [artifact["name"] for artifact in task["artifacts"]] == ["initials"]

    assert agent_wire.main(["a2a", str(bare / ".specwright/wire.db"), "--json"]) == 0
    placed = json.loads(capsys.readouterr().out)["tasks"][a2a_task_id(context, TASK)]
    told = [body["metadata"] for response in placed for body in response.values()]
    rows = specwright("wire", "log", bare, "--json").document["wires"]
    proofs = {row["wire"]["wire_id"]: row["hcs"] for row in rows}
    assert [(one["sequenceNumber"], one["consensusTimestamp"]) for one in told] == [
        (str(proofs[one["wireId"]]["sequence_number"]), proofs[one["wireId"]]["consensus_timestamp"])
        for one in told
    ]
