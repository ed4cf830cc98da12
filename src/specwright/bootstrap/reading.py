"""A project opened for reading, while another process may drive it (design: floors, command-line).

Log, store, projection and journal: no model, no graph, no gate, no index.
"""

import gc
import shlex
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from specwright import canonical_json
from specwright.application.factory import ProjectView
from specwright.application.projection import Projection
from specwright.application.store.log_ends import log_ends
from specwright.errors import CorruptionError, InputError
from specwright.log.hcs import hcs_metadata
from specwright.log.sqlite_log import SqliteWireLog
from specwright.log.verify import Finding
from specwright.log.verify import verify as verify_log
from specwright.storage import DiskStateStore, driver_of

RUNTIME = ".specwright"
TOPIC = "0.0.1001"


def driven_by(directory: Path) -> str:
    """The process that drives a project, in words; empty if none does."""
    return driver_of(directory / RUNTIME)


@contextmanager
def reading_project(directory: Path) -> Generator[ProjectView]:
    """A project as its log and its store show it; nothing is locked or written.

    Raises:
        InputError: there is no project.
    """
    with closing(SqliteWireLog(log_file(directory), TOPIC, time.time_ns, reading=True)) as log:
        store = DiskStateStore(directory / "state_store")
        view = ProjectView(store=store, projection=Projection(log, store, time.monotonic))
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
    with closing(SqliteWireLog(log_file(directory), TOPIC, time.time_ns)) as log:
        return [
            {**hcs_metadata(TOPIC, entry), "wire": canonical_json.loads(entry.body)} for entry in log.stored()
        ]


def log_findings(directory: Path) -> list[dict[str, Any]]:
    """What is wrong with a project's log; empty if its chain is intact and has every end that was noted.

    Raises:
        InputError: there is no project.
    """
    noted = log_ends(DiskStateStore(directory / "state_store"))
    damaged = [Finding(TOPIC, 0, "log.note", f"{fault.where}: {fault.what}") for fault in noted.unreadable]
    findings = verify_log(log_file(directory), expected=tuple(noted.ends.values()))
    return [finding._asdict() for finding in (*damaged, *findings)]


def log_file(directory: Path) -> Path:
    """The log of a project.

    Raises:
        InputError: there is none.
        CorruptionError: there was one.
    """
    path = directory / RUNTIME / "wire.db"
    require_log(directory)
    if not path.is_file():
        raise InputError(
            "no run has begun here",
            where=str(directory),
            remedy=f"`specwright run {shlex.quote(str(directory))}` begins one",
        )
    return path


def require_log(directory: Path) -> None:
    """Refuse a project that was copied without its log.

    Raises:
        CorruptionError: a spec was approved here, but there is no log.
    """
    path = directory / RUNTIME / "wire.db"
    if not path.is_file() and (directory / "state_store" / "definitions").is_dir():
        raise CorruptionError(
            "the project's log is gone; without it nobody can say what was done",
            where=str(path),
            remedy="bring `.specwright/` back from a copy: it belongs to the project as `state_store/` does",
        )
