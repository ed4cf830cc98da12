"""Recomputes from files alone, offline, whether everything is still what was written (design: sealing, command-line).

Every file below `state_store/` is bound in one of three ways. The log names the hash of what its Wires announce: sealed
versions, definitions, escalations and their answers, records of debates and gates, the approved spec, release manifests with
their wheels. The journal has the hash of every other record, and of each file of a sealed version, so that the one that was
changed is named; the log names the hash of the journal at every stop. State file, task files and Code Index are computed
again and compared. `verify_store` and `_BOUND_OTHERWISE` say which file is bound how. A file that nothing binds is a
finding, unless a run was cut short, which leaves the verdict open, or its spec waits for approval.

Left out: the log's own chain, which `log.verify` proves; whether the tests still pass, which needs the sandbox.

One sealed version, proven from its files (design: sealing).

The log has one hash over all of its files; the journal has one of each, which names the file that is wrong. The
interface is read from the source again.

The hashes of files that the log names, for `verify` (design: projection, wire).

Wires bind sealed versions, definitions, records of debates and gates, escalations and their answers, and the approved spec,
each by a SHA-256. A log that breaks off is read as far as it goes.

Checks the records of the store that no sealed version holds, one by one (design: command-line).

Each has the hash with which it was written. An envelope is what it was created as, and its status follows from the
grounds among its outputs, which are there. A record of a debate is the very body of its artifact.

What a project shows and could write again: state file, task files, Code Index (design: projection, project-loop).

Nothing binds these by a hash. Each is made anew from what is bound, and compared.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from agent_wire import canonical_json
from agent_wire.entries import WireLog
from ship_gate.findings import Finding
from ship_gate.verdict import ENTRY_FILE, SealedModule
from specwright.application.announce import JOURNAL_HEAD
from specwright.application.factory import ProjectView
from specwright.application.logged_debates import (
    RECORDS,
    LoggedDebate,
    author_findings,
    debate_files,
    debate_findings,
)
from specwright.application.projection import Projection
from specwright.application.store import layout
from specwright.application.store.layout import CODE_INDEX_FILE, STATE_FILE
from specwright.application.store.modules import ModuleStore
from specwright.application.task_pages import render_at_init
from specwright.application.tasks import dispatched_file, refreshed_file
from specwright.domain.artifacts import ArtifactEnvelope, Purpose
from specwright.domain.base.graph import reachable
from specwright.domain.interface_change import (
    ExceptionOutcome,
)
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation, summarise
from specwright.domain.modules.evidence import ResealedModule, tree_sha256
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import CorruptionErrors, InputErrors, SpecwrightErrors
from specwright.ports import FileTree, StateStore

SourceReader: TypeAlias = Callable[[SealedModule, Sequence[SealedModule]], str]
"""Reads the fingerprint of the surface in the source of a version, whose classes may be those of what it calls.

Raises:
    CorruptionError: the source has no such surface.
"""


def version_findings(
    store: StateStore, read: SourceReader, ref: str, announced: str, *, named: bool
) -> list[Finding]:
    """Everything that is wrong with one directory below `modules/`.

    Args:
        store: Read only.
        read: Reads its source.
        ref: `MM-...@x.y.z`.
        announced: The hash of its files in the log; empty if it was not announced.
        named: Whether a file of it is known to be wrong.
    """
    modules, findings = ModuleStore(store), list[Finding]()
    if not modules.is_sealed(ref):  # unless it was announced, a crash left it, and it is no version yet
        gone = Finding("seal.missing", layout.module(ref), "the version was sealed, its seal is gone")
        return [gone] if announced else []
    if not named and tree_sha256(modules.tree(ref)) != announced:
        where = layout.ship_evidence(ref)
        findings.append(Finding("seal.changed", where, "the version is not what the log announced"))
    return [*findings, *_surface_findings(modules, read, ref)]


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
        journal: How many records it had at each stop, and the hash of their lines, oldest first.
        wires: How many there are.
    """

    announced: dict[str, str]
    definitions: dict[str, int]
    references: dict[str, list[str]]
    subjects: dict[str, list[tuple[str, str]]]
    debates: dict[str, LoggedDebate]
    journal: list[tuple[int, str]]
    wires: int = 0


