"""A project opened for reading, while another process may drive it (design: floors, command-line).

Log, store, projection and journal: no model, no graph, no gate; the index only where it is searched.
"""

import gc
import os
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from agent_wire import canonical_json
from agent_wire.entries import StoredEntry
from agent_wire.hcs import hcs_metadata
from agent_wire.verify import UNPROTECTED, Finding
from agent_wire.verify import verify as verify_log
from ship_gate.base.record import Record
from specwright.application.factory import ProjectView
from specwright.application.projection import Projection
from specwright.application.store.log_ends import log_ends
from specwright.bootstrap.storage.stores import (
    LAST_RUN,
    LOG,
    RUNTIME,
    TOPIC,
    DirectoryStore,
    begun_store,
    opened_store,
)
from specwright.bootstrap.storage.transfer import as_directory
from specwright.domain.modules.code_index import SearchHit
from specwright.errors import InputError, InputErrors, SpecwrightErrors
from specwright.ports.code_index import IndexQuery
from specwright.settings import load_settings

MODEL_SETTINGS = ("model", "role_models", "base_url", "fallback_models")


def has_begun(directory: Path) -> bool:
    """Whether the directory is a project in which a run has begun, or no project at all. A run that was interrupted while
    it opened the project has not begun."""
    return not os.path.lexists(directory / "SPEC.md") or any(
        (directory / name).exists() for name in (f"{RUNTIME}/{LOG}", "state_store")
    )


def driven_by(directory: Path) -> str:
    """The process that drives a project, in words; empty if none does."""
    with opened_store(directory) as store:
        return store.driver()


class LastRun(Record):
    """The options of a `run`, as they are stored for the commands that go on with it.

    Args:
        model: The default model; empty if none was named.
        base_url: Of an OpenAI-compatible server.
        role_models: Another model for some roles.
        fallback_models: What answers when the model of a role fails, by role or for `all`.
        budgets: Limits, by the setting.
        scripted: Whether any answer of the project was scripted, now or before.
        settings: What specwright.toml and the environment said then.
    """

    model: str = ""
    base_url: str = ""
    role_models: dict[str, str] = Field(default_factory=dict)
    fallback_models: dict[str, list[str]] = Field(default_factory=dict)
    budgets: dict[str, float] = Field(default_factory=dict)
    scripted: bool = False
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def models(self) -> dict[str, Any]:
        """The settings of models that the options name."""
        chosen = self.to_json().items()
        return {name: value for name, value in chosen if value and name in MODEL_SETTINGS}


def recorded_run(directory: Path) -> LastRun:
    """The options of the last run; none if there was none.

    Raises:
        InputError: they cannot be read.
    """
    with opened_store(directory) as store:
        if not store.folder.exists(LAST_RUN):
            return LastRun()
        where = f"{store.folder.address}/{LAST_RUN}"
        try:
            return LastRun.from_bytes(store.folder.read(LAST_RUN), where)
        except (OSError, *InputErrors) as error:
            raise InputError(
                "the options of the last run cannot be read",
                where=where,
                remedy="name the model again: `specwright run --model ...`",
            ) from error


def last_run(directory: Path) -> LastRun:
    """The options of the last run for those who only look; none if they cannot be read."""
    with suppress(*SpecwrightErrors, OSError):
        return recorded_run(directory)
    return LastRun()


@contextmanager
def reading_project(directory: Path) -> Generator[ProjectView]:
    """A project as its log and its store show it; nothing is locked or written.

    Args:
        directory: Of the project.

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
    """Reading a project makes no cycles, and looking for them took a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _with_proof(entry: StoredEntry) -> dict[str, Any]:
    return {**hcs_metadata(TOPIC, entry), "wire": canonical_json.loads(entry.body)}


def stored_wires(directory: Path, after: int = 0, most: int | None = None) -> list[dict[str, Any]]:
    """The Wires of a project, each with its proof beside it, in order (design: wire).

    Args:
        directory: Of the project.
        after: The number of the entry before the first one.
        most: How many; None for all.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store, closing(store.log(reading=True)) as log:
        return [_with_proof(entry) for entry in islice(log.stored(after), most)]


def log_length(directory: Path) -> int:
    """The number of the last entry of a project's log; 0 if it is empty or no run has begun."""
    with opened_store(directory) as store:
        if not store.has_log():
            return 0
        with closing(store.log(reading=True)) as log:
            return last.sequence_number if (last := log.last()) else 0


def log_findings(directory: Path) -> list[dict[str, Any]]:
    """What is wrong with a project's log; empty if its chain is intact and has every end that was noted.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store:
        unlike = store.unlike_schema()
    unprotected = [Finding(TOPIC, 0, UNPROTECTED, f"not as the program made it: {one}") for one in unlike]
    with as_directory(directory) as place:
        noted = log_ends(DirectoryStore(place).files)
        damaged = [
            Finding(TOPIC, 0, "log.note", f"{fault.where}: {fault.what}") for fault in noted.unreadable
        ]
        findings = verify_log(place / RUNTIME / LOG, expected=tuple(noted.ends.values()))
    return [finding._asdict() for finding in (*unprotected, *damaged, *findings)]


def search_index(directory: Path, query: IndexQuery) -> list[SearchHit]:
    """Search the Code Index of a project as its roles do (design: code-index).

    Raises:
        InputError: there is no project, or a setting is wrong.
        RefusedError: the index was made by another embedder than the one that is configured.
    """
    from specwright.index.embedder import load_embedder

    settings = load_settings(directory, looking=True)
    with begun_store(directory) as store, closing(store.index(load_embedder(settings.embedder))) as index:
        return index.search(query)


def require_begun(directory: Path) -> None:
    """Refuse a directory in which no run has begun.

    Raises: as `begun_store`.
    """
    with begun_store(directory):
        pass
