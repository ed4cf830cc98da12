"""The state of streams, which admission checks a Wire against and an admitted Wire changes (design: wire).

Only `advance` computes the effect of a Wire. Admission checks the Wire first; the replay of a log does not.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, cast

from agent_wire.canonical_json import JsonObject
from agent_wire.tables import Tables, Transition


class AnnouncedArtifact(NamedTuple):
    """An artifact that `artifact.ready` announced; `lineage` names its task and its inputs (design: wire)."""

    artifact_id: str
    version: str
    sha256: str
    lineage: Mapping[str, Any]


class TaskState(NamedTuple):
    """The state of one attempt at a task.

    Args:
        state: A state of the contract `task-state-machine`.
        terminal: No event may follow.
        claimed: The task is claimed, possibly also blocked.
        claimed_by: The claimant, if any.
        required: The number of final artifacts it needs, or their ids.
        artifacts: The last version of each announced artifact, in the order of first announcements.
        blocked: The payload of `task.blocked` while the task is blocked, else None.
        complete: The payload of `task.complete`, else None.
        failure: The payload of `task.failed`, else None.
        definition_sha256: The hash in `task.created`.
        parent: The parent task, if any.
        references: The tasks that its Wires refer to, in the order of first mention.
    """

    state: str
    terminal: bool = False
    claimed: bool = False
    claimed_by: str | None = None
    required: int | tuple[str, ...] = 1
    artifacts: tuple[AnnouncedArtifact, ...] = ()
    blocked: "JsonObject | None" = None
    complete: "JsonObject | None" = None
    failure: "JsonObject | None" = None
    definition_sha256: str = ""
    parent: str | None = None
    references: tuple[str, ...] = ()


class StreamState(NamedTuple):
    """A stream after its last Wire. The first Wire sets `context_id`; only a task stream has a `task`."""

    seq: int
    context_id: str
    last_wire_id: str
    task: TaskState | None = None


class ArtifactVersion(NamedTuple):
    """A version of an artifact; artifact ids are unique within a context."""

    context_id: str
    artifact_id: str
    version: str


class Change(NamedTuple):
    """The change that an admitted Wire makes.

    Args:
        wire_id: Its id.
        digest: The SHA-256 of its canonical bytes.
        stream_id: Its stream.
        stream: The state of the stream after it.
        announced: The artifact version that it announces, with its SHA-256, if any.
    """

    wire_id: str
    digest: bytes
    stream_id: str
    stream: StreamState
    announced: tuple[ArtifactVersion, str] | None = None


class AdmissionState:
    """Everything that was admitted: the streams, the digest of each Wire by its id, the hashes of announced versions.

    A staged state passes its changes to the state below it on `commit`, so that a log can accept several Wires or none.
    """

    is_whole: ClassVar[bool] = True
    """Whether the state has all streams, so that references to other streams can be checked."""

    def __init__(self, below: "AdmissionState | None" = None) -> None:
        self._below = below
        self._streams: dict[str, StreamState] = {}
        self._wires: dict[str, bytes] = {}
        self._announced: dict[ArtifactVersion, str] = {}

    def stream(self, stream_id: str) -> StreamState | None:
        """Return the state of a stream, or None before its first Wire."""
        return self._streams.get(stream_id) or (self._below.stream(stream_id) if self._below else None)

    def digest(self, wire_id: str) -> bytes | None:
        """Return the digest of an admitted Wire, or None if no Wire has this id."""
        return self._wires.get(wire_id) or (self._below.digest(wire_id) if self._below else None)

    def has_cause(self, wire_id: str) -> bool:
        """Return whether a Wire may name this one as its cause."""
        return self.digest(wire_id) is not None

    def announced(self, version: ArtifactVersion) -> str | None:
        """Return the SHA-256 with which a version was announced, or None if it was not."""
        return self._announced.get(version) or (self._below.announced(version) if self._below else None)

    def streams(self) -> Iterator[tuple[str, StreamState]]:
        """Yield every stream, in the order of first Wires; a staged state yields only the streams that it changed."""
        yield from self._streams.items()

    def add(self, change: Change) -> None:
        """Add an admitted Wire."""
        self._streams[change.stream_id] = change.stream
        self._wires[change.wire_id] = change.digest
        if change.announced is not None:
            self._announced.setdefault(*change.announced)

    def staged(self) -> "AdmissionState":
        """Return a state on top of this one that keeps its changes until `commit`."""
        return AdmissionState(self)

    def commit(self) -> None:
        """Move the changes to the state below."""
        if self._below is not None:
            self._below._streams.update(self._streams)
            self._below._wires.update(self._wires)
            self._below._announced.update(self._announced)
            self._streams, self._wires, self._announced = {}, {}, {}


def version_of(wire: JsonObject) -> ArtifactVersion:
    """Return the version that an `artifact.ready` announces."""
    stream, payload = cast("Mapping[str, Any]", wire["stream"]), cast("Mapping[str, Any]", wire["payload"])
    return ArtifactVersion(stream["context_id"], payload["artifact_id"], payload["version"])


def change_of(wire: JsonObject, digest: bytes, after: StreamState) -> Change:
    """Build the change of an admitted Wire from the SHA-256 of its bytes and the state of its stream after it."""
    payload, stream = cast("Mapping[str, Any]", wire["payload"]), cast("Mapping[str, Any]", wire["stream"])
    announced = (version_of(wire), payload["sha256"]) if wire["type"] == "artifact.ready" else None
    return Change(str(wire["wire_id"]), digest, stream["stream_id"], after, announced)


class OneStreamState(AdmissionState):
    """The state of a single stream; references to Wires of other streams are not checked (design: wire).

    Args:
        own: The ids of all Wires of the stream; a cause among them must precede its effect.
    """

    is_whole: ClassVar[bool] = False

    def __init__(self, own: Collection[str]) -> None:
        super().__init__()
        self._own = own

    def has_cause(self, wire_id: str) -> bool:
        """Return whether a Wire may name this one as its cause; any Wire of another stream may be one."""
        return wire_id not in self._own or super().has_cause(wire_id)


def advance(
    tables: Tables, before: StreamState | None, wire: JsonObject, step: Transition | None = None
) -> StreamState:
    """Compute the state of a stream after an admitted Wire.

    Args:
        tables: The state machine and the event map.
        before: The stream before the Wire, or None if it is the first.
        wire: An admitted Wire.
        step: Its transition, if the caller has already looked it up.
    """
    stream: Any = wire["stream"]
    event = str(wire["type"])
    task = before.task if before is not None else None
    if tables.events[event].is_task_event:
        task = _task_after(
            tables, task or TaskState(tables.initial), event, cast("Mapping[str, Any]", wire["payload"]), step
        )
        if "parent_task_id" in stream or "reference_task_ids" in stream:
            task = _with_other_tasks(task, stream)
    return StreamState(stream["stream_seq"], stream["context_id"], str(wire["wire_id"]), task)


def _task_after(
    tables: Tables, task: TaskState, event: str, payload: Mapping[str, Any], step: Transition | None
) -> TaskState:
    step = step or tables.transitions[task.state, event]
    claimed = task.claimed if step.claimed_becomes is None else step.claimed_becomes
    ready = event == "artifact.ready"  # half of all Wires: handled here to avoid copying the state twice
    moved = TaskState(
        step.to,
        tables.terminal[step.to],
        claimed,
        task.claimed_by if claimed else None,
        task.required,
        _announced(task.artifacts, payload) if ready else task.artifacts,
        None,  # every event ends a block
        task.complete,
        task.failure,
        task.definition_sha256,
        task.parent,
        task.references,
    )
    effect = _EFFECTS.get(event)
    return moved if effect is None else effect(moved, payload)


def _with_other_tasks(task: TaskState, stream: Mapping[str, Any]) -> TaskState:
    references = dict.fromkeys([*task.references, *stream.get("reference_task_ids", ())])
    return task._replace(parent=stream.get("parent_task_id", task.parent), references=tuple(references))


def _announced(
    artifacts: tuple[AnnouncedArtifact, ...], payload: Mapping[str, Any]
) -> tuple[AnnouncedArtifact, ...]:
    name = payload["artifact_id"]
    new = AnnouncedArtifact(name, payload["version"], payload["sha256"], payload["lineage"])
    for place, old in enumerate(artifacts):
        if old.artifact_id == name:
            return (*artifacts[:place], new, *artifacts[place + 1 :])
    return (*artifacts, new)


def _created(task: TaskState, payload: Mapping[str, Any]) -> TaskState:
    required = payload.get("required_artifacts", 1)
    names = required if isinstance(required, int) else tuple(required)
    return task._replace(required=names, definition_sha256=payload["definition_sha256"])


_EFFECTS: Mapping[str, Callable[[TaskState, Mapping[str, Any]], TaskState]] = {
    "task.created": _created,
    "task.claimed": lambda task, payload: task._replace(claimed_by=payload["claimed_by"]),
    "task.blocked": lambda task, payload: task._replace(blocked=dict(payload)),
    "task.complete": lambda task, payload: task._replace(complete=dict(payload)),
    "task.failed": lambda task, payload: task._replace(failure=dict(payload)),
}
"""What each event stores of its payload, besides artifacts and the state from the tables."""
