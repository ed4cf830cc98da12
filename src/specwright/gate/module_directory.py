"""A module directory on disk, read without any factory around it (DESIGN §8, §8.1, D-S8-15).

    contract.json, implementation/, tests/, examples.md

What else a sealed version holds (ship.json, its execution log), settings and what tools leave behind (caches, dot files)
is passed over. Its dependencies are module directories too: named, or found beside it by the references in its
contract; those that they need in turn are found in the same way.

Left out: judging what was read."""

import difflib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from specwright import canonical_json
from specwright.domain.contract import Dependency, MicroModuleContract
from specwright.domain.record import validation_messages
from specwright.domain.ship import EXECUTION_LOG
from specwright.errors import InputError, RefusedError
from specwright.ports.gate import Candidate, Finding, SealedModule

__all__ = ["ModuleDirectory", "docstring_drift", "read_module", "write_docstring"]

_CONTRACT = "contract.json"
_ENTRY = "implementation/__init__.py"
_PASSED_OVER = {_CONTRACT, "ship.json", EXECUTION_LOG, "specwright.toml"}
_CACHES = {"__pycache__", "node_modules"}
_MOST_BYTES = 1024 * 1024 + 1
_MOST_FILES = 1000


class ModuleDirectory(NamedTuple):
    """What was read.

    Args:
        candidate: None if the contract cannot be read; the findings then say why.
        findings: What kept something from being read.
    """

    candidate: Candidate | None
    findings: tuple[Finding, ...] = ()


def read_module(directory: Path, dependencies: Sequence[Path] = ()) -> ModuleDirectory:
    """Read a module directory with its dependencies.

    Args:
        directory: Of §8.1, or a sealed version.
        dependencies: Module directories that are looked at before those beside it.

    Raises:
        InputError: it is no module directory, or a dependency is nowhere.
    """
    _require_module(directory)
    contract, findings = _contract(directory)
    if contract is None:
        return ModuleDirectory(None, tuple(findings))
    files, links = _files(directory)
    known = [_dependency(path) for path in dependencies]
    _require_declared(contract, known)
    sealed = _closure(contract, known, directory)
    return ModuleDirectory(Candidate(contract, files, sealed), tuple(links))


def docstring_drift(given: Candidate, spliced: bytes) -> Finding | None:
    """Where the docstring is not the contract's, if it is not.

    Args:
        given: The module as it lies there.
        spliced: Its entry file with the contract's docstring.
    """
    before = given.files.get(_ENTRY, b"")
    if before == spliced:
        return None
    lines = [text.decode(errors="replace").splitlines() for text in (before, spliced)]
    changes = difflib.SequenceMatcher(a=lines[0], b=lines[1], autojunk=False).get_opcodes()
    place, end, start, stop = next(tuple(change[1:]) for change in changes if change[0] != "equal")
    has = " ".join(line.strip() for line in lines[0][place:end][:2]) or "nothing"
    wants = " ".join(line.strip() for line in lines[1][start:stop][:2]) or "nothing"
    message = f"the docstring is not the contract's: {wants!r} belongs here, not {has!r}; `--fix` puts it in"
    return Finding("docstring.drift", f"{_ENTRY}:{place + 1}", message)


def write_docstring(directory: Path, spliced: bytes) -> None:
    """Put an entry file with another docstring in the place of the old one, atomically.

    Raises:
        RefusedError: the directory is a sealed version, or cannot be written.
    """
    target = directory / _ENTRY
    if (directory / "ship.json").exists():
        raise RefusedError(
            "a sealed version never changes", where=str(target), remedy="copy it and fix the copy"
        )
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(spliced)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RefusedError(
            f"the docstring cannot be written: {error.strerror}", where=str(target), remedy="mend its rights"
        ) from error


def _require_module(directory: Path) -> None:
    remedy = "name a directory with contract.json, implementation/, tests/ and examples.md"
    if not directory.is_dir():
        raise InputError("there is no such directory", where=str(directory), remedy=remedy)
    if not (directory / _CONTRACT).is_file():
        raise InputError(
            "the directory holds no module: it has no contract.json", where=str(directory), remedy=remedy
        )


