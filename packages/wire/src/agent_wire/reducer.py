"""Reduces ordered Wires to the state of every stream, artifact and project (design: wire).

The reducer accepts any input. It records an inadmissible Wire, which changes nothing else.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from agent_wire.admission import Admission, RepeatedWire, default_admission
from agent_wire.canonical_json import JsonObject
from agent_wire.envelope import StreamId, wire_id_of
from agent_wire.errors import Rejection
from agent_wire.stream import AdmissionState, OneStreamState, StreamState


class RejectedWire(NamedTuple):
    """An inadmissible Wire: its position in the input (from 1), its id (empty if unreadable), and the reason."""

    position: int
    wire_id: str
    rejection: Rejection


class Reduction(NamedTuple):
    """The state after a sequence of Wires.

    Args:
        streams: Stream id -> state, in the order of first Wires.
        rejected: The inadmissible Wires.
        artifacts: The `artifact_view` of the last announcement of each version on each stream, in the order of first
            announcements.
        decisions: The `decision_view` of the last decision about each subject or gate with each reference, on each
            stream.
    """

    streams: dict[str, StreamState]
    rejected: tuple[RejectedWire, ...]
    artifacts: tuple[JsonObject, ...] = ()
    decisions: tuple[JsonObject, ...] = ()

    def tasks(self) -> dict[str, JsonObject]:
        """Return the `task_view` of every task stream by its stream id."""
        views = ((name, task_view(name, stream)) for name, stream in self.streams.items())
        return {name: view for name, view in views if view is not None}

    def projects(self) -> dict[str, JsonObject]:
        """Summarise each project by the id of its stream.

        Returns:
            `context_id`, `stream_seq`, `task_states` (state -> number of tasks, each by its last attempt),
            `decisions`.
        """
        streams = self.streams.items()
        return {name: self._project(s) for name, s in streams if StreamId.parse(name).kind == "project"}

    def to_json(self) -> JsonObject:
        """Return the reduction as one JSON document."""
        return {
            "tasks": {**self.tasks()},
            "artifacts": list(self.artifacts),
            "projects": {**self.projects()},
            "streams": {name: stream.seq for name, stream in self.streams.items()},
            "rejected": [
                {
                    "position": entry.position,
                    "wire_id": entry.wire_id,
                    "code": entry.rejection.code,
                    "pointer": entry.rejection.pointer,
                    "message": entry.rejection.message,
                }
                for entry in self.rejected
            ],
        }

    def _project(self, stream: StreamState) -> JsonObject:
        last: dict[str, str] = {}
        for task in self.tasks().values():
            if task["context_id"] == stream.context_id:
                last[str(task["task_id"])] = str(task["task_state"])  # attempts follow each other
        return {
            "context_id": stream.context_id,
            "stream_seq": stream.seq,
            "task_states": {**Counter(last.values())},
            "decisions": [
                decision
                for decision in self.decisions
                if self.streams[str(decision["stream_id"])].context_id == stream.context_id
            ],
        }


def reduce_wires(wires: Iterable[JsonObject], admission: Admission | None = None) -> Reduction:
    """Reduce Wires in the given order.

    Args:
        wires: Any JSON objects; a repeated Wire is skipped.
        admission: Rules to use instead of the ones that ship.
    """
    return _reduced(wires, AdmissionState(), admission)


def reduce_stream(
    wires: Iterable[JsonObject], stream_id: str, admission: Admission | None = None
) -> Reduction:
    """Reduce one stream without checking causes and attempts on other streams (design: wire).

    Args:
        wires: Any JSON objects; those of other streams are skipped, but positions count them.
        stream_id: The stream.
        admission: Rules to use instead of the ones that ship.
    """
    places = [(place, wire) for place, wire in enumerate(wires, start=1) if stream_of(wire) == stream_id]
    own = {wire_id_of(wire) for _, wire in places}
    reduction = _reduced((wire for _, wire in places), OneStreamState(own), admission)
    rejected = [entry._replace(position=places[entry.position - 1][0]) for entry in reduction.rejected]
    return reduction._replace(rejected=tuple(rejected))


def task_view(stream_id: str, stream: StreamState) -> "JsonObject | None":
    """Show a task stream as the reducer harness of Agent Wire does; None for a stream of another kind.

    Returns:
        `task_id`, `attempt`, `context_id`, `stream_seq`, `task_state`, `terminal`, `claimed_by`,
        `artifact_count`, `artifact_ids`, `artifacts` (the last version of each, with hash and lineage),
        `blocked`, `blocked_by`, `verification`, `failure`, `definition_sha256`, `parent_task_id`,
        `reference_task_ids`.
    """
    task = stream.task
    if task is None:
        return None
    _, task_id, attempt = StreamId.parse(stream_id)
    return {
        "task_id": task_id,
        "attempt": attempt,
        "context_id": stream.context_id,
        "stream_seq": stream.seq,
        "task_state": task.state,
        "terminal": task.terminal,
        "claimed_by": task.claimed_by,
        "artifact_count": len(task.artifacts),
        "artifact_ids": [artifact.artifact_id for artifact in task.artifacts],
        "artifacts": [
            {**artifact._asdict(), "lineage": dict(artifact.lineage)} for artifact in task.artifacts
        ],
        "blocked": task.blocked is not None,
        "blocked_by": task.blocked,
        "verification": task.complete["verification"] if task.complete else None,
        "failure": task.failure["failure"] if task.failure else None,
        "definition_sha256": task.definition_sha256,
        "parent_task_id": task.parent,
        "reference_task_ids": list(task.references),
    }


def artifact_view(wire: JsonObject) -> "JsonObject | None":
    """Return the payload of an `artifact.ready` with its stream and Wire id; None for another Wire."""
    if wire["type"] != "artifact.ready":
        return None
    payload = cast("Mapping[str, Any]", wire["payload"])
    return {"stream_id": stream_of(wire), "wire_id": wire["wire_id"], **payload}


def decision_view(wire: JsonObject) -> "JsonObject | None":
    """Show the review or gate decision that an admitted Wire records; None for another Wire.

    Returns:
        `stream_id`, `wire_id`, `event`, `subject` (of the review, or the gate), `reference` (or an empty string),
        `verdict` (of a gate, else None), `sha256` (of the definition or the evidence).
    """
    payload = cast("Mapping[str, Any]", wire["payload"])
    match wire["type"]:
        case "review.recorded":
            subject, verdict, sha256 = payload["subject"], None, payload["definition_sha256"]
        case "gate.decided":
            subject, verdict, sha256 = payload["gate"], payload["verdict"], payload["evidence_sha256"]
        case _:
            return None
    return {
        "stream_id": stream_of(wire),
        "wire_id": wire["wire_id"],
        "event": wire["type"],
        "subject": subject,
        "reference": payload.get("reference", ""),
        "verdict": verdict,
        "sha256": sha256,
    }


def stream_of(wire: object) -> str:
    """Return the stream id of a value that may not be a valid Wire, or an empty string."""
    stream: Any = cast("JsonObject", wire).get("stream") if isinstance(wire, dict) else None
    value = cast("JsonObject", stream).get("stream_id") if isinstance(stream, dict) else None
    return value if isinstance(value, str) else ""


def _reduced(wires: Iterable[JsonObject], state: AdmissionState, admission: Admission | None) -> Reduction:
    rules = admission or default_admission()
    rejected: list[RejectedWire] = []
    artifacts: dict[tuple[Any, ...], JsonObject] = {}
    decisions: dict[tuple[Any, ...], JsonObject] = {}
    for position, wire in enumerate(wires, start=1):
        decision = rules.admit(state, wire)
        if isinstance(decision, Rejection):
            rejected.append(RejectedWire(position, wire_id_of(wire), decision))
        elif not isinstance(decision, RepeatedWire):
            state.add(decision)
            if artifact := artifact_view(wire):
                artifacts[artifact["stream_id"], artifact["artifact_id"], artifact["version"]] = artifact
            elif view := decision_view(wire):
                decisions[view["stream_id"], view["event"], view["subject"], view["reference"]] = view
    return Reduction(
        dict(state.streams()), tuple(rejected), tuple(artifacts.values()), tuple(decisions.values())
    )
