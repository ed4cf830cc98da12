"""Maps Wires to A2A 1.0: tasks, status updates and artifact updates, in ProtoJSON (design: wire).

This is a pure function of the log, not a second stream and not a gateway. The contract `a2a-task-state-map` defines the
A2A state for each event. A response has only the keys that this module sets, so that nothing internal leaks.
"""

import uuid
from collections.abc import Iterable, Mapping
from itertools import chain, repeat
from typing import Any, NamedTuple, cast

from agent_wire.admission import Admission, RepeatedWire, default_admission
from agent_wire.canonical_json import JsonObject
from agent_wire.envelope import StreamId, task_stream_id
from agent_wire.errors import Rejection
from agent_wire.stream import AdmissionState, TaskState
from agent_wire.tables import contract

_DATA = "application/json"


class LogPosition(NamedTuple):
    """The position of a Wire in the log. A2A metadata is a protobuf Struct, so the number is sent as a string."""

    sequence_number: int
    consensus_timestamp: str


def a2a_task_id(context_id: str, stream_id: str) -> str:
    """Compute the A2A task id of an attempt: a UUIDv5, because A2A paths cannot hold a stream id's colons (design: wire).

    Args:
        context_id: The context of the stream, `project:<id>`; stream ids are unique only within a project.
        stream_id: The stream of the attempt.
    """
    return str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_URL, context_id), stream_id))


def map_wires(
    wires: Iterable[JsonObject],
    admission: Admission | None = None,
    positions: Iterable[LogPosition | None] = (),
) -> dict[str, list[JsonObject]]:
    """Map the Wires of a log to A2A tasks, each with its responses in order; the first one is the Task itself.

    Args:
        wires: The Wires in log order; inadmissible ones are skipped, as in the reducer.
        admission: Rules to use instead of the ones that ship.
        positions: The position of each Wire, if the Wires come from a log.

    Returns:
        A2A task id -> its `StreamResponse`s.
    """
    bridge = Bridge(admission)
    streams: dict[str, list[JsonObject]] = {}
    places = chain(positions, repeat(None))
    for wire, position in zip(wires, places, strict=False):
        response = bridge.map(wire, position)
        if response is not None:
            streams.setdefault(response[0], []).append(response[1])
    return streams


class Bridge:
    """Maps Wires, one at a time, to the responses that an A2A subscriber of the task receives.

    Args:
        admission: Rules to use instead of the ones that ship.
        rows: Rows to use instead of those of `a2a-task-state-map`.
    """

    def __init__(
        self, admission: Admission | None = None, rows: Iterable[Mapping[str, Any]] | None = None
    ) -> None:
        self._admission = admission or default_admission()
        shipped = cast("list[Mapping[str, Any]]", contract("a2a-task-state-map")["rows"])
        self._rows = list(rows if rows is not None else shipped)
        self._state = AdmissionState()

    def map(self, wire: JsonObject, position: LogPosition | None = None) -> tuple[str, JsonObject] | None:
        """Return the A2A task id and the `StreamResponse` for the next Wire.

        Args:
            wire: The next Wire of the log.
            position: Its position, if it comes from a log; the status then has the consensus time, not the producer's.

        Returns:
            None if the Wire is on no task stream, is a repetition, or is inadmissible.
        """
        decision = self._admission.admit(self._state, wire)
        if isinstance(decision, Rejection | RepeatedWire):
            return None
        self._state.add(decision)
        task = decision.stream.task
        if task is None:
            return None
        row = self._row(str(wire["type"]), task, _mapping(wire["payload"]))
        return a2a_task_id(decision.stream.context_id, decision.stream_id), self._response(
            wire, row, position
        )

    def _row(self, event: str, task: TaskState, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        facts = {
            "reason": payload.get("reason"),
            "claimed": task.claimed,
            "failure_kind": payload.get("failure", {}).get("kind"),
        }
        for row in self._rows:
            if row["event"] == event and row.get("when", {}).items() <= facts.items():
                return row
        raise KeyError(f"the contract a2a-task-state-map has no row for {event}")

    def _response(self, wire: JsonObject, row: Mapping[str, Any], position: LogPosition | None) -> JsonObject:
        stream = _mapping(wire["stream"])
        task_id = a2a_task_id(stream["context_id"], stream["stream_id"])
        common: JsonObject = {"contextId": stream["context_id"], "metadata": _metadata(wire, position)}
        if row["update"] == "artifact":
            artifact = _artifact(_mapping(wire["payload"]))
            chunk: JsonObject = {"append": row["append"], "lastChunk": row["last_chunk"]}
            return {"artifactUpdate": {"taskId": task_id, "artifact": artifact, **chunk, **common}}
        time = position.consensus_timestamp if position is not None else str(wire["ts"])
        status: JsonObject = {"state": row["state"], "timestamp": time}
        if message := self._message(wire, task_id):
            status["message"] = message
        if stream["stream_seq"] == 1:
            return {"task": {"id": task_id, "status": status, **common}}
        return {"statusUpdate": {"taskId": task_id, "status": status, **common}}

    def _message(self, wire: JsonObject, task_id: str) -> "JsonObject | None":
        """Build the message of a status: why the task is blocked or failed, and which tasks it refers to."""
        stream, payload = _mapping(wire["stream"]), _mapping(wire["payload"])
        details = {key: payload[key] for key in ("reason", "failure", "reference") if key in payload}
        context_id = stream["context_id"]
        references = [self._last_attempt(context_id, task) for task in stream.get("reference_task_ids", ())]
        _, task, attempt = StreamId.parse(stream["stream_id"])
        if attempt > 1 and stream["stream_seq"] == 1:  # a retry refers to the attempt before it, once
            references.insert(0, a2a_task_id(context_id, task_stream_id(task, attempt - 1)))
        if not details and not references:
            return None
        message: JsonObject = {
            "messageId": wire["wire_id"],
            "contextId": context_id,
            "taskId": task_id,
            "role": "ROLE_AGENT",
            "parts": [{"data": {"type": wire["type"], **details}, "mediaType": _DATA}],
        }
        if references:
            message["referenceTaskIds"] = list(dict.fromkeys(references))
        return message

    def _last_attempt(self, context_id: str, task_id: str) -> str:
        """Return the A2A task id of the last known attempt at a task, or of the first attempt if none is known."""
        attempt = 1
        while self._state.stream(task_stream_id(task_id, attempt + 1)) is not None:
            attempt += 1
        return a2a_task_id(context_id, task_stream_id(task_id, attempt))


def _artifact(payload: Mapping[str, Any]) -> JsonObject:
    return {
        "artifactId": payload["artifact_id"],
        "name": payload["name"],
        "parts": [
            {"url": payload["uri"], "filename": payload["name"], "mediaType": payload["media_type"]},
        ],
        "metadata": {
            "sha256": payload["sha256"],
            "version": payload["version"],
            "sizeBytes": str(payload["size_bytes"]),
        },
    }


def _metadata(wire: JsonObject, position: LogPosition | None) -> JsonObject:
    stream = _mapping(wire["stream"])
    kind, task, attempt = StreamId.parse(stream["stream_id"])
    metadata: JsonObject = {
        "wireId": wire["wire_id"],
        "wireType": wire["type"],
        "streamSeq": str(stream["stream_seq"]),
        kind: task,
        "attempt": str(attempt),
    }
    if "parent_task_id" in stream:
        metadata["parentTask"] = stream["parent_task_id"]
    if position is not None:
        metadata["sequenceNumber"] = str(position.sequence_number)
        metadata["consensusTimestamp"] = position.consensus_timestamp
    return metadata


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value)  # of an admitted Wire
