"""The packager: builds the wheel of a product, installs it, and has every example of every module and all that was approved
tried against it (design: release, module-directory).

pip installs outside the sandbox, since it executes nothing of a wheel. Whatever imports the product runs within, several
processes at a time. This module decides whether a result is right, by the same rule as the ship gate.

The interfaces of a product are tried, too: its command, its HTTP API and its MCP server (design: release). Each trial has a
process of its own. What they must do is the same for every product: describe themselves, refuse what is wrong without a
traceback, give what the product's examples say, and leave nothing half written when they are killed.
"""

import ast
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ship_gate.base.text import shortened
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.examples import Example, Outcome, mismatch, parse_examples, python_tree
from ship_gate.ship_gate import SandboxedShipGate
from specwright.ports import ApprovedProperty, BuiltWheel, ExampleOutcome, ExerciseReport, ProductPackage
from specwright.wheels.environment import CleanEnvironment, NotInstallableError, own_pip
from specwright.wheels.inside.surroundings import files_of
from specwright.wheels.product_run import (
    CalledExample,
    CommandEnd,
    HttpAnswer,
    ImportedPackage,
    InstalledProduct,
    Kind,
    NoReportError,
    ToolAnswer,
    read_report,
)
from specwright.wheels.source_tree import source_tree
from specwright.wheels.wheel import SERVER_PACKAGES, build_wheel, programs_of

USAGE, FAULT = 2, 70
_TRACEBACK = "Traceback (most recent call last)"
_NO_PARAMETER = "no-such-parameter"
_MOST_SHOWN = 300
EXAMPLE = "example: "
"""How the heading begins of a use that calls with an example."""

Trial = Callable[[], Sequence[ExampleOutcome]]
"""A process or several, and what became of each use that it tried."""


def script_problem(environment: CleanEnvironment, product: ProductPackage) -> str:
    """Whether the installation lacks a program."""
    for name in programs_of(product):
        if not (environment.python.parent / name).is_file():
            return f"the installed wheel has no command {name}"
    return ""


def missing_packages(product: ProductPackage) -> str:
    """What is not installed here of what the servers of a product need, and what to do; empty if nothing is."""
    missing = [name for name in SERVER_PACKAGES if importlib.util.find_spec(name) is None]
    if not missing or {"http", "mcp"}.isdisjoint(product.interface or {}):
        return ""
    return (
        f"its servers cannot be tried, since {', '.join(missing)} cannot be imported here; install them with "
        "`python -m pip install 'specwright-factory[interfaces]'` and release again"
    )


class _CommandCall(NamedTuple):
    """A call of the command, and how it must end.

    Args:
        arguments: Of the call.
        code: The exit code.
        stdout: How its output begins; empty if it prints nothing.
    """

    arguments: tuple[str, ...]
    code: int = USAGE
    stdout: str = ""


