"""The records of the store that are not sealed by a Wire, proven one by one (D-S9-11, ADR 0045).

Each validates by its schema; each that was noted when it was written has the hash that it had then. An envelope is
what it was created as, and its status follows from the grounds among its outputs, which are there. A record of a
debate is the very body of its artifact.
"""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from specwright import canonical_json
from specwright.application.proof.sealed_version import Fault
from specwright.domain.artifact import DEPRECATED_FOR, ArtifactEnvelope
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication, Challenge, Proposal
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.provenance import ContextPack, Contribution
from specwright.domain.record import Record
from specwright.domain.release import ReleaseManifest
from specwright.domain.resolutions import ResolutionRecord
from specwright.errors import SpecwrightError
from specwright.ports.store import StateStore

__all__ = ["StoredRecords"]

_DEBATED: dict[str, type[Record]] = {
    "proposal": Proposal,
    "challenge": Challenge,
    "adjudication": Adjudication,
}
_SCHEMAS: dict[str, type[Record]] = {
    **{f"debates/*/{name}.json": kind for name, kind in _DEBATED.items()},
    **{f"artifacts/*/body/{name}.json": kind for name, kind in _DEBATED.items()},
    "artifacts/*/envelope.json": ArtifactEnvelope,
    "artifacts/*/body/contract.json": MicroModuleContract,
    "context_packs/*.json": ContextPack,
    "contributions/*.json": Contribution,
    "escalations/ESC-*.json": EscalationArtifact,
    "resolutions/ESC-*.json": ResolutionRecord,
    "releases/*/manifest.json": ReleaseManifest,
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

    def faults(self) -> Iterator[Fault]:
        """Everything that is wrong with them; one fault a file."""
        unsound = {fault.where: fault for fault in self._invalid()}
        for fault in (*self._changed(), *self._copies(), *self._releases()):
            unsound.setdefault(fault.where, fault)
        yield from unsound.values()

    def _with_schema(self) -> Iterator[tuple[str, type[Record]]]:
        for path in self._paths:
            for pattern, kind in _SCHEMAS.items():
                if fnmatchcase(path, pattern):
                    yield path, kind

    def _invalid(self) -> Iterator[Fault]:
        for path, kind in self._with_schema():
            try:
                record = kind.from_bytes(self._store.read(path), path)
            except SpecwrightError as error:
                yield Fault("record.invalid", path, error.what)
                continue
            if isinstance(record, ArtifactEnvelope):
                yield from self._envelope_faults(path, record)

    def _envelope_faults(self, path: str, envelope: ArtifactEnvelope) -> Iterator[Fault]:
        if self._store.read(path) != envelope.to_bytes():
            yield Fault("record.changed", path, "it is not written as the factory writes it")
        if envelope.status is not envelope.status_by_grounds:
            yield Fault("record.changed", path, f"its outputs do not make it {envelope.status}")
        folder = path.split("/")[1]
        for output in envelope.outputs:
            name, _, version = output.ref.partition("@")
            place = f"artifacts/{folder}/{name}/{version}/envelope.json"
            if name.startswith("MM-"):
                place = f"modules/{name}/{version}/ship.json"
            elif output.purpose == DEPRECATED_FOR:
                continue  # a decision is no artifact of this folder
            if not self._store.exists(place):
                yield Fault("record.changed", path, f"there is no {output.ref}, which its outputs name")

    def _changed(self) -> Iterator[Fault]:
        for path, hashes in self._bound.items():
            if not self._store.exists(path):
                yield Fault("record.missing", path, "the file is gone")
                continue
            data = self._store.read(path)
            if path.endswith("/envelope.json"):
                try:
                    data = ArtifactEnvelope.from_bytes(data, path).as_created.to_bytes()
                except SpecwrightError:
                    continue  # told already
            if canonical_json.sha256(data) not in hashes:
                yield Fault("record.changed", path, "the file was changed after it was written")

    def _copies(self) -> Iterator[Fault]:
        """The records of each round, and the last of each kind at F§7's path."""
        bodies = {path.split("/")[2]: path for path in self._paths if "/body/" in path}
        for path in self._paths:
            kind = path.rpartition("/")[2].removesuffix(".json")
            if path.startswith("debates/") and kind in _DEBATED:
                yield from self._copy_of(path, kind, _DEBATED[kind], bodies)

    def _copy_of(
        self, path: str, kind: str, schema: type[Record], bodies: Mapping[str, str]
    ) -> Iterator[Fault]:
        try:
            name = str(schema.from_bytes(self._store.read(path), path).to_json()[f"{kind}_id"])
        except SpecwrightError:
            return  # told already
        body = bodies.get(name)
        if body is None:
            yield Fault("record.changed", path, f"there is no artifact {name}")
        elif self._store.read(body) != self._store.read(path):
            yield Fault("record.changed", path, f"it is not the body of {name}")

    def _releases(self) -> Iterator[Fault]:
        """A manifest is a definition that the log names, and its wheel has the hash that it says."""
        for release in self._store.names("releases"):
            path = f"releases/{release}/manifest.json"
            if not self._store.exists(path):
                continue  # what a crash left is no release yet
            data = self._store.read(path)
            if not self._store.exists(f"definitions/{canonical_json.sha256(data)}"):
                yield Fault("record.changed", path, "no such release was ever made")
                continue
            product = ReleaseManifest.from_bytes(data, path).product
            wheel = f"releases/{release}/{product.wheel}"
            if product.wheel and not self._store.exists(wheel):
                yield Fault("record.missing", wheel, "the file is gone")
            elif product.wheel and canonical_json.sha256(self._store.read(wheel)) != product.sha256:
                yield Fault("record.changed", wheel, "it is not the wheel that its manifest names")
