"""Finds what is to be judged below a directory, and lays out the read-only copy that runs (design: package-gate)."""

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ship_gate.errors import InputError

_SOURCE_FOLDERS = ("src", "lib", "python")
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_PASSED_OVER = {"__pycache__", "node_modules", "venv", "env", "build", "dist", "site-packages"}
_NO_PACKAGES = {
    "tests",
    "test",
    "docs",
    "doc",
    "examples",
    "example",
    "benchmarks",
    "bench",
    "scripts",
    "tools",
    "tasks",
}
_NO_MODULES = {"setup", "conftest", "noxfile", "tasks", "fabfile", "manage", "versioneer", "dodo"}
_TEST_FILE = re.compile(r"test_.*|.*_tests?|tests?")
_MOST_FILES = 20_000
_MOST_BYTES = 300_000_000
_LEVELS = 3


class PackageTree(NamedTuple):
    """A project as it was found.

    Args:
        root: The project's directory, where its tests run.
        source: The folder from which its packages are imported.
        names: Import names of what is judged.
        alone: Whether only `names` and the tests beside them belong to it, not all of `root`.
    """

    root: Path
    source: Path
    names: tuple[str, ...]
    alone: bool = False


def find_tree(directory: Path) -> PackageTree:
    """The project that a directory, a package or a module belongs to.

    Raises:
        InputError: there is no such place, or nothing that can be imported is in it.
    """
    place = directory.resolve()
    if not place.exists():
        raise InputError("there is no such directory", where=str(directory), remedy="name a project")
    if place.is_file() and place.suffix != ".py":
        raise InputError("this is no Python file", where=str(directory), remedy="name a project or a module")
    if place.is_file() or (place / "__init__.py").is_file():
        return _of_member(place)
    for source in (*(place / name for name in _SOURCE_FOLDERS), place):
        if source.is_dir() and (names := tuple(_importable(source))):
            return PackageTree(place, source, names)
    raise InputError(
        "no package and no module is in it",
        where=str(directory),
        remedy="name the directory that has one, or src",
    )


def _of_member(place: Path) -> PackageTree:
    source = place.parent
    while (source / "__init__.py").is_file():
        source = source.parent
    name = ".".join(place.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
    for root in [source, *source.parents][:_LEVELS]:
        if any((root / mark).exists() for mark in _MARKS):
            return PackageTree(root, source, (name,))
    return PackageTree(source, source, (name,), alone=True)


def _importable(source: Path) -> Iterator[str]:
    for entry in sorted(source.iterdir()):
        name = entry.stem
        if not name.isidentifier() or name.startswith("_"):
            continue
        if entry.is_dir() and (entry / "__init__.py").is_file():
            if name not in _NO_PACKAGES:
                yield name
        elif entry.suffix == ".py" and name not in _NO_MODULES and not _TEST_FILE.fullmatch(name):
            yield name


def copy_tree(tree: PackageTree, place: Path) -> PackageTree:
    """Copy a project; links that lead out of it, caches and environments are left out.

    Raises:
        InputError: it is larger than any package.
    """
    files = size = 0
    for file in _files(tree):
        files, size = files + 1, size + file.stat().st_size
        if files > _MOST_FILES or size > _MOST_BYTES:
            raise InputError(
                f"it has more than {_MOST_FILES:,} files or {_MOST_BYTES // 1_000_000} MB",
                where=str(tree.root),
                remedy="name the package's own directory",
            )
        target = place / file.relative_to(tree.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return tree._replace(root=place, source=place / tree.source.relative_to(tree.root))


def _files(tree: PackageTree) -> Iterator[Path]:
    tops = {name.partition(".")[0] for name in tree.names} | {"tests", "test"}
    for folder, below, names in os.walk(tree.root):
        here = Path(folder)
        below[:] = [
            one
            for one in sorted(below)
            if one not in _PASSED_OVER
            and not one.startswith(".")
            and not (here / one / "pyvenv.cfg").exists()
        ]
        if tree.alone and here == tree.root:
            below[:] = [one for one in below if one in tops]
            names = [
                one for one in names if one.partition(".")[0] in tops or _TEST_FILE.fullmatch(Path(one).stem)
            ]
        for name in sorted(names):
            file = here / name
            if file.is_file() and (not file.is_symlink() or file.resolve().is_relative_to(tree.root)):
                yield file


def installed_folders(root: Path) -> tuple[Path, ...]:
    """The folders of the packages that are installed for a project: of its own `.venv`, of the active environment, or of
    this program's; with the folders that `.pth` files name. What a project brings along opens nothing outside of it."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    own = root / ".venv" / "lib" / version / "site-packages"
    if own.is_dir() and _is_within(own, root):
        return tuple(one for one in _with_named((own,)) if _is_within(one, root))
    environment = os.environ.get("VIRTUAL_ENV", "")
    active = Path(environment) / "lib" / version / "site-packages"
    if environment and active.is_dir():
        return tuple(_with_named((active,)))
    return tuple(
        _with_named(map(Path, dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))))
    )


def _is_within(folder: Path, root: Path) -> bool:
    return folder.resolve().is_relative_to(root.resolve())


def _with_named(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield folder
        for file in sorted(folder.glob("*.pth")):
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                named = folder / line.strip()
                if line.strip() and not line.startswith(("import", "#")) and named.is_dir():
                    yield named
