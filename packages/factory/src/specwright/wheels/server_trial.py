"""Tries the servers of an installed product: its HTTP API and its MCP server (design: shell).

Each is made in the sandbox and asked by a client of the library that it is made with: what is wrong.
"""

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ship_gate.base.text import shortened
from specwright.ports.packaging import (
    ExampleOutcome,
    HttpAnswer,
    HttpRequest,
    InstalledProduct,
    NoReportError,
    ProductPackage,
    ProductTrials,
    ToolCalls,
)
from specwright.wheels.wheel import SERVER_PACKAGES

Trial = Callable[[], Sequence[ExampleOutcome]]

_MOST_BODY = 1024 * 1024
_REVISIONS = ("2025-06-18", "2026-07-28")
_NO_PARAMETER = "no-such-parameter"


def has_servers(product: ProductPackage) -> bool:
    """Whether a product has an HTTP API or an MCP server."""
    return not {"http", "mcp"}.isdisjoint(product.interface or {})


def missing_packages(product: ProductPackage) -> str:
    """What is not installed here of what the servers of a product need, and what to do; empty if nothing is."""
    missing = [name for name in SERVER_PACKAGES if importlib.util.find_spec(name) is None]
    if not missing or not has_servers(product):
        return ""
    return (
        f"its servers cannot be tried, since {', '.join(missing)} cannot be imported here; install them with "
        "`python -m pip install 'specwright-factory[interfaces]'` and release again"
    )


def server_trials(installed: InstalledProduct, trials: ProductTrials, seconds: float) -> list[Trial]:
    """Everything that is tried of servers, each trial one process; none of a product without a server.

    Args:
        installed: The product.
        trials: Runs its servers.
        seconds: For each process.
    """
    stated = installed.product.interface or {}
    found: list[Trial] = []
    if "http" in stated:
        http = _HttpTrials(stated["http"], installed, trials, seconds)
        found.append(http.wrong_requests)
    if "mcp" in stated:
        mcp = _McpTrials(stated["mcp"], installed, trials, seconds)
        found += [mcp.wrong_calls(revision) for revision in _REVISIONS]
    return found


class _HttpTrials:
    """Requests to one installed API."""

    def __init__(
        self, stated: Mapping[str, Any], installed: InstalledProduct, trials: ProductTrials, seconds: float
    ) -> None:
        self._stated, self._name = stated, str(stated["name"])
        self._installed, self._trials, self._seconds = installed, trials, seconds

    def wrong_requests(self) -> list[ExampleOutcome]:
        """Its own description, and wrong requests of each route."""
        wrong = [
            (HttpRequest("GET", "/openapi.json"), 200),
            (HttpRequest("GET", "/no/such/path"), 404),
            *(one for route in self._stated["uses"] for one in _wrong_requests(route)),
        ]
        try:
            answers = self._trials.ask_api(
                self._installed, "http", [request for request, _ in wrong], self._seconds
            )
        except NoReportError as error:
            return [self._outcome("it starts", str(error))]
        return [
            self._outcome(_shown(request), _wrong_problem(status, answer))
            for (request, status), answer in zip(wrong, answers, strict=True)
        ]

    def _outcome(self, heading: str, problem: str) -> ExampleOutcome:
        return ExampleOutcome(self._name, heading, not problem, problem, kind="http")


def _shown(request: HttpRequest) -> str:
    body = request.body.decode() if request.body else ""
    return shortened(f"{request.method} {request.target} {body}".strip(), 100)


def _wrong_requests(route: Mapping[str, Any]) -> Iterator[tuple[HttpRequest, int]]:
    """Wrong requests of a route, each with the status of its answer."""
    method = route["method"]
    target = "/".join("1" if part.startswith("{") else part for part in str(route["path"]).split("/"))
    yield HttpRequest("OPTIONS", target), 405
    if not any(one["place"] == "body" for one in route["parameters"]):
        yield HttpRequest(method, f"{target}?{_NO_PARAMETER}=1"), 422
        return
    yield HttpRequest(method, target, b'{"a": '), 422
    yield HttpRequest(method, target, b" " * (_MOST_BODY + 1)), 413
    yield HttpRequest(method, target, json.dumps({_NO_PARAMETER: 1}).encode()), 422
    if any(one["needed"] for one in route["parameters"] if one["place"] == "body"):
        yield HttpRequest(method, target, b"{}"), 422


def _wrong_problem(status: int, answer: HttpAnswer) -> str:
    if answer.status == status:
        return ""
    return f"it answers {answer.status}, not {status}: {shortened(repr(answer.body.decode('utf-8', 'replace')), 300)}"


class _McpTrials:
    """Calls of the tools of one installed MCP server."""

    def __init__(
        self, stated: Mapping[str, Any], installed: InstalledProduct, trials: ProductTrials, seconds: float
    ) -> None:
        self._stated, self._name = stated, str(stated["name"])
        self._installed, self._trials, self._seconds = installed, trials, seconds

    def wrong_calls(self, revision: str) -> Trial:
        """It speaks a revision of the protocol, lists its tools, and refuses wrong calls of each."""

        def run() -> list[ExampleOutcome]:
            calls = ToolCalls(revision, {_NO_PARAMETER: 1})
            try:
                end = self._trials.call_tools(self._installed, f"mcp-{revision}", calls, self._seconds)
            except NoReportError as error:
                return [self._outcome(f"{revision}, it starts", str(error))]
            wanted = [one["name"] for one in self._stated["uses"]]
            spoken = "" if end.revision == revision else f"it speaks {end.revision}"
            listed = "" if list(end.errors) == wanted else f"it lists {list(end.errors)}, not {wanted}"
            found = {"it speaks it": spoken, "its tools": listed}
            for name, text in end.errors.items():
                refused = "" if _NO_PARAMETER in text else f"it does not refuse it: {shortened(text, 300)}"
                found[f"{name}, an unknown argument"] = refused
            return [self._outcome(f"{revision}, {heading}", problem) for heading, problem in found.items()]

        return run

    def _outcome(self, heading: str, problem: str) -> ExampleOutcome:
        return ExampleOutcome(self._name, heading, not problem, problem, kind="mcp")
