"""The state of the streams: what admission remembers, and what an admitted Wire changes in it (design: wire).

`advance` is the one place where a Wire has an effect. Admission checks first; the replay of admitted Wires does not.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, cast

from agent_wire.canonical_json import JsonObject
from agent_wire.tables import Tables, Transition


class AnnouncedArtifact(NamedTuple):
    """An artifact that `artifact.ready` announced; `lineage` says which task made it, and from what (design: wire)."""

    artifact_id: str
    version: str
    sha256: str
    lineage: Mapping[str, Any]


class TaskState(NamedTuple):
    """One attempt at a task, by its Wires.

    Args:
        state: A state of the contract `task-state-machine`.
        terminal: Whether nothing may follow.
        claimed: Whether the task is claimed, also while it is blocked.
        claimed_by: The claimant, None if there is none.
        required: How many final artifacts it needs, or which ones.
        artifacts: The announced artifacts, in the order of the first announcement, each in its last version.
        blocked: The payload of the block in effect, else None.
        complete: The payload of `task.complete`, else None.
        failure: The payload of `task.failed`, else None.
        definition_sha256: Of `task.created`.
        parent: The task that it is a part of, None if there is none.
        references: The tasks that its Wires refer to, in the order of their first mention.
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
    """A stream after its last Wire; its first Wire fixes `context_id`, and only a task stream has a `task`."""

    seq: int
    context_id: str
    last_wire_id: str
    task: TaskState | None = None


class ArtifactVersion(NamedTuple):
    """A version of an artifact, in the context to which its id belongs."""

    context_id: str
    artifact_id: str
    version: str


class Change(NamedTuple):
    """What one admitted Wire adds.

    Args:
        wire_id: Its id.
        digest: The SHA-256 of its canonical bytes.
        stream_id: Its stream.
        stream: The stream after it.
        announced: The version that it announces with its SHA-256, if it announces one.
    """

    wire_id: str
    digest: bytes
    stream_id: str
    stream: StreamState
    announced: tuple[ArtifactVersion, str] | None = None


class AdmissionState:
    """Everything that was admitted: the streams, the digest of each Wire by its id, the hashes of announced versions.

    Changes to a staged state reach the state below it when it is committed, so that a log can accept several Wires all
    or none.
    """

    is_whole: ClassVar[bool] = True
    """Whether it has all streams that its Wires refer to."""

    def __init__(self, below: "AdmissionState | None" = None) -> None:
        self._below = below
        self._streams: dict[str, StreamState] = {}
        self._wires: dict[str, bytes] = {}
        self._announced: dict[ArtifactVersion, str] = {}

    def stream(self, stream_id: str) -> StreamState | None:
        """A stream, None before its first Wire."""
        return self._streams.get(stream_id) or (self._below.stream(stream_id) if self._below else None)

    def digest(self, wire_id: str) -> bytes | None:
        """The digest of an admitted Wire, None if no Wire has this id."""
        return self._wires.get(wire_id) or (self._below.digest(wire_id) if self._below else None)

    def has_cause(self, wire_id: str) -> bool:
        """Whether a Wire may name this one as its cause."""
        return self.digest(wire_id) is not None

    def announced(self, version: ArtifactVersion) -> str | None:
        """The SHA-256 that a version was announced with, None if it was not."""
        return self._announced.get(version) or (self._below.announced(version) if self._below else None)

    def streams(self) -> Iterator[tuple[str, StreamState]]:
        """Every stream, in the order of their first Wires; without those of a state below."""
        yield from self._streams.items()

    def add(self, change: Change) -> None:
        """Add an admitted Wire."""
        self._streams[change.stream_id] = change.stream
        self._wires[change.wire_id] = change.digest
        if change.announced is not None:
            self._announced.setdefault(*change.announced)

    def staged(self) -> "AdmissionState":
        """A state on top of this one, whose changes wait for `commit`."""
        return AdmissionState(self)

    def commit(self) -> None:
        """Move the changes to the state below."""
        if self._below is not None:
            self._below._streams.update(self._streams)
            self._below._wires.update(self._wires)
            self._below._announced.update(self._announced)
            self._streams, self._wires, self._announced = {}, {}, {}


def version_of(wire: JsonObject) -> ArtifactVersion:
    """The version that an `artifact.ready` announces."""
    stream, payload = cast("Mapping[str, Any]", wire["stream"]), cast("Mapping[str, Any]", wire["payload"])
    return ArtifactVersion(stream["context_id"], payload["artifact_id"], payload["version"])


def change_of(wire: JsonObject, digest: bytes, after: StreamState) -> Change:
    """What an admitted Wire adds, from the SHA-256 of its bytes and its stream after it."""
    payload, stream = cast("Mapping[str, Any]", wire["payload"]), cast("Mapping[str, Any]", wire["stream"])
    announced = (version_of(wire), payload["sha256"]) if wire["type"] == "artifact.ready" else None
    return Change(str(wire["wire_id"]), digest, stream["stream_id"], after, announced)


class OneStreamState(AdmissionState):
    """The state of one stream that is replayed alone: what Wires of other streams say is taken as given (design: wire).

    Args:
        own: The ids of all Wires of the stream; a cause among them has to come first.
    """

    is_whole: ClassVar[bool] = False

    def __init__(self, own: Collection[str]) -> None:
        super().__init__()
        self._own = own

    def has_cause(self, wire_id: str) -> bool:
        """Whether a Wire may name this one as its cause: any of another stream."""
        return wire_id not in self._own or super().has_cause(wire_id)


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
        if "parent_task_id" in stream or "reference_task_ids" in stream:
            task = _with_other_tasks(task, stream)
    return StreamState(stream["stream_seq"], stream["context_id"], str(wire["wire_id"]), task)


def _task_after(
    tables: Tables, task: TaskState, event: str, payload: Mapping[str, Any], step: Transition | None
) -> TaskState:
    step = step or tables.transitions[task.state, event]
    claimed = task.claimed if step.claimed_becomes is None else step.claimed_becomes
    ready = event == "artifact.ready"  # every second Wire, so it costs no second copy of the state
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
"""What a task remembers of an event's payload, besides the state that the tables give and its artifacts."""
