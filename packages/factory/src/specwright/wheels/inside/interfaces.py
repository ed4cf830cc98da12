"""Calls the interfaces of an installed product, and executes examples whose calls go through one (design: release).

Each interface is called by the client of the library that it is made with. In an example a function that the interface
calls is replaced: its call becomes a command line, a request or a call of a tool, and what it gives there is what the
example goes on with. The answer is compared with that value, which is written here once more: the shell does not judge
itself. A call that the interface has no form for goes to the function.
"""

import base64
import dataclasses
import functools
import importlib
import inspect
import io
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias, cast
from urllib.parse import quote, urlencode

from ship_gate.base.boundary_values import scalar_of
from ship_gate.inside.example_runner import outcome_of
from ship_gate.inside.frames import Link
from ship_gate.inside.observation.process_state import restore
from specwright.wheels.inside.surroundings import files_of, install_clock_and_hosts, redirect

_FAULT = 70
_SHOWN = 300
_MOST_CHARACTERS = 100_000


def run(link: Link, plan: dict[str, Any]) -> None:
    """Send the requests of a job; or execute its examples, or kill this process in the first call of one."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    scratch = Path(plan["scratch"])
    if "product" in plan:
        sys.path.append(plan["product"])
    redirect(scratch)
    if "requests" in job:
        send({"event": "outcome", **_answers(job, scratch)})
    else:
        _execute(job, scratch, send)
    send({"event": "end"})


def _answers(job: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """What comes back, as it is, or why nothing does."""
    folder = scratch / "work"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    try:
        interface = _INTERFACES[job["kind"]](job["package"], scratch)
        answers = [interface.ask(request) for request in job["requests"]]
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"}
    return {"answers": [{part: _cut(value) for part, value in answer.items()} for answer in answers]}


def _cut(value: Any) -> Any:
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value


def _execute(job: dict[str, Any], scratch: Path, send: Callable[..., None]) -> None:
    # servers wait by the clock of the system
    script = install_clock_and_hosts(job) if job["kind"] == "command" else ()
    calls = _Calls(job["package"], _INTERFACES[job["kind"]](job["package"], scratch), send)
    start = dict(os.environ)
    for place, code in enumerate(job["examples"]):
        restore(start)
        for one in script:
            one.clear()
        folder = scratch / f"work{place or ''}"
        folder.mkdir()
        os.chdir(folder)
        calls.begin(killed=job["killed"])
        outcome = outcome_of(code)
        send({"event": "example", "outcome": outcome, **calls.told()})
    send({"event": "outcome"})


class UnwritableError(Exception):
    """A value that the interface has no form for."""


def plain(value: Any) -> Any:  # noqa: C901 - one case for each form
    """A value as JSON has it (design: release).

    Raises:
        UnwritableError: there is no such form, or it is not that of one value alone.
        UnicodeError: a text has half of a character pair.
    """
    match value:
        case Enum():
            return value.value if isinstance(value.value, str) else value.name
        case float() | Decimal() if not math.isfinite(value):
            raise UnwritableError(value)
        case str():
            value.encode()
            return value
        case None | bool() | int() | float():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case timedelta():
            return value.total_seconds()
        case date() | time():
            return value.isoformat()
        case _ if (row := scalar_of(value)) is not None and row.is_word:
            return str(value)
        case _ if (fields := _fields(value)) is not None and all(isinstance(name, str) for name in fields):
            return {name: plain(one) for name, one in fields.items()}
        case set() | frozenset():
            return sorted(
                map(plain, cast("set[Any]", value)), key=lambda one: json.dumps(one, sort_keys=True)
            )
        case list() | tuple():
            return [plain(one) for one in cast("list[Any]", value)]
        case _:
            raise UnwritableError(value)


def _fields(value: Any) -> dict[Any, Any] | None:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    return value._asdict() if isinstance(value, tuple) and hasattr(value, "_asdict") else None  # pyright: ignore


def _word(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value.total_seconds():f}s"
    written = plain(value)
    if not isinstance(written, str | int | float):
        raise UnwritableError(value)
    return str(written).lower() if isinstance(written, bool) else str(written)


def _words(value: Any) -> list[str]:
    """The words of an array, or of one value; none is what no user can write."""
    is_array = isinstance(value, list | tuple | set | frozenset)
    words = [_word(one) for one in (cast("list[Any]", value) if is_array else [value])]
    if not words:
        raise UnwritableError(value)
    return words


class _Command:
    """Calls functions by command lines.

    `request` is how a user calls one, or raises UnwritableError; `ask` sends it. `answer` is what must come when the
    function has returned, and `refusal` when it has raised an error, declared by a name or by none. `json_part` is the part
    of an answer that is JSON.
    """

    json_part = "stdout"

    def __init__(self, package: str, scratch: Path) -> None:
        self.uses = _uses(package, "command")
        self._main = importlib.import_module(f"{package}._shell.command").main
        self._scratch = scratch

    def request(self, use: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        options, arguments, stdin = ["--json"], list[str](), b""
        for word in use["words"]:
            if word["parameter"] not in values:
                _check_default(word)
                continue
            value = values[word["parameter"]]
            if word["flag"]:
                options.append(f"--{'' if value else 'no-'}{word['name']}")
                continue
            if word["place"] == "stdin":
                stdin = _file_content(word["content"], value)
                continue
            if word["content"] == "value":
                words = _words(value) if word["many"] else [_word(value)]
            else:
                file = self._scratch / f"given-{word['parameter']}"
                file.write_bytes(_file_content(word["content"], value))
                words = [str(file)]
            if word["place"] == "option":
                options += [f"--{word['name']}={one}" for one in words]
            else:
                arguments += words
        (self._scratch / "stdin").write_bytes(stdin)
        dashes = ["--"] if any(one.startswith("-") for one in arguments) else []
        first = [use["subcommand"]] if use["subcommand"] else []
        return {"arguments": [*first, *options, *dashes, *arguments]}

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        before = sys.stdin, sys.stdout, sys.stderr
        given = (self._scratch / "stdin").open(encoding="utf-8")
        printed, said = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
        sys.stdin, sys.stdout, sys.stderr = given, printed, said
        try:
            code = self._main(request["arguments"])
        except SystemExit as leaving:
            code = leaving.code
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
            given.close()
        for stream in (printed, said):
            stream.flush()
        texts = [stream.buffer.getvalue().decode() for stream in (printed, said)]
        return {"code": code, "stdout": texts[0], "stderr": texts[1]}

    def answer(self, use: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
        code = next((rule["code"] for rule in use["exits"] if _holds(rule, outputs)), 0)
        return {"code": code, "stdout": _document(outputs), "stderr": ""}

    def refusal(self, use: Mapping[str, Any], error: BaseException, declared: str) -> dict[str, Any]:
        other = use["other_errors"] if isinstance(error, OSError) else _FAULT
        return {"code": use["errors"][declared] if declared else other, "stdout": ""}


def _holds(rule: Mapping[str, Any], outputs: Mapping[str, Any]) -> bool:
    """Whether a rule says the exit code: of an output, or of a field of the only one."""
    value = outputs[rule["of"]] if rule["of"] in outputs else next(iter(outputs.values()))
    if rule["of"] and rule["of"] not in outputs:
        value = (_fields(value) or {})[rule["of"]]
    return bool(value) == (rule["when"] == "filled")


def _check_default(one: Mapping[str, Any]) -> None:
    """Refuse to leave out what the interface has a default for: the function would get that, and not its own."""
    has_no_file = one.get("content") == "toml" and one["python_default"] is not None
    if one["default"] and not has_no_file:
        raise UnwritableError(one)


def _file_content(content: str, value: Any) -> bytes:
    """A file that gives a value."""
    match content:
        case "text":
            return value if isinstance(value, bytes) else value.encode()
        case "lines":
            data = "".join(f"{line}\n" for line in value).encode()
            if data.decode("utf-8-sig").splitlines() != list(value):
                raise UnwritableError(value)
            return data
        case "toml":
            raise UnwritableError(value)
        case _:
            return json.dumps(plain(value)).encode()


class _HttpApi:
    """Calls functions by requests, as above."""

    json_part = "body"

    def __init__(self, package: str, scratch: Path) -> None:
        self.uses = _uses(package, "http")
        self._application = importlib.import_module(f"{package}._shell.http_api").application

    def request(self, use: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        path, query, body = use["path"], list[tuple[str, str]](), dict[str, Any]()
        for name, place, value in _given(use, values):
            if place == "path":
                word = _word(value)
                if not word.strip(".") or "/" in word:
                    raise UnwritableError(value)
                path = path.replace(f"{{{name}}}", quote(word, safe=""))
            elif place == "query":
                query += [(name, word) for word in _words(value)]
            elif place == "body":
                body[name] = plain(value)
        has_body = any(one["place"] == "body" for one in use["parameters"])
        return {
            "method": use["method"],
            "target": f"{path}?{urlencode(query)}" if query else path,
            "body": json.dumps(body) if has_body else None,
            "options": _options(use, values),
        }

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        from fastapi.testclient import TestClient

        client = TestClient(_started(self._application, request), raise_server_exceptions=False)
        body = request["body"]
        headers = {} if body is None else {"Content-Type": "application/json"}
        came = client.request(request["method"], request["target"], content=body, headers=headers)
        return {"status": came.status_code, "body": came.content.decode("utf-8", "replace")}

    def answer(self, use: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"status": 200, "body": _document(outputs)}

    def refusal(self, use: Mapping[str, Any], error: BaseException, declared: str) -> dict[str, Any]:
        if not declared:
            return {"status": 500}
        return {"status": use["errors"][declared], "body": {"error": declared, "message": plain(str(error))}}


class _McpServer:
    """Calls functions by calls of tools, as above. A request without a name asks what the server lists."""

    json_part = ""

    def __init__(self, package: str, scratch: Path) -> None:
        self.uses = _uses(package, "mcp")
        self._server = importlib.import_module(f"{package}._shell.mcp_server").server

    def request(self, use: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: plain(value) for name, place, value in _given(use, values) if place == "body"}
        options = _options(use, values)
        return {"name": use["name"], "arguments": given, "options": options}

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        import anyio

        ask = functools.partial(_call_tool, request) if "name" in request else _describe
        return anyio.run(_in_session, _started(self._server, request), ask)

    def answer(self, use: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"error": "", "result": {name: plain(value) for name, value in outputs.items()}}

    def refusal(self, use: Mapping[str, Any], error: BaseException, declared: str) -> dict[str, Any]:
        return {"error": plain(f"{declared}: {error}"), "result": None} if declared else {"result": None}


def _started(make: Callable[..., Any], request: Mapping[str, Any]) -> Any:
    """What answers a request: the application or the server that is made with its options."""
    return _made(make, tuple(sorted(request["options"].items())))


@functools.cache
def _made(make: Callable[..., Any], options: tuple[tuple[str, str], ...]) -> Any:
    return make(options=dict(options))


async def _in_session(server: Any, ask: Callable[[Any], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """Ask a server as a client does."""
    import anyio
    from mcp import ClientSession
    from mcp.shared.memory import create_client_server_memory_streams

    answer: dict[str, Any] = {}
    async with create_client_server_memory_streams() as (ours, its), anyio.create_task_group() as group:
        group.start_soon(server.run, *its, server.create_initialization_options())
        async with ClientSession(*ours) as session:
            await session.discover()
            answer = await ask(session)
        group.cancel_scope.cancel()
    return answer


async def _describe(session: Any) -> dict[str, Any]:
    return {"tools": [one.name for one in (await session.list_tools()).tools]}


async def _call_tool(request: Mapping[str, Any], session: Any) -> dict[str, Any]:
    came = await session.call_tool(request["name"], request["arguments"])
    if came.is_error:
        return {"error": came.content[0].text, "result": None}
    return {"error": "", "result": came.structured_content}


_Interface: TypeAlias = _Command | _HttpApi | _McpServer
_INTERFACES = {"command": _Command, "http": _HttpApi, "mcp": _McpServer}


def _stated(package: str) -> dict[str, Any]:
    return importlib.import_module(f"{package}._shell.calls").document()


def _uses(package: str, kind: str) -> dict[str, Mapping[str, Any]]:
    """The first use of each function."""
    return {one["calls"]: one for one in reversed(_stated(package)[kind]["uses"])}


def _given(use: Mapping[str, Any], values: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """The parameters that are given, each with its place and its value."""
    for one in use["parameters"]:
        if one["name"] not in values:
            _check_default(one)
    stated = [(one["name"], one["place"]) for one in use["parameters"]]
    return [(name, place, values[name]) for name, place in stated if name in values]


def _options(use: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
    """The options with which a server is started for one call."""
    return {name: _word(value) for name, place, value in _given(use, values) if place == "server"}


def _document(outputs: Mapping[str, Any]) -> Any:
    """The JSON of results: of one output its value."""
    written = {name: plain(value) for name, value in outputs.items()}
    return next(iter(written.values()), None) if len(written) < 2 else written


def _read(text: str) -> Any:
    """What a text of JSON says; any other as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class _Calls:
    """The calls of one example after the other.

    Args:
        package: Of the product.
        interface: They go through it.
        send: Reports that this process is about to be killed.
    """

    def __init__(self, package: str, interface: _Interface, send: Callable[..., None]) -> None:
        self._interface, self._send = interface, send
        self._folder = f"{Path(importlib.import_module(package).__file__ or '').parent}{os.sep}"
        self._functions = _stated(package)["functions"]
        self._busy = False
        self._ended: list[tuple[Any, Any, BaseException | None]] = []
        """Of each call: the result to compare, the same for the example, and the error."""
        self.begin(killed=False)
        for name in interface.uses:
            # the package has the function under the name of its module
            module = importlib.import_module(f"{package}.{self._functions[name]['module']}")
            replaced = self._replaced(name, getattr(module, name))
            setattr(module, name, replaced)
            setattr(sys.modules[package], name, replaced)

    def begin(self, *, killed: bool) -> None:
        """Start with the next example."""
        self._killed, self._calls, self._problem = killed, 0, ""
        self._change: dict[str, Any] = {"writes": False, "before": {}, "after": {}}

    def told(self) -> dict[str, Any]:
        """What became of the calls of an example."""
        return {"calls": self._calls, "problem": self._problem, **self._change}

    def _replaced(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def replacement(*arguments: Any, **named: Any) -> Any:
            call = functools.partial(function, *arguments, **named)
            if self._busy:  # the shell calls it, or it calls itself
                return self._kept(call)
            self._busy = True
            try:
                return self._through(name, function, call)
            finally:
                self._busy = False

        return function if self._functions[name]["is_async"] else replacement

    def _kept(self, call: Callable[[], Any]) -> Any:
        """Call a function for the shell, and keep what it gives; of an iterator the items."""
        try:
            result = call()
            items = list(result) if hasattr(result, "__next__") else None
        except BaseException as error:
            self._ended.append((None, None, error))
            raise
        again: list[Any] = [result, result] if items is None else [iter(items), iter(items)]
        self._ended.append((result if items is None else items, again[0], None))
        return again[1]

    def _through(self, name: str, function: Callable[..., Any], call: "functools.partial[Any]") -> Any:
        """Let the shell call a function; what it has no form for is called at once."""
        use, parameters = self._interface.uses[name], inspect.signature(function)
        try:
            bound = parameters.bind(*call.args, **call.keywords).arguments
            defaults = {one: parameters.parameters[one].default for one in bound}
            values = {
                one: value for one, value in bound.items() if value is not None or defaults[one] is not None
            }
            request = self._interface.request(use, values)
        except (UnwritableError, UnicodeError, TypeError):
            return call()
        before = files_of(Path())
        if self._killed:
            event = {"event": "killed", "request": request}
            _Kill(self._folder, function, lambda: self._send(event)).prepare()
        self._ended.clear()
        answer = self._interface.ask(request)
        if part := self._interface.json_part:
            answer[part] = _read(answer[part])
        if not self._ended:
            result = call()  # an error of it is one of the arguments, which the shell has refused
            self._problem = self._problem or f"{name} is not called; the answer is {_shown(answer)}"
            return result
        result, given, error = self._ended[-1]
        if not self._calls:
            after = files_of(Path())
            writes = before != after or bool(self._functions[name]["effects"])
            self._change = {"writes": writes, "before": before, "after": after}
        self._calls += 1
        self._problem = self._problem or self._wrong(name, answer, result, error)
        if error is not None:
            raise error
        return given

    def _wrong(self, name: str, answer: dict[str, Any], result: Any, error: BaseException | None) -> str:
        use, stated = self._interface.uses[name], self._functions[name]
        try:
            if error is not None:
                names = [kind.__name__ for kind in type(error).__mro__]
                declared = next((one for one in names if one in stated["errors"]), "")
                expected = self._interface.refusal(use, error, declared)
            else:
                expected = self._interface.answer(use, _named(stated["outputs"], result))
        except (UnwritableError, UnicodeError):
            return ""
        if all(answer[part] == value for part, value in expected.items()):
            return ""
        return f"{name} is answered with {_shown(answer)}, not with {_shown(expected)}"


def _named(outputs: Sequence[str], result: Any) -> dict[str, Any]:
    """The outputs of a function by their names."""
    return dict(zip(outputs, [result] if len(outputs) == 1 else result or (), strict=True))


def _shown(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class _Kill:
    """Kills this process when the product has written for the first time, else as the function returns.

    What was written is in the file then, as it may be after any write: whoever writes a file in parts leaves a part.

    Args:
        folder: Of the product.
        function: That is called.
        tell: Says that it comes.
    """

    def __init__(self, folder: str, function: Callable[..., Any], tell: Callable[[], None]) -> None:
        self._folder, self._tell = folder, tell
        self._shell = str(Path(folder) / "_shell") + os.sep
        self._code = getattr(inspect.unwrap(function), "__code__", None)

    def prepare(self) -> None:
        """Look for the moment from now on, in the threads of a server too."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        wrote = event == "c_return" and getattr(argument, "__name__", "") in ("write", "writelines")
        if (event == "return" and frame.f_code is self._code) or (wrote and self._is_of_product(frame)):
            sys.setprofile(None)
            if wrote and hasattr(argument.__self__, "flush"):
                argument.__self__.flush()
            self._tell()
            os.kill(os.getpid(), signal.SIGKILL)

    def _is_of_product(self, frame: FrameType | None) -> bool:
        """Whether the product writes, by itself or by a function of a library."""
        while frame is not None and not frame.f_code.co_filename.startswith(self._shell):
            if frame.f_code.co_filename.startswith(self._folder):
                return True
            frame = frame.f_back
        return False
