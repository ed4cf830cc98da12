"""The layout of `state_store/` as F§7 has it, with D15 and D20: every path of it, and what stands there."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_wire import canonical_json
from agent_wire.entries import LogEnd
from ship_gate.base.record import OmittedIfEmpty, Record
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import RegressionTests
from specwright.domain.answers import AmendmentsAnswer, Failure, PlanAnswer
from specwright.domain.artifacts import ArtifactEnvelope, ContextPack, Contribution
from specwright.domain.debate.records import Adjudication, Challenge, Proposal
from specwright.domain.escalation import EscalationArtifact, ResolutionRecord
from specwright.domain.modules.evidence import ExecutionLog, ShipEvidence
from specwright.domain.modules.release import AcceptanceReport, ReleaseManifest
from specwright.domain.plan import MicroPlan, ReuseSearchReport
from specwright.domain.spec.completeness import ValidationReport
from specwright.domain.spec.draft_history import DraftHistory
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks.project_state import ProjectState
from specwright.domain.tasks.task_file import TaskDefinition

__all__ = ["examine_store"]

Look = Callable[[bytes], None]


def _record(schema: type[Record]) -> Look:
    def look(data: bytes) -> None:
        assert schema.from_bytes(data, "here").to_bytes() == data

    return look


def _text(data: bytes) -> None:
    assert data.decode()


def _json(data: bytes) -> None:
    assert canonical_json.pretty(canonical_json.loads(data)) == data


def _obligations(data: bytes) -> None:
    claims = json.loads(data)
    assert all(isinstance(pointer, str) for pointers in claims.values() for pointer in pointers)


def _amendments(data: bytes) -> None:
    AmendmentsAnswer.model_validate(json.loads(data)["answer"])


def _gate(data: bytes) -> None:
    for failure in json.loads(data)["failures"]:
        Failure.model_validate(failure)


def _acceptance(data: bytes) -> None:
    assert canonical_json.pretty(AcceptanceReport.from_document(data, "here").document) == data


def _wheel(data: bytes) -> None:
    assert data.startswith(b"PK")


DEFINED = (
    ProductSpec,
    TaskDefinition,
    MicroModuleContract,
    EscalationArtifact,
    ResolutionRecord,
    ReleaseManifest,
)


def _omitted(schema: type[Record]) -> set[str]:
    """The fields that stand in the JSON of a record only if they say something."""
    return set(schema.omitted) if issubclass(schema, OmittedIfEmpty) else set()


def _definition(data: bytes) -> None:
    """One of the things that Wires refer to; a locked plan is known by its keys."""
    value: dict[str, Any] = json.loads(data)
    if set(value) == {"plan", "fingerprints", "contracts"}:
        MicroPlan.model_validate(value["plan"])
        return
    fitting = [
        schema
        for schema in DEFINED
        if set(schema.model_fields) - _omitted(schema) == set(value) - _omitted(schema)
    ]
    assert len(fitting) == 1, value
    _record(fitting[0])(data)


ARTIFACT = r"artifacts/[a-z0-9-]+/(?:MP|CTR|RSR|IMPL|PROP|CHAL|ADJ)-[0-9a-f]{8}/\d+\.\d+\.\d+"
DEBATE = r"debates/PROP-[0-9a-f]{8}"
MODULE = r"modules/MM-[0-9a-f]{8}/\d+\.\d+\.\d+"
UNPROPOSED = r"unproposed-TSK-\d{3,}\.\d+(?:r\d+)?-(?:round|amended)-\d"
DRAFT = rf"drafts/MM-[0-9a-f]{{8}}/\d+\.\d+\.\d+/(?:IMPL-[0-9a-f]{{8}}|{UNPROPOSED})"

LAYOUT: list[tuple[str, Look]] = [
    (r"project/state_machine\.json", _record(ProjectState)),
    (r"product/SPEC\.md|product/(spec|spec_in_full|acceptance)\.md", _text),
    (r"product/spec\.json", _record(ProductSpec)),
    (r"product/validation\.json", _record(ValidationReport)),
    (r"product/sources\.json", _json),
    (r"product/history\.json", _record(DraftHistory)),
    (rf"{ARTIFACT}/envelope\.json", _record(ArtifactEnvelope)),
    (rf"{ARTIFACT}/body/plan\.json", _record(MicroPlan)),
    (rf"{ARTIFACT}/body/answer\.json", _record(PlanAnswer)),
    (rf"{ARTIFACT}/body/contracts\.json", _json),
    (rf"{ARTIFACT}/body/report\.json", _record(ReuseSearchReport)),
    (rf"(?:{ARTIFACT}/body|{MODULE}|{DRAFT})/contract\.json", _record(MicroModuleContract)),
    (rf"(?:{ARTIFACT}/body|{DEBATE})/proposal\.json", _record(Proposal)),
    (rf"(?:{ARTIFACT}/body|{DEBATE})/challenge\.json", _record(Challenge)),
    (rf"(?:{ARTIFACT}/body|{DEBATE})/adjudication\.json", _record(Adjudication)),
    (rf"{DEBATE}/amendments-\d+\.json", _amendments),
    (rf"{DEBATE}/gate-\d+-(?:MP|IMPL)-[0-9a-f]{{8}}\.json", _gate),
    (rf"(?:{ARTIFACT}/body|{MODULE}|{DRAFT})/(?:implementation|tests)/\w+\.py", _text),
    (rf"(?:{ARTIFACT}/body|{MODULE}|{DRAFT})/tests/obligations\.json", _obligations),
    (rf"(?:{ARTIFACT}/body|{MODULE}|{DRAFT})/examples\.md", _text),
    (rf"{MODULE}/tests/execution_log\.json", _record(ExecutionLog)),
    (rf"{MODULE}/ship\.json", _record(ShipEvidence)),
    (rf"{MODULE}/falsifying_tests\.json", _record(RegressionTests)),
    (rf"{DRAFT}/escalation(?:-r\d+)?\.json", _json),
    (rf"{DRAFT}/findings\.json", _json),
    (r"context_packs/CP-[0-9a-f]{8}\.json", _record(ContextPack)),
    (r"contributions/CONTRIB-[0-9a-f]{8}\.json", _record(Contribution)),
    (r"escalations/ESC-[0-9a-f]{8}\.json", _record(EscalationArtifact)),
    (r"resolutions/ESC-[0-9a-f]{8}\.json", _record(ResolutionRecord)),
    (r"(?:project|releases/REL-[0-9a-f]{8})/log_end\.json", _record(LogEnd)),
    (r"releases/REL-[0-9a-f]{8}/manifest\.json", _record(ReleaseManifest)),
    (r"releases/REL-[0-9a-f]{8}/acceptance\.json", _acceptance),
    (r"releases/REL-[0-9a-f]{8}/acceptance\.md", _text),
    (r"releases/REL-[0-9a-f]{8}/[\w.-]+\.whl", _wheel),
    (r"definitions/[0-9a-f]{64}", _definition),
    (r"code_index/.*", lambda data: None),
]


def examine_store(project: Path) -> set[str]:
    """Hold every file of a store against the layout; returns the names of its folders.

    Fails on a file that has no place in it, or that is not what stands there.
    """
    base, met = project / "state_store", set[str]()
    for path in sorted(base.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(base).as_posix()
        places = [(pattern, look) for pattern, look in LAYOUT if re.fullmatch(pattern, name)]
        assert len(places) == 1, f"{name} has {len(places)} places in the layout"
        places[0][1](path.read_bytes())
        met.add(name.partition("/")[0])
        if name.startswith("definitions/"):
            assert canonical_json.sha256(path.read_bytes()) == path.name
    return met
