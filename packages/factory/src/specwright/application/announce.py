"""Build the Wires of events, append them, then update the projection (design: projection)."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from ulid import ULID

from agent_wire.canonical_json import JsonObject, JsonValue
from agent_wire.envelope import StreamId, make_stream, make_wire, task_stream_id
from ship_gate.base.record import Record
from specwright.application.factory import Factory
from specwright.application.store.artifacts import Invocation
from specwright.domain.escalation import OPERATOR
from specwright.errors import CorruptionError, NonDeterminismError
from specwright.ports import Scope, author_of

JOURNAL_HEAD = "journal.head"
"""The subject of a review Wire with the hash of the journal's lines; its reference has their number."""

_NO_REFERENCE = re.compile(r"[^A-Za-z0-9._@:/#-]")
"""The characters that a Wire's reference cannot contain."""


PROJECT = "project:"
"""A placeholder for the project's stream, which is also its context, until the event is appended (design: wire)."""


class Announcement(NamedTuple):
    """An event without id, time and position.

    `references` are the tasks that it continues or depends on, `parent` the task that it is a part of (design: wire).
    `caused_by` is the stream whose last Wire caused it. By default that is its own stream; for the first Wire of a stream
    it is that of the previous attempt, or else the project's.
    """

    type: str
    stream_id: str
    payload: dict[str, Any]
    sender: str = "system"
    references: tuple[str, ...] = ()
    parent: str = ""
    caused_by: str = ""


def task_event(
    kind: str, spec_task_id: str, attempt: int, payload: dict[str, Any], references: Sequence[str] = ()
) -> Announcement:
    """Build an event of an attempt at a task."""
    return Announcement(kind, task_stream_id(spec_task_id, attempt), payload, references=tuple(references))


def review(
    subject: str,
    definition_sha256: str,
    reference: str = "",
    by: str = "system",
    *,
    caused_by: str = "",
    debate_id: str = "",
) -> Announcement:
    """Build a review event on the stream of a debate or the project: any change of state that is not a task event
    (design: wire)."""
    payload = {"subject": subject, "definition_sha256": definition_sha256}
    if reference:
        payload["reference"] = reference
    stream = f"artifact:{debate_id}" if debate_id else PROJECT
    return Announcement("review.recorded", stream, payload, sender=by, caused_by=caused_by)


def review_of(
    factory: Factory, subject: str, record: Record, reference: str, by: str = "system"
) -> Announcement:
    """Store a record as a definition and build a review event about it."""
    return review(subject, factory.store.define(record.to_bytes()), reference, by)


def debate_event(
    factory: Factory,
    debate_id: str,
    subject: str,
    record: bytes,
    reference: str,
    by: Invocation,
    *,
    caused_by: str = "",
) -> Announcement:
    """Build the event of a debate step: the hash of its record, its author and the model (design: wire).

    Args:
        factory: The project, whose journal has the model.
        debate_id: The debate.
        subject: `debate.proposed`, `debate.challenged`, `debate.ruled` or `debate.amended`.
        record: The record.
        reference: The artifact of the record, or the one that it made.
        by: The invocation of the role, or that of the person.
        caused_by: The stream of the task that begins the debate; by default the previous step is the cause.
    """
    sha, sender = sha256(record).hexdigest(), by.role if by.role == OPERATOR else f"agent:{by.role}"
    event = review(subject, sha, reference, sender, caused_by=caused_by, debate_id=debate_id)
    if model := author_in_wire(factory.journal.recorded(by.run_id, "model") or {}):
        event.payload["model"] = model
    return event


def author_in_wire(answer: JsonValue) -> str:
    """Return the model of a journalled answer (`author_of`) in characters that a Wire allows."""
    return _NO_REFERENCE.sub("-", author_of(answer))[:96]


def gate_decision(
    debate_id: str, gate: str, evidence: bytes, reference: str, *, passed: bool
) -> Announcement:
    """Build the event of a gate's decision at the end of a debate, with the hash of its evidence (design: wire).

    Args:
        debate_id: The debate.
        gate: The gate, `ship` or `lock`.
        evidence: The gate's record.
        reference: The artifact that it decided on.
        passed: The decision.
    """
    payload = {
        "gate": gate,
        "verdict": "pass" if passed else "fail",
        "evidence_sha256": sha256(evidence).hexdigest(),
        "reference": reference,
    }
    return Announcement("gate.decided", f"artifact:{debate_id}", payload)


