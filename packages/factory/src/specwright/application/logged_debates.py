"""What the log says of debates, and where their records are not that (design: wire).

The log has the hash of each record, who made it, and in which order they came; the files have the rest.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ship_gate.findings import Finding
from specwright.application.store import layout
from specwright.application.store.artifacts import ArtifactStore
from specwright.application.store.debates import DebateRecords
from specwright.domain.artifacts import ArtifactEnvelope
from specwright.domain.debate.debate import Proposal
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
