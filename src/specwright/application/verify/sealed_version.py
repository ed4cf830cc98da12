"""One sealed version, proven from its files (design: sealing): its records, its hashes, the interface in its source,
and that its contract was locked. A file that is wrong is named by comparing it with the proposal that shipped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from specwright import canonical_json
from specwright.application.store import layout
from specwright.application.store.artifacts import ArtifactStore
from specwright.application.store.modules import ModuleStore
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.modules.evidence import (
    EXECUTION_LOG,
    ExecutionLog,
    LogDigest,
    ShipEvidence,
    TreeHashes,
    tree_sha256,
)
from specwright.errors import CorruptionError, InputError, SpecwrightError
from specwright.ports.store import StateStore

_CONTRACT, _SHIP = layout.CONTRACT, layout.SHIP_EVIDENCE
_ENTRY = "implementation/__init__.py"
_TREES = ("implementation", "tests")


class VerifyFinding(NamedTuple):
    """One file that is not as it was written: a stable code, its path, and a sentence."""

    code: str
    where: str
    message: str


class SourceReader(Protocol):
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

    def __init__(self, store: StateStore, sources: SourceReader, ref: str, announced: str) -> None:
        self._store = store
        self._sources = sources
        self.ref = ref
        self._announced = announced
        self._base = layout.module(ref)
        self._files = store.tree(self._base)

    def findings(self) -> list[VerifyFinding]:
        """Everything that is wrong with the version."""
        if _SHIP not in self._files:
            # what a crash left before the seal is no version yet, unless the log says that it was one
            return (
                [self._finding("seal.missing", _SHIP, "the version was sealed, its seal is gone")]
                if self._announced
                else []
            )
        findings: list[VerifyFinding] = []
        evidence = self._record(_SHIP, ShipEvidence, findings)
        contract = self._record(_CONTRACT, MicroModuleContract, findings)
        log = self._record(EXECUTION_LOG, ExecutionLog, findings)
        if contract is not None:
            findings += self._contract_findings(contract)
        if evidence is not None:
            findings += self._evidence_findings(evidence, contract, log)
        wrong = tree_sha256(self._files) != self._announced
        if evidence is not None and contract is not None:
            hashes = TreeHashes.of(self._files)
            wrong = wrong or hashes != evidence.tree_sha256
            if wrong:
                findings += self._altered(evidence, contract, hashes)
        if wrong and not findings:
            # every other file has a hash or a copy of its own
            findings.append(self._finding("seal.changed", _SHIP, "it is not what the log announced"))
        return findings

    def _finding(self, code: str, path: str, message: str) -> VerifyFinding:
        return VerifyFinding(code, f"{self._base}/{path}", message)

    def _record(self, path: str, kind: type[Any], findings: list[VerifyFinding]) -> Any:
        if path not in self._files:
            findings.append(self._finding("seal.missing", path, "the file is gone"))
            return None
        try:
            return kind.from_bytes(self._files[path], path)
        except InputError as error:
            findings.append(self._finding("seal.invalid", path, error.what))
            return None

    def _contract_findings(self, contract: MicroModuleContract) -> Iterator[VerifyFinding]:
        if contract.ref != self.ref:
            yield self._finding("seal.changed", _CONTRACT, f"it is the contract of {contract.ref}")
        if canonical_json.sha256(self._files[_CONTRACT]) not in self._store.names(layout.DEFINITIONS):
            yield self._finding("seal.changed", _CONTRACT, "no such contract was ever locked")
        try:
            seen = self._sources.fingerprint(self._store.location / self._base, contract.name)
        except CorruptionError as error:
            yield self._finding("seal.surface", error.where or _ENTRY, error.what)
            return
        if seen != contract.interface_fingerprint:
            message = (
                f"the interface in the source is {seen}, the contract's is {contract.interface_fingerprint}"
            )
            yield self._finding("seal.surface", _ENTRY, message)

    def _evidence_findings(
        self, evidence: ShipEvidence, contract: MicroModuleContract | None, log: ExecutionLog | None
    ) -> Iterator[VerifyFinding]:
        if evidence.ref != self.ref:
            yield self._finding("seal.changed", _SHIP, f"it is the evidence of {evidence.ref}")
        if log is not None and (
            LogDigest(summary=log.summary, sha256=canonical_json.sha256(self._files[EXECUTION_LOG]))
            != evidence.execution_log
        ):
            yield self._finding(
                "seal.changed", EXECUTION_LOG, "it is not the execution log that ship.json names"
            )
        if contract is None:
            return
        if evidence.verification.interface_fingerprint != contract.interface_fingerprint:
            yield self._finding(
                "seal.changed", _SHIP, "it names another interface fingerprint than the contract has"
            )
        if evidence.dependency_fingerprints != self._dependencies(contract):
            yield self._finding(
                "seal.changed", _SHIP, "it names other interfaces of dependencies than they have"
            )

    def _dependencies(self, contract: MicroModuleContract) -> dict[str, str]:
        modules, found = ModuleStore(self._store), dict[str, str]()
        for dependency in contract.dependencies:
            try:
                found[dependency.ref] = modules.contract(dependency.ref).interface_fingerprint
            except SpecwrightError:
                found[dependency.ref] = ""
        return found

    def _altered(
        self, evidence: ShipEvidence, contract: MicroModuleContract, hashes: TreeHashes
    ) -> Iterator[VerifyFinding]:
        """The files that differ from the proposal that shipped, or the tree if that is gone too."""
        proposed = self._proposed(evidence)
        if not proposed:
            for tree in _TREES:
                if getattr(hashes, tree) != getattr(evidence.tree_sha256, tree):
                    yield self._finding("seal.changed", tree, "its files are not the sealed ones")
            return
        if _ENTRY in proposed:
            proposed[_ENTRY] = self._sources.with_docstring(proposed[_ENTRY], contract)
        sealed = {p: d for p, d in self._files.items() if p not in {_CONTRACT, _SHIP, EXECUTION_LOG}}
        for path in sorted(sealed.keys() | proposed.keys()):
            if path not in proposed:
                yield self._finding("seal.added", path, "the file was added after the version was sealed")
            elif path not in sealed:
                yield self._finding("seal.missing", path, "the file is gone")
            elif sealed[path] != proposed[path]:
                yield self._finding("seal.changed", path, "the file was changed after the version was sealed")

    def _proposed(self, evidence: ShipEvidence) -> dict[str, bytes]:
        """The files of the artifact that was sealed: the journal's scope ends with its id."""
        artifact = evidence.journal_ref.rpartition("/")[2]
        folder = ArtifactStore(self._store).folders().get(artifact, "")
        for version in self._store.names(layout.artifact(folder, artifact)):
            return self._store.tree(layout.body(folder, artifact, version))
        return {}
