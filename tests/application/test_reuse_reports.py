"""Reuse first: a report for every module that is made, and an index whose entries lead to what they promise (F§14)."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolCall
from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract
from specwright.application.history.provenance import provenance
from specwright.bootstrap.views.reading import reading_project
from specwright.domain.answers.plan_answers import ReuseAnswer
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.plan import MicroPlan, ReuseSearchReport
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import FileJournal
from specwright.roles.agent.tools import search_tool
from testkit.cli.commands import SMALL, specwright
from testkit.loop.products import pair, rewrite
from testkit.roles.overheard import Run


def test_every_made_module_has_its_report(run: Run):
    """Query, candidates with the reason against each, conclusion, justification: a closed record `RSR-*` of its own, that
    the contract names and the plan's modules come to (F-14.3-06, F-14.3-07)."""
    base = run.project / "state_store/artifacts"
    reports = {path.parts[-4]: path.read_bytes() for path in base.glob("*/RSR-*/*/body/report.json")}
    planned = [
        module
        for path in base.glob("*/MP-*/*/body/plan.json")
        for module in MicroPlan.from_bytes(path.read_bytes(), "").modules
    ]
    assert len(reports) == len({module.name for module in planned}) > 5
    for data in reports.values():
        assert set(json.loads(data)) == {"query", "candidates_considered", "conclusion", "justification"}
        report = ReuseSearchReport.from_bytes(data, "report.json")
        assert report.query
        assert report.justification
        assert report.conclusion == "CREATE_NEW"
    with reading_project(run.project) as view:
        for path in base.glob("*/CTR-*/*/body/contract.json"):
            contract = MicroModuleContract.from_bytes(path.read_bytes(), "")
            assert provenance(view, contract.ref).reuse.to_bytes() in reports.values()


SOUND: dict[str, Any] = {
    "query": "split text into words",
    "candidates_considered": [{"module_ref": "MM-0a1b2c3d@1.0.0", "why_rejected": "it splits at commas"}],
    "conclusion": "CREATE_NEW",
    "justification": "nothing in the index splits at blanks",
}


@pytest.mark.parametrize(
    "changes",
    [
        {"query": ""},
        {"query": None},
        {"justification": " "},
        {"justification": None},
        {"conclusion": "BUILD"},
        {"conclusion": "REUSE_EXISTING"},
        {"reuse_ref": "MM-0a1b2c3d@1.0.0"},
        {"candidates_considered": [{"module_ref": "MM-0a1b2c3d@1.0.0"}]},
        {"candidates_considered": [{"module_ref": "MM-0a1b2c3d@1.0.0", "why_rejected": ""}]},
        {"score": 1},
    ],
)
def test_a_report_is_whole_or_no_report(changes: dict[str, Any]):
    """Each field is there and says something, and a reuse names what it reuses (F-14.3-06)."""
    ReuseAnswer.model_validate(SOUND)
    with pytest.raises(ValidationError):
        ReuseAnswer.model_validate({**SOUND, **changes})


@pytest.mark.parametrize(
    "spoil", [lambda module: module.pop("reuse"), lambda module: module["reuse"].update(query="")]
)
def test_a_planner_that_gives_no_report_gets_nothing_made(tmp_path: Path, spoil: Any):
    """The submission is refused with what is missing, no contract is locked and no module begun (F-14.3-07)."""
    playbook = pair(tmp_path / "playbook")
    planner = playbook / "TSK-001/planner.json"
    plan = json.loads(planner.read_text())["plan"]
    spoil(plan["modules"][0])
    rewrite(planner, plan=plan)
    project = tmp_path / "project"
    model = f"playbook:{playbook}"
    told = specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model, "--approve")
    assert told.code == 1, told  # a playbook cannot answer again, and the approval stands
    assert "reuse" in told.err
    assert not (project / "state_store/modules").exists()
    assert list((project / "state_store").glob("artifacts/*/CTR-*")) == []


def test_every_reference_of_an_entry_leads_to_its_file(run: Run):
    """Contract, examples and evidence of the very version, below `state_store/` (F-14.1-10)."""
    store = run.project / "state_store"
    with closing(SqliteCodeIndex(store / "code_index", load_embedder("wordllama"))) as index:
        entries = index.entries()
    assert len(entries) > 5
    for entry in entries:
        contract = MicroModuleContract.from_bytes(
            (store / entry.contract_ref).read_bytes(), entry.contract_ref
        )
        evidence = ShipEvidence.from_bytes((store / entry.ship_ref).read_bytes(), entry.ship_ref)
        assert contract.ref == evidence.ref == entry.ref
        assert (store / entry.examples_ref).read_text().startswith("#")
        assert {Path(ref).name for ref in (entry.contract_ref, entry.examples_ref, entry.ship_ref)} == {
            "contract.json",
            "examples.md",
            "ship.json",
        }


def test_what_a_search_shows_is_trimmed(run: Run, tmp_path: Path):
    """Enough to choose by: what it is, what goes in and out, how near. Paths, tags and dependencies come on request
    (D-S12-09)."""
    with closing(
        SqliteCodeIndex(run.project / "state_store/code_index", load_embedder("wordllama"))
    ) as index:
        journal = FileJournal(tmp_path / "journal.jsonl")
        tool = search_tool(index, journal, "TSK-001.1/plan/round-1/planner")
        call = ToolCall(name=tool.name, args={"query": "amounts"}, id="call-1", type="tool_call")
        found = json.loads(tool.invoke(call).content)
        journal.close()
        entries = {entry.ref: entry for entry in index.entries()}
    assert len(found) == len(entries)
    for hit in found:
        assert set(hit) == {"module_ref", "name", "purpose", "io_summary", "status", "similarity_score"}
        assert entries[hit["module_ref"]].purpose == hit["purpose"]
