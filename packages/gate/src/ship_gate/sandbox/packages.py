"""The third-party packages that a sandboxed process can see, and nothing else of what is installed (design: contracts).

A folder of links stands in for the installation's, so that only what was asked for, with what it requires, can be
imported. What the links lead to is made readable by the sandbox.
"""

import functools
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from ship_gate.errors import InputError
from ship_gate.syntax_tree import imported_roots, parse_module


class AllowedPackage(NamedTuple):
    """A package that is allowed.

    Args:
        requirement: As the settings say it: `attrs>=25`.
        installed: What is installed here and what modules are proved with: `attrs==25.3.0`.
        imports: The names by which it is imported.
    """

    requirement: str
    installed: str
    imports: tuple[str, ...]


def import_names(packages: Iterable[AllowedPackage]) -> frozenset[str]:
    """All names that may be imported."""
    return frozenset(name for package in packages for name in package.imports)


def required_by(packages: Sequence[AllowedPackage], sources: Iterable[bytes]) -> tuple[str, ...]:
    """The requirements on those packages that Python files import, in the order of the settings.

    Args:
        packages: That are allowed.
        sources: Python files that can be parsed.
    """
    imported = {name for source in sources for name in imported_roots(parse_module(source))}
    return tuple(package.requirement for package in packages if imported.intersection(package.imports))


TEST_TOOLS = frozenset({"pytest", "hypothesis"})
"""What tests may import beside the standard library."""


def link_packages(names: frozenset[str], folder: Path) -> list[Path]:
    """Fill a folder with links to packages.

    Args:
        names: Import names.
        folder: It is made.

    Returns:
        What the links lead to.
    """
    folder.mkdir(parents=True)
    paths = _installed_paths(names)
    for path in paths:
        (folder / path.name).symlink_to(path)
    return list(paths)


@functools.cache
def _installed_paths(names: frozenset[str]) -> tuple[Path, ...]:
    """The files and folders of packages and of what they require."""
    if not names:
        return ()
    found: dict[Path, None] = {}
    queue, seen = [Requirement(name) for name in _distributions(names)], set[str]()
    while queue:
        requirement = queue.pop()
        plain = re.sub(r"[-_.]+", "-", requirement.name).lower()
        with_extras = f"{plain}[{','.join(sorted(requirement.extras))}]"
        if with_extras in seen:
            continue
        seen.add(with_extras)
        try:
            distribution = importlib.metadata.distribution(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found |= dict.fromkeys(_top_files(distribution))
        queue += _required(distribution.requires or (), requirement.extras)
    for name in names:
        found |= dict.fromkeys(_by_name(name))
    return tuple(path for path in found if path.exists())


def _distributions(names: frozenset[str]) -> Iterable[str]:
    if names <= TEST_TOOLS:
        # the mapping of everything that is installed takes its time
        return names
    known = importlib.metadata.packages_distributions()
    return [distribution for name in names for distribution in known.get(name, [name])]


def _top_files(distribution: importlib.metadata.Distribution) -> Iterable[Path]:
    tops = {Path(str(file)).parts[0] for file in distribution.files or ()}
    for top in sorted(tops):
        if top in {"..", "__pycache__"} or top.endswith((".pth", ".egg-info")):
            continue
        if not top.endswith(".dist-info") or _is_read_by_itself(distribution):
            yield Path(str(distribution.locate_file(top))).resolve()


def _is_read_by_itself(distribution: importlib.metadata.Distribution) -> bool:
    """Whether a package may find its own metadata, as some do for their version; plugins would join the tests by it."""
    is_plugin = any(one.group == "pytest11" for one in distribution.entry_points)
    return not is_plugin and distribution.name not in TEST_TOOLS


def _required(requirements: Iterable[str], extras: Iterable[str]) -> Iterable[Requirement]:
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _by_name(name: str) -> Iterable[Path]:
    """Where a package lies that was installed in another way."""
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations:
        yield from (Path(place).resolve() for place in spec.submodule_search_locations)
    elif spec is not None and spec.origin and spec.has_location:
        yield Path(spec.origin).resolve()


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
