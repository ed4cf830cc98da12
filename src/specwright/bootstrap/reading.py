"""What a project has written, opened for those who look at it while another process may drive it.

Log, store and projection: no model, no graph, no gate, no index (DESIGN §2, §9).
"""

import gc
import shlex
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specwright import canonical_json
from specwright.application.factory import View
from specwright.application.projection import Projection
from specwright.application.stores.log_ends import log_ends
from specwright.errors import CorruptionError, InputError
from specwright.log.metadata import hcs_metadata
from specwright.log.sqlite_log import SqliteWireLog
from specwright.log.verify import Finding
from specwright.log.verify import verify as verify_log
from specwright.storage import DiskStateStore, driver_of

__all__ = [
    "RUNTIME",
    "TOPIC",
    "driven_by",
    "log_file",
    "log_findings",
    "reading_project",
    "require_log",
    "stored_wires",
]

RUNTIME = ".specwright"
TOPIC = "0.0.1001"


def driven_by(directory: Path) -> str:
    """The process that drives a project now, in words; empty if none does."""
    return driver_of(directory / RUNTIME)


@contextmanager
def reading_project(directory: Path) -> Generator[View]:
    """A project as its log and its store tell it, while another process may drive it.

    Raises:
        InputError: there is no project.
    """
    log = SqliteWireLog(log_file(directory), TOPIC, time.time_ns, reading=True)
    try:
        store = DiskStateStore(directory / "state_store")
        view = View(store, Projection(log, store, time.monotonic))
        with _all_is_kept():
            view.projection.catch_up()
        yield view
    finally:
        log.close()


@contextmanager
def _all_is_kept() -> Generator[None]:
    """Read in without looking for garbage: a project that is read holds no cycles, and looking took a third of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def stored_wires(directory: Path) -> list[dict[str, Any]]:
    """Every Wire of a project with its proof beside it (W HCS Metadata).

    Raises:
        InputError: there is no project.
    """
    log = SqliteWireLog(log_file(directory), TOPIC, time.time_ns)
    try:
        return [
            {**hcs_metadata(TOPIC, entry), "wire": canonical_json.loads(entry.body)} for entry in log.stored()
        ]
    finally:
        log.close()


def log_findings(directory: Path) -> list[dict[str, Any]]:
    """What is wrong with a project's log; empty if its chain is intact and holds every end that was noted.

    Raises:
        InputError: there is no project.
    """
    noted = log_ends(DiskStateStore(directory / "state_store"))
    damaged = [Finding(TOPIC, 0, "log.note", f"{fault.where}: {fault.what}") for fault in noted.unreadable]
    findings = verify_log(log_file(directory), expected=noted.ends)
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
    """Refuse a project whose log did not come along when it was copied.

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
