"""The projection of the log: `state_machine.json` is `project(log, definitions)` (design: projection).

Wires carry references to definitions, which are stored under their hashes. The log admits Wires by the same tables that
are used here (design: wire), so a Wire that does not fit means that the log was altered.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar, cast

from agent_wire import canonical_json
from agent_wire.entries import LogEntry, WireLog
from agent_wire.envelope import StreamId, task_stream_id
from ship_gate.base.ids import ModuleRef
from ship_gate.base.record import Record
from ship_gate.contract.contract import serves
from specwright.application import scopes
from specwright.application.store.layout import STATE_FILE, definition
from specwright.application.store.modules import ProjectDefinitions
from specwright.domain.escalation import CRITERION, RELEASE, EscalationArtifact, ResolutionRecord
from specwright.domain.interface_change import (
    ExceptionDecision,
    ExceptionOutcome,
    InterfaceChangeException,
    KnownException,
)
from specwright.domain.modules.code_index import Deprecation, IndexStatus, UndoneDeprecation
from specwright.domain.modules.evidence import ResealedModule
from specwright.domain.spec.acceptance_text import tasks_of
from specwright.domain.spec.change_request import ChangeRequest
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import ProjectState, TaskEntry, TaskStatus
from specwright.domain.tasks.task_board import Change, TaskBoard
from specwright.errors import CorruptionError, CorruptionErrors, InputErrors, SpecwrightErrors
from specwright.ports import StateStore

_SECONDS_BETWEEN_WRITES = 1.0

_Record = TypeVar("_Record", bound=Record)


class _Event(NamedTuple):
    """The parts of a Wire that matter here."""

    stream: dict[str, Any]
    payload: dict[str, Any]
    ts: str

    @property
    def stream_id(self) -> str:
        return self.stream["stream_id"]


class SpecSnapshot(NamedTuple):
    """The state before an approved change, to restore if it is abandoned (design: change).

    Args:
        spec_sha256: The previously approved spec.
        tasks: The entries of all tasks.
        definitions: The hash of each task's definition.
        releases: The number of releases.
        dispatched: The dependencies' modules at each task's last dispatch.
    """

    spec_sha256: str
    tasks: Mapping[str, TaskEntry]
    definitions: Mapping[str, str]
    releases: int
    dispatched: Mapping[str, dict[str, list[str]]]


class ProductChange(NamedTuple):
    """A change of the product.

    Args:
        request: The request.
        before: The state before it; None until it is approved.
        ended: `released` or `abandoned`; empty while it is open.
    """

    request: ChangeRequest
    before: SpecSnapshot | None = None
    ended: str = ""


_Take: TypeAlias = Callable[[Any, _Event], None]
"""A method of the projection that applies an event."""


class Projection:
    """The state in memory, computed from the log, and its file.

    Args:
        log: The source of truth.
        store: The store of the definitions and the file.
        ticks: A monotonic clock in seconds; between stops the file is written at most once per second (design: projection).
    """

    def __init__(self, log: WireLog, store: StateStore, ticks: Callable[[], float]) -> None:
        self._log = log
        self._store = store
        self._ticks = ticks
        self._written_at = float("-inf")
        self.seen = 0
        self.known_events: dict[str, tuple[str, str]] = {}
        """The type and stream of each Wire, by id."""
        self.last_ts = ""
        """The latest time in the log."""
        self.journal_head = 0, ""
        """The number of journal records at the last stop, and their hash; the journal only grows."""
        self._updated_at = ""
        self._declared: dict[str, TaskEntry] = {}
        self._board: TaskBoard | None = None
        self._task_ids: dict[str, str] = {}
        self._parts: dict[str, dict[str, TaskEntry]] = {}
        self._artifacts: dict[str, dict[str, str]] = {}
        self.announced: dict[str, str] = {}
        """The announced hash of each version's files, by reference."""
        self.project_id = ""
        self.spec_sha256 = ""
        self._spec: ProductSpec | None = None
        self._spec_stored = b""
        self.spec_title, self.spec_version = "", ""
        self.definitions = ProjectDefinitions(store)
        self.escalations_raised: dict[str, int] = {}
        self.questions: dict[str, EscalationArtifact] = {}
        self.failed_releases: dict[str, EscalationArtifact] = {}
        self.resolutions: dict[str, ResolutionRecord] = {}
        self.releases: list[str] = []
        self.deprecations: dict[str, Deprecation] = {}
        self.undone: dict[str, UndoneDeprecation] = {}
        self.exceptions: dict[str, KnownException] = {}
        self.changed_by: dict[str, str] = {}
        """The exception that led to a version, by the version's reference."""
        self._answered: dict[str, list[str]] = {}
        self.changes: list[ProductChange] = []
        self.resealed: dict[str, ResealedModule] = {}
        """The versions that were sealed without a debate, by reference."""
        self.migrations: dict[str, str] = {}
        """The task that each migration moves to later versions of its dependencies."""
        self.cause = ""
        """The last event that gave shipped modules later versions (an approved change, an exception, an undone deprecation),
        as the first part of the scopes that follow from it; empty before the first and after a change's release."""
        self.migrated: set[str] = set()  # tasks that have a migration since
        self._withdrawn: set[str] = set()
        self.dispatched: dict[str, dict[str, list[str]]] = {}
        """The dependencies' modules at each task's last dispatch."""

    @property
    def open_change(self) -> ProductChange | None:
        """The open change, if any."""
        return self.changes[-1] if self.changes and not self.changes[-1].ended else None

    @property
    def change_number(self) -> int:
        """The number of the open change, or else of the last released one; 0 before the first."""
        counted = (change.request.number for change in self.changes if change.ended != "abandoned")
        return max(counted, default=0)

    @property
    def awaits_approval(self) -> bool:
        """Whether the first spec, or that of the open change, is not approved yet."""
        change = self.open_change
        return not self._spec_stored if change is None else change.before is None

    def debated_as(self, module_ref: str) -> str:
        """Return the version whose implementation was debated: for one sealed without a debate, its origin."""
        while (sealed := self.resealed.get(module_ref)) is not None:
            module_ref = sealed.replaces
        return module_ref

    def is_deprecated(self, module_ref: str) -> bool:
        """Whether a version is deprecated and this was not undone."""
        decided = self.deprecations.get(module_ref)
        deprecated = decided is not None and decided.status is IndexStatus.DEPRECATED
        return deprecated and module_ref not in self.undone

    @property
    def board(self) -> TaskBoard | None:
        """The tasks, or None before the first is declared. The board follows the log incrementally."""
        if self._board is None and self._declared and self.spec_version:
            declared = ProjectState(
                project_id=self.project_id,
                spec_version=self.spec_version,
                updated_at=self._updated_at,
                tasks=self._declared,
            )
            self._board = TaskBoard(declared)
        return self._board

    @property
    def spec(self) -> ProductSpec | None:
        """The approved spec, or None before the approval.

        Raises:
            CorruptionError: the definition that the log names is not a spec.
        """
        if self._spec is None and self._spec_stored:
            try:
                self._spec = ProductSpec.from_bytes(self._spec_stored, "the approved spec")
            except InputErrors as error:
                raise CorruptionError(str(error), where=definition(self.spec_sha256)) from error
        return self._spec

    @property
    def approved_spec(self) -> ProductSpec:
        """The approved spec, for steps after the approval.

        Raises:
            CorruptionError: the log has none.
        """
        if self.spec is None:
            raise CorruptionError("no approved spec is in the log", remedy="run `specwright approve`")
        return self.spec

    @property
    def decided_spec(self) -> ProductSpec | None:
        """The approved spec with the criteria and examples that a person changed since; a change begins with it (design:
        change)."""
        if self.spec is None:
            return None
        spec, decided = self.spec.to_json(), {one.spec_task_id: one for one in self.definitions.values()}
        for task in tasks_of(spec):
            # a task whose second criterion was dropped is not valid in a spec
            if (one := decided.get(task["task_id"])) and len(one.acceptance_criteria) > 1:
                now = one.to_json()
                task |= {name: now[name] for name in ("acceptance_criteria", "acceptance") if name in now}
        return ProductSpec.model_validate(spec)

    @property
    def state(self) -> ProjectState | None:
        """The present state, or None before the first task is declared."""
        return self.board.state() if self.board is not None else None

    def answers(self, stream_id: str) -> tuple[ResolutionRecord, ...]:
        """Return the answers that resumed an attempt in place, oldest first (design: wire)."""
        return tuple(self.resolutions[name] for name in self._answered.get(stream_id, ()))

    def catch_up(self) -> None:
        """Apply the new entries of the log."""
        self.apply(self._log.entries(self.seen))

    def apply(self, entries: Iterable[LogEntry]) -> None:
        """Apply entries in order.

        Raises:
            CorruptionError: an entry contradicts earlier ones, or a definition is missing or altered.
        """
        for entry in entries:
            wire = cast(dict[str, Any], entry.wire)
            try:
                take = self._takes.get(wire["type"])
                if take is not None:
                    take(self, _Event(wire["stream"], wire["payload"], wire["ts"]))
            except CorruptionErrors:
                raise
            except (*SpecwrightErrors, LookupError, TypeError, ValueError) as error:
                raise CorruptionError(
                    f"the log cannot be read as a project: {error}",
                    where=f"Wire {entry.sequence_number} ({wire.get('type')})",
                    remedy="`specwright verify` says what was altered; restore `.specwright/` from a copy",
                ) from error
            self.seen = entry.sequence_number
            self.last_ts = max(self.last_ts, wire["ts"])
            self.known_events[wire["wire_id"]] = (wire["type"], wire["stream"]["stream_id"])

    def write(self, *, now: bool) -> None:
        """Write the file: now, or only if the last write was a second ago."""
        due = now or self._ticks() - self._written_at >= _SECONDS_BETWEEN_WRITES
        if due and (state := self.state) is not None:
            self._store.replace(STATE_FILE, state.to_bytes())
            self._written_at = self._ticks()

    def _review(self, event: _Event) -> None:
        if (take := self._reviews.get(event.payload["subject"])) is not None:
            take(self, event)

    def _journal_bound(self, event: _Event) -> None:
        count = int(event.payload["reference"].removeprefix("journal:"))
        self.journal_head = max(self.journal_head, (count, event.payload["definition_sha256"]))

    def _approved(self, event: _Event) -> None:
        self.project_id = event.stream_id.removeprefix("project:")
        self._set_spec(event.payload["definition_sha256"])

    def _set_spec(self, sha256: str) -> None:
        self.spec_sha256 = sha256
        self._spec, self._spec_stored = None, self._store.definition(sha256)
        head = canonical_json.loads(self._spec_stored)
        self.spec_title, self.spec_version = head["title"], head["spec_version"]

    def _change_requested(self, event: _Event) -> None:
        self.changes.append(ProductChange(self._defined(event, ChangeRequest)))

    def _change_approved(self, event: _Event) -> None:
        board, change = self._declared_board, self.changes[-1]
        before = SpecSnapshot(
            self.spec_sha256,
            dict(board.tasks),
            self.definitions.digests,
            len(self.releases),
            dict(self.dispatched),
        )
        self.changes[-1] = change._replace(before=before)
        self._set_cause(scopes.product_change(change.request.number))
        self._set_spec(event.payload["definition_sha256"])
        board.restore(board.tasks, event.ts, self.spec_version)

    def _change_released(self, event: _Event) -> None:
        self.changes[-1] = self.changes[-1]._replace(ended="released")
        self._set_cause("")

    def _change_abandoned(self, event: _Event) -> None:
        """Restore the tasks from before the change's approval. Attempts that it began end, and tasks that it added become
        ABANDONED (design: change)."""
        change = self.changes[-1]
        self.changes[-1] = change._replace(ended="abandoned")
        if change.before is None:
            return
        self._set_cause("")
        tasks: dict[str, TaskEntry] = {}
        for task_id, entry in self._declared_board.tasks.items():
            before = change.before.tasks.get(task_id)
            if entry.status in task_changes.UNFINISHED:
                self._withdrawn.add(task_stream_id(entry.spec_task_id, entry.attempt))
            tasks[task_id] = task_changes.withdraw(entry, before)
        self.definitions.restore(change.before.definitions)
        self.dispatched |= change.before.dispatched
        self._set_spec(change.before.spec_sha256)
        self._declared_board.restore(tasks, event.ts, self.spec_version)

    def _removed(self, event: _Event) -> None:
        self._require(self.open_change and self.open_change.before, "a task is removed")
        self._change(event.payload["reference"], event, task_changes.remove)

    def _resealed(self, event: _Event) -> None:
        self._require(self.cause, "a version is sealed by code")
        sealed = self._defined(event, ResealedModule)
        self.resealed[sealed.module_ref] = sealed
        self._replace_modules(event, {sealed.replaces: sealed.module_ref})

    def _replace_modules(self, event: _Event, versions: Mapping[str, str]) -> None:
        """Replace modules of shipped tasks by later versions."""
        for task_id, entry in list(self._declared_board.tasks.items()):
            if entry.status is TaskStatus.SHIPPED and not versions.keys().isdisjoint(entry.module_refs):
                self._change(task_id, event, task_changes.replace_modules, versions)

    def _require(self, cause: object, what: str) -> None:
        if not cause:
            raise CorruptionError(
                f"{what}, and no change is approved and no exception resolved", where=self.project_id
            )

    def _set_cause(self, cause: str) -> None:
        self.cause = cause
        self.migrated.clear()

    def _released(self, event: _Event) -> None:
        self.releases.append(event.payload["reference"])

    def _deprecated(self, event: _Event) -> None:
        decided = self._defined(event, Deprecation)
        self.deprecations[decided.module_ref] = decided

    def _deprecation_undone(self, event: _Event) -> None:
        undone = self._defined(event, UndoneDeprecation)
        self.undone[undone.module_ref] = undone
        self._set_cause(f"undone/{undone.module_ref}")

    def _exception_raised(self, event: _Event) -> None:
        record = self._defined(event, InterfaceChangeException)
        self.exceptions[record.exception_id] = KnownException(record, [], [])

    def _exception_decided(self, event: _Event) -> None:
        decided = self._defined(event, ExceptionDecision)
        self.exceptions[decided.exception_id].decisions.append(decided)

    def _exception_resolved(self, event: _Event) -> None:
        """Replace the old version in the task that sealed it, and in tasks that reuse it if the new one is compatible
        (design: interface-changes)."""
        outcome = self._defined(event, ExceptionOutcome)
        self.exceptions[outcome.exception_id].outcomes.append(outcome)
        if (version := outcome.version) is None:
            return
        self.changed_by[version.module_ref] = outcome.exception_id
        self._set_cause(f"exception/{outcome.exception_id}-{outcome.number}")
        newer = {version.supersedes: version.module_ref}
        if serves(ModuleRef.parse(version.module_ref).version, version.supersedes):
            self._replace_modules(event, newer)
            return
        shipping = self._declared_board.holders(version.supersedes)
        for task_id in {shipping[0], *self._migrations_of(shipping[0])}.intersection(shipping):
            self._change(task_id, event, task_changes.replace_modules, newer)

    def _created(self, event: _Event) -> None:
        task_id, entry = self._definition(event)
        if StreamId.parse(event.stream_id).attempt > 1:
            if self._declared_board.entry(task_id).status is TaskStatus.SHIPPED:
                self._require(self.open_change and self.open_change.before, "a shipped task runs again")
                self._change(task_id, event, task_changes.reopen, entry)
                return
            self._change(task_id, event, task_changes.requeue)
            self._set_dependencies(task_id, event, entry)
            return
        self._task_ids[entry.spec_task_id] = task_id
        if self._board is None:
            self._declared[task_id] = entry
            self._updated_at = event.ts
        elif whole := self._task_ids.get(event.stream.get("parent_task_id") or ""):
            self._created_of(whole, task_id, event, entry)
        else:
            self._require(self.open_change and self.open_change.before, "a task is added")
            self._board.add(task_id, event.ts, entry)

    def _created_of(self, whole: str, task_id: str, event: _Event, entry: TaskEntry) -> None:
        """Collect a part, which becomes a task once the split task is abandoned (design: escalation); or add a migration,
        which begins from the modules of the shipped task (design: change)."""
        shipped = self._declared_board.entry(whole)
        if shipped.status is not TaskStatus.SHIPPED:
            self._parts.setdefault(whole, {})[task_id] = entry
            return
        self._require(self.cause, "a migration is added")
        self.migrations[task_id] = whole
        self.migrated.add(whole)
        begun = entry.model_copy(update={"module_refs": shipped.module_refs})
        self._declared_board.add(task_id, event.ts, begun)

    def _started(self, event: _Event) -> None:
        task_id = self._task_id(event)
        entry = self._declared_board.entry(task_id)
        halted = entry.status is TaskStatus.HALTED
        if not halted:
            modules_of = self._declared_board.modules_of
            self.dispatched[task_id] = {ref: modules_of(ref) for ref in entry.depends_on}
        if halted and entry.escalation_ref in self.resolutions:
            self._answered.setdefault(event.stream_id, []).append(entry.escalation_ref)
        self._change(task_id, event, task_changes.resume if halted else task_changes.start)

    def _ready(self, event: _Event) -> None:
        name, version = event.payload["artifact_id"], event.payload["version"]
        self._artifacts.setdefault(event.stream_id, {})[name] = version
        self.announced[f"{name}@{version}"] = event.payload["sha256"]

    def _complete(self, event: _Event) -> None:
        versions = self._artifacts.pop(event.stream_id)
        refs = [f"{name}@{versions[name]}" for name in event.payload["artifact_ids"]]
        primary = event.payload["primary_artifact_id"]
        task_facing = f"{primary}@{versions[primary]}"
        task_id = self._task_id(event)
        self._change(task_id, event, task_changes.ship, task_facing, refs, event.ts)
        if self.open_change is not None or task_id in self.migrations:
            self._follow(task_id, event, task_facing, refs)

    def _follow(self, task_id: str, event: _Event, task_facing: str, refs: list[str]) -> None:
        """Update other tasks with a changed task's modules, if the new versions are compatible; a migration replaces the
        modules of the task that it migrates (design: change)."""
        whole = self.migrations.get(task_id, task_id)
        others = {whole, *self._migrations_of(whole)} - {task_id}
        for other in others:
            if self._declared_board.entry(other).status is TaskStatus.SHIPPED:
                self._change(other, event, task_changes.ship_again, task_facing, refs, event.ts)
        latest = {ModuleRef.parse(ref).module_id: ref for ref in refs}
        old = {ref for entry in self._declared_board.tasks.values() for ref in entry.module_refs}
        later = {ref: latest[name] for ref in old if (name := ModuleRef.parse(ref).module_id) in latest}
        compatible = {
            ref: new for ref, new in later.items() if ref != new and serves(ModuleRef.parse(new).version, ref)
        }
        if compatible:
            self._replace_modules(event, compatible)

    def _migrations_of(self, whole: str) -> list[str]:
        return [name for name, of in self.migrations.items() if of == whole]

    def _blocked(self, event: _Event) -> None:
        escalation = self._defined(event, EscalationArtifact)
        reason = escalation.minimal_decision_required
        self._change(self._task_id(event), event, task_changes.halt, reason, escalation.escalation_id)

    def _cancelled(self, event: _Event) -> None:
        task_id = self._task_id(event)
        if event.stream_id in self._withdrawn:
            return  # the change that began this attempt was abandoned, and the task is restored
        if parts := self._parts.pop(task_id, None):
            self._declared_board.split(task_id, event.ts, parts)
        else:
            self._change(task_id, event, task_changes.abandon)

    def _raised(self, event: _Event) -> None:
        """Set the escalation of a blocked task (design: task-states), or add a question for which no task waits (design:
        unshown-criteria, executable-spec)."""
        escalation = self._defined(event, EscalationArtifact)
        if escalation.cause == CRITERION:
            self.questions[escalation.escalation_id] = escalation
            return
        if escalation.cause == RELEASE:
            self.failed_releases[escalation.escalation_id] = escalation
            return
        task_id = escalation.task_id
        self.escalations_raised[task_id] = self.escalations_raised.get(task_id, 0) + 1
        self._change(task_id, event, task_changes.set_escalation, escalation.escalation_id)

    def _resolved(self, event: _Event) -> None:
        record = self._defined(event, ResolutionRecord)
        self.resolutions[record.escalation_id] = record

    def _amended(self, event: _Event) -> None:
        """Apply a person's change to a waiting task, which answers its escalation if it has one (design: task-states,
        wire)."""
        task_id, entry = self._definition(event)
        if self._declared_board.entry(task_id).status is TaskStatus.BLOCKED:
            self._change(task_id, event, task_changes.set_escalation, None)
        self._set_dependencies(task_id, event, entry)

    def _set_dependencies(self, task_id: str, event: _Event, entry: TaskEntry) -> None:
        if self._declared_board.entry(task_id).depends_on != entry.depends_on:
            parts = self._declared_board.dependencies_of(task_id)
            self._change(task_id, event, task_changes.set_dependencies, entry.depends_on, parts)

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

    def _defined(self, event: _Event, record: type[_Record]) -> _Record:
        """Return the record that a Wire refers to."""
        data = self._store.definition(event.payload["definition_sha256"])
        return record.from_bytes(data, event.payload["reference"])

    _takes: ClassVar[Mapping[str, _Take]] = {
        "review.recorded": _review,
        "task.created": _created,
        "task.started": _started,
        "artifact.ready": _ready,
        "task.complete": _complete,
        "task.blocked": _blocked,
        "task.cancelled": _cancelled,
    }
    """The method for each event type; other types change nothing here (design: wire)."""

    _reviews: ClassVar[Mapping[str, _Take]] = {
        "journal.head": _journal_bound,
        "spec.approved": _approved,
        "escalation.raised": _raised,
        "escalation.resolved": _resolved,
        "task.amended": _amended,
        "release.made": _released,
        "module.deprecated": _deprecated,
        "deprecation.undone": _deprecation_undone,
        "exception.raised": _exception_raised,
        "exception.decided": _exception_decided,
        "module.superseded": _deprecated,
        "module.resealed": _resealed,
        "change.requested": _change_requested,
        "change.approved": _change_approved,
        "change.released": _change_released,
        "change.abandoned": _change_abandoned,
        "task.removed": _removed,
        "exception.resolved": _exception_resolved,
    }
    """The method for each subject of a review."""