def read_log(log: WireLog, findings: list[Finding]) -> LogBindings:
    """Go through the log once; where it cannot be read goes to the findings."""
    bindings = LogBindings({}, {}, {}, {}, {}, [])
    wires = 0
    try:
        for entry in log.entries():
            wires += 1
            _add(bindings, cast("dict[str, Any]", entry.wire), entry.sequence_number)
    except (*SpecwrightErrors, KeyError, TypeError, ValueError) as error:
        findings.append(Finding("log.unreadable", "wire.db", f"Wire {wires + 1} cannot be read: {error}"))
    return bindings._replace(wires=wires)


def _add(bindings: LogBindings, wire: Mapping[str, Any], number: int) -> None:
    payload = wire["payload"]
    reference, subject = str(payload.get("reference", "")), str(payload.get("subject", ""))
    if debate := wire["stream"]["stream_id"].partition("artifact:")[2]:
        bindings.debates.setdefault(debate, LoggedDebate(debate)).add(wire)
    if subject == JOURNAL_HEAD:
        bindings.journal.append((int(reference.partition(":")[2]), str(payload["definition_sha256"])))
    elif subject == "module.sealed" and debate:
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


def referred_files(store: StateStore, bindings: LogBindings) -> dict[str, set[str]]:
    """Files that are definitions too, with the hashes that they may have; what no Wire names yet is left out, as a
    crash leaves it."""
    found = {layout.spec_files().spec: {sha256} for _, sha256 in bindings.subjects.get("spec.approved", ())}
    for change, sha256 in bindings.subjects.get("change.approved", ()):
        found[layout.spec_files(_number(change)).spec] = {sha256}
    for name, hashes in bindings.references.items():
        if name.startswith("REL-"):
            found[layout.manifest(name)] = set(hashes)
            with suppress(*SpecwrightErrors):  # reported already
                product = ReleaseManifest.from_bytes(store.definition(hashes[0]), name).product
                found |= (
                    {layout.release_file(name, product.wheel): {str(product.sha256)}} if product.wheel else {}
                )
        if name.startswith("ICE-"):
            found[layout.exception(name)] = set(hashes[:1])
            own = [sha256 for ref, sha256 in bindings.subjects.get("exception.decided", ()) if ref == name]
            found |= {layout.exception_decision(name, n): {sha256} for n, sha256 in enumerate(own, 1)}
        if name.startswith("ESC-"):
            found[layout.escalation(name)] = set(hashes[:1])
            if len(hashes) > 1:
                found[layout.resolution(name)] = set(hashes[1:])
    return found


def _number(change: str) -> int:
    """Of a change, from its reference."""
    return int(change.rpartition("-")[2])


def _released_files(
    bindings: LogBindings, bound: Mapping[str, set[str]], *, ended: bool
) -> dict[str, set[str]]:
    """What the files of the product that show its spec may hash to: as those of the change that was released last; where a
    run was cut short, also as they did before."""
    found: dict[str, set[str]] = {}
    for change, _ in bindings.subjects.get("change.released", ()):
        own = layout.spec_files(_number(change)).shown
        for path, place in zip(own, layout.spec_files().shown, strict=True):
            if path in bound:
                found[place] = bound[path] if ended else {*bound[path], *bound.get(place, ())}
    return found


