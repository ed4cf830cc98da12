"""Checks offline, from the files alone, that everything is still what was written (design: ship-gate, journal,
command-line).

Every file below `state_store/` is bound in one of three ways. The log names the hash of what its Wires announce: sealed
versions, definitions, escalations and their answers, records of debates and gates, the approved spec, release manifests
with their wheels. The journal has the hash of every other record and of each file of a sealed version, so that the
changed file is named; the log names the hash of the journal at every stop. State file, task files and Code Index are
computed again and compared. `_BOUND_OTHERWISE` says which file is bound how. A file that nothing binds is a finding,
unless a run was cut short, which leaves the verdict open, or its spec waits for approval.

Of debates, the log has the hash of each record, its author and the order; verification names a verdict that was changed,
dropped or swapped. A record is the very body of its artifact, whose status follows from the grounds among its outputs.

Not checked here: the log's own chain, which `agent_wire` verifies, and whether the tests still pass, which needs the
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
"""The subjects of reviews that name a record, with its file in its artifact; amendments lie beside the debate."""


class DebateEvent(NamedTuple):
    """A Wire of a debate.

    Args:
        step: The subject of a review, or the name of a gate.
        round: In which it came.
        reference: The artifact that it is about.
        sha256: Of its record.
        passed: False of a gate that refused.
        sender: Who took the step.
        model: That answered, as the Wire names it.
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
    """A debate as the log has it.

    Args:
        debate_id: The id of its first proposal.
    """

    def __init__(self, debate_id: str) -> None:
        self.debate_id = debate_id
        self.events: list[DebateEvent] = []

    def add(self, wire: Mapping[str, Any]) -> None:
        """Take in the next Wire of its stream."""
        payload, before = wire["payload"], self.events[-1].round if self.events else 0
        step = str(payload.get("subject") or payload["gate"])
        opens = step == "debate.proposed" or (step == "debate.ruled" and wire["sender"] == OPERATOR)
        sha256 = payload["definition_sha256"] if "subject" in payload else payload["evidence_sha256"]
        passed = payload.get("verdict") != "fail"
        reference, author = payload.get("reference", ""), (wire["sender"], payload.get("model", ""))
        self.events.append(DebateEvent(step, before + opens, reference, sha256, passed, *author))

    @property
    def records(self) -> list[tuple[int, str]]:
        """Its proposals, verdicts and rulings with their rounds, in order."""
        return [(event.round, event.name) for event in self.events if RECORDS.get(event.step)]

    def missing_steps(self) -> Iterator[tuple[str, str]]:
        """What was sealed or locked, each with the first step that its round lacks; empty if it has all."""
        for at, end in enumerate(self.events):
            if end.step in _GATES:
                said = [event for event in self.events[:at] if event.passed]
                steps = iter([event.step for event in _last_round(said)])
                *wanted, gate = ("debate.proposed", "debate.challenged", "debate.ruled", _GATES[end.step])
                missing = "" if said and said[-1].step == gate else gate  # a seal follows its gate at once
                yield end.reference, next((step for step in wanted if step not in steps), missing)


_GATES = {"module.sealed": "ship", "plan.locked": "lock"}
"""What a gate lets through."""


def _last_round(events: list[DebateEvent]) -> list[DebateEvent]:
    """From the last proposal on."""
    begun = [at for at, event in enumerate(events) if event.step == "debate.proposed"]
    return events[begun[-1] :] if begun else events


def debate_files(store: StateStore, debates: Iterable[LoggedDebate]) -> dict[str, set[str]]:
    """The records of debates and of their gates, with the hash that Wires name; without one if they name several."""
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
            if file:  # the newest of a kind lies beside the debate, too
                found[layout.latest_record(debate.debate_id, PurePosixPath(file).stem)] = {event.sha256}
    return {path: hashes if len(hashes) == 1 else set[str]() for path, hashes in found.items()}


def debate_findings(
    store: StateStore, debates: Collection[LoggedDebate], debated: Collection[str]
) -> Iterator[Finding]:
    """Where debates are not what the log says.

    A sealed version or a locked plan was proposed, challenged, ruled on and let through by its gate, in this order. Records
    are in the rounds in which the log has them.

    Args:
        store: Read only.
        debates: All of the log.
        debated: The sealed versions that came of a debate.
    """
    folders = ArtifactStore(store).folders()
    yield from _order_findings(debates, debated)
    yield from _judged_findings(store, debates, folders)
    for debate in debates:
        yield from _round_findings(store, debate, folders)


def _order_findings(debates: Collection[LoggedDebate], debated: Collection[str]) -> Iterator[Finding]:
    """What was sealed or locked without a step before, or without a debate."""
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
    """Decisions of a gate about another version than the one that was proposed last, or amended; decisions after it had
    passed one; and seals of anything else than what it passed."""
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
                # a damaged record of a gate is reported already, by its hash
                with suppress(*SpecwrightErrors, KeyError, RecursionError, TypeError, ValueError):
                    passed = DebateRecords(store, debate.debate_id).gate(before.round, before.name).passed
                    judged = str({"module": before.name, **passed}["module"])
                if event.reference != judged:
                    message = f"{event.reference} is sealed or locked, and the gate passed {judged}"
            if message:
                yield Finding("debate.incomplete", layout.debate(debate.debate_id), message)
            message, before = "", event


def _round_findings(store: StateStore, debate: LoggedDebate, folders: Mapping[str, str]) -> Iterator[Finding]:
    """The list of a debate's records, which a crash may leave with one that the log has not got yet."""
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
    """Steps by another role than made the record, or with a model that did not answer the invocation that made it.

    Args:
        store: Read only.
        debates: All of the log.
        authors: The models that answered each invocation, by the journal.
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
