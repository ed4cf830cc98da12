"""The projects that a studio shows: those that were given, and those in folders that were given (design: studio).

Nothing outside of them is read or written. A project has a key, by which addresses name it; a path never comes from an
address.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from specwright.application.factory import ProjectView
from specwright.application.store import layout
from specwright.bootstrap.storage.stores import RUNTIME, directories_of_store
from specwright.bootstrap.views.project_views import ProjectViews
from specwright.domain.base.slugs import slugify
from specwright.errors import InputError
from specwright.settings import SETTINGS_FILE

_MARKS = ("SPEC.md", SETTINGS_FILE, RUNTIME)
"""What a directory has that is a project."""

_SECONDS_BETWEEN_LOOKS = 5.0

LEVELS = 3
"""Of directories below a folder in which projects are looked for."""

_MOST_DIRECTORIES = 2_000
"""That are looked into below a folder; it may be a home directory."""

_NO_PROJECTS = {"node_modules", "site-packages", "__pycache__", "venv"}
"""Directories that are large and hold no project."""

_NEW_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class StudioProject(NamedTuple):
    """A project by its key.

    Args:
        key: In addresses.
        directory: As commands name it.
        views: What was read of it.
    """

    key: str
    directory: Path
    views: ProjectViews

    def reading(self) -> AbstractContextManager[ProjectView]:
        """The project as it is now.

        Raises:
            InputError: no run has begun.
        """
        return self.views.reading(self.directory)


class Projects:
    """The projects of a studio, looked up anew each time: a new one appears by itself.

    Args:
        given: Directories of projects, or folders that hold some, at most `LEVELS` below them.
        store: The address of a database, whose projects are shown too; empty for none.

    Raises:
        InputError: one of them is no directory, or the address cannot be used.
        RefusedError: the database cannot be reached.
    """

    def __init__(self, given: Sequence[Path], store: str = "") -> None:
        self._store = store
        self._views = ProjectViews()
        self._stored: list[Path] = []
        self._looked = float("-inf")
        self._deeper: list[Path] = []
        self._looked_deeper = float("-inf")
        if store:
            self._in_store()
        for place in given:
            if not place.is_dir():
                raise InputError(
                    "there is no such directory",
                    where=str(place),
                    remedy="name projects, or folders that hold projects",
                )
        self._projects = [place for place in given if _is_project(place)]
        self.folders = [place for place in given if not _is_project(place)]
        """Where new projects can be made."""

    def all(self) -> list[StudioProject]:
        """Every project, those that were named first."""
        found: dict[str, StudioProject] = {}
        for directory in self._directories():
            name, number = slugify(directory.resolve().name), 1
            key = name
            while key in found:
                number += 1
                key = f"{name}-{number}"
            found[key] = StudioProject(key, directory, self._views)
        return list(found.values())

    def find(self, key: str) -> StudioProject | None:
        """The project of a key; None if there is none."""
        return next((one for one in self.all() if one.key == key), None)

    def place_for(self, name: str) -> Path:
        """Where a new project is made.

        Raises:
            InputError: no folder was given, or this is no name of a project in it.
        """
        if not self.folders:
            raise InputError(
                "this studio was given projects, and no folder for new ones",
                remedy="`specwright studio FOLDER`, or `specwright init DIR` in a terminal",
            )
        if not _NEW_NAME.fullmatch(name):
            raise InputError(
                f"{name[:60]!r} cannot be the name of a project",
                where="name",
                remedy="take lower-case letters, digits, hyphens and underscores, at most 40",
            )
        place = self.folders[0] / name
        if place.exists() or place.is_symlink():
            raise InputError(f"there is {name} already", where=str(place), remedy="take another name")
        return place

    def _directories(self) -> Iterator[Path]:
        seen = set[Path]()
        inside = (one for folder in self.folders for one in _below(folder) if _is_project(one))
        for directory in (*self._projects, *inside, *self._further_below(), *self._in_store()):
            if (real := directory.resolve()) not in seen:
                seen.add(real)
                yield directory

    def _further_below(self) -> list[Path]:
        """The projects that lie deeper in the folders, which are not searched all the time."""
        if self.folders and time.monotonic() - self._looked_deeper > _SECONDS_BETWEEN_LOOKS:
            self._deeper = [one for folder in self.folders for one in _deep(folder)]
            self._looked_deeper = time.monotonic()
        return self._deeper

    def _in_store(self) -> list[Path]:
        """The projects of the database, which is not asked all the time."""
        if self._store and time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
            self._stored = directories_of_store(self._store)
            self._looked = time.monotonic()
        return self._stored


def _below(folder: Path) -> list[Path]:
    """The directories in a folder; a link that leads out of it is passed over."""
    try:
        places = sorted(folder.iterdir())
        return [
            place
            for place in places
            if not place.name.startswith(".") and place.is_dir() and not place.is_symlink()
        ]
    except PermissionError:
        return []


def _deep(folder: Path) -> Iterator[Path]:
    """The projects below the directories of a folder, in those that are none themselves."""
    level, looked = [folder], 0
    for depth in range(LEVELS):
        inside: list[Path] = []
        for place in level[: max(0, _MOST_DIRECTORIES - looked)]:
            inside += [one for one in _below(place) if one.name not in _NO_PROJECTS]
        looked += len(level)
        yield from (place for place in inside if depth and _is_project(place))
        level = [place for place in inside if not _is_project(place)]


def _is_project(directory: Path) -> bool:
    try:
        if (directory / layout.CONTRACT).exists() and not (directory / RUNTIME).exists():
            return False  # a module, as `escalations --checkout` lays it out
        return any((directory / name).exists() for name in _MARKS)
    except PermissionError:  # somebody else's
        return False
