"""A project opened for reading, while another process may drive it (design: floors, command-line).

Log, store, projection and journal: no model, no graph, no gate; the index only where it is searched.
"""

import gc
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from specwright import canonical_json
from specwright.application.factory import ProjectView
from specwright.application.projection import Projection
from specwright.application.store.log_ends import log_ends
from specwright.bootstrap.stores import LOG, RUNTIME, TOPIC, DirectoryStore, begun_store, opened_store
from specwright.bootstrap.transfer import as_directory
from specwright.domain.modules.code_index import SearchHit
from specwright.log.hcs import hcs_metadata
from specwright.log.verify import UNPROTECTED, Finding
from specwright.log.verify import verify as verify_log
from specwright.ports.code_index import IndexQuery
from specwright.settings import load_settings


def driven_by(directory: Path) -> str:
    """The process that drives a project, in words; empty if none does."""
    with opened_store(directory) as store:
        return store.driver()


@contextmanager
def reading_project(directory: Path) -> Generator[ProjectView]:
    """A project as its log and its store show it; nothing is locked or written.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store, closing(store.log(reading=True)) as log:
        view = ProjectView(store=store.files, projection=Projection(log, store.files, time.monotonic))
        with _no_garbage_collection():
            view.projection.catch_up()
        yield view


@contextmanager
def _no_garbage_collection() -> Generator[None]:
    """Reading a project makes no cycles, and looking for them took a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def stored_wires(directory: Path) -> list[dict[str, Any]]:
    """Every Wire of a project with its proof beside it (design: wire).

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store, closing(store.log()) as log:
        return [
            {**hcs_metadata(TOPIC, entry), "wire": canonical_json.loads(entry.body)} for entry in log.stored()
        ]


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

    settings = load_settings(directory)
    with begun_store(directory) as store, closing(store.index(load_embedder(settings.embedder))) as index:
        return index.search(query)


def require_begun(directory: Path) -> None:
    """Refuse a directory in which no run has begun.

    Raises: as `begun_store`.
    """
    with begun_store(directory):
        pass
