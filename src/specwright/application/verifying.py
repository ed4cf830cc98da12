"""Is everything that was shipped still what was shipped? Recomputed from files alone, offline (D-20-03, D-S9-11).

For every sealed version: that its records validate, that the hashes in `ship.json` and in the Wire that
announced it are those of its files, that the interface in its source is the contract's, that the contract is one
that was locked. Then every definition, the records of the debates and artifacts, and that `state_machine.json`
is the projection of the log (D29). What is wrong is told with the file that is wrong.

Left out: the log's own chain, which `log.verify` proves; whether the tests still pass, which needs the sandbox."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from specwright import canonical_json
from specwright.application.projection import STATE_FILE, Projection
from specwright.domain.artifact import ArtifactEnvelope
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication, Challenge, Proposal
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.provenance import ContextPack, Contribution
from specwright.domain.record import Record
from specwright.domain.release import ReleaseManifest
from specwright.domain.ship import (
    EXECUTION_LOG,
    ExecutionLog,
    LogDigest,
    ShipEvidence,
    TreeHashes,
    tree_sha256,
)
from specwright.errors import CorruptionError, InputError, SpecwrightError
from specwright.ports.store import StateStore
from specwright.ports.wire_log import WireLog

__all__ = ["Checked", "Fault", "Sources", "verify_store"]

_CONTRACT, _SHIP, _EXAMPLES = "contract.json", "ship.json", "examples.md"
_ENTRY = "implementation/__init__.py"
_TREES = ("implementation", "tests")
_RECORDS: dict[str, type[Record]] = {
    "debates/*/proposal.json": Proposal,
    "debates/*/challenge.json": Challenge,
    "debates/*/adjudication.json": Adjudication,
    "artifacts/*/envelope.json": ArtifactEnvelope,
    "artifacts/*/body/proposal.json": Proposal,
    "artifacts/*/body/challenge.json": Challenge,
    "artifacts/*/body/adjudication.json": Adjudication,
    "artifacts/*/body/contract.json": MicroModuleContract,
    "context_packs/*.json": ContextPack,
    "contributions/*.json": Contribution,
    "escalations/ESC-*.json": EscalationArtifact,
    "releases/*/manifest.json": ReleaseManifest,
}


class Fault(NamedTuple):
    """One thing that is not as it was written: a stable code, the file, and a sentence."""

    code: str
    where: str
    message: str


class Checked(NamedTuple):
    """What was looked at, and what is wrong with it."""

    modules: int
    definitions: int
    records: int
    wires: int
    faults: tuple[Fault, ...]


class Sources(Protocol):
    """Reads the sources of sealed versions."""

    def fingerprint(self, directory: Path, name: str) -> str:
        """The fingerprint of the surface that a version's source has.

        Raises:
            CorruptionError: it has none.
        """
        ...

    def with_docstring(self, source: bytes, contract: MicroModuleContract) -> bytes:
        """A proposal's entry file as it ships."""
        ...


class _Told(NamedTuple):
    """What the log says: what each version's files hashed to, which definitions it refers to, its length."""

    announced: dict[str, str]
    definitions: dict[str, int]
    wires: int


def verify_store(store: StateStore, log: WireLog, sources: Sources, *, at_rest: bool) -> Checked:
    """Recompute everything.

    Args:
        store: `state_store/`; it is only read.
        log: The project's, which is read as far as it can be.
        sources: Reads sealed sources.
        at_rest: Whether no run goes on; the state file may lag behind a run by a second.
    """
    faults: list[Fault] = []
    told = _read_log(log, faults)
    versions = [
        _Version(store, sources, name, version, told.announced.get(f"{name}@{version}", ""))
        for name in store.names("modules")
        for version in store.names(f"modules/{name}")
    ]
    for version in versions:
        faults += version.faults()
    there = {f"{version.name}@{version.number}" for version in versions}
    for ref in sorted(told.announced.keys() - there):
        faults.append(Fault("seal.missing", f"modules/{ref.replace('@', '/')}", "the sealed version is gone"))
    definitions = store.names("definitions")
    faults += _definition_faults(store, definitions, told)
    records = _record_paths(store)
    faults += (fault for path, kind in records if (fault := _record_fault(store, path, kind)))
    if at_rest:
        faults += _projection_faults(store, log)
    return Checked(len(versions), len(definitions), len(records), told.wires, tuple(dict.fromkeys(faults)))


