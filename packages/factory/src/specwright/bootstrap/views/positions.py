"""Where projects are, asked several times a second, as the studio does (design: studio).

A position is worked out from the end of the log and from what is at work. For a project in a directory that is done only
when one of the files that it comes from has changed, so that many projects can be watched by many pages.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from specwright.application.store.layout import CHANGES, STATE_STORE
from specwright.bootstrap.storage.stores import LOG, RUNTIME, store_setting
from specwright.bootstrap.views.reading import position, watched_files
from specwright.errors import SpecwrightErrors
from specwright.settings import SETTINGS_FILE
from specwright.storage import driver_of

SECONDS_BETWEEN_QUESTIONS = 0.5
"""To a database, which has no file to look at."""

_NANOSECONDS_TO_SETTLE = 1_000_000_000
"""A file that changed so recently may change again without its times showing it."""


class _FilesState(NamedTuple):
    """The state of a project's files.

    Args:
        driver: The process that drives it, which may end without touching a file.
        files: Of each file its inode, size and time of change; None if there is none.
        settled: Whether a further change is sure to show.
    """

    driver: str
    files: tuple[tuple[int, int, int] | None, ...]
    settled: bool


class _Known(NamedTuple):
    """A position, when it was worked out, and the files then; None for a project in a database."""

    position: str
    asked: float
    files: _FilesState | None


class Positions:
    """The positions of projects.

    Args:
        work_out: Reads the position of a project.
    """

    def __init__(self, work_out: Callable[[Path], str] = position) -> None:
        self._work_out = work_out
        self._known: dict[Path, _Known] = {}

    def of(self, directory: Path) -> str:
        """Where a project is; `damaged` if that cannot be read."""
        known, now, state = self._known.get(directory), time.monotonic(), _state_of(directory)
        if known is not None and _holds(known, now, state):
            return known.position
        try:
            found, in_files = self._work_out(directory), not store_setting(directory)
        except (*SpecwrightErrors, OSError):
            found, in_files = "damaged", True
        self._known[directory] = _Known(found, now, state if in_files else None)
        return found


def _holds(known: _Known, now: float, state: _FilesState) -> bool:
    """Whether a position is sure to be the same still."""
    if known.files is None:
        return now - known.asked < SECONDS_BETWEEN_QUESTIONS
    return state == known.files and state.settled


def _state_of(directory: Path) -> _FilesState:
    """The state of the files from which the position of a project is worked out."""
    found = [_file_state(path) for path in _files(directory)]
    youngest = max((one[2] for one in found if one), default=0)
    settled = time.time_ns() - youngest > _NANOSECONDS_TO_SETTLE
    return _FilesState(driver_of(directory / RUNTIME), tuple(found), settled)


def _files(directory: Path) -> Iterator[Path]:
    log, store = directory / RUNTIME / LOG, directory / STATE_STORE
    yield from (directory / SETTINGS_FILE, log, log.with_name(f"{LOG}-wal"), store / CHANGES)
    changes = [int(one.name) for one in (store / CHANGES).glob("[0-9]*") if one.name.isdecimal()]
    yield from (directory / path for path in watched_files(sorted(changes)))


def _file_state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
