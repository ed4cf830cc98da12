"""What happened, said as Wires: appended first, projected afterwards (design: projection)."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, cast

from agent_wire.canonical_json import JsonObject, JsonValue
from agent_wire.envelope import StreamId, make_stream, make_wire, task_stream_id
from specwright.application.factory import Factory
from specwright.ports import Scope


class Announcement(NamedTuple):
    """An event that has not got its id, time and place yet.

    `references` are the tasks that it continues or depends on, `parent` the task that it is a part of (design: wire).
    `caused_by` is the stream whose last Wire caused it. Left out, that is its own stream; for its first Wire the
    attempt before, whose end caused this one (design: wire), else the project's.
    """

    type: str
    stream_id: str
    payload: dict[str, Any]
    sender: str = "system"
    references: tuple[str, ...] = ()
    parent: str = ""
    caused_by: str = ""


def project_stream(project_id: str) -> str:
    """The stream of a project, which is also its context (design: wire)."""
    return f"project:{project_id}"


def task_event(
    kind: str, spec_task_id: str, attempt: int, payload: dict[str, Any], references: Sequence[str] = ()
) -> Announcement:
    """An event of one attempt at a task."""
    return Announcement(kind, task_stream_id(spec_task_id, attempt), payload, references=tuple(references))


def review(
    project_id: str,
    subject: str,
    definition_sha256: str,
    reference: str = "",
    by: str = "system",
    *,
    caused_by: str = "",
) -> Announcement:
    """A review event on the project's stream: anything that changes state and is no task event (design: wire)."""
    payload = {"subject": subject, "definition_sha256": definition_sha256}
    if reference:
        payload["reference"] = reference
    stream = project_stream(project_id)
    return Announcement("review.recorded", stream, payload, sender=by, caused_by=caused_by)


def gate_decision(
    project_id: str, gate: str, evidence: bytes, reference: str, *, passed: bool, caused_by: str
) -> Announcement:
    """A gate's decision on the project's stream, with the hash of what it saw (design: wire).

    Args:
        project_id: The project.
        gate: Its name, `ship` or `lock`.
        evidence: The record of what it saw.
        reference: What it decided on.
        passed: Whether it lets that through.
        caused_by: The stream of the task.
    """
    payload = {
        "gate": gate,
        "verdict": "pass" if passed else "fail",
        "evidence_sha256": sha256(evidence).hexdigest(),
        "reference": reference,
    }
    return Announcement("gate.decided", project_stream(project_id), payload, caused_by=caused_by)


def announce(factory: Factory, scope: Scope, project_id: str, events: Sequence[Announcement]) -> None:
    """Append events, all or none, and take them into the projection.

    Ids, times and places are drawn from the scope, so that a node that runs again after a crash appends the very
    same Wires, which the log passes over.
    """
    context = project_stream(project_id)
    ids, ts = [scope.wire_id() for _ in events], scope.now()
    request = cast(JsonValue, [[event.type, event.stream_id] for event in events])
    places = cast(
        list[list[Any]],
        scope.recall("place", request, lambda: _places(factory, context, events, ids)),
    )
    factory.log.append(
        [
            _wire(event, wire_id, ts, context, seq, cause)
            for event, wire_id, (seq, cause) in zip(events, ids, places, strict=True)
        ]
    )
    factory.projection.catch_up()
    factory.projection.write(now=False)


def _places(factory: Factory, context: str, events: Sequence[Announcement], ids: list[str]) -> JsonValue:
    """The place of each event in its stream, and the Wire that caused it."""
    ends: dict[str, tuple[int, str | None]] = {}

    def end(stream: str) -> tuple[int, str | None]:
        if stream not in ends:
            ends[stream] = factory.log.stream_end(stream)
        return ends[stream]

    places: list[JsonValue] = []
    for event, wire_id in zip(events, ids, strict=True):
        seq, _ = end(event.stream_id)
        causes = (end(stream)[1] for stream in _origins(event, context))
        places.append([seq + 1, next((cause for cause in causes if cause is not None), None)])
        ends[event.stream_id] = seq + 1, wire_id
    return places


def _origins(event: Announcement, context: str) -> Iterator[str]:
    """The streams in which the cause of an event is looked for, in this order (design: wire)."""
    if event.caused_by:
        yield event.caused_by
    yield event.stream_id
    place = StreamId.parse(event.stream_id)
    if place.attempt > 1:
        yield task_stream_id(place.id, place.attempt - 1)
    yield context


def _wire(
    event: Announcement, wire_id: str, ts: str, context: str, seq: int, cause: str | None
) -> JsonObject:
    stream = make_stream(
        stream_id=event.stream_id,
        stream_seq=seq,
        context_id=context,
        causation_id=cause,
        reference_task_ids=event.references,
        parent_task_id=event.parent or None,
    )
    return make_wire(
        wire_id=wire_id, ts=ts, type=event.type, sender=event.sender, stream=stream, payload=event.payload
    )
