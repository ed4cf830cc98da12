"""Recomputes from files alone, offline, whether everything is still what was written (design: sealing, command-line).

Every file below `state_store/` is bound in one of four ways. The log names the hash of what its Wires announce: sealed
versions, definitions, escalations and their answers, records of debates and gates, the approved spec, release manifests. The
journal has the hash of every other record, and of each file of a sealed version, so that the one that was changed is named.
The newest records below `debates/` are copies of artifacts. State file, task files and Code Index
are computed again and compared. `_bound_hashes` and `_BOUND_OTHERWISE` say which file is bound how; a file that
nothing binds is reported as such.

Left out: the log's own chain, which `log.verify` proves; whether the tests still pass, which needs the sandbox.

One sealed version, proven from its files (design: sealing).

The log has one hash over all of its files; the journal has one of each, which names the file that is wrong. The
interface is read from the source again.

The hashes of files that the log names, for `verify` (design: projection, wire).

Wires bind sealed versions, definitions, records of debates and gates, escalations and their answers, and the approved spec,
each by a SHA-256. A log that breaks off is read as far as it goes.

Checks the records of the store that no sealed version holds, one by one (design: command-line).

Each validates by its schema; each that was noted when it was written has the hash that it had then. An envelope is
what it was created as, and its status follows from the grounds among its outputs, which are there. A record of a
debate is the very body of its artifact.

What a project shows and could write again: state file, task files, Code Index (design: projection, task-files).

Nothing binds these by a hash. Each is made anew from what is bound, and compared.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeAlias, cast

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonValue
from agent_wire.entries import WireLog
from ship_gate.base.record import Record
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.findings import Finding
from ship_gate.verdict import ENTRY_FILE, SealedModule
from specwright.application.factory import ProjectView
from specwright.application.logged_debates import RECORDS, LoggedDebate, debate_files, debate_findings
from specwright.application.projection import Projection
from specwright.application.store import layout
from specwright.application.store.artifacts import noted_hashes
from specwright.application.store.layout import CODE_INDEX_FILE, LOG_END, STATE_FILE
from specwright.application.store.log_ends import log_ends
from specwright.application.store.modules import ModuleStore
from specwright.application.tasks import dispatched_file, refreshed_file
from specwright.domain.artifacts import ArtifactEnvelope, ContextPack, Contribution, Purpose
from specwright.domain.base.graph import reachable
from specwright.domain.debate.debate import Adjudication, Challenge, Proposal
from specwright.domain.escalation import DebateTrail, EscalationArtifact, ResolutionRecord
from specwright.domain.interface_change import (
    ExceptionDecision,
    ExceptionOutcome,
    InterfaceChangeException,
)
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation, summarise
from specwright.domain.modules.evidence import ResealedModule, tree_sha256
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.tasks.task_file import TaskDefinition, render_at_init
from specwright.errors import CorruptionErrors, InputErrors, SpecwrightErrors
from specwright.ports import FileTree, StateStore

SourceReader: TypeAlias = Callable[[SealedModule, Sequence[SealedModule]], str]
"""Reads the fingerprint of the surface in the source of a version, whose classes may be those of what it calls.

Raises:
    CorruptionError: the source has no such surface.
