"""Projects opened for reading, while another process may drive them (design: layers, command-line).

A view has log, store, projection and journal, but no model, graph or gate; the index only where it is searched.

Also the two notes that a driver leaves for other processes. Neither the log nor the journal says that a budget was spent,
an account was empty, or a role gave up, since nothing was decided; so the driver records it in
`.specwright/last_stop.json`, and the next step of any run deletes it. The journal holds answers only, so it cannot tell
which role is being asked; that is in `.specwright/at_work.json`, which counts only while a process drives the project, so
the note of a killed driver does no harm.

`ProjectViews` reads a project many times, for the studio, and takes in only what is new: a project of ten thousand tasks
takes seconds to read from its log, the latest entries no time.
"""

import gc
import os
import re
import shlex
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeVar

from agent_wire import canonical_json
from agent_wire.entries import hcs_metadata
from agent_wire.log import DatabaseWireLog
from agent_wire.verify import UNPROTECTED, Deviation
from agent_wire.verify import verify as verify_log
from ship_gate.base.record import Record
from specwright.application.factory import Factory, ProjectView
from specwright.application.projection import Projection
from specwright.application.stages.product import draft_history, next_stop_estimate
from specwright.application.store.log_ends import log_ends
from specwright.bootstrap.stores import (
    LAST_STOP,
    LOG,
    RUNTIME,
    TOPIC,
    DirectoryStore,
    begun_store,
    opened_store,
)
from specwright.bootstrap.transfer import as_directory
from specwright.domain.modules.code_index import SearchHit
from specwright.errors import (
    AnswerError,
    AnyError,
    BudgetError,
    DatabaseUnavailableError,
    ModelError,
    ModelUnavailableError,
    NetworkUnavailableError,
    NoAccessError,
    NoCreditError,
    ScriptError,
    SpecwrightErrors,
)
from specwright.journal import SystemSource
from specwright.ports import (
    FileTree,
    IndexQuery,
    Progress,
    ProgressEvent,
    RequestDone,
    RequestSent,
    RoleDone,
    RoleStarted,
    RunEvent,
    StateStore,
)
from specwright.settings import load_settings

R = TypeVar("R", bound=Record)


def has_begun(directory: Path) -> bool:
    """Return whether a run of the project has begun, judging by its directory; True also if it is not a project. A run that
    was interrupted while opening the project has not begun.

    Raises:
        InputError: the settings are wrong.
    """
    if load_settings(directory, looking=True).store:
        return True
    return not os.path.lexists(directory / "SPEC.md") or any(
        (directory / name).exists() for name in (f"{RUNTIME}/{LOG}", "state_store")
    )


def driven_by(directory: Path) -> str:
    """Return a description of the process that drives a project; empty if none does."""
    with opened_store(directory) as store:
        return store.driver()


@contextmanager
def reading_project(directory: Path) -> Generator[ProjectView]:
    """Open a project as its log and store show it; nothing is locked or written.

    Args:
        directory: The project's directory.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store, closing(store.log(reading=True)) as log:
        view = ProjectView(store=store.files, projection=Projection(log, store.files, time.monotonic))
        with without_garbage_collection():
            view.projection.catch_up()
        yield view


@contextmanager
def without_garbage_collection() -> Generator[None]:
    """Turn garbage collection off: reading a project makes no cycles, and the search for them took a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def stored_wires(directory: Path, after: int = 0, most: int | None = None) -> list[dict[str, Any]]:
    """Return the Wires of a project in order, each with its proof (design: wire).

    Args:
        directory: The project's directory.
        after: The number of the entry before the first one returned.
        most: The most Wires to return; None for all.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store, closing(store.log(reading=True)) as log:
        entries = islice(log.stored(after), most)
        return [{**hcs_metadata(TOPIC, one), "wire": canonical_json.loads(one.body)} for one in entries]


def log_length(directory: Path) -> int:
    """Return the number of the last entry of a project's log; 0 if it is empty or no run has begun."""
    with opened_store(directory) as store:
        if not store.has_log():
            return 0
        with closing(store.log(reading=True)) as log:
            return last.sequence_number if (last := log.last()) else 0


