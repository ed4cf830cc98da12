"""From ordered Wires to the state of every stream (W Reducer Harness Contract).

The reducer is total: whatever it is given, it gives a state; what is inadmissible is recorded and changes
nothing (D31).
"""

from collections.abc import Iterable
from typing import NamedTuple, cast

from specwright.canonical_json import JsonObject
from specwright.wire.admission import Admission, Repeated, default_admission
from specwright.wire.envelope import StreamId
from specwright.wire.ledger import Ledger
from specwright.wire.rejection import Rejection
from specwright.wire.stream import StreamState

__all__ = ["Reduction", "Rejected", "reduce_wires", "task_view"]


class Rejected(NamedTuple):
    """A Wire that was not taken in.

    Args:
        position: Its place in the input, from 1.
        wire_id: Its id, empty if it has none.
        rejection: Why.
    """

    position: int
    wire_id: str
    rejection: Rejection


class Reduction(NamedTuple):
    """What ordered Wires come to.

    Args:
        streams: Every stream by its id, in the order of their first Wires.
        rejected: What was not taken in.
    """

    streams: dict[str, StreamState]
    rejected: tuple[Rejected, ...]

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
        wires: Any JSON objects; a repeated Wire is passed over.
        admission: Other rules than those that ship.
    """
    rules = admission or default_admission()
    ledger = Ledger()
    rejected: list[Rejected] = []
    for position, wire in enumerate(wires, start=1):
        decision = rules.admit(ledger, wire)
        if isinstance(decision, Rejection):
            rejected.append(Rejected(position, _id_of(wire), decision))
        elif not isinstance(decision, Repeated):
            ledger.add(decision)
    return Reduction(dict(ledger.streams()), tuple(rejected))


def task_view(stream_id: str, stream: StreamState) -> "JsonObject | None":
    """A task stream as W's reducer harness shows it; None for a stream of another kind.

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
    """The id of anything that calls itself a Wire."""
    value = cast("JsonObject", wire).get("wire_id") if isinstance(wire, dict) else None
    return value if isinstance(value, str) else ""
