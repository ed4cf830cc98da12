"""The HTTP API of a product, as an ASGI application.

Each route calls one function. Values come from the path, the query, or a JSON object; results and errors are JSON. What no
contract declares is answered by 500 and an id, under which stderr has the traceback.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import parse_qsl, unquote

from .calls import Function, ServerOptions, document, log_fault
from .results import json_text
from .scalars import ValueProblem
from .types import read_json

__all__ = ["LOOPBACK", "MOST_BODY", "Application", "HttpError"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_BODY = 1024 * 1024
"""Bytes of the body of a request."""

OPENAPI = "/openapi.json"
_BODY_SECONDS = 30.0
_AT_A_TIME = 8
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class HttpError(Exception):
    """A request that no function answers.

    Args:
        status: Of the answer.
        error: Its kind, as programs read it.
        message: For people.
        headers: Besides the usual ones.
    """

    def __init__(
        self, status: int, error: str, message: str, headers: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        super().__init__(message)
        self.status, self.error, self.headers = status, error, headers


class Answer(NamedTuple):
    """Status, JSON and further headers."""

    status: int
    text: str
    headers: Sequence[tuple[bytes, bytes]] = ()


class Application:
    """The ASGI application of a product; it can be mounted in another one.

    Args:
        stated: The interfaces of the product; those of this package if none are given.
        most_body: Bytes of a body that are read.
        hosts: The hosts for which it answers, without port; all if empty.
        options: Words for the parameters that no request gives, where they are not the defaults.

    Raises:
        ValueProblem: one of these is no value of its type.
    """

    def __init__(
        self,
        stated: Mapping[str, Any] | None = None,
        *,
        most_body: int = MOST_BODY,
        hosts: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        stated = document() if stated is None else stated
        self._openapi: Any = stated["http"]["openapi"]
        self._routes: list[Mapping[str, Any]] = stated["http"]["routes"]
        self._functions = {name: Function(name, one) for name, one in stated["functions"].items()}
        self._options = ServerOptions(stated["http"]["options"], self._functions, options)
        self._most_body, self._hosts = most_body, hosts
        # functions without effects may run beside each other; nothing shows that of others
        self._pure, self._others = asyncio.Semaphore(_AT_A_TIME), asyncio.Semaphore(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        if scope["type"] != "http":
            return
        answer = await self._answer(scope, receive)
        data = answer.text.encode("utf-8", "backslashreplace")
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(data)).encode()),
            (b"x-content-type-options", b"nosniff"),
            *answer.headers,
        ]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else data})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        try:
            return await self._result(scope, receive)
        except HttpError as error:
            return _failed(error.status, error.error, str(error), error.headers)
        except ValueProblem as problem:
            return _failed(422, "InvalidInput", str(problem))
        except Exception:  # the client is told that something broke, and no more
            return _fault()

    async def _result(self, scope: Scope, receive: Receive) -> Answer:
        headers = dict(scope["headers"])
        if self._hosts and _host(headers.get(b"host", b"")) not in self._hosts:
            raise HttpError(421, "MisdirectedRequest", "this server answers for this machine alone")
        segments = _segments(scope)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if "/" + "/".join(segments) == OPENAPI and method == "GET":
            return Answer(200, json.dumps(self._openapi, ensure_ascii=False, indent=2))
        route, in_path = self._route(method, segments)
        values = _values_of_query(route, in_path, scope["query_string"])
        if any(one["place"] == "body" for one in route["parameters"]):
            values |= _values_of_body(route, await self._body(headers, receive))
        function = self._functions[route["calls"]]
        arguments = _arguments(route, function, values, self._options)
        return await self._called(route, function, arguments)

    async def _called(
        self, route: Mapping[str, Any], function: Function, arguments: Mapping[str, Any]
    ) -> Answer:
        async with self._pure if function.is_pure else self._others:
            try:
                return Answer(200, await _in_thread(lambda: _json(function.call(arguments))))
            except Exception as error:  # what the function raises, declared or not
                if name := function.declared(error):
                    return _failed(route["errors"][name], name, str(error))
                raise

    def _route(self, method: str, segments: Sequence[str]) -> tuple[Mapping[str, Any], dict[str, str]]:
        """The route of a request, and the words of its path by parameter."""
        allowed: list[str] = []
        for route in self._routes:
            words = _words_of_path(route["path"], segments)
            if words is None:
                continue
            if route["method"] == method:
                return route, words
            allowed.append(route["method"])
        if allowed:
            told = ", ".join(sorted({*allowed, *(["HEAD"] if "GET" in allowed else [])}))
            raise HttpError(
                405, "MethodNotAllowed", f"this path takes {told}", [(b"allow", told.encode("ascii"))]
            )
        raise HttpError(404, "NoSuchRoute", "there is no such path; GET /openapi.json lists them")

    async def _body(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            raise HttpError(415, "UnsupportedMediaType", "the body must be application/json")
        too_large = HttpError(413, "BodyTooLarge", f"the body has more than {self._most_body} bytes")
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > self._most_body:
            raise too_large
        found = bytearray()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise HttpError(400, "Disconnected", "the client left")
                    found += message.get("body", b"")
                    if len(found) > self._most_body:
                        raise too_large
                    if not message.get("more_body", False):
                        return bytes(found)
        raise HttpError(408, "RequestTimeout", f"the body did not come within {_BODY_SECONDS:g} s")


def _host(value: bytes) -> str:
    """The name in a Host header, without port and brackets."""
    text = value.decode("latin-1").strip().lower()
    return text[1 : text.find("]")] if text.startswith("[") else text.partition(":")[0]


def _segments(scope: Scope) -> list[str]:
    raw = scope.get("raw_path") or scope["path"].encode()
    root = scope.get("root_path", "").encode()
    path = raw.removeprefix(root) if root else raw
    try:
        return [unquote(one, errors="strict") for one in path.decode("ascii").split("/")[1:]]
    except UnicodeDecodeError as error:
        raise HttpError(400, "BadPath", "the path is not UTF-8") from error


def _words_of_path(path: str, segments: Sequence[str]) -> dict[str, str] | None:
    parts = path.split("/")[1:]
    if len(parts) != len(segments):
        return None
    words: dict[str, str] = {}
    for part, segment in zip(parts, segments, strict=True):
        if part.startswith("{") and segment:
            words[part[1:-1]] = segment
        elif part != segment:
            return None
    return words


class _Words(NamedTuple):
    """The words of a parameter, as the path or the query has them."""

    words: list[str]


def _values_of_query(route: Mapping[str, Any], in_path: Mapping[str, str], query: bytes) -> dict[str, Any]:
    found: dict[str, Any] = {name: _Words([word]) for name, word in in_path.items()}
    known = {one["name"]: one for one in route["parameters"] if one["place"] == "query"}
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, strict_parsing=bool(query), errors="strict"
        )
    except ValueError as error:
        raise HttpError(400, "BadQuery", "the query cannot be read") from error
    for name, word in pairs:
        if name not in known:
            raise ValueProblem(_unknown(name, known))
        words = found.setdefault(name, _Words([])).words
        words.append(word)
        if len(words) > 1 and not known[name]["many"]:
            raise ValueProblem(f"{name}: it is given twice")
    return found


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    shown = name if name.isprintable() and len(name) <= 100 else ascii(name[:100])
    return f"{shown}: there is no such parameter; known are {', '.join(known) or 'none'}"


def _values_of_body(route: Mapping[str, Any], body: bytes) -> dict[str, Any]:
    try:
        data = read_json(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise HttpError(400, "InvalidJSON", "the body is not UTF-8") from error
    except RecursionError as error:
        raise HttpError(400, "InvalidJSON", "the body is nested too deeply") from error
    except ValueError as error:
        raise HttpError(400, "InvalidJSON", f"the body is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ValueProblem("the body must be an object, with a member for each parameter")
    known = {one["name"]: one for one in route["parameters"] if one["place"] == "body"}
    members = cast("dict[str, Any]", data)
    for name in members:
        if name not in known:
            raise ValueProblem(_unknown(name, known))
    return members


def _arguments(
    route: Mapping[str, Any], function: Function, values: Mapping[str, Any], options: ServerOptions
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in route["parameters"]:
        name, kind = one["name"], one["type"]
        if one["place"] == "server":
            found[name] = options.value(function, name, kind)
            continue
        if name not in values:
            if one["default"]:
                found[name] = function.default(kind, one["default"])
            elif one["needed"]:
                raise ValueProblem(f"{name}: it is missing")
            continue
        try:
            value = values[name]
            if not isinstance(value, _Words):
                found[name] = function.types.from_data(kind, value, name)
            elif one["many"]:
                found[name] = function.types.from_words(kind, value.words)
            else:
                found[name] = function.types.from_word(kind, value.words[0])
        except RecursionError as error:
            raise HttpError(400, "InvalidJSON", f"{name} is nested too deeply") from error
        except ValueProblem as problem:
            told = str(problem)
            raise ValueProblem(told if told.startswith(name) else f"{name}: {told}") from problem
    return found


async def _in_thread(call: Callable[[], str]) -> str:
    """Run it in a thread that does not keep the program from ending."""
    loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def settle(result: str, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def run() -> None:
        result, problem = "", None
        try:
            result = call()
        except StopIteration as error:  # a future cannot carry it
            problem = RuntimeError(str(error))
        except Exception as error:  # it is raised where the answer is waited for
            problem = error
        except BaseException as error:
            problem = RuntimeError(f"{type(error).__name__}: {error}")
        with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, daemon=True).start()
    return await done


def _failed(status: int, error: str, message: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> Answer:
    told = {"error": error, "message": message}
    return Answer(status, json.dumps(told, ensure_ascii=False, indent=2), headers)


def _fault() -> Answer:
    told = {
        "error": "InternalError",
        "message": "a fault of the server; its log has the id",
        "id": log_fault(),
    }
    return Answer(500, json.dumps(told, indent=2))


def _json(outputs: Mapping[str, Any]) -> str:
    return json_text(outputs) if outputs else "null"