def _read_log(log: WireLog, faults: list[Fault]) -> _Told:
    told = _Told({}, {}, 0)
    wires = 0
    try:
        for entry in log.entries():
            wires += 1
            payload = cast("dict[str, Any]", entry.wire["payload"])
            if sha256 := payload.get("definition_sha256"):
                told.definitions.setdefault(str(sha256), entry.sequence_number)
            if entry.wire["type"] == "artifact.ready":
                ref = f"{payload['artifact_id']}@{payload['version']}"
                # a task that reuses it announces it again; the first is from when it was sealed
                told.announced.setdefault(ref, str(payload["sha256"]))
    except (SpecwrightError, KeyError, TypeError) as error:
        faults.append(Fault("log.unreadable", "wire.db", f"Wire {wires + 1} cannot be read: {error}"))
    return told._replace(wires=wires)


class _Version:
    """One directory below `modules/`."""

    def __init__(self, store: StateStore, sources: Sources, name: str, number: str, announced: str) -> None:
        self._store = store
        self._sources = sources
        self.name = name
        self.number = number
        self._announced = announced
        self._base = f"modules/{name}/{number}"
        self._files = store.tree(self._base)

    def faults(self) -> list[Fault]:
        """Everything that is wrong with it."""
        if _SHIP not in self._files:
            # what a crash left before the seal is no version yet, unless the log says that it was one
            return (
                [self._fault("seal.missing", _SHIP, "the version was sealed, its seal is gone")]
                if self._announced
                else []
            )
        faults: list[Fault] = []
        evidence = self._record(_SHIP, ShipEvidence, faults)
        contract = self._record(_CONTRACT, MicroModuleContract, faults)
        log = self._record(EXECUTION_LOG, ExecutionLog, faults)
        if contract is not None:
            faults += self._contract_faults(contract)
        if evidence is not None:
            faults += self._evidence_faults(evidence, contract, log)
        wrong = tree_sha256(self._files) != self._announced
        if evidence is not None and contract is not None:
            hashes = TreeHashes.of(self._files)
            wrong = wrong or hashes != evidence.tree_sha256
            if wrong:
                faults += self._altered(evidence, contract, hashes)
        if wrong and not faults:
            # every other file has a hash or a copy of its own
            faults.append(self._fault("seal.changed", _SHIP, "it is not what the log announced"))
        return faults

    def _fault(self, code: str, path: str, message: str) -> Fault:
        return Fault(code, f"{self._base}/{path}", message)

    def _record(self, path: str, kind: type[Any], faults: list[Fault]) -> Any:
        if path not in self._files:
            faults.append(self._fault("seal.missing", path, "the file is gone"))
            return None
        try:
            return kind.from_bytes(self._files[path], path)
        except InputError as error:
            faults.append(self._fault("seal.invalid", path, error.what))
            return None

    def _contract_faults(self, contract: MicroModuleContract) -> Iterator[Fault]:
        if contract.ref != f"{self.name}@{self.number}":
            yield self._fault("seal.changed", _CONTRACT, f"it is the contract of {contract.ref}")
        if canonical_json.sha256(self._files[_CONTRACT]) not in self._store.names("definitions"):
            yield self._fault("seal.changed", _CONTRACT, "no such contract was ever locked")
        try:
            seen = self._sources.fingerprint(self._store.location / self._base, contract.name)
        except CorruptionError as error:
            yield self._fault("seal.surface", error.where or _ENTRY, error.what)
            return
        if seen != contract.interface_fingerprint:
            message = (
                f"the interface in the source is {seen}, the contract's is {contract.interface_fingerprint}"
            )
            yield self._fault("seal.surface", _ENTRY, message)

    def _evidence_faults(
        self, evidence: ShipEvidence, contract: MicroModuleContract | None, log: ExecutionLog | None
    ) -> Iterator[Fault]:
        if evidence.ref != f"{self.name}@{self.number}":
            yield self._fault("seal.changed", _SHIP, f"it is the evidence of {evidence.ref}")
        if log is not None and (
            LogDigest(summary=log.summary, sha256=canonical_json.sha256(self._files[EXECUTION_LOG]))
            != evidence.execution_log
        ):
            yield self._fault(
                "seal.changed", EXECUTION_LOG, "it is not the execution log that ship.json names"
            )
        if contract is None:
            return
        if evidence.verification.interface_fingerprint != contract.interface_fingerprint:
            yield self._fault(
                "seal.changed", _SHIP, "it names another interface fingerprint than the contract has"
            )
        if evidence.dependency_fingerprints != self._dependencies(contract):
            yield self._fault(
                "seal.changed", _SHIP, "it names other interfaces of dependencies than they have"
            )

    def _dependencies(self, contract: MicroModuleContract) -> dict[str, str]:
        found: dict[str, str] = {}
        for dependency in contract.dependencies:
            path = f"modules/{dependency.ref.replace('@', '/')}/{_CONTRACT}"
            try:
                found[dependency.ref] = MicroModuleContract.from_bytes(
                    self._store.read(path), path
                ).interface_fingerprint
            except SpecwrightError:
                found[dependency.ref] = ""
        return found

    def _altered(
        self, evidence: ShipEvidence, contract: MicroModuleContract, hashes: TreeHashes
    ) -> Iterator[Fault]:
        """The files that differ from the proposal that shipped, or the tree if that is gone too."""
        proposed = self._proposed(evidence)
        if not proposed:
            for tree in _TREES:
                if getattr(hashes, tree) != getattr(evidence.tree_sha256, tree):
                    yield self._fault("seal.changed", tree, "its files are not the sealed ones")
            return
        if _ENTRY in proposed:
            proposed[_ENTRY] = self._sources.with_docstring(proposed[_ENTRY], contract)
        sealed = {p: d for p, d in self._files.items() if p not in {_CONTRACT, _SHIP, EXECUTION_LOG}}
        for path in sorted(sealed.keys() | proposed.keys()):
            if path not in proposed:
                yield self._fault("seal.added", path, "the file was added after the version was sealed")
            elif path not in sealed:
                yield self._fault("seal.missing", path, "the file is gone")
            elif sealed[path] != proposed[path]:
                yield self._fault("seal.changed", path, "the file was changed after the version was sealed")

    def _proposed(self, evidence: ShipEvidence) -> dict[str, bytes]:
        """The files of the artifact that was sealed: the journal's scope ends with its id."""
        artifact = evidence.journal_ref.rpartition("/")[2]
        for folder in self._store.names("artifacts"):
            for version in self._store.names(f"artifacts/{folder}/{artifact}"):
                return self._store.tree(f"artifacts/{folder}/{artifact}/{version}/body")
        return {}