class InterfaceTrials:
    """Uses of the interfaces of one installed product.

    Args:
        installed: The product.
        examples: Those that were approved, and those of its modules.
    """

    def __init__(self, installed: InstalledProduct, examples: Sequence[Example]) -> None:
        self._installed, self._examples = installed, examples
        self._stated: Mapping[str, Any] = installed.product.interface or {}

    def of_command(self) -> list[Trial]:
        """Help, wrong calls and examples; none of a product without a command."""
        if "command" not in self._stated:
            return []
        calls = enumerate(_command_calls(self._stated["command"]))
        return [
            *(partial(self._call, f"c{place}", one) for place, one in calls),
            self._examples_by("command"),
        ]

    def of_servers(self) -> list[Trial]:
        """Wrong requests and calls, and examples; none of a product without a server."""
        http = [self._wrong_requests, self._examples_by("http")] if "http" in self._stated else []
        mcp = [self._wrong_tool_calls, self._examples_by("mcp")] if "mcp" in self._stated else []
        return [*http, *mcp]

    def _call(self, place: str, expected: _CommandCall) -> Sequence[ExampleOutcome]:
        name = self._stated["command"]["name"]
        heading = " ".join((name, *(ascii(word)[1:-1] for word in expected.arguments)))
        try:
            end = self._installed.run_command(place, expected.arguments)
            problem = _command_problem(end, expected)
        except NoReportError as error:
            problem = str(error)
        return self._outcomes("command", [(heading, problem)])

    def _wrong_requests(self) -> Sequence[ExampleOutcome]:
        """The API's own description, and wrong requests of each route."""
        wrong = [
            (_request("GET", "/openapi.json"), 200),
            (_request("GET", "/no/such/path"), 404),
            *(one for route in self._stated["http"]["uses"] for one in _wrong_requests(route)),
        ]
        try:
            came = self._installed.ask("http", "http", [request for request, _ in wrong])
            answers = [read_report(HttpAnswer, one) for one in came]
        except NoReportError as error:
            return self._outcomes("http", [("it starts", str(error))])
        found: list[tuple[str, str]] = []
        for (request, status), answer in zip(wrong, answers, strict=True):
            told = f"it answers {answer.status}, not {status}: {_shown(answer.body)}"
            found.append((_heading(request), "" if answer.status == status else told))
        return self._outcomes("http", found)

    def _wrong_tool_calls(self) -> Sequence[ExampleOutcome]:
        """The server lists its tools, and refuses wrong calls of each."""
        wanted = [one["name"] for one in self._stated["mcp"]["uses"]]
        calls = [{"options": {}, "name": name, "arguments": {_NO_PARAMETER: 1}} for name in wanted]
        try:
            first, *came = self._installed.ask("mcp", "mcp", [{"options": {}}, *calls])
            tools = read_report(list[str], first.get("tools"))
            answers = [read_report(ToolAnswer, one) for one in came]
        except NoReportError as error:
            return self._outcomes("mcp", [("it starts", str(error))])
        found = [("its tools", "" if tools == wanted else f"it lists {tools}, not {wanted}")]
        for name, answer in zip(wanted, answers, strict=True):
            told = f"it does not refuse it: {shortened(answer.error, _MOST_SHOWN)}"
            found.append((f"{name}, an unknown argument", "" if _NO_PARAMETER in answer.error else told))
        return self._outcomes("mcp", found)

    def _examples_by(self, kind: Kind) -> Trial:
        """The examples that call what it does; hosts and the clock are scripted for the command alone."""
        functions = {"*", *(one["calls"] for one in self._stated[kind]["uses"])}
        scripts = set[str]() if kind == "command" else {"clock", "web"}
        examples = [one for one in self._examples if _imports(one, functions) and not _imports(one, scripts)]
        return partial(self._called_with, kind, examples)

    def _called_with(self, kind: Kind, examples: Sequence[Example]) -> Sequence[ExampleOutcome]:
        """Examples whose calls go through an interface, then one of them in which the process is killed."""
        if not examples:
            return []
        try:
            codes = [one.code for one in examples]
            ends = self._installed.call_with_examples(f"{kind}-examples", kind, codes)
            called = [(one, end) for one, end in zip(examples, ends, strict=True) if end.calls or end.problem]
            found = [
                (f"{EXAMPLE}{one.heading}", end.problem or mismatch(one, end.outcome)) for one, end in called
            ]
            # of one that has effects, if there is any
            for one, end in sorted(called, key=lambda pair: not pair[1].writes)[:1]:
                found.append((f"kill -9 in the example: {one.heading}", self._after_kill(kind, one, end)))
        except NoReportError as error:
            found = [("examples", str(error))]
        return self._outcomes(kind, found)

    def _after_kill(self, kind: Kind, example: Example, whole: CalledExample) -> str:
        """What is wrong when the process is killed in a call: with the files that it leaves, or with the next start."""
        place = f"{kind}-killed"
        request = self._installed.killed_request(place, kind, example.code)
        if request is None:
            return "it was not killed"
        left = files_of(self._installed.scratch / place / "work")
        for name in sorted({*whole.before, *whole.after}):
            if left.get(name) not in (whole.before.get(name), whole.after.get(name)):
                return f"it leaves {name} half written"
        try:
            (answer,) = self._installed.ask(place, kind, [request])
            fault = _fault(kind, answer)
        except NoReportError as error:
            fault = str(error)
        return f"after that the same call ends with a fault: {_shown(fault)}" if fault else ""

    def _outcomes(self, kind: Kind, problems: Sequence[tuple[str, str]]) -> list[ExampleOutcome]:
        name = str(self._stated[kind]["name"])
        return [ExampleOutcome(name, use, not told, told, kind=kind) for use, told in problems]


