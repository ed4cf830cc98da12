"""From any shipped module the chain back to debate, plan, packs, task and spec, whole and readable (F§5.2)."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ship_gate.base.ids import ModuleRef
from specwright.application.history.provenance import Provenance, Trail
from specwright.application.store.artifacts import FILE_HASHES, noted_hashes
from specwright.bootstrap.views import reading_project, stored_wires
from specwright.domain.artifacts import ArtifactEnvelope, ArtifactStatus
from specwright.errors import CorruptionError
from testkit.roles.overheard import Run
from testkit.stores import records

MODULES = (
    "to_cents",
    "parse_money",
    "split_evenly",
    "compute_balances",
    "settle_up",
    "render_report",
    "write_report",
)


def followed(project: Path, ref: str) -> Trail:
    """The chain of a module."""
    with reading_project(project) as view:
        return Provenance(view).trail(ref)


def test_the_chain_of_every_module_is_whole(run: Run):
    """Evidence, gate, rounds, contract, plan, reuse report, packs, task and spec, each the one that belongs (F-5-02,
    F-6-03, F-8-05, F-8-06)."""
    for name in MODULES:
        contract = run.contract(name)
        found = followed(run.project, contract.ref)
        assert found.contract.body == contract
        assert found.evidence.ref == contract.ref
        assert found.implementation.versions[0].status is ArtifactStatus.SHIPPED
        assert found.contract.status is found.plan.status is ArtifactStatus.SHIPPED
        assert name in {module.name for module in found.plan.body.modules}
        invoked = [one for one in run.invoked if {name, "plan", "contracts"} & {one.place.subject}]
        task = next(one.place.task for one in invoked if name == one.place.subject)
        wanted = [one.place.run_id for one in invoked if one.place.task == task]
        assert [one.contribution.produced_by.run_id for one in found.invocations] == wanted
        assert [one.context_pack.created_for.run_id for one in found.invocations] == wanted
        assert found.task.acceptance_criteria
        assert found.spec.spec.startswith("SPEC-001@1.0.0 ")
        assert json.dumps(found.to_json())


@pytest.mark.parametrize("name", MODULES)
def test_a_contract_is_debated_and_locked_before_its_module_is_begun(run: Run, name: str):
    """The ruling on the contracts comes before the first word of the Proposer, and what ships is the contract that was
    locked, by its hash (F-6-05, F-6-03, D10)."""
    found = followed(run.project, run.contract(name).ref)
    runs = [one.contribution.produced_by.run_id for one in found.invocations]
    locked = next(
        n for n, run_id in enumerate(runs) if "/contracts/" in run_id and run_id.endswith("/arbiter")
    )
    begun = next(n for n, run_id in enumerate(runs) if run_id.endswith("/proposer"))
    assert locked < begun
    sealed = run.project / "state_store/modules" / found.contract.body.ref.replace("@", "/") / "contract.json"
    body = next(
        (run.project / "state_store/artifacts").glob(f"*/{found.contract.artifact_id}/*/body/contract.json")
    )
    assert sealed.read_bytes() == body.read_bytes()
    definition = hashlib.sha256(sealed.read_bytes()).hexdigest()
    assert (run.project / "state_store/definitions" / definition).is_file()
    plans = [w for w in wires(run.project) if w["payload"].get("subject") == "plan.locked"]
    (lock,) = [w for w in plans if w["payload"]["reference"] == found.plan.artifact_id]
    ready = [
        w for w in wires(run.project) if w["payload"].get("artifact_id") == found.contract.body.module_id
    ]
    assert lock["ts"] < min(w["ts"] for w in ready)


def wires(project: Path) -> list[dict[str, Any]]:
    """Everything in the log."""
    return [stored["wire"] for stored in stored_wires(project)]


def test_every_artifact_of_a_run_came_by_the_store(run: Run):
    """The service notes each in the journal as it writes it: there is none beside these, and each is whole (F-8-16, F-8-01,
    F-8-03)."""
    noted = noted_hashes(record.answer for record in records(run.project, FILE_HASHES))
    base = run.project / "state_store"
    there = {p.relative_to(base).as_posix() for p in (base / "artifacts").rglob("*") if p.is_file()}
    assert there == {path for path in noted if path.startswith("artifacts/")}
    envelopes = [path for path in there if path.endswith("/envelope.json")]
    assert len(envelopes) == len({path.split("/")[2] for path in there}) > 50
    for path in envelopes:
        _, folder, name, version, _ = path.split("/")
        envelope = ArtifactEnvelope.from_bytes((base / path).read_bytes(), path)
        assert envelope.ref == f"{name}@{version}"
        assert any(other.startswith(f"artifacts/{folder}/{name}/{version}/body/") for other in there)
    assert {f"context_packs/{p.name}" for p in (base / "context_packs").iterdir()} < noted.keys()
    assert {f"contributions/{p.name}" for p in (base / "contributions").iterdir()} < noted.keys()


@pytest.mark.parametrize(
    ("name", "verdicts", "decisions", "versions"),
    [
        ("to_cents", ["PASS"], ["APPROVE"], ["1.0.0"]),
        ("split_evenly", ["FAIL", "PASS"], [None, "APPROVE"], ["1.0.1", "1.0.0"]),
        ("compute_balances", ["FAIL", "FAIL", "PASS"], [None, None, "APPROVE"], ["1.0.2", "1.0.1", "1.0.0"]),
        ("settle_up", ["PASS", "PASS"], ["REJECT", "APPROVE"], ["1.0.1", "1.0.0"]),
        ("render_report", ["PASS"], ["APPROVE_WITH_AMENDMENTS"], ["1.0.1", "1.0.0"]),
    ],
)
def test_the_debate_and_the_versions_are_told_by_round(
    run: Run, name: str, verdicts: list[str], decisions: list[str | None], versions: list[str]
):
    """What was challenged stays CHALLENGED, what was rejected went back to DRAFT, a revision is a higher version with
    another id (F-8-13, F-8-15, F-8-06, F-8-07, D11)."""
    found = followed(run.project, run.contract(name).ref)
    assert [r.challenge and r.challenge.verdict.value for r in found.implementation.rounds] == verdicts
    assert [
        r.adjudication.decision.value if r.adjudication else None for r in found.implementation.rounds
    ] == decisions
    assert [envelope.version for envelope in found.implementation.versions] == versions
    assert len({envelope.artifact_id for envelope in found.implementation.versions}) == len(versions)
    left = {"FAIL": ArtifactStatus.CHALLENGED, "REJECT": ArtifactStatus.DRAFT}
    for envelope, verdict, decision in zip(
        found.implementation.versions[::-1], verdicts, decisions, strict=False
    ):
        if envelope is not found.implementation.versions[0] and decision != "APPROVE_WITH_AMENDMENTS":
            assert envelope.status is left["FAIL" if verdict == "FAIL" else str(decision)]


def test_a_link_that_is_gone_is_named(run: Run, tmp_path: Path):
    """A chain with a hole is an error that says where, never a shorter chain; a sealed module without its contract, examples
    or evidence is reported before anything else (F-5-02, D-S7-03)."""
    ref = run.contract("to_cents").ref
    store = Path(shutil.copytree(run.project, tmp_path / "project")) / "state_store"
    for surface in ("contract.json", "examples.md", "ship.json"):
        path = store / "modules" / "/".join(ModuleRef.parse(ref)) / surface
        kept = path.read_bytes()
        path.write_bytes(b"\n")
        with pytest.raises(CorruptionError, match=f"{ref} has no {surface}"):
            followed(store.parent, ref)
        path.write_bytes(kept)
    followed(store.parent, ref)
    for link in (
        "artifacts/*/CTR-*",
        "debates/*",
        "context_packs/*",
        "artifacts/*/IMPL-*",
        "artifacts/*/RSR-*",
    ):
        project = Path(shutil.copytree(run.project, tmp_path / link.replace("*", "x")))
        for path in (project / "state_store").glob(link):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        with pytest.raises(CorruptionError) as broken:
            followed(project, ref)
        assert broken.value.where, link
