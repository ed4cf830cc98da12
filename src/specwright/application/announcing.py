"""What happened, said as Wires: appended first, projected afterwards (D29-D33)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from specwright.application.factory import Factory
from specwright.canonical_json import JsonObject, JsonValue
from specwright.ports.journal import Scope
from specwright.wire.envelope import make_stream, make_wire, task_stream_id

__all__ = ["Announcement", "announce", "project_stream", "review", "task_event"]


class Announcement(NamedTuple):
    """An event that has not got its id, time and place yet.

    `references` are the tasks that it continues or depends on, `parent` the task that it is a part of (D33).
    """

    type: str
    stream_id: str
    payload: dict[str, Any]
    sender: str = "system"
    references: tuple[str, ...] = ()
    parent: str = ""


def project_stream(project_id: str) -> str:
    """The stream of a project, which is also its context (D30)."""
    return f"project:{project_id}"


def task_event(
    kind: str, spec_task_id: str, attempt: int, payload: dict[str, Any], references: Sequence[str] = ()
) -> Announcement:
    """An event of one attempt at a task."""
    return Announcement(kind, task_stream_id(spec_task_id, attempt), payload, references=tuple(references))


def review(
    project_id: str, subject: str, definition_sha256: str, reference: str = "", by: str = "system"
) -> Announcement:
    """A review event on the project's stream: anything that changes state and is no task event (D33)."""
    payload = {"subject": subject, "definition_sha256": definition_sha256}
    if reference:
        payload["reference"] = reference
    return Announcement("review.recorded", project_stream(project_id), payload, sender=by)


def announce(factory: Factory, scope: Scope, project_id: str, events: Sequence[Announcement]) -> None:
    """Append events, all or none, and take them into the projection.

    Ids, times and places are drawn from the scope, so that a node that runs again after a crash appends the very
    same Wires, which the log passes over.
    """
    context = project_stream(project_id)
    stamps = scope.stamps(len(events))
    request = cast(JsonValue, [[event.type, event.stream_id] for event in events])
    places = cast(
        list[list[Any]],
        scope.recall(
            "place", request, lambda: _places(factory, context, events, [s.wire_id for s in stamps])
        ),
    )
    factory.log.append(
        [
            _wire(event, stamp.wire_id, stamp.ts, context, seq, cause)
            for event, stamp, (seq, cause) in zip(events, stamps, places, strict=True)
        ]
    )
    factory.projection.catch_up()
    factory.projection.write(now=False)


def _places(factory: Factory, context: str, events: Sequence[Announcement], ids: list[str]) -> JsonValue:
    heads: dict[str, int] = {}
    last: dict[str, str | None] = {}
    places: list[JsonValue] = []
    for event, wire_id in zip(events, ids, strict=True):
        stream = event.stream_id
        for known in (stream, context):
            if known not in heads:
                heads[known] = factory.log.head(known)
                last[known] = factory.log.last_wire_id(known)
        heads[stream] += 1
        places.append([heads[stream], last[stream] or last[context]])
        last[stream] = wire_id
    return places


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
