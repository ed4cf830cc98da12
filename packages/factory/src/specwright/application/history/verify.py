"""Verify offline, from the files alone, that nothing was changed after it was written (design: provenance, journal).

Every file below `state_store/` is bound in one of three ways. The log has the hashes of what its Wires announce: sealed
versions, definitions, escalations and their answers, records of debates and gates, the approved spec, release manifests
and wheels. The journal has the hash of every other record, and of each file of a sealed version, so that findings can name
the changed file; the log has the hash of the journal at every stop. State file, task files and Code Index are computed
again and compared. `_BOUND_OTHERWISE` lists files without a noted hash. A file that nothing binds is a finding, unless a
run was interrupted, which makes the verdict INCOMPLETE, or its spec waits for approval.

The log has hash, author and order of each debate record, so a verdict that was changed, dropped or swapped is found. The
status of an artifact must follow from its outputs.

Not checked here: the log's own hash chain, which `agent_wire` verifies, and whether tests still pass, which needs the
sandbox.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from agent_wire import canonical_json
from agent_wire.entries import WireLog
from ship_gate.findings import Finding
from ship_gate.verdict import ENTRY_FILE, SealedModule
from specwright.application.announce import JOURNAL_HEAD
from specwright.application.factory import ProjectView
from specwright.application.pages import render_at_init
from specwright.application.projection import Projection
from specwright.application.store import layout
from specwright.application.store.artifacts import ArtifactStore
from specwright.application.store.layout import CODE_INDEX_FILE, STATE_FILE
from specwright.application.store.modules import ModuleStore
from specwright.application.store.records import DebateRecords
from specwright.application.tasks import dispatched_file, refreshed_file
from specwright.domain.artifacts import ArtifactEnvelope, Purpose
from specwright.domain.base.graph import reachable
from specwright.domain.debate.records import Proposal
from specwright.domain.escalation import OPERATOR
from specwright.domain.interface_change import (
    ExceptionOutcome,
)
from specwright.domain.modules.code_index import CodeIndexEntry, Deprecation, summarise
from specwright.domain.modules.evidence import ResealedModule, tree_sha256
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import CorruptionErrors, InputErrors, SpecwrightErrors
from specwright.ports import FileTree, StateStore

RECORDS = {
    "debate.proposed": "body/proposal.json",
    "debate.challenged": "body/challenge.json",
    "debate.ruled": "body/adjudication.json",
    "debate.amended": "",
}
"""The review subjects that refer to a record, with the record's file in its artifact; amendments are beside the debate."""


class DebateEvent(NamedTuple):
    """A Wire of a debate.

    Args:
        step: The subject of a review, or the name of a gate.
        round: The round.
        reference: The artifact that it is about.
        sha256: The hash of its record.
        passed: False if a gate refused.
        sender: The sender of the Wire.
        model: The model that answered, as in the Wire.
    """

    step: str
    round: int
    reference: str
    sha256: str
    passed: bool
    sender: str = ""
    model: str = ""

    @property
    def name(self) -> str:
        """The id of the artifact."""
        return self.reference.partition("@")[0]


class LoggedDebate:
    """A debate in the log.

    Args:
        debate_id: The id of its first proposal.
    """

    def __init__(self, debate_id: str) -> None:
        self.debate_id = debate_id
        self.events: list[DebateEvent] = []

    def add(self, wire: Mapping[str, Any]) -> None:
        """Add the next Wire of its stream."""
        payload, before = wire["payload"], self.events[-1].round if self.events else 0
        step = str(payload.get("subject") or payload["gate"])
        opens = step == "debate.proposed" or (step == "debate.ruled" and wire["sender"] == OPERATOR)
        sha256 = payload["definition_sha256"] if "subject" in payload else payload["evidence_sha256"]
        passed = payload.get("verdict") != "fail"
        reference, author = payload.get("reference", ""), (wire["sender"], payload.get("model", ""))
        self.events.append(DebateEvent(step, before + opens, reference, sha256, passed, *author))

    @property
    def records(self) -> list[tuple[int, str]]:
        """Its proposals, challenges and rulings with their rounds, in order."""
        return [(event.round, event.name) for event in self.events if RECORDS.get(event.step)]

    def missing_steps(self) -> Iterator[tuple[str, str]]:
        """Yield sealed or locked artifacts whose round lacks a step, each with the first missing step."""
        for at, end in enumerate(self.events):
            if end.step in _GATES:
                said = [event for event in self.events[:at] if event.passed]
                steps = iter([event.step for event in _last_round(said)])
                *wanted, gate = ("debate.proposed", "debate.challenged", "debate.ruled", _GATES[end.step])
                missing = (
                    "" if said and said[-1].step == gate else gate
                )  # a seal must directly follow its gate
                yield end.reference, next((step for step in wanted if step not in steps), missing)


