"""One sealed version, proven from its files (design: sealing).

The log has one hash over all of its files; the journal has one of each, which names the file that is wrong. The
interface is read from the source again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from agent_wire import canonical_json
from ship_gate.verdict import ENTRY_FILE, SealedModule
from specwright.application.store import layout
from specwright.application.store.modules import ModuleStore
from specwright.domain.base.graph import reachable
from specwright.domain.modules.evidence import tree_sha256
from specwright.errors import CorruptionErrors, InputErrors
from specwright.ports.store import StateStore


class VerifyFinding(NamedTuple):
    """One file that is not as it was written: a stable code, its path, and a sentence."""

    code: str
    where: str
    message: str


SourceReader: TypeAlias = Callable[[SealedModule, Sequence[SealedModule]], str]
"""Reads the fingerprint of the surface in the source of a version, whose classes may be those of what it calls.

Raises:
    CorruptionError: the source has no such surface.
"""


def version_findings(
    store: StateStore, read: SourceReader, ref: str, announced: str, noted: Mapping[str, str]
) -> list[VerifyFinding]:
    """Everything that is wrong with one directory below `modules/`.

    Args:
        store: Read only.
        read: Reads its source.
        ref: `MM-...@x.y.z`.
        announced: The hash of its files in the log; empty if it was not announced.
        noted: The hashes of files in the journal, by their paths in the store.
    """
    modules, base = ModuleStore(store), layout.module(ref)
    if not announced and not modules.is_sealed(ref):
        return []  # what a crash left before the seal is no version yet
    files = modules.tree(ref)
    findings = list(_file_findings(base, files, noted))
    if not modules.is_sealed(ref) and not findings:
        seal = layout.ship_evidence(ref)
        findings.append(VerifyFinding("seal.missing", seal, "the version was sealed, its seal is gone"))
    if not findings and tree_sha256(files) != announced:
        where = layout.ship_evidence(ref)
        findings.append(VerifyFinding("seal.changed", where, "the version is not what the log announced"))
    return [*findings, *_surface_findings(modules, read, ref)]


def _file_findings(
    base: str, files: Mapping[str, bytes], noted: Mapping[str, str]
) -> Iterator[VerifyFinding]:
    """The files that are not what was sealed; none without notes, since the log does not name files."""
    sealed = {path: sha256 for path, sha256 in noted.items() if path.startswith(f"{base}/")}
    found = {f"{base}/{path}": canonical_json.sha256(data) for path, data in files.items()} if sealed else {}
    for path in sorted(sealed.keys() | found.keys()):
        if path not in sealed:
            yield VerifyFinding("seal.added", path, "the file was added after the version was sealed")
        elif path not in found:
            yield VerifyFinding("seal.missing", path, "the file is gone")
        elif found[path] != sealed[path]:
            yield VerifyFinding("seal.changed", path, "the file was changed after the version was sealed")


def _surface_findings(modules: ModuleStore, read: SourceReader, ref: str) -> Iterator[VerifyFinding]:
    entry = f"{layout.module(ref)}/{ENTRY_FILE}"
    try:
        contract = modules.contract(ref)
        seen = read(SealedModule(contract, modules.location(ref)), _called(modules, ref))
    except InputErrors as error:
        yield VerifyFinding("seal.invalid", layout.module_contract(ref), error.what)
        return
    except CorruptionErrors as error:
        yield VerifyFinding("seal.surface", error.where or entry, error.what)
        return
    if seen != contract.interface_fingerprint:
        message = f"the interface in the source is {seen}, the contract's is {contract.interface_fingerprint}"
        yield VerifyFinding("seal.surface", entry, message)


def _called(modules: ModuleStore, ref: str) -> list[SealedModule]:
    """The modules that a version calls, directly or not, as far as their contracts can be read: what is wrong with one is
    a finding of its own."""
    found = dict[str, SealedModule]()

    def calls(version: str) -> list[str]:
        try:
            contract = modules.contract(version)
        except (*InputErrors, *CorruptionErrors):
            return []
        found[version] = SealedModule(contract, modules.location(version))
        return [dependency.ref for dependency in contract.dependencies]

    return [found[called] for called in list(reachable([ref], calls)) if called in found]
