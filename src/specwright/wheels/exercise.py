"""The packager: builds the wheel of a product, installs it and runs every example of every module against it
(design: release, module-directory).

Each example runs in a process and a directory of its own, several at a time. The child process only reports; this module
decides whether the result is right, by the same rule as the ship gate.
"""

import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from specwright.domain.base.record import Record
from specwright.domain.base.text import shortened
from specwright.domain.contract.examples_file import Example, Outcome, mismatch, parse_examples
from specwright.ports.packaging import (
    BuiltWheel,
    ExampleOutcome,
    ExerciseReport,
    ProductPackage,
)
from specwright.wheels.environment import (
    CleanEnvironment,
    NotInstallableError,
    closed_environment,
    own_pip,
    run_bounded,
)
from specwright.wheels.wheel import build_wheel

_RUNNER = Path(__file__).with_name("example_runner.py")
_OUTPUT_LIMIT = 1_000_000
_MESSAGE_LENGTH = 300
_FAILURES_SHOWN = 3
_MOST_WORKERS = 8


class Limits(NamedTuple):
    """Seconds for one example, and for one installation."""

    example: float = 30.0
    installation: float = 300.0


def exercise_wheel(
    wheel: BuiltWheel, product: ProductPackage, limits: Limits, *, with_own_pip: bool
) -> ExerciseReport:
    """Install, import and call a wheel in a temporary directory.

    Raises:
        RefusedError: no environment could be made here.
    """
    with tempfile.TemporaryDirectory(prefix="specwright-product-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        environment = CleanEnvironment.create(
            root / "environment", with_own_pip=with_own_pip, timeout=limits.installation
        )
        file = root / wheel.file_name
        file.write_bytes(wheel.content)
        try:
            environment.install(file, product.requires)
        except NotInstallableError as error:
            return ExerciseReport("FAIL", str(error), ())
        trial = _Trial(environment, root / "trials", product, limits.example)
        if problem := trial.import_problem(wheel):
            return ExerciseReport("FAIL", problem, ())
        return _report(product, wheel, trial.examples())


def _report(
    product: ProductPackage, wheel: BuiltWheel, outcomes: tuple[ExampleOutcome, ...]
) -> ExerciseReport:
    failures = [outcome for outcome in outcomes if not outcome.passed]
    if not failures:
        detail = (
            f"{wheel.file_name} installs into an empty environment and imports as `{product.import_name}`; "
            f"exported names: {len(wheel.exports)}, examples run: {len(outcomes)}."
        )
        return ExerciseReport("PASS", detail, outcomes)
    shown = " ".join(f"{f.module}, example {f.heading!r}: {f.detail}." for f in failures[:_FAILURES_SHOWN])
    detail = f"{len(failures)} of {len(outcomes)} examples fail against the installed package. {shown}"
    return ExerciseReport("FAIL", detail, outcomes)


class _ExceptionReport(Record):
    """An exception that the child reports: the names of its class and bases, and its text."""

    errors: tuple[str, ...]
    message: str


class _ImportReport(Record):
    """The imported package; `exports` says of each name whether it is callable."""

    file: str
    version: str
    installed_version: str
    exports: dict[str, bool]


class _ValueReport(Record):
    """The `repr` of an example's last line."""

    value: str


_Report = TypeVar("_Report", bound=Record)


class _NoReportError(Exception):
    """A process was stopped, or ended without a usable report."""


