"""Lays out a candidate as its tests and examples see it (D21, D-S8-13).

    lib/modules/<name>/    the candidate's implementation, with the contract's docstring
    lib/modules/<sibling>/ each dependency, as bytecode without source, compiled as `<sealed MM-...>`
    tests/                 the candidate's tests
    scratch/               where they run

So tests import `from modules.<name> import <name>`, siblings `from ..<name> import <name>`, and no
traceback can carry a dependency's source. Docstrings are kept: they are the contract."""

import py_compile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from specwright.errors import CorruptionError
from specwright.ports.gate import Candidate, SealedModule

__all__ = ["Staged", "stage"]


class Staged(NamedTuple):
    """The directories of a staged candidate."""

    root: Path
    lib: Path
    tests: Path
    scratch: Path

    def anonymous(self, text: str) -> str:
        """A text without the staging directory's name, which differs from run to run."""
        return (
            text.replace(f"{self.root}/", "").replace(str(self.root), ".").replace("../../tests/", "tests/")
        )


def stage(root: Path, candidate: Candidate, files: Mapping[str, bytes]) -> Staged:
    """Lay out a candidate below an empty directory.

    Args:
        root: The directory.
        candidate: Its contract and dependencies count; its files do not.
        files: The candidate's files as they would ship, checked for their paths already.

    Raises:
        CorruptionError: a sealed dependency has no implementation or does not compile.
    """
    # resolved, because messages are made anonymous by comparing texts
    root = root.resolve()
    staged = Staged(root, root / "lib", root / "tests", root / "scratch")
    modules = staged.lib / "modules"
    for folder in (modules, staged.tests, staged.scratch):
        folder.mkdir(parents=True)
    (modules / "__init__.py").write_bytes(b"")
    for path, data in files.items():
        top, _, rest = path.partition("/")
        if top == "implementation":
            _write(modules / candidate.contract.name / rest, data)
        elif top == "tests":
            _write(staged.tests / rest, data)
    for dependency in candidate.dependencies:
        _seal(dependency, modules / dependency.contract.name)
    return staged


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _seal(dependency: SealedModule, target: Path) -> None:
    source = dependency.directory / "implementation"
    if not (source / "__init__.py").is_file():
        raise CorruptionError(
            f"the sealed module {dependency.contract.ref} has no implementation",
            where=str(source),
            remedy="run `specwright verify`",
        )
    for file in sorted(source.rglob("*")):
        if not file.is_file() or "__pycache__" in file.parts:
            continue
        place = target / file.relative_to(source)
        if file.suffix == ".py":
            _compile(file, place.with_suffix(".pyc"), dependency.contract.ref)
        else:
            _write(place, file.read_bytes())


def _compile(file: Path, place: Path, ref: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        py_compile.compile(
            str(file),
            cfile=str(place),
            dfile=f"<sealed {ref}>",
            doraise=True,
            optimize=0,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    except py_compile.PyCompileError as error:
        raise CorruptionError(
            f"the sealed module {ref} does not compile", where=str(file), remedy="run `specwright verify`"
        ) from error