def record_findings(
    store: StateStore, bound: Mapping[str, Collection[str]], begun: Mapping[str, str]
) -> Iterator[Finding]:
    """The files that are gone or changed, and envelopes whose status does not follow from what became of them.

    Args:
        store: Read only.
        bound: The SHA-256 that files may have by their path, as the journal noted or the log names it.
        begun: The hashes of the last step, whose files and Wires a kill may have left unwritten.
    """
    for path, hashes in bound.items():
        if not store.exists(path):
            if path not in begun:
                yield Finding("record.missing", path, "the file is gone")
            continue
        data = store.read(path)
        if path.endswith("/envelope.json"):
            try:
                envelope = ArtifactEnvelope.from_bytes(data, path)
            except SpecwrightErrors as error:
                yield Finding("record.invalid", path, error.what)
                continue
            if wrong := next(_envelope_faults(store, path, envelope), ""):
                yield Finding("record.changed", path, wrong)
                continue
            data = envelope.as_created.to_bytes()
        if canonical_json.sha256(data) not in {*hashes, *begun.values()}:
            yield Finding("record.changed", path, "the file was changed after it was written")


def _envelope_faults(store: StateStore, path: str, envelope: ArtifactEnvelope) -> Iterator[str]:
    """What is wrong with an envelope beside what it was created with."""
    if store.read(path) != envelope.to_bytes():
        yield "it is not written as the factory writes it"
    if envelope.status is not envelope.status_by_grounds:
        yield f"its outputs do not make it {envelope.status}"
    folder = path.split("/")[1]
    for output in envelope.outputs:
        name, _, version = output.ref.partition("@")
        place = layout.envelope(folder, name, version)
        if name.startswith("MM-"):
            place = layout.ship_evidence(output.ref)
        elif output.purpose == Purpose.DEPRECATED_FOR:
            continue  # a decision is no artifact of this folder
        if not store.exists(place):
            yield f"there is no {output.ref}, which its outputs name"


IndexAudit: TypeAlias = Callable[
    [Sequence[CodeIndexEntry], Collection[str], Sequence[CodeIndexEntry]], Sequence[str]
]
"""Says what is in the Code Index that sealed modules do not explain, a sentence each: from the entries of every sealed
version, the references that must be there, and the entries that somebody decided to retire, as they are then."""


def projection_findings(
    log: WireLog, store: StateStore, folder: FileTree, *, ended: bool
) -> Iterator[Finding]:
    """The state file and the task files, held against what the log says; a run that was killed leaves the first behind."""
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
    elif (found := store.read(STATE_FILE)) != state.to_bytes() and (
        ended or not _was_state(found, log, store)
    ):
        yield Finding("state.changed", STATE_FILE, "it is not the projection of the log; only the log counts")
    for definition in projection.definitions.values():
        yield from _task_file_findings(ProjectView(store=store, projection=projection), folder, definition)
    if ended:
        known = {f"project/{definition.path}" for definition in projection.definitions.values()}
        yield from _added(path for path in _paths(folder, "project") if path not in known)


def _added(paths: Iterable[str]) -> Iterator[Finding]:
    message = "nothing that a run wrote, or that the log or the journal names"
    return (Finding("record.added", path, message) for path in paths)


def _was_state(found: bytes, log: WireLog, store: StateStore) -> bool:
    """Whether it is the projection of a beginning of the log."""
    earlier = Projection(log, store, lambda: 0.0)
    try:
        written = canonical_json.loads(found)["updated_at"]
        earlier.apply(entry for entry in log.entries() if cast(Any, entry.wire)["ts"] <= written)
    except (*SpecwrightErrors, LookupError, TypeError, ValueError):
        return False
    return (state := earlier.state) is not None and state.to_bytes() == found


def _task_file_findings(view: ProjectView, folder: FileTree, definition: TaskDefinition) -> Iterator[Finding]:
    """A task file is what it was at init, what it is once its dependencies are shipped, or what it was when the task was
    dispatched (design: project-loop, change)."""
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


def _edited_source(store: StateStore, folder: FileTree, bindings: LogBindings) -> list[str]:
    """The files of the newest source tree that are not as they were released. The tree is its owner's to edit: this is no
    finding, and says nothing of what was added, nor of a tree that was moved away."""
    for release, sha256 in reversed(bindings.subjects.get("release.made", [])):
        try:
            manifest = ReleaseManifest.from_bytes(store.definition(sha256), release)
        except SpecwrightErrors:
            continue  # reported already
        source = manifest.product.source if manifest.succeeded else {}
        now = {path: canonical_json.sha256(folder.read(path)) for path in source if folder.exists(path)}
        if source:
            return [path for path in sorted(source) if now and now.get(path) != source[path]]
    return []