def _fault(kind: Kind, answer: Mapping[str, Any]) -> str:
    """What an interface says of a fault of its own; empty if there is none."""
    match kind:
        case "command":
            end = read_report(CommandEnd, answer)
            return end.stderr or "no message" if end.code == FAULT or _TRACEBACK in end.stderr else ""
        case "http":
            status, body = read_report(HttpAnswer, answer)
            return body or "no body" if status == 500 else ""
        case "mcp":
            error, _ = read_report(ToolAnswer, answer)
            return error if error.startswith("a fault of the server") else ""


def _imports(example: Example, names: set[str]) -> bool:
    """Whether an example imports one of these names."""
    tree = python_tree(example.code)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)] if tree else []
    return any(alias.name in names for node in imports for alias in node.names)


def _command_calls(command: Mapping[str, Any]) -> Iterator[_CommandCall]:
    yield _CommandCall(("--help",), 0, "usage:")
    yield _CommandCall(("--version",), 0, command["name"])
    for one in command["uses"]:
        first = (one["subcommand"],) if one["subcommand"] else ()
        if first:
            yield _CommandCall((*first, "--help"), 0, "usage:")
        yield _CommandCall((*first, "--no-such-option"))
    if command["uses"][0]["subcommand"]:
        yield _CommandCall(())
        yield _CommandCall(("no-such-subcommand",))


def _command_problem(end: CommandEnd, expected: _CommandCall) -> str:
    if _TRACEBACK in end.stderr:
        return f"it shows a traceback: {_shown(end.stderr)}"
    if end.code != expected.code:
        return f"it ends with exit code {end.code}, not {expected.code}; {_shown(end.stderr)}"
    if not end.stdout.startswith(expected.stdout) or bool(end.stdout) != bool(expected.stdout):
        return f"it prints {_shown(end.stdout)}"
    if bool(end.stderr) != bool(expected.code):
        return f"on stderr stands {_shown(end.stderr)}"
    return ""


def _request(method: str, target: str, body: str | None = None) -> dict[str, Any]:
    return {"method": method, "target": target, "body": body, "options": {}}


def _wrong_requests(route: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Wrong requests of a route, each with the status of its answer."""
    method = route["method"]
    target = "/".join("1" if part.startswith("{") else part for part in str(route["path"]).split("/"))
    if any(one["place"] == "body" for one in route["parameters"]):
        yield _request(method, target, '{"a": '), 422
        yield _request(method, target, json.dumps({_NO_PARAMETER: 1})), 422
    else:
        yield _request(method, f"{target}?{_NO_PARAMETER}=1"), 422


def _heading(request: Mapping[str, Any]) -> str:
    return shortened(f"{request['method']} {request['target']} {request['body'] or ''}".strip(), 100)


def _shown(text: str) -> str:
    return shortened(repr(text), _MOST_SHOWN)


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
    approved = len(
        {one.example[:4] for one in product.approved}
    )  # a task that migrates another has its examples too
    tried = sum(outcome.kind == "example" for outcome in outcomes) - len(product.approved) + approved
    if not failures:
        more = f", {approved} of them approved" if approved else ""
        properties = len({(one.property.heading, one.property.code) for one in product.properties})
        more += f", properties tried: {properties}" if properties else ""
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
            return (
                f"`import {package}` fails: {shortened(f'{answer.errors[0]}: {answer.message}', _MOST_SHOWN)}"
            )
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
