"""The project's state as the log tells it: `state_machine.json` is `project(log, definitions)` (design: projection).

Wires carry references; what they refer to is read from the content-addressed definitions. A Wire that makes no
sense here cannot be in the log, which admits by the same tables (design: wire); if one is, the log was altered.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias, cast

from specwright import canonical_json
from specwright.application.store.layout import STATE_FILE, definition
from specwright.domain.escalation.escalation import EscalationArtifact
from specwright.domain.escalation.resolutions import CRITERION, ResolutionRecord
from specwright.domain.modules.deprecation import Deprecation
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import ProjectState, TaskEntry, TaskStatus
from specwright.domain.tasks.task_board import Change, TaskBoard
from specwright.domain.tasks.task_file import TaskDefinition, stored_entry
from specwright.errors import CorruptionError, InputError, SpecwrightError
from specwright.ports.store import StateStore
from specwright.ports.wire_log import LogEntry, WireLog
from specwright.wire.envelope import StreamId

_SECONDS_BETWEEN_WRITES = 1.0


class _Event(NamedTuple):
    """What a Wire says, as far as it matters here."""

    stream: dict[str, Any]
    payload: dict[str, Any]
    ts: str

    @property
    def stream_id(self) -> str:
        return self.stream["stream_id"]


_Take: TypeAlias = Callable[[Any, _Event], None]
"""A method of the projection that takes in an event."""


class ProjectDefinitions(Mapping[str, TaskDefinition]):
    """The definitions of tasks, by task id, in the order in which the log first names them (design: benchmarks).

    A definition is bound by its SHA-256: bytes that have it are those that were written, and were valid then. So the
    state takes from each of ten thousand what it needs, and the rest is validated when somebody wants that task.

    Args:
        store: Holds them.
    """

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._stored: dict[str, tuple[str, bytes]] = {}
        self._read: dict[str, TaskDefinition] = {}

    def take(self, sha256: str) -> tuple[str, TaskEntry]:
        """Take in a definition: a new task's, or a later one of a task that is there.

        Returns:
            The task's id, and its entry in a state in which it has not run.

        Raises:
            CorruptionError: it is missing or was altered.
            InputError: it is no definition of a task.
        """
        data, where = self._store.definition(sha256), definition(sha256)
        task_id, entry = stored_entry(data, where)
        self._stored[task_id] = where, data
        self._read.pop(task_id, None)
        return task_id, entry

    def __getitem__(self, task_id: str) -> TaskDefinition:
        """The definition of a task.

        Raises:
            KeyError: no such task.
            CorruptionError: what the log names is no definition of a task.
        """
        if task_id not in self._read:
            where, data = self._stored[task_id]
            try:
                self._read[task_id] = TaskDefinition.from_bytes(data, where)
            except InputError as error:
                raise CorruptionError(
                    f"the definition of {task_id} cannot be read: {error.what}",
                    where=error.where,
                    remedy="`specwright verify` says what was altered; restore the project from a copy",
                ) from error
        return self._read[task_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._stored


class Projection:
    """The state in memory, caught up from the log, and its file.

    Args:
        log: The source of truth.
        store: Holds the definitions, and takes the file.
        ticks: Monotonic seconds; between stops the file is written at most once in one (design: projection).
    """

    def __init__(self, log: WireLog, store: StateStore, ticks: Callable[[], float]) -> None:
        self._log = log
        self._store = store
        self._ticks = ticks
        self._written_at = float("-inf")
        self._seen = 0
        self._updated_at = ""
        self._declared: dict[str, TaskEntry] = {}
        self._board: TaskBoard | None = None
        self._task_ids: dict[str, str] = {}
        self._parts: dict[str, dict[str, TaskEntry]] = {}
        self._artifacts: dict[str, dict[str, str]] = {}
        self.project_id = ""
        self.spec_sha256 = ""
        self._spec: ProductSpec | None = None
        self._spec_stored = b""
        self._spec_version = ""
        self.definitions = ProjectDefinitions(store)
        self.escalations_raised: dict[str, int] = {}
        self.questions: dict[str, EscalationArtifact] = {}
        self.resolutions: dict[str, ResolutionRecord] = {}
        self.releases: list[str] = []
        self.deprecations: dict[str, Deprecation] = {}
        self._answered: dict[str, list[str]] = {}

    @property
    def board(self) -> TaskBoard | None:
        """The tasks, or None before the first is declared. It goes with the log, without walking all tasks."""
        if self._board is None and self._declared and self._spec_version:
            declared = ProjectState(
                project_id=self.project_id,
                spec_version=self._spec_version,
                updated_at=self._updated_at,
                tasks=self._declared,
            )
            self._board = TaskBoard(declared)
        return self._board

    @property
    def spec(self) -> ProductSpec | None:
        """The approved spec, or None before the approval.

        Raises:
            CorruptionError: what the log names is no spec.
        """
        if self._spec is None and self._spec_stored:
            try:
                self._spec = ProductSpec.from_bytes(self._spec_stored, "the approved spec")
            except InputError as error:
                raise CorruptionError(str(error), where=definition(self.spec_sha256)) from error
        return self._spec

    @property
    def state(self) -> ProjectState | None:
        """The state at this moment, or None before the first task is declared."""
        return self.board.state() if self.board is not None else None

    def answers(self, stream_id: str) -> tuple[ResolutionRecord, ...]:
        """The answers that resumed an attempt in place, by its stream, oldest first (design: wire)."""
        return tuple(self.resolutions[name] for name in self._answered.get(stream_id, ()))

    def catch_up(self) -> None:
        """Take in what the log holds beyond what was seen."""
        self.apply(self._log.entries(self._seen))

    def apply(self, entries: Iterable[LogEntry]) -> None:
        """Take in entries in their order.

        Raises:
            CorruptionError: an entry contradicts the ones before it, or a definition is missing or altered.
        """
        for entry in entries:
            wire = cast(dict[str, Any], entry.wire)
            try:
                take = self._takes.get(wire["type"])
                if take is not None:
                    take(self, _Event(wire["stream"], wire["payload"], wire["ts"]))
            except CorruptionError:
                raise
            except (SpecwrightError, KeyError, TypeError, ValueError) as error:
                raise CorruptionError(
                    f"the log cannot be read as a project: {error}",
                    where=f"Wire {entry.sequence_number} ({wire.get('type')})",
                    remedy="`specwright verify` says what was altered; restore `.specwright/` from a copy",
                ) from error
            self._seen = entry.sequence_number

    def write(self, *, now: bool) -> None:
        """Write the file: now, or only if the last time is a second ago."""
        due = now or self._ticks() - self._written_at >= _SECONDS_BETWEEN_WRITES
        if due and (state := self.state) is not None:
            self._store.replace(STATE_FILE, state.to_bytes())
            self._written_at = self._ticks()

    def _review(self, event: _Event) -> None:
        if (take := self._reviews.get(event.payload["subject"])) is not None:
            take(self, event)

    def _approved(self, event: _Event) -> None:
        self.project_id = event.stream_id.removeprefix("project:")
        self.spec_sha256 = event.payload["definition_sha256"]
        self._spec, self._spec_stored = None, self._store.definition(self.spec_sha256)
        self._spec_version = canonical_json.loads(self._spec_stored)["spec_version"]

    def _released(self, event: _Event) -> None:
        self.releases.append(event.payload["reference"])

    def _deprecated(self, event: _Event) -> None:
        data, ref = self._store.definition(event.payload["definition_sha256"]), event.payload["reference"]
        self.deprecations[ref] = Deprecation.from_bytes(data, ref)

    def _created(self, event: _Event) -> None:
        task_id, entry = self._definition(event)
        if StreamId.parse(event.stream_id).attempt > 1:
            self._change(task_id, event, task_changes.requeue)
            self._set_dependencies(task_id, event, entry)
            return
        self._task_ids[entry.spec_task_id] = task_id
        if self._board is None:
            self._declared[task_id] = entry
            self._updated_at = event.ts
        else:  # it becomes a task of the project once the task that it is a part of is given up (design: escalation)
            whole = self._task_ids[event.stream["parent_task_id"]]
            self._parts.setdefault(whole, {})[task_id] = entry

    def _started(self, event: _Event) -> None:
        task_id = self._task_id(event)
        entry = self._declared_board.entry(task_id)
        halted = entry.status is TaskStatus.HALTED
        if halted and entry.escalation_ref in self.resolutions:
            self._answered.setdefault(event.stream_id, []).append(entry.escalation_ref)
        self._change(task_id, event, task_changes.resume if halted else task_changes.start)

    def _ready(self, event: _Event) -> None:
        versions = self._artifacts.setdefault(event.stream_id, {})
        versions[event.payload["artifact_id"]] = event.payload["version"]

    def _complete(self, event: _Event) -> None:
        versions = self._artifacts.pop(event.stream_id)
        refs = [f"{name}@{versions[name]}" for name in event.payload["artifact_ids"]]
        primary = event.payload["primary_artifact_id"]
        task_facing = f"{primary}@{versions[primary]}"
        self._change(self._task_id(event), event, task_changes.ship, task_facing, refs, event.ts)

    def _blocked(self, event: _Event) -> None:
        escalation = self._escalation(event)
        reason = escalation.minimal_decision_required
        self._change(self._task_id(event), event, task_changes.halt, reason, escalation.escalation_id)

    def _cancelled(self, event: _Event) -> None:
        task_id = self._task_id(event)
        if parts := self._parts.pop(task_id, None):
            self._declared_board.split(task_id, event.ts, parts)
        else:
            self._change(task_id, event, task_changes.abandon)

    def _raised(self, event: _Event) -> None:
        """A blocked task gets an escalation of its own (design: task-states), or a criterion a question, for which no task
        waits (design: unshown-criteria)."""
        escalation = self._escalation(event)
        if escalation.details.get("cause") == CRITERION:
            self.questions[escalation.escalation_id] = escalation
            return
        task_id = escalation.task_id
        self.escalations_raised[task_id] = self.escalations_raised.get(task_id, 0) + 1
        self._change(task_id, event, task_changes.set_escalation, escalation.escalation_id)

    def _resolved(self, event: _Event) -> None:
        data = self._store.definition(event.payload["definition_sha256"])
        record = ResolutionRecord.from_bytes(data, event.payload["reference"])
        self.resolutions[record.escalation_id] = record

    def _amended(self, event: _Event) -> None:
        """A person changed what a waiting task is, and so answered its escalation if it had one (design:
        task-states, wire)."""
        task_id, entry = self._definition(event)
        if self._declared_board.entry(task_id).status is TaskStatus.BLOCKED:
            self._change(task_id, event, task_changes.set_escalation, None)
        self._set_dependencies(task_id, event, entry)

    def _set_dependencies(self, task_id: str, event: _Event, entry: TaskEntry) -> None:
        if self._declared_board.entry(task_id).depends_on != entry.depends_on:
            self._change(task_id, event, task_changes.set_dependencies, entry.depends_on)

    def _change(self, task_id: str, event: _Event, change: Change, *args: object) -> None:
        self._declared_board.change(task_id, event.ts, change, *args)

    @property
    def _declared_board(self) -> TaskBoard:
        if self.board is None:
            raise CorruptionError("a task changes before it was declared")
        return self.board

    def _task_id(self, event: _Event) -> str:
        return self._task_ids[StreamId.parse(event.stream_id).id]

    def _definition(self, event: _Event) -> tuple[str, TaskEntry]:
        return self.definitions.take(event.payload["definition_sha256"])

    def _escalation(self, event: _Event) -> EscalationArtifact:
        data = self._store.definition(event.payload["definition_sha256"])
        return EscalationArtifact.from_bytes(data, event.payload["reference"])

    _takes: ClassVar[Mapping[str, _Take]] = {
        "review.recorded": _review,
        "task.created": _created,
        "task.started": _started,
        "artifact.ready": _ready,
        "task.complete": _complete,
        "task.blocked": _blocked,
        "task.cancelled": _cancelled,
    }
    """What each event type changes; the others change nothing here (design: wire)."""

    _reviews: ClassVar[Mapping[str, _Take]] = {
        "spec.approved": _approved,
        "escalation.raised": _raised,
        "escalation.resolved": _resolved,
        "task.amended": _amended,
        "release.made": _released,
        "module.deprecated": _deprecated,
    }
    """The same by the subject of a review."""