class _Trial:
    """Calls of one installed product."""

    def __init__(
        self, environment: CleanEnvironment, root: Path, product: ProductPackage, timeout: float
    ) -> None:
        self._environment = environment
        self._root = root
        self._product = product
        self._timeout = timeout

    def import_problem(self, wheel: BuiltWheel) -> str:
        """The first problem of the imported package; empty if there is none."""
        package = self._product.import_name
        try:
            answer = self._ask("import", {"distribution": self._product.distribution}, _ImportReport)
        except _NoReportError as error:
            return f"`import {package}` fails: {error}"
        if isinstance(answer, _ExceptionReport):
            return f"`import {package}` fails: {shortened(f'{answer.errors[0]}: {answer.message}', _MESSAGE_LENGTH)}"
        if not Path(answer.file).resolve().is_relative_to(self._environment.root):
            return f"`import {package}` finds another package: {answer.file}"
        return _package_problem(answer, wheel, self._product)

    def examples(self) -> tuple[ExampleOutcome, ...]:
        """Every example's outcome: those that were approved, those of each module, then the unreadable ones."""
        jobs = [(approved.task_id, approved.example) for approved in self._product.approved]
        unreadable: list[ExampleOutcome] = []
        for module in self._product.modules:
            examples, problems = parse_examples(module.examples)
            jobs += [(module.contract.name, example) for example in examples]
            # the gate read this file before it was sealed, so an example that is unreadable now is a failure
            unreadable += [ExampleOutcome(module.contract.name, f.where, False, f.message) for f in problems]
        return (*self._run(jobs), *unreadable)

    def _run(self, jobs: list[tuple[str, Example]]) -> tuple[ExampleOutcome, ...]:
        with ThreadPoolExecutor(max_workers=min(_MOST_WORKERS, os.cpu_count() or 1)) as workers:
            futures = [
                workers.submit(self._example, f"{place}-{name}", name, example)
                for place, (name, example) in enumerate(jobs)
            ]
            try:
                return tuple(future.result() for future in futures)
            except BaseException:
                workers.shutdown(cancel_futures=True)
                raise

    def _example(self, place: str, name: str, example: Example) -> ExampleOutcome:
        try:
            answer = self._ask(place, {"code": example.code}, _ValueReport)
        except _NoReportError as error:
            return ExampleOutcome(name, example.heading, passed=False, detail=str(error))
        if isinstance(answer, _ExceptionReport):
            problem = mismatch(example, Outcome(errors=answer.errors, message=answer.message))
        else:
            problem = mismatch(example, Outcome(value=answer.value))
        return ExampleOutcome(name, example.heading, passed=not problem, detail=problem)

    def _ask(self, place: str, job: dict[str, str], kind: type[_Report]) -> _Report | _ExceptionReport:
        """The report of a fresh process on a job."""
        directory, home = self._root / place / "work", self._root / place / "home"
        for path in (directory, home):
            path.mkdir(parents=True)
        job_file = self._root / place / "job.json"
        job_file.write_text(json.dumps({"package": self._product.import_name, **job}), encoding="utf-8")
        # like -I, except that the environment variables count; they are closed and fix the hash seed
        command = [str(self._environment.python), "-s", "-P", "-X", "utf8", str(_RUNNER), str(job_file)]
        done = run_bounded(
            command,
            cwd=directory,
            env=closed_environment(home),
            timeout=self._timeout,
            output_limit=_OUTPUT_LIMIT,
        )
        if done.code is None:
            raise _NoReportError(f"it was not done after {self._timeout:g} s")
        try:
            report = json.loads(done.stdout)
            return (
                _ExceptionReport.model_validate(report) if "errors" in report else kind.model_validate(report)
            )
        except (ValueError, TypeError) as error:
            output = shortened(done.stderr.decode("utf-8", "replace"), _MESSAGE_LENGTH)
            ending = f"the process ended with {done.code} and no usable report"
            raise _NoReportError(f"{ending}: {output}" if output else ending) from error


def _package_problem(answer: _ImportReport, wheel: BuiltWheel, product: ProductPackage) -> str:
    versions = {answer.version, answer.installed_version}
    if versions != {product.version}:
        return f"the version is {product.version}, the package says {', '.join(sorted(versions))}"
    if missing := [name for name in wheel.exports if name not in answer.exports]:
        return f"`{product.import_name}` does not export {', '.join(missing)}"
    if not_callable := [name for name in product.task_facing if not answer.exports.get(name)]:
        return f"`{product.import_name}` exports what cannot be called: {', '.join(not_callable)}"
    return ""


class FlitPackager:
    """Implements `ports.packaging.Packager` with flit_core and a virtual environment."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Make the wheel (see the port)."""
        return build_wheel(product)

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """Install and run it (see the port)."""
        return exercise_wheel(wheel, product, self._limits, with_own_pip=own_pip())