def log_findings(directory: Path) -> list[dict[str, Any]]:
    """Return what is wrong with a project's log; empty if its chain is intact and it contains every recorded end.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store:
        unlike = store.unlike_schema()
    unprotected = [
        Deviation(TOPIC, 0, UNPROTECTED, f"{one} differs from this version's schema") for one in unlike
    ]
    with as_directory(directory) as place:
        noted = log_ends(DirectoryStore(place).files)
        damaged = [
            Deviation(TOPIC, 0, "log.note", f"{fault.where}: {fault.what}") for fault in noted.unreadable
        ]
        findings = verify_log(place / RUNTIME / LOG, expected=tuple(noted.ends.values()))
    return [finding._asdict() for finding in (*unprotected, *damaged, *findings)]


_NAMED_AMONG, _OF_A_NAME = 50, 0.3
"""How many modules are compared by name, and the score added when the query contains the whole name."""

_RELEVANT = 0.14
"""The least score of a match by the default embedder, chosen by the queries in tests/cli/test_index_search.py; other
embedders have other scales."""


def search_index(directory: Path, query: IndexQuery) -> list[tuple[SearchHit, float]]:
    """Search the Code Index of a project (design: code-index). A module named in the query comes before similar ones;
    modules with little similarity are left out.

    Returns:
        The hits, each with its score in [0, 1]: its similarity, plus a share for its name.

    Raises:
        InputError: there is no project, or a setting is wrong.
        RefusedError: the index was made with another embedder than the configured one.
    """
    from specwright.index.embedder import DEFAULT_EMBEDDER, load_embedder

    settings = load_settings(directory, looking=True)
    with begun_store(directory) as store, closing(store.index(load_embedder(settings.embedder))) as index:
        hits = index.search(query._replace(top_k=max(query.top_k, _NAMED_AMONG)))
    said = set(re.findall(r"\w+", query.query.casefold()))

    def placed(hit: SearchHit) -> tuple[SearchHit, float]:
        words = hit.entry.name.split("_")
        share = len(said.intersection(words)) / len(words)
        return hit, min(1.0, hit.similarity_score + _OF_A_NAME * share)

    least = _RELEVANT if settings.embedder == DEFAULT_EMBEDDER else 0.0
    found = [one for one in map(placed, hits) if one[1] >= least]
    return sorted(found, key=lambda one: -one[1])[: query.top_k]


def require_begun(directory: Path) -> None:
    """Refuse a directory in which no run has begun.

    Raises: the errors of `begun_store`.
    """
    with begun_store(directory):
        pass


Kind = Literal["budget", "credit", "access", "gave_up", "script", "unavailable", "failed"]

_KINDS: tuple[tuple[type[AnyError], Kind], ...] = (
    (BudgetError, "budget"),
    (ScriptError, "script"),
    (NoCreditError, "credit"),
    (NoAccessError, "access"),
    (AnswerError, "gave_up"),
    (ModelUnavailableError, "unavailable"),
    (ModelError, "failed"),
    (DatabaseUnavailableError, "unavailable"),
    (NetworkUnavailableError, "unavailable"),
)
"""Errors that stop a run but let it continue later; the first match counts."""


class LastStop(Record):
    """Why the last run stopped.

    Args:
        kind: The kind of cause.
        reason: What failed, in one sentence.
        where: Where it failed.
        remedy: What a person can do.
        options: Options of the `run` that continues; empty if it needs none.
        at: When, UTC.
        exit_code: The exit code of the command that stopped.
    """

    kind: Kind
    reason: str
    where: str = ""
    remedy: str = ""
    options: str = ""
    at: str = ""
    exit_code: int = 1


@contextmanager
def noting_stop(directory: Path, folder: FileTree, factory: Factory) -> Generator[None]:
    """Record the error that stops a run; for a budget add how much reaches the next stop."""
    try:
        yield
    except SpecwrightErrors as error:
        kind: Kind | None = next((name for cause, name in _KINDS if isinstance(error, cause)), None)
        if kind is None:
            raise
        options = ""
        if isinstance(error, BudgetError) and error.setting:
            options = f"--{error.setting.replace('_', '-')} {_enough(error, factory)}"
            place = "" if directory == Path() else f"{shlex.quote(str(directory))} "
            error.remedy = f"progress is saved; `specwright run {place}{options}` continues, by the estimate"
        elif kind == "script" and (back := _remedy_of_a_script(factory)):
            error.remedy = f"{back}; {error.remedy}"
        elif isinstance(error, NoAccessError):
            options = error.options
        elif kind == "gave_up" and factory.projection.awaits_approval:
            options = "--retry researcher"
        stop = LastStop(
            kind=kind,
            reason=error.what,
            where=error.where,
            remedy=error.remedy,
            options=options,
            at=SystemSource().now(),
            exit_code=error.exit_code,
        )
        with suppress(OSError, *SpecwrightErrors):  # the error is raised in any case
            folder.replace(LAST_STOP, stop.to_bytes())
        raise


def _remedy_of_a_script(factory: Factory) -> str:
    """Return how to go back to the spec that was shown if a script cannot answer what sent it back; otherwise empty."""
    history = draft_history(factory)
    sent_back = factory.projection.awaits_approval and history.is_sent_back and history.drafted >= 0
    return "`specwright amend --withdraw` goes back to the spec that was shown" if sent_back else ""


def forget_stop(folder: FileTree) -> None:
    """Delete the note: a run is in progress again."""
    with suppress(OSError, *SpecwrightErrors):
        if folder.exists(LAST_STOP) and folder.read(LAST_STOP) != _NONE:
            folder.replace(LAST_STOP, _NONE)


def last_stop(directory: Path) -> LastStop | None:
    """Return why the last run stopped; None if it did not stop by an error, or the note cannot be read."""
    noted = _noted(directory, LAST_STOP, LastStop, driven=False)
    # users paste the options into a shell
    return noted and noted.model_copy(update={"options": shlex.join(noted.options.split())})


def _noted(directory: Path, path: str, kind: type[R], *, driven: bool) -> R | None:
    """Read a note of a project that is driven, or is not; None if it is not, or the note cannot be read."""
    with suppress(*SpecwrightErrors, OSError, ValueError, TypeError), opened_store(directory) as store:
        if bool(store.driver()) is driven and store.folder.exists(path):
            return kind.from_bytes(store.folder.read(path), path)
    return None


_NONE = b"{}"


def _enough(error: BudgetError, factory: Factory) -> str:
    """Return a budget for the next call and the estimated calls until the next stop."""
    if not factory.price:
        return error.enough
    rest = next_stop_estimate(factory, factory.price, 1 if error.setting.startswith("task_") else None)
    if error.setting.endswith("_usd"):
        return str(Decimal(error.enough) + (rest.usd or Decimal(0)).quantize(Decimal("0.0001")))
    return str(int(error.enough) + rest.tokens)


AT_WORK = f"{RUNTIME}/at_work.json"


class AtWork(Record):
    """What a run is doing now.

    Args:
        since: When this began, UTC.
        task: The task's id in the spec, such as TSK-001; None outside of tasks.
        role: The role that is working; None while code is.
        subject: The module, `contracts` or `plan`.
        stage: The stage of the debate, such as `round-1`.
        waits_for: The model whose answer is awaited, as the journal names it.
        first_answer: Whether the project has no answer from this model yet.
    """

    since: str = ""
    task: str | None = None
    role: str | None = None
    subject: str | None = None
    stage: str | None = None
    waits_for: str | None = None
    first_answer: bool = False

    @property
    def seconds(self) -> float:
        """Seconds since this began; approximate, since two machines' clocks may differ."""
        try:
            began, now = (datetime.fromisoformat(text) for text in (self.since, SystemSource().now()))
        except ValueError:
            return 0.0
        return max(0.0, (now - began).total_seconds())

    def after(self, event: ProgressEvent, now: str) -> "AtWork":
        """Return what the run does after an event."""
        if isinstance(event, RoleStarted):
            task, subject, stage = event.task or None, event.subject or None, event.stage or None
            return AtWork(since=now, task=task, role=event.role, subject=subject, stage=stage)
        if isinstance(event, RequestSent):
            asked = {"since": now, "waits_for": event.model, "first_answer": event.first}
            return self.model_copy(update=asked)
        if isinstance(event, RequestDone):
            return self.model_copy(update={"since": now, "waits_for": None, "first_answer": False})
        if isinstance(event, RoleDone):
            return AtWork(since=now, task=self.task)
        if isinstance(event, RunEvent) and event.kind == "task":
            return AtWork(since=now, task=event.task or None)
        return self


