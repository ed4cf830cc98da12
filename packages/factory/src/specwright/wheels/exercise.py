"""The packager: builds the wheel of a product, installs it, and has every example of every module and all that was approved
tried against it (design: release, module-directory).

pip installs outside the sandbox, since it executes nothing of a wheel. Whatever imports the product runs within, several
processes at a time. This module decides whether a result is right, by the same rule as the ship gate.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from ship_gate.base.text import shortened
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.examples_file import Example, Outcome, mismatch, parse_examples
from ship_gate.ship_gate import SandboxedShipGate
from specwright.ports import ApprovedProperty, BuiltWheel, ExampleOutcome, ExerciseReport, ProductPackage
from specwright.wheels.environment import CleanEnvironment, NotInstallableError, own_pip
from specwright.wheels.interface_trials import (
    EXAMPLE,
    InterfaceTrials,
    Trial,
    missing_packages,
    script_problem,
)
from specwright.wheels.product_run import ImportedPackage, InstalledProduct, NoReportError
from specwright.wheels.source_tree import source_tree
from specwright.wheels.wheel import build_wheel

_MESSAGE_LENGTH = 300
_FAILURES_SHOWN = 3
_MOST_WORKERS = 8

Outcomes = TypeVar("Outcomes")


class Limits(NamedTuple):
    """Seconds for one example, and for one installation."""

    example: float = 30.0
    installation: float = 300.0


def _report(
    product: ProductPackage, wheel: BuiltWheel, outcomes: tuple[ExampleOutcome, ...]
) -> ExerciseReport:
    failures = [outcome for outcome in outcomes if not outcome.passed]
    tried = sum(outcome.kind == "example" for outcome in outcomes)
    if not failures:
        more = f", {len(product.approved)} of them approved" if product.approved else ""
        more += f", properties tried: {len(product.properties)}" if product.properties else ""
        for kind, label in _USES.items():
            uses = [outcome.heading for outcome in outcomes if outcome.kind == kind]
            called = sum(heading.startswith(EXAMPLE) for heading in uses)
            more += f", uses of the {label}: {len(uses)}, {called} with examples" if uses else ""
        detail = (
            f"{wheel.file_name} installs into an empty environment and imports as `{product.import_name}`; "
            f"exported names: {len(wheel.exports)}, examples run: {tried}{more}."
        )
        return ExerciseReport("PASS", detail, outcomes)
    shown = " ".join(f"{f.module}, {f.kind} {f.heading!r}: {f.detail}." for f in failures[:_FAILURES_SHOWN])
    detail = f"{len(failures)} of {len(outcomes)} trials fail against the installed package. {shown}"
    return ExerciseReport("FAIL", detail, outcomes)


_USES = {"command": "command", "http": "HTTP API", "mcp": "MCP server"}


class _Trial:
    """Calls of one installed product."""

    def __init__(self, installed: InstalledProduct) -> None:
        self._installed = installed
        self._product = installed.product
        self._named = [(approved.task_id, approved.example) for approved in self._product.approved]
        for module in self._product.modules:
            name = module.contract.name
            # the gate read this file before it was sealed
            self._named += [(name, example) for example in parse_examples(module.examples)[0]]
        self._interfaces = InterfaceTrials(installed, [example for _, example in self._named])

    def import_problem(self, wheel: BuiltWheel) -> str:
        """The first problem of the imported package; empty if there is none."""
        package = self._product.import_name
        try:
            answer = self._installed.imported()
        except NoReportError as error:
            return f"`import {package}` fails: {error}"
        if isinstance(answer, Outcome):
            return f"`import {package}` fails: {shortened(f'{answer.errors[0]}: {answer.message}', _MESSAGE_LENGTH)}"
        if not Path(answer.file).resolve().is_relative_to(self._installed.site):
            return f"`import {package}` finds another package: {answer.file}"
        return _package_problem(answer, wheel, self._product)

    def outcomes(self) -> tuple[ExampleOutcome, ...]:
        """What became of each: examples that were approved, those of each module, properties."""
        jobs = [
            partial(self._example, f"{place}-{name}", name, example)
            for place, (name, example) in enumerate(self._named)
        ]
        properties = enumerate(self._product.properties)
        jobs += [partial(self._property, f"p{place}", one) for place, one in properties]
        return (*_run(jobs), *self._of_interfaces(self._interfaces.of_command()))

    def of_servers(self) -> tuple[ExampleOutcome, ...]:
        """What became of the servers."""
        return self._of_interfaces(self._interfaces.of_servers())

    def _of_interfaces(self, trials: Sequence[Trial]) -> tuple[ExampleOutcome, ...]:
        return tuple(one for outcomes in _run(trials) for one in outcomes)

    def _example(self, place: str, name: str, example: Example) -> ExampleOutcome:
        try:
            problem = mismatch(example, self._installed.outcome(place, example.code))
        except NoReportError as error:
            problem = str(error)
        return ExampleOutcome(name, example.heading, passed=not problem, detail=problem)

    def _property(self, place: str, approved: ApprovedProperty) -> ExampleOutcome:
        problem = self._installed.try_property(place, approved.property).problem
        heading = approved.property.heading
        return ExampleOutcome(approved.task_id, heading, not problem, problem, kind="property")


def _run(jobs: Sequence[Callable[[], Outcomes]]) -> tuple[Outcomes, ...]:
    with ThreadPoolExecutor(max_workers=min(_MOST_WORKERS, os.cpu_count() or 1)) as workers:
        futures = [workers.submit(job) for job in jobs]
        try:
            return tuple(future.result() for future in futures)
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise


def _package_problem(answer: ImportedPackage, wheel: BuiltWheel, product: ProductPackage) -> str:
    versions = {answer.version, answer.installed_version}
    if versions != {product.version}:
        return f"the version is {product.version}, the package says {', '.join(sorted(versions))}"
    if missing := [name for name in wheel.exports if name not in answer.exports]:
        return f"`{product.import_name}` does not export {', '.join(missing)}"
    facing = (one.contract for one in product.modules if one.contract.name in product.task_facing)
    if not_callable := [one.name for one in facing if entry_points(one) and not answer.exports.get(one.name)]:
        return f"`{product.import_name}` exports what cannot be called: {', '.join(not_callable)}"
    return ""


class FlitPackager:
    """Implements `ports.packaging.Packager` with flit_core and a virtual environment.

    Args:
        gate: In whose sandbox runs what imports the product.
        limits: Of time.
    """

    def __init__(self, gate: SandboxedShipGate, limits: Limits | None = None) -> None:
        self._gate = gate
        self._limits = limits or Limits()

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Make the wheel and the source tree (see the port)."""
        return build_wheel(product)._replace(source=source_tree(product))

    def exercise(
        self, wheel: BuiltWheel, product: ProductPackage, *, with_own_pip: bool | None = None
    ) -> ExerciseReport:
        """Install it, import it and call it in a temporary directory (see the port).

        Args:
            wheel: The wheel.
            product: Of which it was made.
            with_own_pip: See `CleanEnvironment.create`; by default whether this interpreter has pip.
        """
        own = own_pip() if with_own_pip is None else with_own_pip
        with tempfile.TemporaryDirectory(prefix="specwright-product-", ignore_cleanup_errors=True) as name:
            root = Path(name).resolve()
            environment = CleanEnvironment.create(
                root / "environment", with_own_pip=own, timeout=self._limits.installation
            )
            file = root / wheel.file_name
            file.write_bytes(wheel.content)
            try:
                environment.install(file, product.requires)
            except NotInstallableError as error:
                return ExerciseReport("FAIL", str(error), ())
            trial = _Trial(
                InstalledProduct(environment.site, root / "trials", product, self._gate, self._limits.example)
            )
            if problem := trial.import_problem(wheel) or script_problem(environment, product):
                return ExerciseReport("FAIL", problem, ())
            outcomes = trial.outcomes()
            if problem := missing_packages(product):
                return ExerciseReport("FAIL", problem, outcomes)
            return _report(product, wheel, (*outcomes, *trial.of_servers()))