_GATES = {"module.sealed": "ship", "plan.locked": "lock"}
"""The event after each gate."""


def _last_round(events: list[DebateEvent]) -> list[DebateEvent]:
    """Return the events from the last proposal on."""
    begun = [at for at, event in enumerate(events) if event.step == "debate.proposed"]
    return events[begun[-1] :] if begun else events


def debate_files(store: StateStore, debates: Iterable[LoggedDebate]) -> dict[str, set[str]]:
    """Return the hashes that Wires name for the records of debates and gates, by path; none if they name several."""
    folders, found = ArtifactStore(store).folders(), defaultdict[str, set[str]](set)
    for debate in debates:
        for event in debate.events:
            name, _, version = event.reference.partition("@")
            if file := RECORDS.get(event.step):
                path = f"{layout.artifact_version(folders.get(name, '*'), name, version)}/{file}"
            elif event.step in RECORDS:
                path = layout.amendments(debate.debate_id, event.round)
            elif event.step in _GATES.values():
                path = layout.gate_record(debate.debate_id, event.round, name)
            else:
                continue
            found[path].add(event.sha256)
            if file:  # a copy of the newest of a kind is beside the debate
                found[layout.latest_record(debate.debate_id, PurePosixPath(file).stem)] = {event.sha256}
    return {path: hashes if len(hashes) == 1 else set[str]() for path, hashes in found.items()}


def debate_findings(
    store: StateStore, debates: Collection[LoggedDebate], debated: Collection[str]
) -> Iterator[Finding]:
    """Report debates that differ from the log.

    A sealed version or locked plan must have been proposed, challenged, ruled on and passed by its gate, in this order.
    Records must be in the rounds of the log.

    Args:
        store: The store, only read.
        debates: All debates of the log.
        debated: The sealed versions that need a debate.
    """
    folders = ArtifactStore(store).folders()
    yield from _order_findings(debates, debated)
    yield from _judged_findings(store, debates, folders)
    for debate in debates:
        yield from _round_findings(store, debate, folders)


def _order_findings(debates: Collection[LoggedDebate], debated: Collection[str]) -> Iterator[Finding]:
    """Report artifacts that were sealed or locked without an earlier step, or without a debate."""
    sealed = set[str]()
    for debate in debates:
        for reference, missing in debate.missing_steps():
            sealed.add(reference)
            if missing:
                message = f"the log has {reference} sealed or locked without `{missing}` before"
                yield Finding("debate.incomplete", layout.debate(debate.debate_id), message)
    for ref in sorted({*debated} - sealed):
        message = f"{ref} was sealed, and the log has no debate of it"
        yield Finding("debate.incomplete", layout.module(ref), message)


def _judged_findings(
    store: StateStore, debates: Collection[LoggedDebate], folders: Mapping[str, str]
) -> Iterator[Finding]:
    """Report gate decisions about another version than the last proposed or amended one, decisions after a pass, and seals
    of another version than the gate passed."""
    for debate in debates:
        version, message, before = "", "", DebateEvent("", 0, "", "", passed=False)
        for event in debate.events:
            if event.step == "debate.amended":
                version = event.reference
            elif event.step == "debate.proposed" and (folder := folders.get(event.name)):
                path = f"{layout.artifact_version(folder, *event.reference.split('@'))}/{RECORDS[event.step]}"
                with suppress(*SpecwrightErrors):  # reported already
                    version = Proposal.from_bytes(store.read(path), path).deliverable_ref
            elif event.step in _GATES.values() and event.reference != (version or event.reference):
                message = f"the gate decided on {event.reference}, and {version} was proposed"
            elif event.step in _GATES.values() and before.step == event.step and before.passed:
                message = f"the gate decided on {event.reference} after it had passed {before.reference}"
            elif before.step == _GATES.get(event.step):
                judged = event.reference
                # a damaged gate record is already reported by its hash
                with suppress(*SpecwrightErrors, KeyError, RecursionError, TypeError, ValueError):
                    passed = DebateRecords(store, debate.debate_id).gate(before.round, before.name).passed
                    judged = str({"module": before.name, **passed}["module"])
                if event.reference != judged:
                    message = f"{event.reference} is sealed or locked, and the gate passed {judged}"
            if message:
                yield Finding("debate.incomplete", layout.debate(debate.debate_id), message)
            message, before = "", event


