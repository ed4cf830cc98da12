"""Finds the third-party packages that the settings allow among what is installed here (D23).

A module is proved with what is installed, so a package that is not here, or in another version than the settings ask
for, is told before anything is run.
"""

import importlib.metadata
from collections.abc import Sequence
from pathlib import PurePosixPath

from packaging.requirements import Requirement

from specwright.domain.allowed_packages import AllowedPackage
from specwright.errors import InputError

__all__ = ["allowed_packages"]

_WHERE = "packages"


def allowed_packages(requirements: Sequence[str]) -> tuple[AllowedPackage, ...]:
    """What the settings allow, as it is installed.

    Args:
        requirements: Names with versions, `attrs>=25`.

    Raises:
        InputError: one is not installed here, in another version, or holds nothing that can be imported.
    """
    return tuple(_allowed(Requirement(text)) for text in requirements)


def _allowed(requirement: Requirement) -> AllowedPackage:
    text = str(requirement)
    install = f"install it beside Specwright: python -m pip install '{text}'; or take it out of `packages`"
    try:
        found = importlib.metadata.distribution(requirement.name)
    except importlib.metadata.PackageNotFoundError as error:
        raise InputError(
            f"{text} is allowed to modules and not installed", where=_WHERE, remedy=install
        ) from error
    if not requirement.specifier.contains(found.version, prereleases=True):
        what = f"{text} is allowed to modules, and {requirement.name} {found.version} is installed"
        raise InputError(what, where=_WHERE, remedy=install)
    if not (imports := _imports(found)):
        raise InputError(
            f"{requirement.name} holds no Python package", where=_WHERE, remedy="take it out of `packages`"
        )
    return AllowedPackage(text, f"{requirement.name}=={found.version}", imports)


def _imports(distribution: importlib.metadata.Distribution) -> tuple[str, ...]:
    """The packages and modules at the top of a distribution."""
    found: dict[str, None] = {}
    for file in distribution.files or ():
        path = PurePosixPath(str(file))
        if path.suffix in {".py", ".so", ".pyd"} and ".." not in path.parts:
            found[path.parts[0].partition(".")[0]] = None
    return tuple(sorted(name for name in found if name.isidentifier()))
