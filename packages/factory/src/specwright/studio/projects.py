"""The projects that a studio shows: those that were given, and those in folders that were given (design: studio).

Nothing outside of them is read or written. A project has a key, by which addresses name it; a path never comes from an
address.
"""

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from specwright.application.factory import ProjectView
from specwright.application.store import layout
from specwright.bootstrap.stores import RUNTIME, directories_of_store
from specwright.bootstrap.views import ProjectViews
from specwright.domain.base.slugs import slugify
from specwright.errors import InputError
from specwright.settings import SETTINGS_FILE

_MARKS = ("SPEC.md", SETTINGS_FILE, RUNTIME)
"""What a directory has that is a project."""

_SECONDS_BETWEEN_LOOKS = 3.0

LEVELS = 3
"""Of directories below a folder in which projects are looked for."""

_MOST_DIRECTORIES = 2_000
"""That are looked into below a folder; it may be a home directory."""

_NO_PROJECTS = {"node_modules", "site-packages", "__pycache__", "venv"}
"""Directories that are large and hold no project."""


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

    @property
    def place(self) -> str:
        """Its directory as a word of a command that can be pasted."""
        return shlex.quote(str(self.directory))

    def reading(self) -> AbstractContextManager[ProjectView]:
        """The project as it is now.

        Raises:
            InputError: no run has begun.
        """
        return self.views.reading(self.directory)


class Projects:
    """The projects of a studio, looked up again every few seconds: a new one appears by itself.

    Args:
        given: Directories of projects, or folders that hold some, at most `LEVELS` below them.
        store: The address of a database, whose projects are shown too; empty for none.

    Raises:
        InputError: one of them is no directory, or the address cannot be used.
        RefusedError: the database cannot be reached.
    """

    def __init__(self, given: Sequence[Path], store: str = "") -> None:
        for place in given:
            if not place.is_dir():
                raise InputError(
                    "there is no such directory",
                    where=str(place),
                    remedy="name projects, or folders that hold projects",
                )
        self._given = given
        self._store = store
        self._views = ProjectViews()
        self._found = self._look()
        self._looked = time.monotonic()

    def all(self) -> list[StudioProject]:
        """Every project, those that were named first."""
        if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
            self._found, self._looked = self._look(), time.monotonic()
        return [*self._found.values()]

    def find(self, key: str) -> StudioProject | None:
        """The project of a key; None if there is none."""
        self.all()
        return self._found.get(key)

    def _look(self) -> dict[str, StudioProject]:
        """The projects by their keys."""
        folders = [place for place in self._given if not _is_project(place)]
        directories = [place for place in self._given if _is_project(place)]
        directories += [place for folder in folders for place in _below(folder)]
        if self._store:
            directories += directories_of_store(self._store)
        found: dict[str, StudioProject] = {}
        places = dict[Path, Path]()
        for directory in directories:
            places.setdefault(directory.resolve(), directory)
        for real, directory in places.items():
            key, number = (name := slugify(real.name)), 1
            while key in found:
                number += 1
                key = f"{name}-{number}"
            found[key] = StudioProject(key, directory, self._views)
        return found


def _below(folder: Path) -> Iterator[Path]:
    """The projects in a folder, and deeper in its directories that are no projects themselves."""
    level, looked = [folder], 0
    for depth in range(LEVELS):
        inside: list[Path] = []
        for place in level[: None if depth == 0 else max(0, _MOST_DIRECTORIES - looked)]:
            inside += _directories_in(place)
        looked += len(level)
        yield from (place for place in inside if _is_project(place))
        level = [place for place in inside if not _is_project(place)]


def _directories_in(folder: Path) -> list[Path]:
    """The directories in a folder; a link that leads out of it is passed over."""
    try:
        places = sorted(folder.iterdir())
        return [
            place
            for place in places
            if place.name not in _NO_PROJECTS
            and not place.name.startswith(".")
            and place.is_dir()
            and not place.is_symlink()
        ]
    except PermissionError:
        return []


def _is_project(directory: Path) -> bool:
    try:
        if (directory / layout.CONTRACT).exists() and not (directory / RUNTIME).exists():
            return False  # a module, as `escalations --checkout` lays it out
        return any((directory / name).exists() for name in _MARKS)
    except PermissionError:  # somebody else's
        return False
