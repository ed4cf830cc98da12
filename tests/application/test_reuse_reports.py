"""Reuse first: a report for every module that is made, and an index whose entries lead to what they promise (F§14)."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract
from specwright.application.history.provenance import Provenance
from specwright.bootstrap.views import reading_project
from specwright.domain.answers import ReuseAnswer
from specwright.domain.modules.evidence import ShipEvidence
from specwright.domain.plan import MicroPlan, ReuseSearchReport
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from testkit.roles.overheard import Run
from testkit.stores import records


def test_a_report_names_a_query_that_was_asked(run: Run):
    """By the planner, or by code before the plan where the planner names one that it never asked (F-10-03, F-14.3-06)."""
    answers: list[Any] = [record.answer for record in records(run.project, "model")]
    calls = [call for answer in answers for call in answer["message"]["data"]["tool_calls"]]
    asked = {call["args"]["query"] for call in calls if call["name"] == "search_code_index"}
    with reading_project(run.project) as view:
        by_code = {f"{one.name}. {one.description}" for one in view.projection.definitions.values()}
    base = run.project / "state_store/artifacts"
    named = {json.loads(path.read_bytes())["query"] for path in base.glob("*/RSR-*/*/body/report.json")}
    assert named <= asked | by_code
    assert named & asked
    assert named & by_code
    nearest = {
        one.place.scope for one in records(run.project, "tool") if one.place.scope.endswith("/nearest")
    }
    assert len(nearest) == len(by_code)


def test_every_made_module_has_its_report(run: Run):
    """Query, candidates with the reason against each, conclusion, justification: a closed record `RSR-*` of its own, that
    the contract names and the plan's modules come to (F-14.3-06)."""
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
            assert Provenance(view).trail(contract.ref).reuse.to_bytes() in reports.values()


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
