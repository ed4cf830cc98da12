"""The gate on an ordinary source tree: each public function by the contract that its source states (design: package).

Each function is adopted into a temporary place and its draft judged; findings are told at their places in the source. A file
keeps what came of each function by a digest of all that it depends on, so that a second run judges what has changed.
"""

import json
import platform
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from specwright import __version__, canonical_json
from specwright.bootstrap.gate.accepted_functions import accepted_functions, source_root
from specwright.bootstrap.gate.adoption import write_module
from specwright.bootstrap.gate.batch import LIMITS, BatchLimits, BatchResult, JudgedModule
from specwright.bootstrap.gate.ship_gate import gate_of
from specwright.domain.adoption.package_verdict import (
    INEXPRESSIBLE,
    FunctionFinding,
    FunctionResult,
    FunctionTests,
    FunctionVerdict,
    PackageVerdict,
    function_verdict,
)
from specwright.domain.adoption.report import IgnoredTest, Obstacle
from specwright.errors import InputError, RefusedError
from specwright.gate.adopt.adoption import AdoptedModule, Adopter
from specwright.gate.adopt.documented import readme_of
from specwright.gate.adopt.source_tests import suite_files
from specwright.gate.adopt.source_tree import PublicFunction, Selection, read_source
from specwright.gate.directory.module_directory import DirectoryVerdict, judge_directory
from specwright.gate.ship_gate import SandboxedShipGate
from specwright.ports.gate import Finding, TestResult
from specwright.settings import Settings, load_settings

_PASSED_OVER = {"tests", "test", "docs", "build", "dist", "examples", "benchmarks", "scripts"}
_FEW = 10


def package_places(directory: Path) -> list[Path]:
    """The packages of a source tree: the directory itself, or those in it or in its `src`.

    Raises:
        InputError: there is none.
    """
    if (directory / "__init__.py").is_file():
        return [directory]
    found = [
        path.parent
        for folder in (directory, directory / "src", directory / "lib")
        for path in sorted(folder.glob("*/__init__.py"))
        if path.parent.name not in _PASSED_OVER
    ]
    if not found:
        what = "no package is in it" if directory.is_dir() else "there is no such directory"
        remedy = "name the folder of a package (with __init__.py), or one with packages in it or in its src"
        raise InputError(what, where=str(directory), remedy=remedy)
    return found


class _Task(NamedTuple):
    """A function to judge, with what adopts it."""

    adopter: Adopter
    function: PublicFunction


class JudgedPackage(NamedTuple):
    """What came of a package.

    Args:
        verdict: Of its functions.
        modules: The same for the reports of a batch, at the places of the source.
        needless: The functions that pyproject.toml accepts as not judged, and that were judged.
    """

    verdict: PackageVerdict
    modules: list[JudgedModule]
    needless: tuple[str, ...] = ()


def judge_package(
    directory: Path,
    limits: BatchLimits,
    done: Callable[[FunctionVerdict], None] = lambda _: None,
    functions: Sequence[str] = (),
    root: Path | None = None,
) -> JudgedPackage:
    """Judge the public functions of a source tree; nothing of it is moved, imported or run outside the sandbox.

    Args:
        directory: Of `package_places`.
        limits: How many at a time, for how long, and where the results of earlier runs are kept.
        done: Told of each as it ends, from whatever thread.
        functions: The names of those to judge, dotted or not; all if left out.
        root: What places are told from, links followed; that of `source_root` if left out.

    Raises:
        InputError: there is no package, no public function, none of a name, or the file of results or pyproject.toml is
            none.
        SpecwrightError: there is no sandbox.
    """
    settings = load_settings(directory)
    gate = gate_of(settings)
    places = package_places(directory)
    root = root or source_root(directory)
    tasks = [task for place in places for task in _tasks(gate, place, root)]
    accepted = accepted_functions(directory, root, {task.function.name for task in tasks})
    tasks = _chosen(tasks, functions, directory)
    known = _KnownResults.read(limits.passed, settings)
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds

    def one(task: _Task) -> FunctionVerdict:
        verdict = known.result(task)
        if verdict is None and deadline is not None and time.monotonic() > deadline:
            verdict = FunctionVerdict(task.function.name, task.function.where, FunctionResult.UNJUDGED)
        elif verdict is None:
            verdict = _judge(gate, task)
            known.keep(task, verdict)
        if verdict.result is FunctionResult.INEXPRESSIBLE:
            verdict = verdict._replace(accepted=accepted.get(task.function.name, ""))
        done(verdict)
        return verdict

    try:
        verdicts = _at_once(one, tasks, limits.jobs)
    finally:
        known.write(limits.passed, others=bool(functions))
    return _package(directory, root, verdicts, accepted)


