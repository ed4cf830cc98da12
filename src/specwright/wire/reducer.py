"""From ordered Wires to the state of every stream (design: wire).

The reducer is total: any input has a result. An inadmissible Wire is recorded and changes nothing.
"""

from collections.abc import Iterable
from typing import NamedTuple, cast

from specwright.canonical_json import JsonObject
from specwright.wire.admission import Admission, RepeatedWire, default_admission
from specwright.wire.envelope import StreamId
from specwright.wire.rejection import Rejection
from specwright.wire.stream import AdmissionState, StreamState


class RejectedWire(NamedTuple):
    """An inadmissible Wire: its place in the input, from 1, its id (empty if it has none), and the reason."""

    position: int
    wire_id: str
    rejection: Rejection


class Reduction(NamedTuple):
    """The state that ordered Wires lead to: every stream by its id, in the order of their first Wires."""

    streams: dict[str, StreamState]
    rejected: tuple[RejectedWire, ...]

    def tasks(self) -> dict[str, JsonObject]:
        """The view of every task stream by its stream id."""
        views = ((name, task_view(name, stream)) for name, stream in self.streams.items())
        return {name: view for name, view in views if view is not None}

    def to_json(self) -> JsonObject:
        """The reduction as one JSON document."""
        return {
            "tasks": {**self.tasks()},
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


def reduce_wires(wires: Iterable[JsonObject], admission: Admission | None = None) -> Reduction:
    """Reduce Wires in their order.

    Args:
        wires: Any JSON objects; a repeated Wire is skipped.
        admission: Other rules than those that ship.
    """
    rules = admission or default_admission()
    state = AdmissionState()
    rejected: list[RejectedWire] = []
    for position, wire in enumerate(wires, start=1):
        decision = rules.admit(state, wire)
        if isinstance(decision, Rejection):
            rejected.append(RejectedWire(position, _id_of(wire), decision))
        elif not isinstance(decision, RepeatedWire):
            state.add(decision)
    return Reduction(dict(state.streams()), tuple(rejected))


def task_view(stream_id: str, stream: StreamState) -> "JsonObject | None":
    """A task stream as the reducer harness of Agent Wire shows it; None for a stream of another kind.

    Returns:
        `task_id`, `attempt`, `context_id`, `stream_seq`, `task_state`, `terminal`, `claimed_by`,
        `artifact_count`, `artifact_ids`, `blocked`, `blocked_by`, `verification`, `failure`,
        `definition_sha256`.
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
        "blocked": task.blocked is not None,
        "blocked_by": task.blocked,
        "verification": task.complete["verification"] if task.complete else None,
        "failure": task.failure["failure"] if task.failure else None,
        "definition_sha256": task.definition_sha256,
    }


def _id_of(wire: object) -> str:
    """The id of anything that claims to be a Wire."""
    value = cast("JsonObject", wire).get("wire_id") if isinstance(wire, dict) else None
    return value if isinstance(value, str) else ""
