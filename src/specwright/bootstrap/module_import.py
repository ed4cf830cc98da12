"""Module directories that are imported into a project (design: adopted-modules)."""

import platform
import shlex
from collections.abc import Sequence
from pathlib import Path

from specwright import __version__, canonical_json
from specwright.application.adopted.directory_import import ImportOutcome, ModuleDirectory, adopt
from specwright.bootstrap.gate.batch import LIMITS, modules_in
from specwright.bootstrap.project import Project
from specwright.bootstrap.storage.stores import RUNTIME
from specwright.errors import InputError
from specwright.gate.directory.module_directory import docstring_drift, read_alone
from specwright.settings import Settings


def directories_in(places: Sequence[Path]) -> list[ModuleDirectory]:
    """The module directories of some places: the place itself, or all below it.

    Raises:
        InputError: there is none in a place, or one cannot be read.
    """
    found = list[ModuleDirectory]()
    for directory in modules_in(places):
        read = read_alone(directory)
        found.append(
            ModuleDirectory(directory.resolve(), read.contract, read.files, read.tests, read.findings)
        )
    return found


def adopt_directories(
    project: Project, settings: Settings, directories: Sequence[ModuleDirectory]
) -> list[ImportOutcome]:
    """Import module directories into a project that is open: all, or none.

    Args:
        project: Open.
        settings: Of the project.
        directories: Of `directories_in`.

    Raises: as `application.adopted.directory_import.adopt`.
    """
    limits = settings.model_dump(mode="json", include=LIMITS)
    surroundings = {"gate": __version__, "python": platform.python_version(), "limits": limits}
    return adopt(project.factory, directories, canonical_json.digest(surroundings), docstring_drift)


def require_project(directory: Path) -> None:
    """Refuse a directory that is no project.

    Raises:
        InputError: nothing of one is there.
    """
    begun = (directory / name for name in ("SPEC.md", "specwright.toml", RUNTIME))
    if not any(path.exists() for path in begun):
        raise InputError(
            "there is no project here that could take modules",
            where=str(directory),
            remedy=f"`specwright init {shlex.quote(str(directory))}` makes one, `--project DIR` names another",
        )
