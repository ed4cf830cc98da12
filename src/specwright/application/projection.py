"""The project's state as the log tells it: `state_machine.json` is `project(log, definitions)` (D29).

Wires carry references; what they refer to is read from the content-addressed definitions. A Wire that makes no
sense here cannot be in the log, which admits by the same tables (D31); if one is, the log was altered.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

from specwright.domain import state_changes
from specwright.domain.dispatch import rederive
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.product_spec import ProductSpec
from specwright.domain.project_state import ProjectState, TaskEntry
from specwright.domain.task_file import TaskDefinition
from specwright.errors import CorruptionError, SpecwrightError
from specwright.ports.store import StateStore
from specwright.ports.wire_log import LogEntry, WireLog

__all__ = ["STATE_FILE", "Projection"]

STATE_FILE = "project/state_machine.json"

Wire = dict[str, Any]


class Projection:
    """The state in memory, caught up from the log, and its file.

    Args:
        log: The source of truth.
        store: Holds the definitions, and takes the file.
        ticks: Monotonic seconds; between stops the file is written at most once in one (D29).
    """

    def __init__(self, log: WireLog, store: StateStore, ticks: Callable[[], float]) -> None:
        self._log = log
        self._store = store
        self._ticks = ticks
        self._written_at = float("-inf")
        self._seen = 0
        self._declared: dict[str, TaskEntry] = {}
        self._streams: dict[str, str] = {}
        self._artifacts: dict[str, dict[str, str]] = {}
        self._state: ProjectState | None = None
        self.project_id = ""
        self.spec: ProductSpec | None = None
        self.spec_sha256 = ""
        self.definitions: dict[str, TaskDefinition] = {}
        self.releases: list[str] = []

    @property
    def state(self) -> ProjectState | None:
        """The state, or None before the first task is declared."""
        if self._state is None and self._declared and self.spec is not None:
            self._state = ProjectState(
                project_id=self.project_id,
                spec_version=self.spec.spec_version,
                updated_at=self._updated_at,
                tasks=self._declared,
            )
        return self._state

    def catch_up(self) -> None:
        """Take in what the log holds beyond what was seen."""
        self.apply(self._log.entries(self._seen))

    def apply(self, entries: Iterable[LogEntry]) -> None:
        """Take in entries in their order.

        Raises:
            CorruptionError: an entry contradicts the ones before it, or a definition is missing or altered.
        """
        for entry in entries:
            wire = cast(Wire, entry.wire)
            try:
                self._apply(wire)
            except CorruptionError:
                raise
            except (SpecwrightError, KeyError, ValueError) as error:
                raise CorruptionError(
                    f"the log cannot be read as a project: {error}",
                    where=f"Wire {entry.sequence_number} ({wire.get('type')})",
                    remedy="`specwright verify` says what was altered; restore `.specwright/` from a copy",
                ) from error
            self._seen = entry.sequence_number
        if self._state is not None:
            self._state = rederive(self._state)

    def write(self, *, now: bool) -> None:
        """Write the file: now, or only if the last time is a second ago."""
        if self.state is None or not (now or self._ticks() - self._written_at >= 1.0):
            return
        self._store.replace(STATE_FILE, self.state.to_bytes())
        self._written_at = self._ticks()

    def _apply(self, wire: Wire) -> None:
        stream, payload = wire["stream"], wire["payload"]
        self._updated_at = wire["ts"]
        if wire["type"] == "review.recorded":
            self._review(stream, payload)
        elif wire["type"] == "task.created":
            self._created(stream, payload)
        elif (change := _CHANGES.get(wire["type"])) is not None:
            state = self.state
            if state is None:
                raise CorruptionError("a task moves before it was declared", where=stream["stream_id"])
            self._state = change(self, state, stream["stream_id"], payload, wire["ts"])

    def _review(self, stream: Wire, payload: Wire) -> None:
        if payload["subject"] == "spec.approved":
            self.project_id = stream["stream_id"].removeprefix("project:")
            self.spec_sha256 = payload["definition_sha256"]
            self.spec = ProductSpec.from_bytes(self._store.definition(self.spec_sha256), "the approved spec")
        elif payload["subject"] == "release.made":
            self.releases.append(payload["reference"])

    def _created(self, stream: Wire, payload: Wire) -> None:
        data = self._store.definition(payload["definition_sha256"])
        definition = TaskDefinition.from_bytes(data, f"definitions/{payload['definition_sha256']}")
        self._streams[stream["stream_id"]] = definition.task_id
        self.definitions[definition.task_id] = definition
        if self._state is None:
            self._declared[definition.task_id] = _entry(definition)

    def _started(self, state: ProjectState, stream_id: str, payload: Wire, ts: str) -> ProjectState:
        return state_changes.start(state, self._streams[stream_id], ts)

    def _ready(self, state: ProjectState, stream_id: str, payload: Wire, ts: str) -> ProjectState:
        self._artifacts.setdefault(stream_id, {})[payload["artifact_id"]] = payload["version"]
        return state

    def _complete(self, state: ProjectState, stream_id: str, payload: Wire, ts: str) -> ProjectState:
        versions = self._artifacts[stream_id]
        refs = [f"{name}@{versions[name]}" for name in payload["artifact_ids"]]
        primary = payload["primary_artifact_id"]
        return state_changes.ship(state, self._streams[stream_id], f"{primary}@{versions[primary]}", refs, ts)

    def _blocked(self, state: ProjectState, stream_id: str, payload: Wire, ts: str) -> ProjectState:
        data = self._store.definition(payload["definition_sha256"])
        escalation = EscalationArtifact.from_bytes(data, payload["reference"])
        task_id = self._streams[stream_id]
        reason = escalation.minimal_decision_required
        return state_changes.halt(state, task_id, reason, escalation.escalation_id, ts)

    _updated_at = ""


def _entry(definition: TaskDefinition) -> TaskEntry:
    return TaskEntry(
        spec_task_id=definition.spec_task_id,
        pillar=definition.pillar.name,
        epic=definition.epic.name,
        story=definition.story.name,
        task=definition.name,
        depends_on=definition.depends_on,
        declaration_order=definition.declaration_order,
    )


_CHANGES: dict[str, Callable[[Projection, ProjectState, str, Wire, str], ProjectState]] = {
    "task.started": Projection._started,  # pyright: ignore[reportPrivateUsage]  # the table of this class
    "artifact.ready": Projection._ready,  # pyright: ignore[reportPrivateUsage]
    "task.complete": Projection._complete,  # pyright: ignore[reportPrivateUsage]
    "task.blocked": Projection._blocked,  # pyright: ignore[reportPrivateUsage]
}
