"""Tries the interfaces of an installed product: its command, its HTTP API and its MCP server (design: shell).

Each trial has a process of its own in the sandbox; this module decides whether it ended rightly. What they must do is the
same for every product: describe themselves, refuse what is wrong without a traceback, give what the product's examples say,
and leave nothing half written when they are killed.
"""

import ast
import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ship_gate.base.text import shortened
from ship_gate.contract.examples_file import Example, mismatch, python_tree
from specwright.ports import ExampleOutcome, ProductPackage
from specwright.wheels.environment import CleanEnvironment
from specwright.wheels.inside.surroundings import files_of
from specwright.wheels.product_run import (
    CalledExample,
    CommandEnd,
    HttpAnswer,
    InstalledProduct,
    Kind,
    NoReportError,
    ToolAnswer,
    read_report,
)
from specwright.wheels.wheel import SERVER_PACKAGES, programs_of

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
