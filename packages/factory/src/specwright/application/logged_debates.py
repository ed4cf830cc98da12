"""What the log says of debates, and where their records are not that (design: wire-log).

The log has the hash of each record, who made it, and in which order they came; the files have the rest.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from agent_wire import canonical_json
from ship_gate.findings import Finding
from specwright.application.store import layout
from specwright.application.store.artifacts import ArtifactStore
from specwright.application.store.debates import DebateRecords
from specwright.domain.escalation import OPERATOR
from specwright.errors import SpecwrightErrors
from specwright.ports import StateStore

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
        sender: Who made it.
        passed: False of a gate that refused.
    """

    step: str
    round: int
    reference: str
    sha256: str
    sender: str
    passed: bool

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
        self.events.append(
            DebateEvent(step, before + opens, payload.get("reference", ""), sha256, wire["sender"], passed)
        )

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
                wanted = ("debate.proposed", "debate.challenged", "debate.ruled", _GATES[end.step])
                yield end.reference, next((step for step in wanted if step not in steps), "")


_Folders: TypeAlias = Mapping[str, list[str]]
"""Where each artifact is, by its id."""

_GATES = {"module.sealed": "ship", "plan.locked": "lock"}
"""What a gate lets through."""


def _last_round(events: list[DebateEvent]) -> list[DebateEvent]:
    """From the last proposal on."""
    begun = [at for at, event in enumerate(events) if event.step == "debate.proposed"]
    return events[begun[-1] :] if begun else events


def debate_files(store: StateStore, debates: Iterable[LoggedDebate]) -> dict[str, list[str]]:
    """The records of debates and of their gates, with the hashes that Wires name."""
    folders, found = _folders(store), defaultdict[str, list[str]](list)
    for debate in debates:
        for event in debate.events:
            name, _, version = event.reference.partition("@")
            if file := RECORDS.get(event.step):
                paths = [
                    f"{layout.artifact_version(one, name, version)}/{file}"
                    for one in folders.get(name, ["*"])
                ]
            elif event.step in RECORDS:
                paths = [layout.amendments(debate.debate_id, event.round)]
            elif event.step in _GATES.values():
                paths = [layout.gate_record(debate.debate_id, event.round, name)]
            else:
                continue
            for path in paths:
                found[path].append(event.sha256)
    return found


def debate_findings(
    store: StateStore, debates: Collection[LoggedDebate], debated: Collection[str]
) -> Iterator[Finding]:
    """Where debates are not what the log says.

    A sealed version or a locked plan was proposed, challenged, ruled on and let through by its gate, in this order. Records
    are in the rounds in which the log has them, by those who sent their Wires, and each is in one folder.

    Args:
        store: Read only.
        debates: All of the log.
        debated: The sealed versions that came of a debate.
    """
    folders = _folders(store)
    yield from _order_findings(debates, debated)
    for debate in debates:
        yield from _round_findings(store, debate, folders)
        yield from _author_findings(store, debate, folders)
    for name, places in folders.items():
        if len(places) > 1:
            message = f"there is one in {' and in '.join(places)}"
            yield Finding("record.changed", layout.artifact(places[0], name), message)
    for path, hashes in debate_files(store, debates).items():
        own = {canonical_json.sha256(store.read(path))} if len(hashes) > 1 and store.exists(path) else hashes
        for sha256 in sorted({*hashes} - {*own}):
            message = f"a Wire names evidence that no record has: {sha256}"
            yield Finding("evidence.missing", path, message)


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


def _folders(store: StateStore) -> _Folders:
    """Where each artifact is, by its id."""
    found = defaultdict[str, list[str]](list)
    for folder in store.names(layout.ARTIFACTS):
        for name in store.names(f"{layout.ARTIFACTS}/{folder}"):
            found[name].append(folder)
    return found


def _round_findings(store: StateStore, debate: LoggedDebate, folders: _Folders) -> Iterator[Finding]:
    """The list of a debate's records, which a crash may leave with one that the log has not got yet."""
    try:
        listed = list(DebateRecords(store, debate.debate_id).listed())
    except SpecwrightErrors:
        return  # reported already
    if listed != debate.records and listed[:-1] != debate.records:
        said = ", ".join(f"{name} in round {number}" for number, name in debate.records)
        path = layout.artifact(folders[debate.debate_id][0], debate.debate_id)
        yield Finding("record.changed", path, f"it lists other records than the log, which has {said}")


def _author_findings(store: StateStore, debate: LoggedDebate, folders: _Folders) -> Iterator[Finding]:
    artifacts = ArtifactStore(store)
    for event in debate.events:
        if event.step not in RECORDS or event.name not in folders:
            continue
        folder = folders[event.name][0]
        try:
            role = artifacts.envelope(folder, event.name).created_by.role
        except SpecwrightErrors:
            continue  # reported already
        if event.sender not in {role, f"agent:{role}"}:
            message = f"it is by the {role}, and not by {event.sender}, as the log says"
            yield Finding("record.changed", layout.artifact(folder, event.name), message)