def index_findings(store: StateStore, index: IndexAudit, bindings: LogBindings) -> Iterator[Finding]:
    """The Code Index, held against the contracts of sealed modules."""
    modules, entries, retired = ModuleStore(store), list[CodeIndexEntry](), list[CodeIndexEntry]()
    subjects = bindings.subjects
    decisions = dict(subjects.get("module.deprecated", []) + subjects.get("module.superseded", []))
    for ref in modules.begun():
        if not modules.is_sealed(ref) and ref not in bindings.announced:
            continue  # what a crash left before the seal is no version yet
        try:
            entries.append(summarise(modules.contract(ref)))
            if sha256 := decisions.get(ref):
                decided = Deprecation.from_bytes(store.definition(sha256), ref)
                retired.append(entries[-1].retired(decided))
        except SpecwrightErrors:
            return  # reported already; what the index should hold is not known
    required = bindings.announced.keys() & {entry.ref for entry in entries}
    for wrong in index(entries, required, retired):
        yield Finding("index.changed", CODE_INDEX_FILE, wrong)


_BOUND_OTHERWISE = (
    *(layout.definition("*"), layout.release_log_end("*"), layout.LOG_END),
    *(layout.STATE_FILE, f"{layout.CODE_INDEX_FILE}*", layout.SpecFiles(f"{layout.CHANGES}/*").abandoned),
)
"""Files without a noted hash: their name is one, they are computed again, or they are empty marks."""


JOURNAL = ".specwright/journal.jsonl"


