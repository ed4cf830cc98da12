"""One sealed version, proven from its files (D-20-03): its records, its hashes, the interface in its source, and that
its contract was locked. A file that is wrong is named by comparing it with the proposal that shipped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from specwright import canonical_json
from specwright.domain.contract import MicroModuleContract
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

__all__ = ["Fault", "SealedVersion", "Sources"]

_CONTRACT, _SHIP = "contract.json", "ship.json"
_ENTRY = "implementation/__init__.py"
_TREES = ("implementation", "tests")


class Fault(NamedTuple):
    """One thing that is not as it was written: a stable code, the file, and a sentence."""

    code: str
    where: str
    message: str


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


class SealedVersion:
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
