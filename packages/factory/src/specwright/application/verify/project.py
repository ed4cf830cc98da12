"""Recomputes from files alone, offline, whether everything is still what was written (design: sealing, command-line).

Every file below `state_store/` is bound in one of four ways. The log names the hash of what its Wires announce: sealed
versions, definitions, escalations and their answers, gate records, the approved spec, release manifests. The journal
has the hash of every other record, and of each file of a sealed version, so that the one that was changed is named.
Records of debates are copies of artifacts. State file, task files and Code Index
are computed again and compared. `_bound_hashes` and `_BOUND_OTHERWISE` say which file is bound how; a file that
nothing binds is reported as such.

Left out: the log's own chain, which `log.verify` proves; whether the tests still pass, which needs the sandbox.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from agent_wire.entries import WireLog
from specwright.application.store import layout
from specwright.application.store.file_hashes import noted_hashes
from specwright.application.store.modules import ModuleStore
from specwright.application.verify.log import (
    LogBindings,
    evidence_findings,
    gate_records,
    read_log,
    referred_files,
)
from specwright.application.verify.records import StoredRecords
from specwright.application.verify.sealed_version import SourceReader, VerifyFinding, version_findings
from specwright.application.verify.views import (
    IndexAudit,
    changed_versions,
    index_findings,
    projection_findings,
)
from specwright.domain.modules.evidence import ResealedModule
from specwright.errors import SpecwrightErrors
from specwright.ports.store import FileTree, StateStore

_BOUND_OTHERWISE = (
    *(layout.definition("*"), layout.wheel("*", "*.whl"), layout.release_log_end("*"), layout.LOG_END),
    *(layout.latest_record("*", name) for name in ("proposal", "challenge", "adjudication")),
    *(layout.STATE_FILE, f"{layout.CODE_INDEX_FILE}*"),
)
"""Files without a noted hash: their name is one, they are copies, or they are computed again."""


class VerifyPorts(NamedTuple):
    """What verification reads beside store and log.

    Args:
        sources: Reads sealed sources.
        code_index: Compares the Code Index with sealed modules.
        folder: The project's directory, with the task files.
    """

    sources: SourceReader
    code_index: IndexAudit
    folder: FileTree


class Verification(NamedTuple):
    """How much was checked, and what is wrong with it.

    Args:
        modules: Sealed versions, and what a crash left of one.
        definitions: How many.
        records: Those that have a schema.
        wires: How many.
        findings: What is wrong.
        unbound: Files that nothing binds, because a run was cut short or they wait for approval; no findings.
    """

    modules: int
    definitions: int
    records: int
    wires: int
    findings: tuple[VerifyFinding, ...]
    unbound: tuple[str, ...] = ()


def verify_store(
    store: StateStore, log: WireLog, ports: VerifyPorts, noted: Iterable[JsonValue] = (), *, at_rest: bool
) -> Verification:
    """Recompute everything.

    Args:
        store: `state_store/`; it is only read.
        log: The project's, which is read as far as it can be.
        ports: What else is read.
        noted: The hashes that the journal noted of files that no Wire names.
        at_rest: Whether no run goes on; state file, task files and Code Index may be a step ahead of the log or behind it.
    """
    findings: list[VerifyFinding] = []
    bindings = read_log(log, findings)
    bindings.announced.update(_resealed(store, bindings.resealed, findings))
    for version in changed_versions(store, bindings):
        bindings.announced.setdefault(version.module_ref, version.sha256)
    versions, hashes = ModuleStore(store).begun(), noted_hashes(noted)
    for ref in versions:
        findings += version_findings(store, ports.sources, ref, bindings.announced.get(ref, ""), hashes)
    for ref in sorted(bindings.announced.keys() - set(versions)):
        findings.append(VerifyFinding("seal.missing", layout.module(ref), "the sealed version is gone"))
    definitions = store.names(layout.DEFINITIONS)
    findings += _definition_findings(store, definitions, bindings)
    findings += evidence_findings(store, bindings)
    bound = _bound_hashes(store, bindings, hashes)
    records = StoredRecords(store, bound)
    findings += records.findings()
    if at_rest:
        findings += projection_findings(log, store, ports.folder)
        findings += index_findings(store, ports.code_index, bindings)
    return Verification(
        modules=len(versions),
        definitions=len(definitions),
        records=records.count,
        wires=bindings.wires,
        findings=tuple(dict.fromkeys(findings)),
        unbound=tuple(_files_without_binding(store, bound, bindings)) if at_rest else (),
    )


def _resealed(store: StateStore, records: Mapping[str, str], findings: list[VerifyFinding]) -> dict[str, str]:
    """The hashes of the files of versions that code sealed, by their references, from their records."""
    found: dict[str, str] = {}
    for ref, sha256 in records.items():
        try:
            found[ref] = ResealedModule.from_bytes(store.definition(sha256), ref).sha256
        except SpecwrightErrors as error:
            findings.append(VerifyFinding("definition.changed", layout.definition(sha256), error.what))
    return found


def _bound_hashes(
    store: StateStore, bindings: LogBindings, hashes: Mapping[str, str]
) -> dict[str, Collection[str]]:
    """The hashes that files outside of sealed versions may have; where journal and log both name a file, the log
    counts."""
    noted = {path: {h} for path, h in hashes.items() if not path.startswith(f"{layout.MODULES}/")}
    return {**noted, **referred_files(bindings), **gate_records(store, bindings)}


def _files_without_binding(
    store: StateStore, bound: Mapping[str, object], bindings: LogBindings
) -> Iterator[str]:
    """Files that nothing binds; the tree hash of a sealed version binds all of its files."""
    sealed = {layout.module(ref) for ref in bindings.announced}
    for path in _paths(store, ""):
        proven = "/".join(path.split("/")[:3]) in sealed or any(
            fnmatchcase(path, name) for name in _BOUND_OTHERWISE
        )
        if path not in bound and not proven:
            yield path


def _paths(store: StateStore, base: str) -> Iterator[str]:
    """Every file, unread."""
    for name in store.names(base):
        path = f"{base}/{name}" if base else name
        if store.exists(path):
            yield path
        else:
            yield from _paths(store, path)


def _definition_findings(
    store: StateStore, names: list[str], bindings: LogBindings
) -> Iterator[VerifyFinding]:
    for name in names:
        path = layout.definition(name)
        if canonical_json.sha256(store.read(path)) != name:
            yield VerifyFinding("definition.changed", path, "its bytes have another hash than its name")
    for sha256 in sorted(bindings.definitions.keys() - set(names)):
        message = f"Wire {bindings.definitions[sha256]} refers to it, but it is gone"
        yield VerifyFinding("definition.missing", layout.definition(sha256), message)