def _at_once(
    one: Callable[[_Task], FunctionVerdict], tasks: Sequence[_Task], jobs: int
) -> list[FunctionVerdict]:
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as workers:
        futures = [workers.submit(one, task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise


def _package(
    directory: Path, root: Path, verdicts: Sequence[FunctionVerdict], accepted: Collection[str]
) -> JudgedPackage:
    judged = [one.name for one in verdicts if one.result is not FunctionResult.INEXPRESSIBLE]
    return JudgedPackage(
        PackageVerdict(str(directory), tuple(verdicts)),
        [_module(root, verdict) for verdict in verdicts],
        tuple(name for name in judged if name in accepted),
    )


def _chosen(tasks: list[_Task], functions: Sequence[str], directory: Path) -> list[_Task]:
    for name in functions:
        if not any(task.function.is_called(name) for task in tasks):
            raise InputError(
                f"no public function {name!r} is in it",
                where=str(directory),
                remedy=f"name one of {', '.join(task.function.name for task in tasks[:_FEW])}"
                + (", ..." if len(tasks) > _FEW else ""),
            )
    return [task for task in tasks if not functions or any(map(task.function.is_called, functions))]


def _tasks(gate: SandboxedShipGate, place: Path, root: Path) -> list[_Task]:
    selection: Selection = read_source(str(place), root=root)
    tree = selection.tree
    adopter = Adopter(gate, tree, readme_of(tree), suite_files(tree), selection.functions)
    return [_Task(adopter, function) for function in selection.functions]


def _judge(gate: SandboxedShipGate, task: _Task) -> FunctionVerdict:
    began = time.monotonic()
    module = task.adopter.adopt(task.function)
    findings, run = _findings(gate, module) if module.files else ((), ())
    verdict = function_verdict(module.record, findings, round(time.monotonic() - began, 3))
    passed = sum(one.result == "PASS" for one in run)
    return verdict._replace(tests=verdict.tests._replace(run=len(run), passed=passed))


def _findings(
    gate: SandboxedShipGate, module: AdoptedModule
) -> tuple[tuple[FunctionFinding, ...], tuple[TestResult, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / module.draft.function.node.name
        write_module(module, directory)
        judged = judge_directory(gate, directory, siblings=module.siblings)
    findings = tuple(
        FunctionFinding(one.code, module.place(one.where), module.at_source(one.message))
        for one in judged.findings
    )
    return findings, tuple(judged.verdict.tests) if judged.verdict else ()


def _module(root: Path, verdict: FunctionVerdict) -> JudgedModule:
    """A function as a module of a batch; its findings are those at the places of the source."""
    match verdict.result:
        case FunctionResult.UNJUDGED:
            return JudgedModule(Path(verdict.name), BatchResult.UNJUDGED)
        case FunctionResult.INEXPRESSIBLE:
            findings = tuple(Finding(INEXPRESSIBLE, one.where, one.what) for one in verdict.obstacles)
            if verdict.accepted:
                accepted = f"; accepted in pyproject.toml: {verdict.accepted}"
                findings = tuple(one._replace(message=one.message + accepted) for one in findings)
            result = BatchResult.ACCEPTED if verdict.accepted else BatchResult.OPEN
        case FunctionResult.UNSTATED:
            findings, result = tuple(Finding(*one) for one in verdict.unshown), BatchResult.OPEN
        case _:
            findings = tuple(Finding(*one) for one in (*verdict.wrong, *verdict.unshown))
            result = BatchResult.FAIL if findings else BatchResult.PASS
    return JudgedModule(root, result, DirectoryVerdict(verdict.name, findings), verdict.seconds)


class _KnownResults:
    """What came of functions in earlier runs, by the digests of what it depends on.

    Args:
        known: Of earlier runs.
        surroundings: What every result depends on beside the function.
        keeps: Whether those of this run are kept.
    """

    def __init__(self, known: dict[str, Any], surroundings: dict[str, Any], *, keeps: bool) -> None:
        self._known = known
        self._surroundings = surroundings
        self._keeps = keeps
        self._results: dict[str, Any] = {}

    @classmethod
    def read(cls, path: Path | None, settings: Settings) -> "_KnownResults":
        """Read the file, if it is there.

        Raises:
            InputError: it is something else.
        """
        limits = settings.model_dump(mode="json", include=LIMITS)
        surroundings = {"gate": __version__, "python": platform.python_version(), "limits": limits}
        known: dict[str, Any] = {}
        if path is not None and path.exists():
            try:
                known = dict(json.loads(path.read_text(encoding="utf-8"))["functions"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(
                    "it is no file of what came of functions",
                    where=str(path),
                    remedy="name another file; it is made by `specwright gate --package` and may be removed",
                ) from error
        return cls(known, surroundings, keeps=path is not None)

    def _digest(self, task: _Task) -> str:
        return canonical_json.digest({**self._surroundings, "function": task.adopter.digest(task.function)})

    def result(self, task: _Task) -> FunctionVerdict | None:
        """What came of a function that is as it was; None if it is not known."""
        if not self._known:
            return None
        digest = self._digest(task)
        found = self._known.get(digest)
        if found is None:
            return None
        self._results[digest] = found
        return verdict_of(found)._replace(is_unchanged=True)

    def keep(self, task: _Task, verdict: FunctionVerdict) -> None:
        """Keep what came of a function."""
        if self._keeps:
            self._results[self._digest(task)] = verdict_document(verdict)

    def write(self, path: Path | None, *, others: bool) -> None:
        """Write what came of this run's functions; of others as well, if not all were looked at."""
        if path is None:
            return
        results = {**self._known, **self._results} if others else self._results
        try:
            path.write_text(json.dumps({"functions": results}, indent=1), encoding="utf-8")
        except OSError as error:
            raise RefusedError(f"the file cannot be written: {error.strerror}", where=str(path)) from error


def verdict_document(verdict: FunctionVerdict) -> dict[str, Any]:
    """What came of a function, as JSON."""
    return {
        **verdict._asdict(),
        "result": str(verdict.result),
        "shown": [*verdict.shown],
        "claimed": [*verdict.claimed],
        "unshown": [one._asdict() for one in verdict.unshown],
        "wrong": [one._asdict() for one in verdict.wrong],
        "obstacles": [one._asdict() for one in verdict.obstacles],
        "tests": {**verdict.tests._asdict(), "ignored": [one._asdict() for one in verdict.tests.ignored]},
    }


def verdict_of(document: dict[str, Any]) -> FunctionVerdict:
    """The same read back."""
    return FunctionVerdict(
        document["name"],
        document["where"],
        FunctionResult(document["result"]),
        tuple(document["shown"]),
        tuple(document["claimed"]),
        tuple(FunctionFinding(**one) for one in document["unshown"]),
        tuple(FunctionFinding(**one) for one in document["wrong"]),
        tuple(Obstacle(**one) for one in document["obstacles"]),
        document["seconds"],
        tests=_tests_of(document["tests"]),
    )


def _tests_of(document: dict[str, Any]) -> FunctionTests:
    ignored = tuple(IgnoredTest(**one) for one in document["ignored"])
    return FunctionTests(document["found"], document["used"], document["run"], document["passed"], ignored)


def package_document(judged: JudgedPackage, *, allows_unshown: bool) -> dict[str, Any]:
    """What came of a package, as `gate --package --json` has it."""
    verdict = judged.verdict
    return {
        "verdict": verdict.result(allows_unshown=allows_unshown).value,
        "package": verdict.package,
        "counts": verdict.counts(),
        "functions": [verdict_document(one) for one in verdict.functions],
        "needless": [*judged.needless],
    }
