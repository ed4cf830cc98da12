"""The documents about modules that were imported from module directories (design: command-line, adopted-modules)."""

from typing import Literal

from typing_extensions import TypedDict

from specwright.application.history.rounds import DebateRounds
from specwright.cli.documents.parts import Document, Finding
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.modules.adopted import AdoptedRuling, AdoptedVersion
from specwright.domain.modules.evidence import ShipEvidence


class ImportedRow(TypedDict):
    """A module directory that was imported; `refused` says why no plan may use it."""

    directory: str
    name: str
    state: Literal["adopted", "waiting", "unchanged", "failed", "left_out"]
    module_ref: str | None
    tests: int
    replaces: str | None
    findings: list[Finding]
    refused: str


class Imported(Document):
    """What became of module directories that were imported; all were taken, or none."""

    modules: list[ImportedRow]
    exit_code: int


class AdoptedChain(Document):
    """How a module came in that was not made here."""

    adopted: AdoptedVersion
    evidence: ShipEvidence
    contract: MicroModuleContract
    ruling: AdoptedRuling | None
    debate: DebateRounds | None
    users: list[str]


class AdoptedStatus(TypedDict):
    """A version that was adopted, and what became of it."""

    module_ref: str
    name: str
    adopted_from: str
    provenance: Literal["adopted"]
    state: Literal["waiting", "sealed", "retired", "refused"]
