"""From any shipped module the chain back to debate, plan, packs, task and spec, whole and readable (F§5.2)."""

import json
import shutil
from pathlib import Path

import pytest

from roles.conftest import run  # noqa: F401  # the fixture
from roles.overheard import Run
from specwright.application.trail import ModuleTrail, trail, trail_text
from specwright.bootstrap import reading_project
from specwright.domain.artifact import ArtifactStatus
from specwright.domain.ids import ModuleRef
from specwright.errors import CorruptionError

MODULES = (
    "to_cents",
    "parse_money",
    "split_evenly",
    "compute_balances",
    "settle_up",
    "render_report",
    "write_report",
)


def followed(project: Path, ref: str) -> ModuleTrail:
    """The chain of a module."""
    with reading_project(project) as view:
        return trail(view, ref)


@pytest.mark.parametrize("name", MODULES)
def test_the_chain_of_every_module_is_whole(run: Run, name: str):  # noqa: F811
    """Evidence, gate, rounds, contract, plan, reuse report, packs, task and spec, each the one that belongs (F-5-02,
    F-6-03, F-8-05, F-8-06)."""
    contract = run.contract(name)
    found = followed(run.project, contract.ref)
    assert found.contract == contract
    assert found.evidence.ref == contract.ref
    assert found.versions[0].status is ArtifactStatus.SHIPPED
    assert found.locked.status is found.planned.status is ArtifactStatus.SHIPPED
    assert name in {module.name for module in found.plan.modules}
    invoked = [one for one in run.invoked if one.place.subject in {name, "plan", "contracts"}]
    task = next(one.place.task for one in invoked if one.place.subject == name)
    wanted = [one.place.run_id for one in invoked if one.place.task == task]
    assert [one.contribution.produced_by.run_id for one in found.made] == wanted
    assert all(one.pack.created_for.run_id == one.contribution.produced_by.run_id for one in found.made)
    assert found.criteria
    assert found.spec.startswith("SPEC-001@1.0.0 ")
    assert json.dumps(found.to_json())


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
    run: Run,  # noqa: F811
    name: str,
    verdicts: list[str],
    decisions: list[str | None],
    versions: list[str],
):
    """What was challenged stays CHALLENGED, what was rejected went back to DRAFT, a revision is a higher version with
    another id (F-8-13, F-8-15, F-8-06, F-8-07, D11)."""
    found = followed(run.project, run.contract(name).ref)
    assert [r.challenge and r.challenge.verdict.value for r in found.rounds] == verdicts
    assert [r.adjudication.decision.value if r.adjudication else None for r in found.rounds] == decisions
    assert [envelope.version for envelope in found.versions] == versions
    assert len({envelope.artifact_id for envelope in found.versions}) == len(versions)
    left = {"FAIL": ArtifactStatus.CHALLENGED, "REJECT": ArtifactStatus.DRAFT}
    for envelope, verdict, decision in zip(found.versions[::-1], verdicts, decisions, strict=False):
        if envelope is not found.versions[0] and decision != "APPROVE_WITH_AMENDMENTS":
            assert envelope.status is left["FAIL" if verdict == "FAIL" else str(decision)]


def test_the_text_fits_and_says_every_link(run: Run):  # noqa: F811
    """At most 100 columns, from the module to the spec, ids and reasons included (F-5-02)."""
    found = followed(run.project, run.contract("render_report").ref)
    lines = trail_text(found)
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    for said in (
        found.contract.ref,
        found.evidence.ship_id,
        found.debate_id,
        found.contract_debate_id,
        found.locked.ref,
        found.planned.ref,
        *(one.pack.context_pack_id for one in found.made),
        *(one.contribution.artifact_ref for one in found.made),
        found.task_id,
        found.spec,
    ):
        assert said in text, said
    assert [line for line in lines if not line.startswith(" ")][1:] == [
        "Evidence",
        f"Implementation (debate {found.debate_id})",
        "Contract",
        f"Plan (debate {found.contract_debate_id})",
        "Reuse",
        "Who saw what",
        "Task",
        "Spec",
    ]


@pytest.mark.parametrize(
    "link", ["artifacts/*/CTR-*", "debates/*", "context_packs/*", "artifacts/*/IMPL-*", "artifacts/*/RSR-*"]
)
def test_a_link_that_is_gone_is_named(run: Run, tmp_path: Path, link: str):  # noqa: F811
    """A chain with a hole is an error that says where, never a shorter chain (F-5-02)."""
    project = Path(shutil.copytree(run.project, tmp_path / "project"))
    for path in (project / "state_store").glob(link):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(CorruptionError) as broken:
        followed(project, run.contract("to_cents").ref)
    assert broken.value.where


@pytest.mark.parametrize("surface", ["contract.json", "examples.md", "ship.json"])
def test_a_surface_that_is_not_whole_is_told_before_anything_else(run: Run, tmp_path: Path, surface: str):  # noqa: F811
    """A sealed module without its contract, examples or evidence is incomplete (D-S7-03, F-12-03)."""
    ref = run.contract("to_cents").ref
    project = Path(shutil.copytree(run.project, tmp_path / "project"))
    (project / "state_store/modules" / "/".join(ModuleRef.parse(ref)) / surface).write_bytes(b"\n")
    with pytest.raises(CorruptionError, match=f"{ref} has no {surface}"):
        followed(project, ref)
