"""The gate on many module directories: several at a time, and only those that have changed (design: ship-gate).

What a module is, is told by a digest of everything that its verdict depends on. A file keeps the digests of those that
passed, so that a module that lies there as it did when it passed is not judged again.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from ship_gate import __version__, canonical_json
from ship_gate.errors import InputError, ShipGateError
from ship_gate.findings import Finding, FindingCode
from ship_gate.module_directory import DirectoryVerdict, candidate_digest, judge_module, read_module
from ship_gate.settings import GateSettings, load_gate_settings
from ship_gate.ship_gate import gate_of

_PASSED_OVER = {"__pycache__", "node_modules", "drafts"}


class BatchResult(StrEnum):
    """What came of a module."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    FAIL = "FAIL"
    UNCHANGED = "UNCHANGED"
    """It passed before, and nothing that its verdict depends on is otherwise."""
    UNJUDGED = "UNJUDGED"
    """The time was over."""


class JudgedModule(NamedTuple):
    """A module of the batch.

    Args:
        directory: Its own.
        result: What came of it.
        judged: What was observed; None if it was not judged.
        seconds: That it took.
    """

    directory: Path
    result: BatchResult
    judged: DirectoryVerdict | None = None
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The module's name and reference, or the directory."""
        return self.judged.name if self.judged else str(self.directory)

    @property
    def title(self) -> str:
        """Its directory and its name, for a page about several: modules in two directories may have one name."""
        return "  ".join(dict.fromkeys((str(self.directory), self.name)))

    @property
    def passed(self) -> bool:
        """Whether it passed, now or before; one that was not judged did not."""
        return self.result in (BatchResult.PASS, BatchResult.UNCHANGED)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with it."""
        return self.judged.findings if self.judged else ()


class BatchLimits(NamedTuple):
    """How a batch is judged.

    Args:
        jobs: Modules at a time.
        seconds: After which no further module is begun; None for as long as it takes.
        passed: The file with the digests of modules that passed; None if all are judged.
    """

    jobs: int = os.cpu_count() or 1
    seconds: float | None = None
    passed: Path | None = None


def judge_directory(
    directory: str | Path, dependencies: Sequence[str | Path] = (), *, fix: bool = False
) -> DirectoryVerdict:
    """Judge one module directory as a run would; it needs no project (design: ship-gate).

    Args:
        directory: With contract.json, implementation/, tests/ and examples.md. A specwright.toml in it may set the
            limits of the gate.
        dependencies: The directories of the modules that it calls; by default they are looked for beside it.
        fix: Write the contract's docstring into the entry file.

    Returns:
        The verdict; the module passes if it has no findings.

    Raises:
        InputError: it is no module directory, or a dependency cannot be found.
        RefusedError: `fix` on a sealed version.
    """
    place = Path(directory)
    gate = gate_of(load_gate_settings(place))
    return judge_module(gate, place, [Path(dependency) for dependency in dependencies], fix=fix)


def modules_in(places: Sequence[Path]) -> list[Path]:
    """The module directories of some places, each once: the place itself, or all below it.

    Raises:
        InputError: there is none in a place.
    """
    found = dict[Path, None]()
    for place in places:
        below = [place] if (place / "contract.json").is_file() else sorted(_modules_below(place))
        if not below:
            missing = "it is no directory" if place.exists() else "there is no such directory"
            what = "no module directory is in it" if place.is_dir() else missing
            remedy = "name directories with contract.json; any other Python code is judged by the command `package`"
            raise InputError(what, where=str(place), remedy=remedy)
        found |= dict.fromkeys(below)
    return list(found)


def modules_of(files: Sequence[Path]) -> list[Path]:
    """The module directories that files belong to, each once; files outside of any are passed over.

    Args:
        files: As a version control system lists what has changed; they need not exist any more.
    """
    found = dict[Path, None]()
    for file in files:
        above = next((place for place in file.parents if (place / "contract.json").is_file()), None)
        if above is not None:
            found[above] = None
    return list(found)


def _modules_below(place: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(place):
        if "contract.json" in names and "implementation" in folders:
            folders[:] = []
            yield Path(folder)
        folders[:] = [name for name in folders if not (name.startswith(".") or name in _PASSED_OVER)]


def judge_all(
    directories: Sequence[Path], limits: BatchLimits, done: Callable[[JudgedModule], None]
) -> list[JudgedModule]:
    """Judge modules, in their order.

    Args:
        directories: Of `modules_in`.
        limits: How many at a time, for how long, and what need not be judged.
        done: Told of each as it ends, from whatever thread.

    Raises:
        InputError: the file of digests is none.
    """
    record = _PassedModules.read(limits.passed)
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds

    def one(directory: Path) -> JudgedModule:
        over = deadline is not None and time.monotonic() > deadline
        found = _judge(directory, record, over=over)
        done(found)
        return found

    with ThreadPoolExecutor(max_workers=max(1, limits.jobs)) as workers:
        futures: list[Future[JudgedModule]] = [workers.submit(one, directory) for directory in directories]
        try:
            judged = [future.result() for future in futures]
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
        finally:
            record.write(limits.passed)
    return judged


def _judge(directory: Path, record: "_PassedModules", *, over: bool) -> JudgedModule:
    began = time.monotonic()
    try:
        settings = load_gate_settings(directory)
        digest = record.digest(directory, settings)
        if digest in record.known:
            record.passed.add(digest)
            return JudgedModule(directory, BatchResult.UNCHANGED)
        if over:
            return JudgedModule(directory, BatchResult.UNJUDGED)
        judged = judge_module(gate_of(settings), directory)
    except ShipGateError as error:
        finding = Finding(
            FindingCode.MODULE_UNREADABLE, error.where, "; ".join(filter(None, (error.what, error.remedy)))
        )
        return JudgedModule(
            directory,
            BatchResult.FAIL,
            DirectoryVerdict(str(directory), (finding,)),
            time.monotonic() - began,
        )
    if not judged.findings and digest:
        record.passed.add(digest)
    result = BatchResult.FAIL if judged.findings else BatchResult.PASS
    return JudgedModule(directory, result, judged, time.monotonic() - began)


class _PassedModules:
    """The digests of modules that passed.

    Args:
        known: Those of earlier runs; empty if all are judged.
        keeps: Whether those of this run are kept.
    """

    def __init__(self, known: Collection[str], *, keeps: bool) -> None:
        self.known = frozenset(known)
        self.passed = set[str]()
        self._keeps = keeps

    @classmethod
    def read(cls, path: Path | None) -> "_PassedModules":
        """Read the file, if it is there.

        Raises:
            InputError: it is something else.
        """
        if path is None or not path.exists():
            return cls((), keeps=path is not None)
        try:
            known = json.loads(path.read_text(encoding="utf-8"))["passed"]
            return cls([str(one) for one in known], keeps=True)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                "it is no file of modules that passed",
                where=str(path),
                remedy="name another file; it is made by the gate and may be removed",
            ) from error

    def digest(self, directory: Path, settings: GateSettings) -> str:
        """Of all that a verdict depends on; empty if nothing is kept, or there is no contract."""
        candidate = read_module(directory).candidate if self._keeps else None
        if candidate is None:
            return ""
        limits = settings.model_dump(mode="json")
        surroundings = {"gate": __version__, "python": platform.python_version(), "limits": limits}
        return canonical_json.digest({"module": candidate_digest(candidate, directory), **surroundings})

    def write(self, path: Path | None) -> None:
        """Keep what passed now, and no more: a module that is gone leaves the file."""
        if path is not None:
            temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            try:
                temporary.write_text(json.dumps({"passed": sorted(self.passed)}, indent=1), encoding="utf-8")
                temporary.replace(path)
            except OSError as error:
                temporary.unlink(missing_ok=True)
                raise InputError(f"the file cannot be written: {error.strerror}", where=str(path)) from error