class Journal(NamedTuple):
    """The journal as it is verified.

    Args:
        lines: As they are stored.
        notes: The hashes of files that each notes, by their paths.
        authors: The models that answered each invocation, as Wires name them.
        is_whole: Whether all of it could be read.
    """

    lines: list[bytes]
    notes: list[dict[str, str]]
    authors: dict[str, set[str]]
    is_whole: bool = True


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
        records: Files that log or journal name, outside of sealed versions.
        wires: How many.
        findings: What is wrong.
        unbound: What is not proven, because a run was cut short: files, and records of the journal.
        waiting: Files of a spec that waits for approval.
        edited: Files of the source tree that are not as they were released.
        spec_edited: Whether SPEC.md was edited since its spec was made.
    """

    modules: int
    definitions: int
    records: int
    wires: int
    findings: tuple[Finding, ...]
    unbound: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    spec_edited: bool = False

    @property
    def verdict(self) -> Literal["PASS", "INCOMPLETE", "FAIL"]:
        """PASS only if everything was proven."""
        return "FAIL" if self.findings else "INCOMPLETE" if self.unbound else "PASS"


def verify_store(
    store: StateStore, log: WireLog, ports: VerifyPorts, journal: Journal, *, at_rest: bool
) -> Verification:
    """Recompute everything.

    Args:
        store: `state_store/`; it is only read.
        log: The project's, which is read as far as it can be.
        ports: What else is read.
        journal: The project's.
        at_rest: Whether no run goes on; state file, task files and Code Index may be a step ahead of the log or behind it.
    """
    findings: list[Finding] = []
    bindings = read_log(log, findings)
    bindings.announced.update(_sealed_by_decision(store, bindings, findings))
    versions = ModuleStore(store).begun()
    definitions = store.names(layout.DEFINITIONS)
    findings += _definition_findings(store, definitions, bindings)
    by_code = {ref for ref, _ in bindings.subjects.get("module.resealed", ())}
    findings += debate_findings(store, bindings.debates.values(), bindings.announced.keys() - by_code)
    noted = {path: {sha256} for files in journal.notes for path, sha256 in files.items()}
    debated = debate_files(store, bindings.debates.values())
    bound = {**noted, **referred_files(store, bindings), **debated}  # the log counts before the journal
    after = len(journal.lines) - max(bindings.journal, default=(0, ""))[0]
    bound |= _released_files(bindings, bound, ended=after == 0)
    changed = list(_journal_findings(journal, bindings)) if journal.is_whole else []
    findings += changed
    if journal.is_whole and not changed:
        findings += author_findings(store, bindings.debates.values(), journal.authors)
    findings += record_findings(store, bound, journal.notes[-1] if after > 0 else {})
    unbound, waiting = list[str](), list[str]()
    if at_rest:
        findings += projection_findings(log, store, ports.folder, ended=after == 0)
        findings += index_findings(store, ports.code_index, bindings)
        for path in _files_without_binding(store, bound):
            change = _change_of(path)
            if change not in {name for name, _ in bindings.subjects.get("change.abandoned", ())}:
                (waiting if _waits(path, change, bindings) else unbound).append(path)
        approved = "spec.approved" in bindings.subjects  # nothing is announced before
        if approved and after > 0:
            unbound.append(f"{JOURNAL}: the last {after} of {len(journal.lines)} records")
        elif (
            approved and journal.is_whole and not changed
        ):  # the last run ended by itself, so nothing is left over
            findings += _added(unbound)
            unbound = []
    wrong = {finding.where for finding in findings}
    for ref in sorted({*versions, *bindings.announced}):
        named = any(path.startswith(f"{layout.module(ref)}/") for path in wrong)
        announced = bindings.announced.get(ref, "")
        findings += version_findings(store, ports.sources, ref, announced, named=named)
    return Verification(
        modules=len(versions),
        definitions=len(definitions),
        records=len(bound),
        wires=bindings.wires,
        findings=tuple(dict.fromkeys(findings)),
        unbound=tuple(unbound),
        waiting=tuple(waiting),
        edited=tuple(_edited_source(store, ports.folder, bindings)) if at_rest else (),
        spec_edited=_spec_edited(store, ports.folder),
    )


def _journal_findings(journal: Journal, bindings: LogBindings) -> Iterator[Finding]:
    """Where the journal is not what the log says of it; what a run that was killed added is not said yet."""
    heads = {count: sha256 for count, sha256 in bindings.journal if count}
    running = hashlib.sha256()
    for number, line in enumerate(journal.lines, 1):
        running.update(line)
        if heads.pop(number, running.hexdigest()) != running.hexdigest():
            heads = {number: ""}
            break
    if heads:
        message = (
            f"it does not begin with the {min(heads)} records that the log names; restore it from a copy"
        )
        yield Finding("journal.changed", JOURNAL, message)


def _spec_edited(store: StateStore, folder: FileTree) -> bool:
    """Whether SPEC.md, which is the person's to edit, is another text than the one that a spec was made from."""
    number = max(map(int, store.names(layout.CHANGES)), default=0)
    texts = {layout.spec_files(one).source for one in (0, number)}
    known = {store.read(path) for path in texts if store.exists(path)}
    return bool(known) and folder.exists("SPEC.md") and folder.read("SPEC.md") not in known


def _change_of(path: str) -> str:
    """The change whose spec a file belongs to; empty for any other file."""
    folder, _, rest = path.partition("/")
    return f"change-{rest.partition('/')[0]}" if folder == layout.CHANGES else ""


def _waits(path: str, change: str, bindings: LogBindings) -> bool:
    """Whether a file is of a spec that nobody approved."""
    if change:
        return change not in {name for name, _ in bindings.subjects.get("change.approved", ())}
    return path.startswith(f"{layout.PRODUCT}/") and "spec.approved" not in bindings.subjects


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


def _files_without_binding(store: StateStore, bound: Mapping[str, object]) -> Iterator[str]:
    """Files that nothing binds."""
    for path in _paths(store, ""):
        if path not in bound and not any(fnmatchcase(path, name) for name in _BOUND_OTHERWISE):
            yield path


def _paths(store: FileTree, base: str) -> Iterator[str]:
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