"""


def version_findings(
    store: StateStore, read: SourceReader, ref: str, announced: str, noted: Mapping[str, str]
) -> list[Finding]:
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
        findings.append(Finding("seal.missing", seal, "the version was sealed, its seal is gone"))
    if not findings and tree_sha256(files) != announced:
        where = layout.ship_evidence(ref)
        findings.append(Finding("seal.changed", where, "the version is not what the log announced"))
    return [*findings, *_surface_findings(modules, read, ref)]


def _file_findings(base: str, files: Mapping[str, bytes], noted: Mapping[str, str]) -> Iterator[Finding]:
    """The files that are not what was sealed; none without notes, since the log does not name files."""
    sealed = {path: sha256 for path, sha256 in noted.items() if path.startswith(f"{base}/")}
    found = {f"{base}/{path}": canonical_json.sha256(data) for path, data in files.items()} if sealed else {}
    for path in sorted(sealed.keys() | found.keys()):
        if path not in sealed:
            yield Finding("seal.added", path, "the file was added after the version was sealed")
        elif path not in found:
            yield Finding("seal.missing", path, "the file is gone")
        elif found[path] != sealed[path]:
            yield Finding("seal.changed", path, "the file was changed after the version was sealed")


def _surface_findings(modules: ModuleStore, read: SourceReader, ref: str) -> Iterator[Finding]:
    entry = f"{layout.module(ref)}/{ENTRY_FILE}"
    try:
        contract = modules.contract(ref)
        seen = read(SealedModule(contract, modules.location(ref)), _called(modules, ref))
    except InputErrors as error:
        yield Finding("seal.invalid", layout.module_contract(ref), error.what)
        return
    except CorruptionErrors as error:
        yield Finding("seal.surface", error.where or entry, error.what)
        return
    if seen != contract.interface_fingerprint:
        message = f"the interface in the source is {seen}, the contract's is {contract.interface_fingerprint}"
        yield Finding("seal.surface", entry, message)


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


class LogBindings(NamedTuple):
    """What the log binds.

    Args:
        announced: What the files of each sealed version hash to, by its reference.
        definitions: The definitions that it refers to, with the first Wire that does.
        references: The definitions that stand for what a Wire names, such as an escalation, oldest first.
        subjects: Of reviews, what each names and the definition that stands for it, by subject, oldest first.
        debates: By the ids of their first proposals.
        wires: How many there are.
    """

    announced: dict[str, str]
    definitions: dict[str, int]
    references: dict[str, list[str]]
    subjects: dict[str, list[tuple[str, str]]]
    debates: dict[str, LoggedDebate]
    wires: int = 0


def read_log(log: WireLog, findings: list[Finding]) -> LogBindings:
    """Go through the log once; where it cannot be read goes to the findings."""
    bindings = LogBindings({}, {}, {}, {}, {})
    wires = 0
    try:
        for entry in log.entries():
            wires += 1
            _add(bindings, cast("dict[str, Any]", entry.wire), entry.sequence_number)
    except (*SpecwrightErrors, KeyError, TypeError) as error:
        findings.append(Finding("log.unreadable", "wire.db", f"Wire {wires + 1} cannot be read: {error}"))
    return bindings._replace(wires=wires)


def _add(bindings: LogBindings, wire: Mapping[str, Any], number: int) -> None:
    payload = wire["payload"]
    reference, subject = str(payload.get("reference", "")), str(payload.get("subject", ""))
    if debate := wire["stream"]["stream_id"].partition("artifact:")[2]:
        bindings.debates.setdefault(debate, LoggedDebate(debate)).add(wire)
    if subject == "module.sealed":
        bindings.announced.setdefault(reference, str(payload["definition_sha256"]))
    elif "definition_sha256" in payload and subject not in RECORDS:
        sha256 = str(payload["definition_sha256"])
        bindings.definitions.setdefault(sha256, number)
        bindings.references.setdefault(reference, []).append(sha256)
        bindings.subjects.setdefault(subject, []).append((reference, sha256))
    if wire["type"] == "artifact.ready":
        ref = f"{payload['artifact_id']}@{payload['version']}"
        # a task that reuses it announces it again; the first is from when it was sealed
        bindings.announced.setdefault(ref, str(payload["sha256"]))


def referred_files(bindings: LogBindings) -> dict[str, set[str]]:
    """Files that are definitions too, with the hashes that they may have; what no Wire names yet is left out, as a
    crash leaves it."""
    found = {layout.spec_files().spec: {sha256} for _, sha256 in bindings.subjects.get("spec.approved", ())}
    for change, sha256 in bindings.subjects.get("change.approved", ()):
        found[layout.spec_files(int(change.rpartition("-")[2])).spec] = {sha256}
    for name, hashes in bindings.references.items():
        if name.startswith("REL-"):
            found[layout.manifest(name)] = set(hashes)
        if name.startswith("ICE-"):
            found[layout.exception(name)] = set(hashes[:1])
            own = [sha256 for ref, sha256 in bindings.subjects.get("exception.decided", ()) if ref == name]
            found |= {layout.exception_decision(name, n): {sha256} for n, sha256 in enumerate(own, 1)}
        if name.startswith("ESC-"):
            found[layout.escalation(name)] = set(hashes[:1])
            if len(hashes) > 1:
                found[layout.resolution(name)] = set(hashes[1:])
    return found


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

    def findings(self) -> Iterator[Finding]:
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

    def _invalid(self) -> Iterator[Finding]:
        for path, kind in self._with_schema():
            try:
                record = kind.from_bytes(self._store.read(path), path)
            except SpecwrightErrors as error:
                yield Finding("record.invalid", path, error.what)
                continue
            if isinstance(record, ArtifactEnvelope):
                yield from self._envelope_findings(path, record)

    def _envelope_findings(self, path: str, envelope: ArtifactEnvelope) -> Iterator[Finding]:
        if self._store.read(path) != envelope.to_bytes():
            yield Finding("record.changed", path, "it is not written as the factory writes it")
        if envelope.status is not envelope.status_by_grounds:
            yield Finding("record.changed", path, f"its outputs do not make it {envelope.status}")
        folder = path.split("/")[1]
        for output in envelope.outputs:
            name, _, version = output.ref.partition("@")
            place = layout.envelope(folder, name, version)
            if name.startswith("MM-"):
                place = layout.ship_evidence(output.ref)
            elif output.purpose == Purpose.DEPRECATED_FOR:
                continue  # a decision is no artifact of this folder
            if not self._store.exists(place):
                yield Finding("record.changed", path, f"there is no {output.ref}, which its outputs name")

    def _changed(self) -> Iterator[Finding]:
        for path, hashes in self._bound.items():
            if not self._store.exists(path):
                yield Finding("record.missing", path, "the file is gone")
                continue
            data = self._store.read(path)
            if path.endswith("/envelope.json"):
                try:
                    data = ArtifactEnvelope.from_bytes(data, path).as_created.to_bytes()
                except SpecwrightErrors:
                    continue  # reported already
            if canonical_json.sha256(data) not in hashes:
                yield Finding("record.changed", path, "the file was changed after it was written")

    def _copies(self) -> Iterator[Finding]:
        """The newest records of each debate, which are copies."""
        ends = tuple(f"/body/{name}.json" for name in _DEBATED)
        bodies = {sha256 for path in self._paths if path.endswith(ends) for sha256 in self._hashes(path)}
        for path in self._paths:
            is_copy = any(fnmatchcase(path, layout.latest_record("*", name)) for name in _DEBATED)
            if is_copy and canonical_json.sha256(self._store.read(path)) not in bodies:
                yield Finding("record.changed", path, "it is the body of no artifact")

    def _hashes(self, path: str) -> Collection[str]:
        """What a file was written with, or what it hashes to if nothing noted that."""
        return self._bound.get(path) or {canonical_json.sha256(self._store.read(path))}

    def _releases(self) -> Iterator[Finding]:
        """A manifest is a definition that the log names, and its wheel has the hash that it says."""
        for release in self._store.names(layout.RELEASES):
            path = layout.manifest(release)
            if not self._store.exists(path):
                continue  # what a crash left is no release yet
            data = self._store.read(path)
            if not self._store.exists(layout.definition(canonical_json.sha256(data))):
                yield Finding("record.changed", path, "no such release was ever made")
                continue
            product = ReleaseManifest.from_bytes(data, path).product
            wheel = layout.wheel(release, str(product.wheel))
            if product.wheel and not self._store.exists(wheel):
                yield Finding("record.missing", wheel, "the file is gone")
            elif product.wheel and canonical_json.sha256(self._store.read(wheel)) != product.sha256:
                yield Finding("record.changed", wheel, "it is not the wheel that its manifest names")


IndexAudit: TypeAlias = Callable[
    [Sequence[CodeIndexEntry], Collection[str], Sequence[CodeIndexEntry]], Sequence[str]
]
"""Says what is in the Code Index that sealed modules do not explain, a sentence each: from the entries of every sealed
version, the references that must be there, and the entries that somebody decided to retire, as they are then."""


def projection_findings(log: WireLog, store: StateStore, folder: FileTree) -> Iterator[Finding]:
    """The state file and the task files, held against what the log says."""
    projection = Projection(log, store, lambda: 0.0)
    try:
        projection.catch_up()
    except CorruptionErrors as error:
        yield Finding("state.unprovable", error.where, error.what)
        return
    state = projection.state
    if state is None:
        if store.exists(STATE_FILE):
            yield Finding("state.changed", STATE_FILE, "the log knows of no tasks")
        return
    if not store.exists(STATE_FILE):
        yield Finding("state.missing", STATE_FILE, "the file is gone; the next run writes it again")
    elif (stored := store.read(STATE_FILE)) != state.to_bytes() and not _was_the_state(log, store, stored):
        yield Finding("state.changed", STATE_FILE, _difference(stored, state.to_json()))
    for definition in projection.definitions.values():
        yield from _task_file_findings(ProjectView(store=store, projection=projection), folder, definition)


def _was_the_state(log: WireLog, store: StateStore, stored: bytes) -> bool:
    """Whether the log said what the file says at its last stop or since: a run that was killed leaves it behind the log,
    but every stop writes the file before it notes the end of the log, so that an older copy is no longer the state
    (design: projection)."""
    try:
        updated_at = cast("dict[str, Any]", canonical_json.loads(stored))["updated_at"]
    except (ValueError, KeyError, TypeError):
        return False
    stop = log_ends(store).ends.get(LOG_END)
    written = [entry.sequence_number for entry in log.entries(0) if entry.wire["ts"] == updated_at]
    upto = max([*written, stop.sequence_number if stop else 0])
    before = Projection(log, store, lambda: 0.0)
    before.apply(entry for entry in log.entries(0) if entry.sequence_number <= upto)
    return before.state is not None and before.state.to_bytes() == stored


def _task_file_findings(view: ProjectView, folder: FileTree, definition: TaskDefinition) -> Iterator[Finding]:
    """A task file is what it was at init, what it is once its dependencies are shipped, or what it was when the task was
    dispatched (design: task-files, change)."""
    path = f"project/{definition.path}"
    if not folder.exists(path):
        yield Finding("task_file.missing", path, "the file is gone")
        return
    text = folder.read(path)
    if text != render_at_init(definition, view.projection.definitions).encode():
        try:
            refreshed = [refreshed_file(view, definition), dispatched_file(view, definition) or ""]
        except (*SpecwrightErrors, ValueError):
            return  # a surface that it shows is damaged, which is told
        if text.decode(errors="replace") not in refreshed:
            yield Finding("task_file.changed", path, "it is not what its definition makes it")


def source_findings(store: StateStore, folder: FileTree, bindings: LogBindings) -> Iterator[Finding]:
    """The source tree of the newest release that made one, held against the hashes in its manifest. A tree that was moved
    away is no finding, nor is what its owner added."""
    for release, sha256 in reversed(bindings.subjects.get("release.made", [])):
        try:
            manifest = ReleaseManifest.from_bytes(store.definition(sha256), release)
        except SpecwrightErrors:
            continue  # reported already
        source = manifest.product.source if manifest.succeeded else {}
        there = {path: sha256 for path, sha256 in source.items() if folder.exists(path)}
        for path in sorted(source.keys() - there.keys()) if there else ():
            yield Finding("record.missing", path, "the file is gone from the source tree")
        for path, sha256 in there.items():
            if canonical_json.sha256(folder.read(path)) != sha256:
                yield Finding("record.changed", path, "the source tree is not as it was released")
        if source:
            return


def index_findings(store: StateStore, index: IndexAudit, bindings: LogBindings) -> Iterator[Finding]:
    """The Code Index, held against the contracts of sealed modules."""
    modules, entries, retired = ModuleStore(store), list[CodeIndexEntry](), list[CodeIndexEntry]()
    decisions = dict(
        row
        for subject in ("module.deprecated", "module.superseded")
        for row in bindings.subjects.get(subject, ())
    )
    for ref in modules.begun():
        if not modules.is_sealed(ref) and ref not in bindings.announced:
            continue  # what a crash left before the seal is no version yet
        try:
            entries.append(summarise(modules.contract(ref)))
            if sha256 := decisions.get(ref):
                decided = Deprecation.from_bytes(store.definition(sha256), ref)
                retired.append(entries[-1].retired(decided.status, decided.replacement, decided.notice))
        except SpecwrightErrors:
            return  # reported already; what the index should hold is not known
    required = bindings.announced.keys() & {entry.ref for entry in entries}
    for wrong in index(entries, required, retired):
        yield Finding("index.changed", CODE_INDEX_FILE, wrong)


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
    findings: tuple[Finding, ...]
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
    findings: list[Finding] = []
    bindings = read_log(log, findings)
    bindings.announced.update(_sealed_by_decision(store, bindings, findings))
    versions, hashes = ModuleStore(store).begun(), noted_hashes(noted)
    for ref in versions:
        findings += version_findings(store, ports.sources, ref, bindings.announced.get(ref, ""), hashes)
    for ref in sorted(bindings.announced.keys() - set(versions)):
        findings.append(Finding("seal.missing", layout.module(ref), "the sealed version is gone"))
    definitions = store.names(layout.DEFINITIONS)
    findings += _definition_findings(store, definitions, bindings)
    by_code = {ref for ref, _ in bindings.subjects.get("module.resealed", ())}
    findings += debate_findings(store, bindings.debates.values(), bindings.announced.keys() - by_code)
    bound = _bound_hashes(store, bindings, hashes)
    records = StoredRecords(store, bound)
    findings += records.findings()
    if at_rest:
        findings += projection_findings(log, store, ports.folder)
        findings += source_findings(store, ports.folder, bindings)
        findings += index_findings(store, ports.code_index, bindings)
    return Verification(
        modules=len(versions),
        definitions=len(definitions),
        records=records.count,
        wires=bindings.wires,
        findings=tuple(dict.fromkeys(findings)),
        unbound=tuple(_files_without_binding(store, bound, bindings)) if at_rest else (),
    )


def _sealed_by_decision(
    store: StateStore, bindings: LogBindings, findings: list[Finding]
) -> Iterator[tuple[str, str]]:
    """The versions that no task's attempt announced, each with the hash of its files: those that came of exceptions, and
    those that code sealed again (design: interface-changes, change)."""
    for subject, record in (("exception.resolved", ExceptionOutcome), ("module.resealed", ResealedModule)):
        for ref, sha256 in bindings.subjects.get(subject, ()):
            try:
                sealed = record.from_bytes(store.definition(sha256), ref)
            except InputErrors as error:
                findings.append(Finding("definition.changed", layout.definition(sha256), error.what))
                continue
            except SpecwrightErrors:  # missing or altered, as `_definition_findings` says of any
                continue
            if version := sealed.version if isinstance(sealed, ExceptionOutcome) else sealed:
                yield version.module_ref, version.sha256


def _bound_hashes(
    store: StateStore, bindings: LogBindings, hashes: Mapping[str, str]
) -> dict[str, Collection[str]]:
    """The hashes that files outside of sealed versions may have; where journal and log both name a file, the log
    counts."""
    noted = {path: {h} for path, h in hashes.items() if not path.startswith(f"{layout.MODULES}/")}
    return {**noted, **referred_files(bindings), **debate_files(store, bindings.debates.values())}


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


def _definition_findings(store: StateStore, names: list[str], bindings: LogBindings) -> Iterator[Finding]:
    for name in names:
        path = layout.definition(name)
        if canonical_json.sha256(store.read(path)) != name:
            yield Finding("definition.changed", path, "its bytes have another hash than its name")
    for sha256 in sorted(bindings.definitions.keys() - set(names)):
        message = f"Wire {bindings.definitions[sha256]} refers to it, but it is gone"
        yield Finding("definition.missing", layout.definition(sha256), message)