def _round_findings(store: StateStore, debate: LoggedDebate, folders: Mapping[str, str]) -> Iterator[Finding]:
    """Check the list of a debate's records; after a crash it may have one more than the log."""
    try:
        listed = list(DebateRecords(store, debate.debate_id).listed())
    except SpecwrightErrors:
        return  # reported already
    if listed != debate.records and listed[:-1] != debate.records:
        said = ", ".join(f"{name} in round {number}" for number, name in debate.records)
        path = layout.artifact(folders[debate.debate_id], debate.debate_id)
        yield Finding("record.changed", path, f"it lists other records than the log, which has {said}")


def author_findings(
    store: StateStore, debates: Iterable[LoggedDebate], authors: Mapping[str, Collection[str]]
) -> Iterator[Finding]:
    """Report steps whose Wire names another role than the record, or a model that did not answer the invocation.

    Args:
        store: The store, only read.
        debates: All debates of the log.
        authors: The models that answered each invocation, from the journal.
    """
    folders = ArtifactStore(store).folders()
    for debate_id, event in ((debate.debate_id, event) for debate in debates for event in debate.events):
        if event.step not in RECORDS or event.name not in folders:
            continue
        path = layout.envelope(folders[event.name], event.name, event.reference.partition("@")[2])
        with suppress(*SpecwrightErrors):  # reported already
            made = ArtifactEnvelope.from_bytes(store.read(path), path).created_by
            models = authors.get(made.run_id) or {""}
            if event.sender.removeprefix("agent:") != made.role or event.model not in models:
                message = f"the log has `{event.step}` of {event.name} by {event.sender} ({event.model or 'no model'})"
                message += f", and {made.role} ({' or '.join(sorted(models)) or 'no model'}) made it"
                yield Finding("debate.author", layout.debate(debate_id), message)


SourceReader: TypeAlias = Callable[[SealedModule, Sequence[SealedModule]], str]
"""Reads the fingerprint of the surface in a version's source; its classes may come from its dependencies.

Raises:
    CorruptionError: the source has no such surface.
"""


def version_findings(
    store: StateStore, read: SourceReader, ref: str, announced: str, *, named: bool
) -> list[Finding]:
    """Report the faults of one directory below `modules/`.

    Args:
        store: The store, only read.
        read: Reads its source.
        ref: `MM-...@x.y.z`.
        announced: The hash of its files in the log; empty if it was not announced.
        named: Whether a changed file of it is already reported.
    """
    modules, findings = ModuleStore(store), list[Finding]()
    if not modules.is_sealed(ref):  # unless announced, it is incomplete because of a crash
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
    """Return the direct and indirect dependencies of a version whose contracts are readable; unreadable ones are reported
    separately."""
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
    """The hashes and references in the log.

    Args:
        announced: The hash of each sealed version's files, by reference.
        definitions: The definitions that it refers to, with the first Wire that does.
        references: The definitions of what a Wire names, such as an escalation, oldest first.
        subjects: The references of reviews and their definitions, by subject, oldest first.
        debates: The debates, by the id of the first proposal.
        journal: The number of journal records at each stop and the hash of their lines, oldest first.
        wires: The number of Wires.
    """

    announced: dict[str, str]
    definitions: dict[str, int]
    references: dict[str, list[str]]
    subjects: dict[str, list[tuple[str, str]]]
    debates: dict[str, LoggedDebate]
    journal: list[tuple[int, str]]
    wires: int = 0


def read_log(log: WireLog, findings: list[Finding]) -> LogBindings:
    """Read the log once; report an unreadable entry in `findings`."""
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
        # a task that reuses a version announces it again; the first announcement is from its sealing
        bindings.announced.setdefault(ref, str(payload["sha256"]))


