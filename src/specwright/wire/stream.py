"""What a stream remembers, and what an admitted Wire changes in it (D33).

`advance` is the one place where a Wire has an effect; admission asks first, replay
of admitted Wires does not.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from specwright.canonical_json import JsonObject
from specwright.wire.tables import Tables, Transition

__all__ = ["Announced", "StreamState", "TaskState", "advance"]


class Announced(NamedTuple):
    """An artifact that `artifact.ready` announced."""

    artifact_id: str
    version: str
    sha256: str


class TaskState(NamedTuple):
    """One attempt at a task, as its Wires tell it.

    Args:
        state: A state of the contract `task-state-machine`.
        terminal: Whether nothing may follow.
        claimed: Whether somebody holds it, also while it is blocked.
        claimed_by: Who; None if nobody does.
        required: How many final artifacts it needs, or which ones.
        artifacts: What was announced, in the order of the first announcement, each in its last version.
        blocked: The payload of the block that holds now, else None.
        complete: The payload of `task.complete`, else None.
        failure: The payload of `task.failed`, else None.
        definition_sha256: Of `task.created`.
    """

    state: str
    terminal: bool = False
    claimed: bool = False
    claimed_by: str | None = None
    required: int | tuple[str, ...] = 1
    artifacts: tuple[Announced, ...] = ()
    blocked: "JsonObject | None" = None
    complete: "JsonObject | None" = None
    failure: "JsonObject | None" = None
    definition_sha256: str = ""


class StreamState(NamedTuple):
    """Where a stream stands.

    Args:
        seq: The last `stream_seq`, 0 before the first Wire.
        context_id: Fixed by the first Wire.
        last_wire_id: The last Wire.
        task: Of a task stream, else None.
    """

    seq: int
    context_id: str
    last_wire_id: str
    task: TaskState | None = None


def advance(
    tables: Tables, before: StreamState | None, wire: JsonObject, step: Transition | None = None
) -> StreamState:
    """The stream after an admitted Wire.

    Args:
        tables: The contracts.
        before: The stream so far, None if the Wire is its first.
        wire: An admitted Wire.
        step: Its transition, if the caller has looked it up.
    """
    stream: Any = wire["stream"]
    event = str(wire["type"])
    task = before.task if before is not None else None
    if tables.events[event].is_task_event:
        task = _task_after(
            tables, task or TaskState(tables.initial), event, cast("Mapping[str, Any]", wire["payload"]), step
        )
    return StreamState(stream["stream_seq"], stream["context_id"], str(wire["wire_id"]), task)


def _task_after(
    tables: Tables, task: TaskState, event: str, payload: Mapping[str, Any], step: Transition | None
) -> TaskState:
    step = step or tables.transitions[task.state, event]
    claimed = task.claimed if step.claimed_becomes is None else step.claimed_becomes
    ready = event == "artifact.ready"  # every second Wire: asked here, before the state is built
    moved = TaskState(
        step.to,
        tables.terminal[step.to],
        claimed,
        task.claimed_by if claimed else None,
        task.required,
        _with(task.artifacts, payload) if ready else task.artifacts,
        None,  # whatever held it, it has moved
        task.complete,
        task.failure,
        task.definition_sha256,
    )
    kept = _KEPT.get(event)
    return moved if kept is None else kept(moved, payload)


def _definition(task: TaskState, payload: Mapping[str, Any]) -> TaskState:
    required = payload.get("required_artifacts", 1)
    names = required if isinstance(required, int) else tuple(required)
    return task._replace(required=names, definition_sha256=payload["definition_sha256"])


def _with(so_far: tuple[Announced, ...], payload: Mapping[str, Any]) -> tuple[Announced, ...]:
    name = payload["artifact_id"]
    new = Announced(name, payload["version"], payload["sha256"])
    for place, old in enumerate(so_far):
        if old.artifact_id == name:
            return (*so_far[:place], new, *so_far[place + 1 :])
    return (*so_far, new)


_KEPT: Mapping[str, Callable[[TaskState, Mapping[str, Any]], TaskState]] = {
    "task.created": _definition,
    "task.claimed": lambda task, payload: task._replace(claimed_by=payload["claimed_by"]),
    "task.blocked": lambda task, payload: task._replace(blocked=dict(payload)),
    "task.complete": lambda task, payload: task._replace(complete=dict(payload)),
    "task.failed": lambda task, payload: task._replace(failure=dict(payload)),
}
"""What a stream keeps of an event's payload, besides the state that the tables give and its artifacts."""
