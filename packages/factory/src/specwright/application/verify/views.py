"""What a project shows and could write again: state file, task files, Code Index (design: projection, task-files).

Nothing binds these by a hash. Each is made anew from what is bound, and compared.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from agent_wire import canonical_json
from agent_wire.entries import WireLog
from specwright.application.factory import ProjectView
from specwright.application.projection import Projection
from specwright.application.store.layout import CODE_INDEX_FILE, LOG_END, STATE_FILE
from specwright.application.store.layout import definition as definition_path
from specwright.application.store.log_ends import log_ends
from specwright.application.store.modules import ModuleStore
from specwright.application.tasks import dispatched_file, refreshed_file
from specwright.application.verify.log import LogBindings
from specwright.application.verify.sealed_version import VerifyFinding
from specwright.domain.interface_change.decision import ExceptionOutcome, NewVersion
from specwright.domain.modules.code_index import CodeIndexEntry, summarise
from specwright.domain.modules.deprecation import Deprecation
from specwright.domain.tasks.task_file import TaskDefinition, render_at_init
from specwright.errors import CorruptionErrors, SpecwrightErrors
from specwright.ports.store import FileTree, StateStore

IndexAudit: TypeAlias = Callable[
    [Sequence[CodeIndexEntry], Collection[str], Sequence[CodeIndexEntry]], Sequence[str]
]
"""Says what is in the Code Index that sealed modules do not explain, a sentence each: from the entries of every sealed
version, the references that must be there, and the entries that somebody decided to retire, as they are then."""


def projection_findings(log: WireLog, store: StateStore, folder: FileTree) -> Iterator[VerifyFinding]:
    """The state file and the task files, held against what the log says."""
    projection = Projection(log, store, lambda: 0.0)
    try:
        projection.catch_up()
    except CorruptionErrors as error:
        yield VerifyFinding("state.unprovable", error.where, error.what)
        return
    state = projection.state
    if state is None:
        if store.exists(STATE_FILE):
            yield VerifyFinding("state.changed", STATE_FILE, "the log knows of no tasks")
        return
    if not store.exists(STATE_FILE):
        yield VerifyFinding("state.missing", STATE_FILE, "the file is gone; the next run writes it again")
    elif (stored := store.read(STATE_FILE)) != state.to_bytes() and not _was_the_state(log, store, stored):
        yield VerifyFinding("state.changed", STATE_FILE, _difference(stored, state.to_json()))
    for definition in projection.definitions.values():
        yield from _task_file_findings(ProjectView(store=store, projection=projection), folder, definition)


def _was_the_state(log: WireLog, store: StateStore, stored: bytes) -> bool:
    """Whether the log said what the file says at its last stop or since: a run that was killed leaves it behind the log,
    but every stop writes the file before it notes the end of the log, so that an older copy is no longer the state
    (design: projection)."""
    try:
        updated_at = cast("dict[str, Any]", canonical_json.loads(stored))["updated_at"]
    except (ValueError, KeyError, TypeError):
        return False
    stop = log_ends(store).ends.get(LOG_END)
    written = [entry.sequence_number for entry in log.entries(0) if entry.wire["ts"] == updated_at]
    upto = max([*written, stop.sequence_number if stop else 0])
    before = Projection(log, store, lambda: 0.0)
    before.apply(entry for entry in log.entries(0) if entry.sequence_number <= upto)
    return before.state is not None and before.state.to_bytes() == stored


def _task_file_findings(
    view: ProjectView, folder: FileTree, definition: TaskDefinition
) -> Iterator[VerifyFinding]:
    """A task file is what it was at init, what it is once its dependencies are shipped, or what it was when the task was
    dispatched (design: task-files, change)."""
    path = f"project/{definition.path}"
    if not folder.exists(path):
        yield VerifyFinding("task_file.missing", path, "the file is gone")
        return
    text = folder.read(path)
    if text != render_at_init(definition, view.projection.definitions).encode():
        try:
            refreshed = [refreshed_file(view, definition), dispatched_file(view, definition) or ""]
        except (*SpecwrightErrors, ValueError):
            return  # a surface that it shows is damaged, which is told
        if text.decode(errors="replace") not in refreshed:
            yield VerifyFinding("task_file.changed", path, "it is not what its definition makes it")


def index_findings(store: StateStore, index: IndexAudit, bindings: LogBindings) -> Iterator[VerifyFinding]:
    """The Code Index, held against the contracts of sealed modules."""
    modules, entries, retired = ModuleStore(store), list[CodeIndexEntry](), list[CodeIndexEntry]()
    for ref in modules.begun():
        if not modules.is_sealed(ref) and ref not in bindings.announced:
            continue  # what a crash left before the seal is no version yet
        try:
            entries.append(summarise(modules.contract(ref)))
            retired += (decided.applied_to(entries[-1]) for decided in _deprecations(store, bindings, ref))
        except SpecwrightErrors:
            return  # reported already; what the index should hold is not known
    required = bindings.announced.keys() & {entry.ref for entry in entries}
    for wrong in index(entries, required, retired):
        yield VerifyFinding("index.changed", CODE_INDEX_FILE, wrong)


def _deprecations(store: StateStore, bindings: LogBindings, ref: str) -> Iterator[Deprecation]:
    """The decision to deprecate a version, if the log tells of one."""
    if sha256 := bindings.retired.get(ref):
        yield Deprecation.from_bytes(store.definition(sha256), ref)


def changed_versions(store: StateStore, bindings: LogBindings) -> Iterator[NewVersion]:
    """The versions that came of exceptions, as the log tells (design: interface-changes)."""
    for name, sha256 in bindings.subjects.get("exception.resolved", ()):
        if store.exists(definition_path(sha256)):  # else it is reported as missing
            version = ExceptionOutcome.from_bytes(store.definition(sha256), name).version
            yield from [] if version is None else [version]


def _difference(stored: bytes, expected: Mapping[str, Any]) -> str:
    try:
        value = canonical_json.loads(stored)
    except ValueError as error:
        return f"it is no JSON: {error}"
    if isinstance(value, dict) and (tasks := cast("dict[str, Any]", value).get("tasks")) != expected["tasks"]:
        known = cast("dict[str, Any]", tasks) if isinstance(tasks, dict) else {}
        names = [n for n in {**expected["tasks"], **known} if known.get(n) != expected["tasks"].get(n)]
        return f"it is not what the log says of {', '.join(names[:5])}; only the log counts"
    return "it is not the projection of the log; only the log counts"