def _contract(directory: Path) -> tuple[MicroModuleContract | None, list[Finding]]:
    path = directory / _CONTRACT
    if path.is_symlink() or not path.is_file():
        # what a link leads to is none of the directory's, and a pipe would be waited for
        return None, [
            Finding("contract.invalid", _CONTRACT, "it is no plain file; put the file itself there")
        ]
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES)
        if len(data) == _MOST_BYTES:
            return None, [Finding("contract.invalid", _CONTRACT, "it is larger than 1 MiB; make it smaller")]
        value = canonical_json.loads(data)
        return MicroModuleContract.model_validate(value), []
    except ValidationError as error:
        return None, [Finding("contract.invalid", _CONTRACT, said) for said in validation_messages(error)]
    except (ValueError, OSError, RecursionError) as error:
        return None, [Finding("contract.invalid", _CONTRACT, f"it cannot be read as JSON: {error}")]


def _files(directory: Path) -> tuple[dict[str, bytes], list[Finding]]:
    files: dict[str, bytes] = {}
    links: list[Finding] = []
    for path, name in _listed(directory):
        if path.is_symlink():
            links.append(Finding("files.unexpected", name, "it is a link; put the file itself there"))
        elif path.is_file() and name not in _PASSED_OVER:
            with path.open("rb") as stream:
                # what is too large is told as such; more of it need not be read for that
                files[name] = stream.read(_MOST_BYTES)
        if len(files) > _MOST_FILES:
            raise InputError(
                f"the directory holds more than {_MOST_FILES} files",
                where=str(directory),
                remedy="name the directory of one module",
            )
    return files, links


def _listed(directory: Path) -> Iterator[tuple[Path, str]]:
    for folder, folders, names in os.walk(directory):
        below = Path(folder)
        linked = [name for name in folders if (below / name).is_symlink()]
        folders[:] = sorted(n for n in folders if not (n.startswith(".") or n in _CACHES or n in linked))
        for name in sorted([*names, *linked]):
            if not name.startswith("."):
                yield below / name, (below / name).relative_to(directory).as_posix()


def _dependency(directory: Path) -> SealedModule:
    _require_module(directory)
    contract, findings = _contract(directory)
    if contract is None:
        raise InputError(
            f"the contract of a dependency is not valid: {findings[0].message}",
            where=str(directory / _CONTRACT),
        )
    return SealedModule(contract, directory)


def _require_declared(contract: MicroModuleContract, known: Sequence[SealedModule]) -> None:
    wanted = {dependency.ref.partition("@")[0] for dependency in contract.dependencies}
    wanted |= {d.ref.partition("@")[0] for sealed in known for d in sealed.contract.dependencies}
    for sealed in known:
        if sealed.contract.module_id not in wanted:
            raise InputError(
                f"{contract.name} does not depend on {sealed.contract.name} ({sealed.contract.ref})",
                where=str(sealed.directory),
                remedy=f"its contract names {', '.join(sorted(wanted)) or 'no dependency'}",
            )


def _closure(
    contract: MicroModuleContract, known: Sequence[SealedModule], directory: Path
) -> tuple[SealedModule, ...]:
    """The dependencies and theirs, each once."""
    found: dict[str, SealedModule] = {}
    waiting = list(contract.dependencies)
    while waiting:
        dependency = waiting.pop(0)
        sealed = _found(dependency, [*found.values(), *known, *_beside(directory)])
        if sealed is None:
            raise InputError(
                f"the dependency {dependency.ref} is not there: {dependency.why}",
                where=str(directory.resolve().parent),
                remedy="name its directory with --dependency DIR",
            )
        if sealed.contract.ref not in found:
            found[sealed.contract.ref] = sealed
            waiting += sealed.contract.dependencies
    return tuple(found.values())


def _found(dependency: Dependency, places: Sequence[SealedModule]) -> SealedModule | None:
    return next((place for place in places if _satisfies(place.contract, dependency.ref)), None)


def _satisfies(contract: MicroModuleContract, ref: str) -> bool:
    """Whether a contract is the referenced one: that version, or with `^` a compatible later one."""
    module_id, _, wanted = ref.partition("@")
    if module_id != contract.module_id:
        return False
    if not wanted.startswith("^"):
        return wanted == contract.module_version
    numbers = [tuple(map(int, re.findall(r"\d+", text)[:3])) for text in (wanted, contract.module_version)]
    return numbers[0][:1] == numbers[1][:1] and numbers[0] <= numbers[1]


def _beside(directory: Path) -> list[SealedModule]:
    """The module directories beside it, also those of the store's layout, `MM-.../1.0.0`."""
    own = directory.resolve()
    found: list[SealedModule] = []
    for path in [
        *sorted(own.parent.glob(f"*/{_CONTRACT}")),
        *sorted(own.parent.parent.glob(f"MM-*/*/{_CONTRACT}")),
    ]:
        contract, _ = _contract(path.parent) if path.parent != own else (None, [])
        if contract is not None:
            found.append(SealedModule(contract, path.parent))
    return found
