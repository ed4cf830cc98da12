"""Tries the servers of an installed product: its HTTP API and its MCP server (design: shell).

Each is started in the sandbox, asked what is right and what is wrong, and ended. What the shell itself must do is the same
for every product: an answer in JSON to everything, nothing of the inside in it, and an end without a traceback.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from specwright.domain.acceptance.exchanges import Exchange, answer_problem, exchanges, hosts_of, served_with
from specwright.domain.acceptance.scripted_hosts import HostAnswer
from specwright.domain.base.text import shortened
from specwright.ports.packaging import (
    ApprovedSession,
    ExampleOutcome,
    HttpAnswer,
    HttpRequest,
    InstalledProduct,
    NoReportError,
    ProductTrials,
    ServerEnd,
    ServerRun,
)

Trial = Callable[[], Sequence[ExampleOutcome]]

_TRACEBACK = "Traceback (most recent call last)"
_MOST_BODY = 1024 * 1024
_DEPTH = 20_000
_PROTOCOL = "2025-06-18"
_FAULT = 500


def server_trials(installed: InstalledProduct, trials: ProductTrials, seconds: float) -> list[Trial]:
    """Everything that is tried of servers, each trial one process; none of a product without a server.

    Args:
        installed: The product, with what its servers need.
        trials: Runs its servers.
        seconds: For each process.
    """
    stated = installed.product.interface or {}
    found: list[Trial] = []
    if "http" in stated:
        http = _HttpTrials(stated["http"], installed, trials, seconds)
        found.append(http.of_shell)
        for place, one in enumerate(installed.product.sessions):
            if one.http:
                found.append(http.session(f"h{place}", one))
    if "mcp" in stated:
        found.append(_McpTrials(stated["mcp"], installed, trials, seconds).of_shell)
    return found


class _ShellRequest(NamedTuple):
    """A wrong request and the status of its answer."""

    shown: str
    request: HttpRequest
    status: int


class _HttpTrials:
    """Requests to one installed API."""

    def __init__(
        self, stated: Mapping[str, Any], installed: InstalledProduct, trials: ProductTrials, seconds: float
    ) -> None:
        self._stated, self._name = stated, str(stated["name"])
        self._installed, self._trials, self._seconds = installed, trials, seconds

    def _run(
        self,
        place: str,
        requests: Sequence[HttpRequest],
        hosts: tuple[HostAnswer, ...] = (),
        options: Sequence[str] = (),
    ) -> ServerEnd:
        run = ServerRun(self._name, requests=tuple(requests), hosts=hosts, options=tuple(options))
        return self._trials.run_server(self._installed, place, run, self._seconds)

    def of_shell(self) -> list[ExampleOutcome]:
        """Its own description, wrong requests of each route, and its end."""
        wrong = [
            _ShellRequest("GET /openapi.json", HttpRequest("GET", "/openapi.json"), 200),
            _ShellRequest("an unknown path", HttpRequest("GET", "/no/such/path"), 404),
            _ShellRequest("a path that is no text", HttpRequest("GET", "/%ff%fe"), 400),
            *(one for route in self._stated["routes"] for one in _wrong_requests(route)),
        ]
        try:
            end = self._run("http", [one.request for one in wrong])
        except NoReportError as error:
            return [self._outcome("it starts", str(error))]
        found = [self._outcome("it starts and ends", _end_problem(end, len(wrong), len(end.answers)))]
        found += [
            self._outcome(one.shown, _wrong_problem(one.status, answer))
            for one, answer in zip(wrong, end.answers, strict=False)
        ]
        return found

    def session(self, place: str, approved: ApprovedSession) -> Trial:
        """An approved session, up to the first answer that is another one."""
        steps, hosts = exchanges(approved.http), hosts_of(approved.http)
        options = served_with(approved.http)

        def run() -> list[ExampleOutcome]:
            try:
                end = self._run(place, [_request_of(one) for one in steps], hosts, options)
                problem = _session_problem(steps, end)
            except NoReportError as error:
                problem = str(error)
            outcome = ExampleOutcome(approved.task_id, approved.heading, not problem, problem, kind="http")
            return [outcome]

        return run

    def _outcome(self, heading: str, problem: str) -> ExampleOutcome:
        return ExampleOutcome(self._name, heading, not problem, problem, kind="http")


def _request_of(one: Exchange) -> HttpRequest:
    return HttpRequest(one.method, one.target, one.body.encode() if one.body else None)


def _wrong_requests(route: Mapping[str, Any]) -> Iterator[_ShellRequest]:
    """Wrong requests of a route: another method, what its parameters are not, what no body may be."""
    method, path = route["method"], str(route["path"])
    target = "/".join("1" if part.startswith("{") else part for part in path.split("/"))
    has_body = any(one["place"] == "body" for one in route["parameters"])
    line = f"{method} {path}"

    def request(shown: str, body: bytes | None, status: int, kind: str = "application/json") -> _ShellRequest:
        return _ShellRequest(f"{line}, {shown}", HttpRequest(method, target, body, kind), status)

    yield _ShellRequest(f"{path}, another method", HttpRequest("OPTIONS", target), 405)
    if not has_body:
        yield _ShellRequest(
            f"{line}, an unknown parameter", HttpRequest(method, f"{target}?no-such-parameter=1"), 422
        )
        yield _ShellRequest(f"{line}, a query that is none", HttpRequest(method, f"{target}?%"), 400)
        return
    yield request("no JSON", b'{"a": ', 400)
    yield request("bytes that are no text", b'{"a": "\xff"}', 400)
    yield request("nested too deeply", b"[" * _DEPTH + b"]" * _DEPTH, 400)
    yield request("another type of content", b"{}", 415, "text/plain")
    yield request("too large", b" " * (_MOST_BODY + 1), 413)
    yield request("no object", b"[]", 422)
    yield request("an unknown member", b'{"no-such-parameter": 1}', 422)
    if any(one["needed"] for one in route["parameters"] if one["place"] == "body"):
        yield request("nothing in it", b"{}", 422)


def _wrong_problem(status: int, answer: HttpAnswer) -> str:
    body = answer.body.decode("utf-8", "replace")
    if answer.status != status:
        return f"it answers {answer.status or 'nothing'}, not {status}: {shortened(repr(body), 300)}"
    return _answer_fault(answer)


def _answer_fault(answer: HttpAnswer) -> str:
    """What no answer may be: another thing than JSON, or one that shows the inside."""
    body = answer.body.decode("utf-8", "replace")
    if answer.content_type != "application/json":
        return f"its answer is {answer.content_type or 'of no type'}, and no JSON"
    if _TRACEBACK in body or 'File "' in body:
        return f"its answer shows the inside: {shortened(repr(body), 300)}"
    return ""


def _session_problem(steps: Sequence[Exchange], end: ServerEnd) -> str:
    for step, answer in zip(steps, end.answers, strict=False):
        if answer.status == 0:
            return f"`{step.line}` is not answered: {answer.body.decode('utf-8', 'replace')}"
        if problem := answer_problem(step, answer.status, answer.body.decode("utf-8", "replace")):
            return problem
        if answer.status < _FAULT and (problem := _answer_fault(answer)):
            return f"`{step.line}`: {problem}"
    return _end_problem(end, len(steps), len(end.answers))


def _end_problem(end: ServerEnd, asked: int, answered: int) -> str:
    said = end.stderr.decode("utf-8", "replace")
    if answered != asked:
        return f"it answered {answered} of {asked} and ended with exit code {end.code}; it says {shortened(said, 300)}"
    if end.code != 0:
        return f"told to end, it ends with exit code {end.code}; it says {shortened(said, 300)}"
    # a fault that is answered by 500 has its traceback in the log
    if _TRACEBACK in said and not any(one.status == _FAULT for one in end.answers):
        return f"it shows a traceback: {shortened(said, 300)}"
    return ""


class _Message(NamedTuple):
    """A line to an MCP server and what its answer must be.

    Args:
        shown: What it is.
        line: Of JSON-RPC.
        problem: What is wrong with the answer; empty if nothing is.
    """

    shown: str
    line: str
    problem: Callable[[dict[str, Any]], str]


class _McpTrials:
    """Messages to one installed MCP server."""

    def __init__(
        self, stated: Mapping[str, Any], installed: InstalledProduct, trials: ProductTrials, seconds: float
    ) -> None:
        self._stated, self._name = stated, str(stated["name"])
        self._installed, self._trials, self._seconds = installed, trials, seconds

    def of_shell(self) -> list[ExampleOutcome]:
        """It is greeted, lists its tools, refuses wrong calls of each, and ends with its input."""
        messages = [_Message("it is greeted", _line(0, "initialize", _GREETING), _no_error)]
        messages.append(_Message("its tools", _line(1, "tools/list", {}), self._tools_problem))
        unknown: dict[str, Any] = {"name": "no_such_tool", "arguments": {}}
        messages.append(_Message("an unknown tool", _line(2, "tools/call", unknown), _is_error))
        for place, tool in enumerate(self._stated["tools"]):
            wrong = {"name": tool["name"], "arguments": {"no such argument": 1}}
            line = _line(10 + place, "tools/call", wrong)
            messages.append(_Message(f"{tool['name']}, an unknown argument", line, _is_unknown_argument))
        started = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        lines = [messages[0].line, started, *(one.line for one in messages[1:])]
        try:
            run = ServerRun(self._name, lines=tuple(lines))
            end = self._trials.run_server(self._installed, "mcp", run, self._seconds)
        except NoReportError as error:
            return [self._outcome("it starts", str(error))]
        problem = _end_problem(end, len(messages), len(end.lines))
        found = [self._outcome("it starts and ends", problem)]
        found += [
            self._outcome(one.shown, _message_problem(one, line))
            for one, line in zip(messages, end.lines, strict=False)
        ]
        return found

    def _tools_problem(self, answer: dict[str, Any]) -> str:
        listed = [one.get("name") for one in answer.get("result", {}).get("tools", ())]
        wanted = [one["name"] for one in self._stated["tools"]]
        return "" if listed == wanted else f"it lists {listed}, not {wanted}"

    def _outcome(self, heading: str, problem: str) -> ExampleOutcome:
        return ExampleOutcome(self._name, heading, not problem, problem, kind="mcp")


_GREETING = {
    "protocolVersion": _PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "specwright", "version": "1"},
}


def _line(number: int, method: str, params: Mapping[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _message_problem(message: _Message, line: str) -> str:
    try:
        answer = json.loads(line)
    except ValueError:
        return f"it prints {shortened(repr(line), 300)}, and no message"
    if _TRACEBACK in line or 'File \\"' in line:
        return f"its answer shows the inside: {shortened(repr(line), 300)}"
    if not isinstance(answer, dict):
        return f"it prints {shortened(repr(line), 300)}, and no message"
    return message.problem(cast("dict[str, Any]", answer))


def _no_error(answer: dict[str, Any]) -> str:
    return "" if "result" in answer else f"it answers {shortened(json.dumps(answer), 300)}"


def _is_error(answer: dict[str, Any]) -> str:
    return "" if "error" in answer else f"it is no error: {shortened(json.dumps(answer), 300)}"


def _is_unknown_argument(answer: dict[str, Any]) -> str:
    is_one = answer.get("result", {}).get("isError") is True and "there is no such argument" in json.dumps(
        answer
    )
    return "" if is_one else f"it does not refuse it: {shortened(json.dumps(answer), 300)}"
