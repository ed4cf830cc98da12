"""Checks the records of the store that no sealed version holds, one by one (design: command-line).

Each validates by its schema; each that was noted when it was written has the hash that it had then. An envelope is
what it was created as, and its status follows from the grounds among its outputs, which are there. A record of a
debate is the very body of its artifact.
"""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from agent_wire import canonical_json
from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from specwright.application.store import layout
from specwright.application.verify.sealed_version import VerifyFinding
from specwright.domain.artifacts.artifact import ArtifactEnvelope, Purpose
from specwright.domain.artifacts.provenance import ContextPack, Contribution
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal
from specwright.domain.escalation.escalation import DebateTrail, EscalationArtifact
from specwright.domain.escalation.resolutions import ResolutionRecord
from specwright.domain.interface_change.decision import ExceptionDecision
from specwright.domain.interface_change.exception import InterfaceChangeException
from specwright.domain.modules.release import ReleaseManifest
from specwright.errors import SpecwrightErrors
from specwright.ports.store import StateStore

_DEBATED: dict[str, type[Record]] = {
    "proposal": Proposal,
    "challenge": Challenge,
    "adjudication": Adjudication,
}
_SCHEMAS: dict[str, type[Record]] = {
    **{layout.latest_record("*", name): kind for name, kind in _DEBATED.items()},
    **{f"{layout.ARTIFACTS}/*/body/{name}.json": kind for name, kind in _DEBATED.items()},
    f"{layout.ARTIFACTS}/*/envelope.json": ArtifactEnvelope,
    f"{layout.ARTIFACTS}/*/body/{layout.CONTRACT}": MicroModuleContract,
    layout.context_pack("*"): ContextPack,
    layout.contribution("*"): Contribution,
    layout.escalation("ESC-????????"): EscalationArtifact,
    layout.transcript("ESC-????????", "*"): DebateTrail,
    layout.resolution("ESC-*"): ResolutionRecord,
    layout.exception("ICE-????????"): InterfaceChangeException,
    layout.exception_decision("ICE-????????", "*"): ExceptionDecision,
    layout.manifest("*"): ReleaseManifest,
}


class StoredRecords:
    """The records of a store.

    Args:
        store: Read only.
        bound: The SHA-256 that files may have by their path, as the journal noted or the log names it.
    """

    def __init__(self, store: StateStore, bound: Mapping[str, Collection[str]]) -> None:
        self._store = store
        self._bound = bound
        folders = dict.fromkeys(pattern.partition("/")[0] for pattern in _SCHEMAS)
        self._paths = [f"{folder}/{path}" for folder in folders for path in store.tree(folder)]

    @property
    def count(self) -> int:
        """How many records have a schema."""
        return sum(1 for _ in self._with_schema())

    def findings(self) -> Iterator[VerifyFinding]:
        """Everything that is wrong with them; one finding a file."""
        by_path = {finding.where: finding for finding in self._invalid()}
        for finding in (*self._changed(), *self._copies(), *self._releases()):
            by_path.setdefault(finding.where, finding)
        yield from by_path.values()

    def _with_schema(self) -> Iterator[tuple[str, type[Record]]]:
        for path in self._paths:
            for pattern, kind in _SCHEMAS.items():
                if fnmatchcase(path, pattern):
                    yield path, kind

    def _invalid(self) -> Iterator[VerifyFinding]:
        for path, kind in self._with_schema():
            try:
                record = kind.from_bytes(self._store.read(path), path)
            except SpecwrightErrors as error:
                yield VerifyFinding("record.invalid", path, error.what)
                continue
            if isinstance(record, ArtifactEnvelope):
                yield from self._envelope_findings(path, record)

    def _envelope_findings(self, path: str, envelope: ArtifactEnvelope) -> Iterator[VerifyFinding]:
        if self._store.read(path) != envelope.to_bytes():
            yield VerifyFinding("record.changed", path, "it is not written as the factory writes it")
        if envelope.status is not envelope.status_by_grounds:
            yield VerifyFinding("record.changed", path, f"its outputs do not make it {envelope.status}")
        folder = path.split("/")[1]
        for output in envelope.outputs:
            name, _, version = output.ref.partition("@")
            place = layout.envelope(folder, name, version)
            if name.startswith("MM-"):
                place = layout.ship_evidence(output.ref)
            elif output.purpose == Purpose.DEPRECATED_FOR:
                continue  # a decision is no artifact of this folder
            if not self._store.exists(place):
                yield VerifyFinding(
                    "record.changed", path, f"there is no {output.ref}, which its outputs name"
                )

    def _changed(self) -> Iterator[VerifyFinding]:
        for path, hashes in self._bound.items():
            if not self._store.exists(path):
                yield VerifyFinding("record.missing", path, "the file is gone")
                continue
            data = self._store.read(path)
            if path.endswith("/envelope.json"):
                try:
                    data = ArtifactEnvelope.from_bytes(data, path).as_created.to_bytes()
                except SpecwrightErrors:
                    continue  # reported already
            if canonical_json.sha256(data) not in hashes:
                yield VerifyFinding("record.changed", path, "the file was changed after it was written")

    def _copies(self) -> Iterator[VerifyFinding]:
        """The newest records of each debate, which are copies."""
        ends = tuple(f"/body/{name}.json" for name in _DEBATED)
        bodies = {sha256 for path in self._paths if path.endswith(ends) for sha256 in self._hashes(path)}
        for path in self._paths:
            is_copy = any(fnmatchcase(path, layout.latest_record("*", name)) for name in _DEBATED)
            if is_copy and canonical_json.sha256(self._store.read(path)) not in bodies:
                yield VerifyFinding("record.changed", path, "it is the body of no artifact")

    def _hashes(self, path: str) -> Collection[str]:
        """What a file was written with, or what it hashes to if nothing noted that."""
        return self._bound.get(path) or {canonical_json.sha256(self._store.read(path))}

    def _releases(self) -> Iterator[VerifyFinding]:
        """A manifest is a definition that the log names, and its wheel has the hash that it says."""
        for release in self._store.names(layout.RELEASES):
            path = layout.manifest(release)
            if not self._store.exists(path):
                continue  # what a crash left is no release yet
            data = self._store.read(path)
            if not self._store.exists(layout.definition(canonical_json.sha256(data))):
                yield VerifyFinding("record.changed", path, "no such release was ever made")
                continue
            product = ReleaseManifest.from_bytes(data, path).product
            wheel = layout.wheel(release, str(product.wheel))
            if product.wheel and not self._store.exists(wheel):
                yield VerifyFinding("record.missing", wheel, "the file is gone")
            elif product.wheel and canonical_json.sha256(self._store.read(wheel)) != product.sha256:
                yield VerifyFinding("record.changed", wheel, "it is not the wheel that its manifest names")