def announce(factory: Factory, scope: Scope, announced: Sequence[Announcement], project_id: str = "") -> None:
    """Append events, all or none, and update the projection.

    Ids and times are drawn from the scope, so that a node that runs again after a crash finds its Wires in the log.

    Args:
        factory: The ports.
        scope: The source of ids and times.
        announced: The events.
        project_id: The id of a project that begins with these events.

    Raises:
        NonDeterminismError: the log has other events under these ids.
    """
    ids, projection = [scope.wire_id() for _ in announced], factory.projection
    context = f"{PROJECT}{project_id or projection.project_id}"
    events = [_placed(event, context) for event in announced]
    projection.catch_up()
    ts = max(scope.now(), projection.last_ts)  # a step that resumes after a stop began before it
    known = [projection.known_events.get(one) for one in ids]
    if not any(known):
        scope.record()
        factory.log.append(list(_wires(factory, context, events, ids, ts)))
        projection.catch_up()
    elif known != [(event.type, event.stream_id) for event in events]:
        raise NonDeterminismError(
            "this step ran before, and the log has other events of it than it produces now",
            where=scope.name,
            remedy="continue with the version and settings of the first run, or start in a new directory",
        )
    factory.projection.write(now=False)


def bind_journal(factory: Factory) -> None:
    """Append the journal's head to the log, if a spec is approved and the journal has new records (design: journal).

    The Wire's id follows from the hash and its time is that of the previous Wire, so that no draw is needed.
    """
    projection, (count, sha) = factory.projection, factory.journal.head()
    if projection.project_id and sha != projection.journal_head[1]:
        context, ts = f"{PROJECT}{projection.project_id}", projection.last_ts
        time = int(datetime.fromisoformat(ts).timestamp() * 1000).to_bytes(6, "big")
        wire_id = f"wire_{ULID(time + bytes.fromhex(sha)[:10])}"
        head = _placed(review(JOURNAL_HEAD, sha, f"journal:{count}"), context)
        factory.log.append(list(_wires(factory, context, [head], [wire_id], ts)))
        projection.catch_up()


def check_journal(factory: Factory, address: str) -> None:
    """Raise unless the journal begins with the records that the log names (design: journal). After a kill it may have more.

    Raises:
        CorruptionError: the journal was emptied, truncated or changed.
    """
    count, sha = factory.projection.journal_head
    found = factory.journal.head(count)
    if sha and found != (count, sha):
        raise CorruptionError(
            "the journal does not begin with the records that the log names",
            where=f"{address}: {f'{found[0]} are left' if found[0] < count else 'one was changed'} of {count}",
            remedy="restore the file from a copy, then run again; this command changed nothing",
        )


def _placed(event: Announcement, context: str) -> Announcement:
    """Return an event with the project's stream instead of `PROJECT`."""
    stream, cause = (context if one == PROJECT else one for one in (event.stream_id, event.caused_by))
    return event._replace(stream_id=stream, caused_by=cause)


def _wires(
    factory: Factory, context: str, events: Sequence[Announcement], ids: Sequence[str], ts: str
) -> Iterator[JsonObject]:
    """Yield the Wires of events: each at the end of its stream, with the Wire that caused it."""
    ends: dict[str, tuple[int, str | None]] = {}

    def end(stream: str) -> tuple[int, str | None]:
        if stream not in ends:
            ends[stream] = factory.log.stream_end(stream)
        return ends[stream]

    for event, wire_id in zip(events, ids, strict=True):
        seq = end(event.stream_id)[0] + 1
        causes = (end(stream)[1] for stream in _origins(event, context))
        cause = next((known for known in causes if known is not None), None)
        stream = make_stream(
            stream_id=event.stream_id,
            stream_seq=seq,
            context_id=context,
            causation_id=cause,
            reference_task_ids=event.references,
            parent_task_id=event.parent or None,
        )
        kind, sender, payload = event.type, event.sender, event.payload
        yield make_wire(wire_id=wire_id, ts=ts, type=kind, sender=sender, stream=stream, payload=payload)
        ends[event.stream_id] = seq, wire_id


def _origins(event: Announcement, context: str) -> Iterator[str]:
    """Yield the streams in which to look for the cause of an event, in order (design: wire)."""
    if event.caused_by:
        yield event.caused_by
    yield event.stream_id
    place = StreamId.parse(event.stream_id)
    if place.attempt > 1:
        yield task_stream_id(place.id, place.attempt - 1)
    yield context
