"""Lays out a candidate as its tests and examples see it (design: contracts, ship-gate).

    lib/modules/<name>/    the candidate's implementation, with the contract's docstring
    lib/modules/<sibling>/ each dependency, as bytecode without source, compiled as `<sealed MM-...>`
    tests/                 the candidate's tests
    scratch/               where they run

So siblings import `from ..<name> import <name>`, and no traceback can carry a dependency's source. Docstrings are
kept: they are the contract. Tests see of `modules` what `surface` describes, and not the files. The folders can be made
before there is anything to put into them, and whatever a module left in them is removed.
"""

import fcntl
import os
import py_compile
import shutil
import stat
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from ship_gate.contract.contract import MicroModuleContract, network_effects
from ship_gate.contract.rules import is_any_number, is_keyword_only
from ship_gate.contract.types import is_callable, stated_bound
from ship_gate.errors import CorruptionError
from ship_gate.sandbox.kind import Sandbox
from ship_gate.source.classes import described_surfaces
from ship_gate.source.files import ParsedFiles
from ship_gate.static.effects import Kind, declared_kinds, write_targets
from ship_gate.verdict import Candidate, SealedModule


def lazy_surface(contract: MicroModuleContract) -> dict[str, Any] | None:
    """What crosses lazily, as JSON; None if nothing does.

    Args:
        contract: Of a module.

    Returns:
        `parameters`, those that are given by place, in their order; `takes`, the most items of each iterable by its name;
        the types of the `callables` by name; `yields`, the most items of the result, or 0; `returns`,
        the type of such a result.
    """
    takes = {
        slot.name: bound
        for slot in contract.inputs
        if (bound := stated_bound(slot.type, slot.constraints, "takes"))
    }
    callables = {slot.name: slot.type for slot in contract.inputs if is_callable(slot.type)}
    yields, returns = 0, ""
    if len(contract.outputs) == 1:
        output = contract.outputs[0]
        yields = stated_bound(output.type, output.invariants, "yields")
        returns = output.type
    if not (takes or callables or yields):
        return None
    plain = [slot.name for slot in contract.inputs if not (is_keyword_only(slot) or is_any_number(slot))]
    return {"parameters": plain, "takes": takes, "callables": callables, "yields": yields, "returns": returns}


_PREFIX = "gate-"
_FRESH_SECONDS = 2.0
"""A directory that is so new may not be locked yet."""


class Staged(NamedTuple):
    """A staged candidate.

    Args:
        root: The directory of all.
        lib: Holds `modules`.
        tests: Holds the tests.
        scratch: Holds a folder for each run.
        surface: What tests may see of the module and of its dependencies.
        sandbox: In what it runs; None means the best of this machine.
    """

    root: Path
    lib: Path
    tests: Path
    scratch: Path
    surface: Mapping[str, Any]
    sandbox: Sandbox | None = None

    def beside(self, name: str) -> Self:
        """The same candidate with a folder of its own for its runs, to be judged again."""
        root = self.root / name
        (root / "scratch").mkdir(parents=True)
        return self._replace(root=root, scratch=root / "scratch")

    def anonymous(self, text: str) -> str:
        """A text without the staging directory's name, which differs from run to run."""
        return (
            text.replace(f"{self.root}/", "").replace(str(self.root), ".").replace("../../tests/", "tests/")
        )


def stage(
    root: Path, candidate: Candidate, files: Mapping[str, bytes], sandbox: Sandbox | None = None
) -> Staged:
    """Lay out a candidate below an empty directory.

    Args:
        root: The directory.
        candidate: Its contract and dependencies count; its files do not.
        files: The candidate's files as they would ship, checked for their paths already.
        sandbox: In what it will run; None means the best of this machine.

    Raises:
        CorruptionError: a sealed dependency has no implementation or does not compile.
    """
    staged = lay_out(root, sandbox)
    modules = staged.lib / "modules"
    modules.mkdir(exist_ok=True)
    (modules / "__init__.py").write_bytes(b"")
    for path, data in files.items():
        top, _, rest = path.partition("/")
        if top == "implementation":
            _write(modules / candidate.contract.name / rest, data)
        elif top == "tests":
            _write(staged.tests / rest, data)
    for dependency in candidate.dependencies:
        _seal(dependency, modules / dependency.contract.name)
    sources = {
        d.contract.name: ParsedFiles.of_implementation(d.directory / "implementation")
        for d in candidate.dependencies
    }
    sources[candidate.contract.name] = ParsedFiles.of(files)
    surface = described_surfaces(sources)
    # what a dependency writes was judged with the dependency
    siblings_write = any(declared_kinds(d.contract) & {Kind.WRITE} for d in candidate.dependencies)
    if not siblings_write and (targets := write_targets(candidate.contract)):
        surface[candidate.contract.name]["writes"] = targets
    for contract in (*(d.contract for d in candidate.dependencies), candidate.contract):
        if asked := network_effects(contract):
            surface[contract.name]["web"] = [[effect.type.value, effect.target] for effect in asked]
        if lazy := lazy_surface(contract):
            surface[contract.name]["lazy"] = lazy
    return staged._replace(surface=surface)


def lay_out(root: Path, sandbox: Sandbox | None = None) -> Staged:
    """Make the folders, empty; those that exist stay as they are."""
    # resolved, because messages are made anonymous by comparing texts
    root = root.resolve()
    staged = Staged(root, root / "lib", root / "tests", root / "scratch", {}, sandbox)
    for folder in (staged.lib, staged.tests, staged.scratch):
        folder.mkdir(parents=True, exist_ok=True)
    return staged


@contextmanager
def workspace() -> Generator[Path, None, None]:
    """A directory for one judgement; whatever is put into it is gone afterwards.

    A process that is killed leaves its directories behind. Each is locked as long as somebody uses it, so the next
    process that judges sweeps up those that are not.
    """
    root = Path(tempfile.mkdtemp(prefix=_PREFIX))
    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _sweep(root)
        yield root
    finally:
        os.close(descriptor)
        remove_tree(root)


def _sweep(root: Path) -> None:
    """Remove the directories beside this one that a killed process left behind."""
    for folder in sorted(root.parent.glob(f"{_PREFIX}*")):
        with suppress(OSError):
            status = folder.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if not is_ours or root.stat().st_mtime - status.st_mtime < _FRESH_SECONDS:
                continue
            descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(folder)
            finally:
                os.close(descriptor)


def remove_tree(root: Path) -> None:
    """Remove a directory that a hostile process filled: however deep, and whatever its permissions are."""
    empty_tree(root)
    shutil.rmtree(root, ignore_errors=True)


def empty_tree(root: Path) -> None:
    """Remove all that is in a directory, as `remove_tree` does.

    Directories are moved up to the root before they are emptied, so no path becomes long and nothing recurses.
    """
    moved = 0
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError):
            folder.chmod(stat.S_IRWXU)
        for entry in _entries(folder):
            with suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    Path(entry.path).unlink()
                    continue
                Path(entry.path).chmod(stat.S_IRWXU)
                moved += 1
                target = root / f".removed-{moved}"
                Path(entry.path).rename(target)
                waiting.append(target)
        if folder != root:
            with suppress(OSError):
                folder.rmdir()


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


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
