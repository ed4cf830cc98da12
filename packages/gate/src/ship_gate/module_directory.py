"""A module directory on disk, read without any factory around it (design: ship-gate, module-directory).

    contract.json                 only as the locked contract, if it is there at all
    implementation/__init__.py    with further files beside it
    tests/test_*.py, tests/obligations.json
    examples.md
    falsifying_tests.json

The last one is optional: the falsifying tests that a sealed version was kept with, which are run as long as the contract is
the one that they were kept under.

What else a sealed version or a draft that did not ship holds (ship.json, its execution log, what stopped it), settings and
what tools leave behind (caches, dot files) are passed over. Its dependencies are module directories too: named, or found
beside it by the references in its contract; those that they need in turn are found in the same way.

Left out: judging what was read.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from ship_gate import canonical_json
from ship_gate.base.record import validation_messages
from ship_gate.canonical_json import JsonValue
from ship_gate.contract.contract import Dependency, MicroModuleContract, fingerprint, serves
from ship_gate.contract.examples import parse_examples
from ship_gate.contract.independent_tests import RegressionTests
from ship_gate.errors import CorruptionError, InputError, RefusedError
from ship_gate.findings import Finding, FindingCode
from ship_gate.public_surface import extract_surface, imported_classes
from ship_gate.source.files import TEST_FILE, ParsedFiles, SourceError
from ship_gate.verdict import ENTRY_FILE, Candidate, GateVerdict, SealedModule, ShipGate

_CONTRACT = "contract.json"
_REGRESSION_TESTS = "falsifying_tests.json"
_PASSED_OVER = {
    _CONTRACT,
    _REGRESSION_TESTS,
    "ship.json",
    "reported.md",
    "tests/execution_log.json",
    "specwright.toml",
    "findings.json",
}
_HALT_NOTE = re.compile(r"escalation(-r\d+)?\.json")
"""What stopped a draft; it lies beside the files of a draft that did not ship."""
_CACHES = {"__pycache__", "node_modules"}
_MOST_READ = 1000
_MOST_FILES = 200
_MOST_BYTES = 1024 * 1024


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
        directory: Of docs/design.md#module-directory, or a sealed version.
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


def candidate_digest(candidate: Candidate, directory: Path) -> str:
    """SHA-256 of everything of a module that its verdict depends on: contract, files, the falsifying tests beside them, and
    the files of what it calls."""
    tests = directory / _REGRESSION_TESTS
    called = sorted(candidate.dependencies, key=lambda one: one.contract.ref)
    return canonical_json.digest(
        {
            "contract": candidate.contract.to_json(),
            "files": _digests(candidate.files),
            "tests": canonical_json.sha256(tests.read_bytes()) if tests.is_file() else "",
            "dependencies": [[one.contract.to_json(), _digests(_files(one.directory)[0])] for one in called],
        }
    )


def _digests(files: Mapping[str, bytes]) -> dict[str, JsonValue]:
    return {name: canonical_json.sha256(data) for name, data in sorted(files.items())}


def docstring_drift(candidate: Candidate, spliced: bytes) -> Finding | None:
    """Where the docstring is not the contract's, if it is not.

    Args:
        given: The module as it lies there.
        spliced: Its entry file with the contract's docstring.
    """
    before = candidate.files.get(ENTRY_FILE, b"")
    if before == spliced:
        return None
    lines = [text.decode(errors="replace").splitlines() for text in (before, spliced)]
    changes = difflib.SequenceMatcher(a=lines[0], b=lines[1], autojunk=False).get_opcodes()
    place, end, start, stop = next(tuple(change[1:]) for change in changes if change[0] != "equal")
    has = " ".join(line.strip() for line in lines[0][place:end][:2]) or "nothing"
    wants = " ".join(line.strip() for line in lines[1][start:stop][:2]) or "nothing"
    message = f"the docstring is not the contract's: {wants!r} belongs here, not {has!r}; `--fix` puts it in"
    return Finding(FindingCode.DOCSTRING_DRIFT, f"{ENTRY_FILE}:{place + 1}", message)


def write_docstring(directory: Path, spliced: bytes) -> None:
    """Put an entry file with another docstring in the place of the old one, atomically.

    Raises:
        RefusedError: the directory is a sealed version, or cannot be written.
    """
    target = directory / ENTRY_FILE
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
            f"cannot write the docstring: {error.strerror}", where=str(target), remedy="fix its permissions"
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
            Finding(FindingCode.CONTRACT_INVALID, _CONTRACT, "it is no plain file; put the file itself there")
        ]
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            return None, [
                Finding(FindingCode.CONTRACT_INVALID, _CONTRACT, "it is larger than 1 MiB; make it smaller")
            ]
        value = canonical_json.loads(data)
        return MicroModuleContract.model_validate(value), []
    except ValidationError as error:
        return None, [
            Finding(FindingCode.CONTRACT_INVALID, _CONTRACT, problem)
            for problem in validation_messages(error)
        ]
    except (ValueError, OSError, RecursionError) as error:
        return None, [Finding(FindingCode.CONTRACT_INVALID, _CONTRACT, f"it cannot be read as JSON: {error}")]


def _files(directory: Path) -> tuple[dict[str, bytes], list[Finding]]:
    files: dict[str, bytes] = {}
    links: list[Finding] = []
    for path, name in _listed(directory):
        if path.is_symlink():
            links.append(
                Finding(FindingCode.FILES_UNEXPECTED, name, "it is a link; put the file itself there")
            )
        elif path.is_file() and name not in _PASSED_OVER and not _HALT_NOTE.fullmatch(name):
            with path.open("rb") as stream:
                # more than the limit need not be read: the layout stage reports the size
                files[name] = stream.read(_MOST_BYTES + 1)
        if len(files) > _MOST_READ:
            raise InputError(
                f"the directory holds more than {_MOST_READ} files",
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
        sealed = _matching(dependency, [*found.values(), *known, *_beside(directory)])
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


def _matching(dependency: Dependency, places: Sequence[SealedModule]) -> SealedModule | None:
    """The version that a reference names, else a compatible later one."""
    module_id = dependency.ref.partition("@")[0]
    same = [place for place in places if place.contract.module_id == module_id]
    exact = [place for place in same if place.contract.ref == dependency.ref.replace("@^", "@")]
    later = (place for place in same if serves(place.contract.module_version, dependency.ref))
    return next(iter(exact), None) or next(later, None)


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


class DirectoryVerdict(NamedTuple):
    """What was observed.

    Args:
        name: The module's name and reference, or the directory where there is no contract.
        findings: All of them; none means that it passed.
        verdict: The gate's; None if the contract cannot be read.
        examples: How many there are.
        fixed: The file whose docstring was written; empty if none was.
    """

    name: str
    findings: tuple[Finding, ...]
    verdict: GateVerdict | None = None
    examples: int = 0
    fixed: str = ""


def judge_module(
    gate: ShipGate,
    directory: Path,
    dependencies: Sequence[Path] = (),
    *,
    fix: bool = False,
) -> DirectoryVerdict:
    """Judge a directory.

    Args:
        gate: Observes the module.
        directory: Of docs/design.md#module-directory.
        dependencies: Module directories that it calls; others are looked for beside it.
        fix: Whether a drifted docstring is written instead of reported.

    Raises:
        InputError: it is no module directory, or a dependency is nowhere.
        RefusedError: `fix` on a sealed version.
    """
    found = read_module(directory, dependencies)
    candidate = found.candidate
    if candidate is None:
        return DirectoryVerdict(str(directory), found.findings)
    verdict, more = gate.judge(candidate), list[Finding]()
    if verdict.tests:  # those could be run
        verdict, more = _with_regression_tests(gate, directory, candidate, verdict)
    spliced = verdict.files.get(ENTRY_FILE, b"")
    drift = docstring_drift(candidate, spliced)
    if drift is not None and fix:
        write_docstring(directory, spliced)
    drifted = [drift] if drift is not None and not fix else []
    return DirectoryVerdict(
        f"{candidate.contract.name} {candidate.contract.ref}",
        (*found.findings, *drifted, *verdict.findings, *more),
        verdict,
        len(parse_examples(candidate.files.get("examples.md", b"").decode(errors="replace"))[0]),
        ENTRY_FILE if drift is not None and fix else "",
    )


def _with_regression_tests(
    gate: ShipGate, directory: Path, candidate: Candidate, verdict: GateVerdict
) -> tuple[GateVerdict, list[Finding]]:
    """The verdict with a note of the falsifying tests that lie in the directory, and what they find (design:
    falsifying-tests)."""
    path = directory / _REGRESSION_TESTS
    if not path.is_file():
        return verdict, []
    try:
        sealed = RegressionTests.from_bytes(path.read_bytes(), _REGRESSION_TESTS)
    except (InputError, OSError) as error:
        return verdict, [
            Finding(FindingCode.FILES_UNEXPECTED, _REGRESSION_TESTS, f"it cannot be read: {error}")
        ]
    if sealed.contract_sha256 != canonical_json.digest(candidate.contract.to_json()):
        note = f"falsifying tests: none of {len(sealed.tests)} run, they were sealed under another contract"
        return verdict._replace(notes=(*verdict.notes, note)), []
    trials = gate.falsify(candidate, [one.test for one in sealed.tests])
    findings = [
        Finding(
            FindingCode.FALSIFYING_FAILED,
            f"{_REGRESSION_TESTS}: {one.name}",
            f"it was sealed with {one.since} and fails; it tries {one.about}: "
            f"{trial.message or '; '.join(trial.problems)}",
        )
        for one, trial in zip(sealed.tests, trials, strict=True)
        if not trial.passed
    ]
    note = f"falsifying tests: {len(trials) - len(findings)} of {len(trials)} withstood"
    return verdict._replace(notes=(*verdict.notes, note)), findings


class SealedSource:
    """Reads the sources of a sealed version again, long after it was judged; nothing is executed."""

    def fingerprint(self, version: SealedModule, dependencies: Sequence[SealedModule]) -> str:
        """The fingerprint of the surface that a version's source has.

        Args:
            version: The version.
            dependencies: The modules whose classes it may import.

        Raises:
            CorruptionError: it has none.
        """
        try:
            files = ParsedFiles.of_implementation(version.directory / "implementation")
            imported = imported_classes(version.contract, dependencies)
            return fingerprint(extract_surface(files, version.contract.name, imported))
        except SourceError as error:
            raise CorruptionError(error.finding.message, where=error.finding.where) from error


_REQUIRED = (ENTRY_FILE, "tests/obligations.json", "examples.md")
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_COMPILED = (".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".pth")


def layout_findings(candidate: Candidate) -> list[Finding]:
    """What is missing, what does not belong, and which source files are no Python."""
    files = ParsedFiles.of(candidate.files)
    return [*_missing(files), *_unexpected(candidate), *_ambiguous(files), *files.unreadable()]


def _missing(files: Mapping[str, bytes]) -> Iterator[Finding]:
    for path in _REQUIRED:
        if path not in files:
            yield Finding(FindingCode.FILES_MISSING, path, f"{path} is missing; a module directory holds it")


def _unexpected(candidate: Candidate) -> Iterator[Finding]:
    files = candidate.files
    if len(files) > _MOST_FILES:
        yield Finding(
            FindingCode.FILES_SIZE,
            "",
            f"there are {len(files)} files; a micro module has at most {_MOST_FILES}",
        )
    for path, data in sorted(files.items()):
        folders = {path[:place] for place, character in enumerate(path) if character == "/"}
        if not all(_SEGMENT.fullmatch(part) for part in path.split("/")) or folders & files.keys():
            yield Finding(
                FindingCode.FILES_UNEXPECTED, path, "the path is not a plain relative one; rename the file"
            )
        elif path == "contract.json":
            if not _is_contract(data, candidate.contract):
                yield Finding(
                    FindingCode.FILES_CONTRACT, path, "it is not the locked contract; leave it to the factory"
                )
        elif path.startswith("implementation/"):
            if path.endswith(_COMPILED):
                yield Finding(
                    FindingCode.FILES_UNEXPECTED, path, "compiled code cannot be read; ship its source"
                )
        elif path not in _REQUIRED and not TEST_FILE.fullmatch(path):
            yield Finding(
                FindingCode.FILES_UNEXPECTED, path, "it has no place in a module directory; remove it"
            )
        if len(data) > _MOST_BYTES:
            yield Finding(FindingCode.FILES_SIZE, path, "the file is larger than 1 MiB; make it smaller")


def _ambiguous(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """A file and a folder of one import name: Python would take the folder and never read the file."""
    folders = {"/".join(path.split("/")[:place]) for path in files for place in range(1, path.count("/") + 1)}
    for path in sorted(
        path for path in files if path.endswith(".py") and path.removesuffix(".py") in folders
    ):
        folder = path.removesuffix(".py")
        message = f"{path} and {folder}/ have one import name; rename one"
        yield Finding(FindingCode.FILES_UNEXPECTED, path, message)


def _is_contract(data: bytes, contract: MicroModuleContract) -> bool:
    try:
        value = canonical_json.loads(data)
        return MicroModuleContract.model_validate(value).to_json() == contract.to_json()
    except ValueError:
        return False