def _definition_faults(store: StateStore, names: list[str], told: _Told) -> Iterator[Fault]:
    for name in names:
        path = f"definitions/{name}"
        if canonical_json.sha256(store.read(path)) != name:
            yield Fault("definition.changed", path, "its bytes have another hash than its name")
    for sha256 in sorted(told.definitions.keys() - set(names)):
        message = f"Wire {told.definitions[sha256]} refers to it, but it is gone"
        yield Fault("definition.missing", f"definitions/{sha256}", message)


def _record_paths(store: StateStore) -> list[tuple[str, type[Record]]]:
    folders = dict.fromkeys(pattern.partition("/")[0] for pattern in _RECORDS)
    paths = [f"{folder}/{path}" for folder in folders for path in store.tree(folder)]
    return [
        (path, kind) for path in paths for pattern, kind in _RECORDS.items() if fnmatchcase(path, pattern)
    ]


def _record_fault(store: StateStore, path: str, kind: type[Record]) -> Fault | None:
    try:
        kind.from_bytes(store.read(path), path)
    except SpecwrightError as error:
        return Fault("record.invalid", path, error.what)
    return None


def _projection_faults(store: StateStore, log: WireLog) -> Iterator[Fault]:
    projection = Projection(log, store, lambda: 0.0)
    try:
        projection.catch_up()
    except CorruptionError as error:
        yield Fault("state.unprovable", error.where, error.what)
        return
    state = projection.state
    if state is None:
        if store.exists(STATE_FILE):
            yield Fault("state.changed", STATE_FILE, "the log knows of no tasks")
    elif not store.exists(STATE_FILE):
        yield Fault("state.missing", STATE_FILE, "the file is gone; the next run writes it again")
    elif (stored := store.read(STATE_FILE)) != state.to_bytes():
        yield Fault("state.changed", STATE_FILE, _difference(stored, state.to_json()))


def _difference(stored: bytes, expected: Mapping[str, Any]) -> str:
    try:
        value = canonical_json.loads(stored)
    except ValueError as error:
        return f"it is no JSON: {error}"
    if isinstance(value, dict) and (tasks := cast("dict[str, Any]", value).get("tasks")) != expected["tasks"]:
        known = cast("dict[str, Any]", tasks) if isinstance(tasks, dict) else {}
        names = [n for n in {**expected["tasks"], **known} if known.get(n) != expected["tasks"].get(n)]
        return f"it is not what the log says of {', '.join(names[:5])}; only the log counts"
    return "it is not the projection of the log; only the log counts"