def referred_files(store: StateStore, bindings: LogBindings) -> dict[str, set[str]]:
    """Return the possible hashes of files that are also definitions. Files that no Wire names yet are left out, because a
    crash may leave them."""
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
    """Return the number of a change from its reference."""
    return int(change.rpartition("-")[2])


def _released_files(
    bindings: LogBindings, bound: Mapping[str, set[str]], *, ended: bool
) -> dict[str, set[str]]:
    """Return the possible hashes of the product files that show its spec: those of the last released change, and after an
    interrupted run also the earlier ones."""
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
    """Report missing and changed files, and envelopes whose status does not follow from their outputs.

    Args:
        store: The store, only read.
        bound: The possible SHA-256 of files by path, from the journal and the log.
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
    """Report faults in the changeable parts of an envelope."""
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
            continue  # a decision is not an artifact of this folder
        if not store.exists(place):
            yield f"there is no {output.ref}, which its outputs name"


IndexAudit: TypeAlias = Callable[
    [Sequence[CodeIndexEntry], Collection[str], Sequence[CodeIndexEntry]], Sequence[str]
]
"""Reports differences between the Code Index and the sealed modules, a sentence each. Takes the entries of all sealed
versions, the references that must be in the index, and the retired entries."""


def projection_findings(
    log: WireLog, store: StateStore, folder: FileTree, *, ended: bool
) -> Iterator[Finding]:
    """Compare the state file and the task files with the log; after a kill the state file may be behind."""
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
    """Whether the content is the projection of an earlier state of the log."""
    earlier = Projection(log, store, lambda: 0.0)
    try:
        written = canonical_json.loads(found)["updated_at"]
        earlier.apply(entry for entry in log.entries() if cast(Any, entry.wire)["ts"] <= written)
    except (*SpecwrightErrors, LookupError, TypeError, ValueError):
        return False
    return (state := earlier.state) is not None and state.to_bytes() == found


def _task_file_findings(view: ProjectView, folder: FileTree, definition: TaskDefinition) -> Iterator[Finding]:
    """Check that a task file is as at init, as after its dependencies shipped, or as at the task's dispatch (design:
    project-loop, change)."""
    path = f"project/{definition.path}"
    if not folder.exists(path):
        yield Finding("task_file.missing", path, "the file is gone")
        return
    text = folder.read(path)
    if text != render_at_init(definition, view.projection.definitions).encode():
        try:
            refreshed = [refreshed_file(view, definition), dispatched_file(view, definition) or ""]
        except (*SpecwrightErrors, ValueError):
            return  # a damaged surface is already reported
        if text.decode(errors="replace") not in refreshed:
            yield Finding("task_file.changed", path, "it is not what its definition makes it")


def _edited_source(store: StateStore, folder: FileTree, bindings: LogBindings) -> list[str]:
    """Return the edited files of the newest source tree. The user may edit the tree, so these are no findings; added files
    and a moved tree are not detected."""
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
    """Compare the Code Index with the contracts of sealed modules."""
    modules, entries, retired = ModuleStore(store), list[CodeIndexEntry](), list[CodeIndexEntry]()
    subjects = bindings.subjects
    decisions = dict(subjects.get("module.deprecated", []) + subjects.get("module.superseded", []))
    for ref in modules.begun():
        if not modules.is_sealed(ref) and ref not in bindings.announced:
            continue  # incomplete because of a crash
        try:
            entries.append(summarise(modules.contract(ref)))
            if sha256 := decisions.get(ref):
                decided = Deprecation.from_bytes(store.definition(sha256), ref)
                retired.append(entries[-1].retired(decided))
        except SpecwrightErrors:
            return  # reported already; the expected index is unknown
    required = bindings.announced.keys() & {entry.ref for entry in entries}
    for wrong in index(entries, required, retired):
        yield Finding("index.changed", CODE_INDEX_FILE, wrong)


_BOUND_OTHERWISE = (
    *(layout.definition("*"), layout.release_log_end("*"), layout.LOG_END),
    *(layout.STATE_FILE, f"{layout.CODE_INDEX_FILE}*", layout.SpecFiles(f"{layout.CHANGES}/*").abandoned),
)
"""Files without a noted hash: their name is the hash, they are computed again, or they are empty marks."""


JOURNAL = ".specwright/journal.jsonl"


class Journal(NamedTuple):
    """The journal, as input for verification.

    Args:
        lines: The stored lines.
        notes: The file hashes noted in each, by path.
        authors: The models that answered each invocation, as Wires name them.
        is_whole: Whether all of it could be read.
    """

    lines: list[bytes]
    notes: list[dict[str, str]]
    authors: dict[str, set[str]]
    is_whole: bool = True


class VerifyPorts(NamedTuple):
    """The ports of verification, besides store and log.

    Args:
        sources: Reads sealed sources.
        code_index: Compares the Code Index with sealed modules.
        folder: The project's directory, with the task files.
    """

    sources: SourceReader
    code_index: IndexAudit
    folder: FileTree


class Verification(NamedTuple):
    """The result of verification.

    Args:
        modules: The number of sealed versions, including one that a crash left incomplete.
        definitions: The number of definitions.
        records: The number of files that log or journal name, outside of sealed versions.
        wires: The number of Wires.
        findings: The findings.
        unbound: Files and journal records that are not proven, because a run was interrupted.
        waiting: The files of a spec that waits for approval.
        edited: The edited files of the source tree.
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
        """PASS only if everything is proven."""
        return "FAIL" if self.findings else "INCOMPLETE" if self.unbound else "PASS"