class AtWorkProgress:
    """A progress port that also records in the project what the run is doing.

    Args:
        progress: The port that shows it.
        folder: The project's files.
    """

    def __init__(self, progress: Progress, folder: FileTree) -> None:
        self._progress = progress
        self._folder = folder
        self._at_work = AtWork()
        self._moved = False
        self._write(AtWork(since=SystemSource().now()))

    def note(self, event: ProgressEvent) -> None:
        """Record an event, and show it."""
        if not self._moved:
            self._moved = True
            forget_stop(self._folder)
        self._write(self._at_work.after(event, SystemSource().now()))
        self._progress.note(event)

    def _write(self, at_work: AtWork) -> None:
        if at_work == self._at_work:
            return
        self._at_work = at_work
        with suppress(OSError, *SpecwrightErrors):  # a full disk is reported by writes that matter
            self._folder.replace(AT_WORK, at_work.to_bytes())


def at_work(directory: Path) -> AtWork | None:
    """Return what the driver of a project is doing; None if none drives it, or the note cannot be read."""
    return _noted(directory, AT_WORK, AtWork, driven=True)


class _ReadLog:
    """The part of one project's log that was read: its projection, and its last entry."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._projection: Projection | None = None
        self._number = 0
        self._running_hash = b""

    def projection(self, log: DatabaseWireLog, store: StateStore) -> Projection:
        """Return the projection up to the end of the log; a new one if the log was replaced."""
        # whether the log still contains the last entry that was read
        same = self._number > 0 and self._hash_in(log) == self._running_hash
        projection = self._projection if same else None
        self._projection = None  # until it is complete again
        if projection is None:
            projection = Projection(log, store, time.monotonic)
        with without_garbage_collection():
            projection.apply(log.entries(projection.seen))
        self._number = projection.seen
        self._running_hash = self._hash_in(log)
        self._projection = projection
        return projection

    def _hash_in(self, log: DatabaseWireLog) -> bytes:
        """Return the running hash in the log of the last entry that was read; empty if there is none."""
        entry = next(log.stored(self._number - 1), None) if self._number else None
        return entry.running_hash if entry and entry.sequence_number == self._number else b""


class ProjectViews:
    """Views of projects; only one thread at a time reads a project."""

    def __init__(self) -> None:
        self._logs: dict[Path, _ReadLog] = {}
        self._lock = threading.Lock()

    @contextmanager
    def reading(self, directory: Path) -> Generator[ProjectView]:
        """Open a project as its log and store show it now; nothing is locked or written.

        A project on Postgres is read from the start, since its store belongs to a connection.

        Raises:
            InputError: there is no project.
        """
        with self._lock:
            known = self._logs.setdefault(directory, _ReadLog())
        with begun_store(directory) as store:
            if isinstance(store, DirectoryStore):
                with known.lock, closing(store.log(reading=True)) as log:
                    yield ProjectView(store=store.files, projection=known.projection(log, store.files))
                return
        with reading_project(directory) as view:
            yield view