def verify_store(
    store: StateStore, log: WireLog, ports: VerifyPorts, journal: Journal, *, at_rest: bool
) -> Verification:
    """Verify a project.

    Args:
        store: `state_store/`, only read.
        log: The project's log, read as far as possible.
        ports: The other ports.
        journal: The project's journal.
        at_rest: Whether no run is active; during a run, state file, task files and Code Index may be a step ahead of the
            log or behind it.
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
    bound = {
        **noted,
        **referred_files(store, bindings),
        **debated,
    }  # the log takes precedence over the journal
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
        approved = "spec.approved" in bindings.subjects  # nothing is announced before the approval
        if approved and after > 0:
            unbound.append(f"{JOURNAL}: the last {after} of {len(journal.lines)} records")
        elif (
            approved and journal.is_whole and not changed
        ):  # the last run was not interrupted, so nothing may be unbound
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
    """Report differences between the journal and its hashes in the log; records after the last stop are not bound yet."""
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
    """Whether SPEC.md differs from the text from which the spec was made; the user may edit it."""
    number = max(map(int, store.names(layout.CHANGES)), default=0)
    texts = {layout.spec_files(one).source for one in (0, number)}
    known = {store.read(path) for path in texts if store.exists(path)}
    return bool(known) and folder.exists("SPEC.md") and folder.read("SPEC.md") not in known


def _change_of(path: str) -> str:
    """Return the change whose spec a file belongs to; empty for any other file."""
    folder, _, rest = path.partition("/")
    return f"change-{rest.partition('/')[0]}" if folder == layout.CHANGES else ""


def _waits(path: str, change: str, bindings: LogBindings) -> bool:
    """Whether a file belongs to a spec that is not approved."""
    if change:
        return change not in {name for name, _ in bindings.subjects.get("change.approved", ())}
    return path.startswith(f"{layout.PRODUCT}/") and "spec.approved" not in bindings.subjects


def _sealed_by_decision(
    store: StateStore, bindings: LogBindings, findings: list[Finding]
) -> Iterator[tuple[str, str]]:
    """Yield the versions that no task announced, with the hash of their files: those of exceptions, and those
    that were sealed without a debate (design: interface-changes, change)."""
    for subject, record in (("exception.resolved", ExceptionOutcome), ("module.resealed", ResealedModule)):
        for ref, sha256 in bindings.subjects.get(subject, ()):
            try:
                sealed = record.from_bytes(store.definition(sha256), ref)
            except InputErrors as error:
                findings.append(Finding("definition.changed", layout.definition(sha256), error.what))
                continue
            except SpecwrightErrors:  # missing or altered; `_definition_findings` reports it
                continue
            if version := sealed.version if isinstance(sealed, ExceptionOutcome) else sealed:
                yield version.module_ref, version.sha256


def _files_without_binding(store: StateStore, bound: Mapping[str, object]) -> Iterator[str]:
    """Yield the files that nothing binds."""
    for path in _paths(store, ""):
        if path not in bound and not any(fnmatchcase(path, name) for name in _BOUND_OTHERWISE):
            yield path


def _paths(store: FileTree, base: str) -> Iterator[str]:
    """Yield the path of every file."""
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
