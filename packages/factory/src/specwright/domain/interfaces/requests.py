"""How a function is called by a request of HTTP or by a tool of MCP, and what no request can carry (design: shell)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ship_gate.base.text import did_you_mean
from specwright.domain.interfaces.functions import FunctionParameter, PublicFunction
from specwright.domain.interfaces.records import OTHER_ERRORS, HttpApi, McpServer, Route
from specwright.domain.interfaces.words import foreign_to_documents, is_array, value_problem

OPENAPI_PATH = "/openapi.json"
"""Where an API describes itself."""

REFUSED = 422
"""The status code of an error that the table does not have, and of values of wrong types."""

STATUS_OF_ERROR = {
    "PermissionError": 403,
    "LookupError": 404,
    "KeyError": 404,
    "IndexError": 404,
    "FileNotFoundError": 404,
    "FileExistsError": 409,
    "NotImplementedError": 501,
    "ConnectionError": 502,
    "TimeoutError": 504,
}
"""The status codes of Python's errors that say one thing; the table in `docs/design.md` is this one."""

_CHANGING = {"POST", "PUT", "PATCH", "WRITE", "MUTATION"}
_IN_BRACES = re.compile(r"\{([a-z][a-z0-9_]*)\}")


SERVER_RESERVED = ("help", "host", "most-body", "port", "version")
"""Options that the programs have already."""

_NO_OPTIONS: Mapping[str, str] = {}


class RequestParameter(NamedTuple):
    """A parameter in a request.

    Args:
        parameter: Of the function.
        place: Where it comes from; `server` if the program has it as an option, and no request.
        default: What the interface states; empty if nothing.
        needed: Whether it must be given.
    """

    parameter: FunctionParameter
    place: Literal["path", "query", "body", "server"]
    default: str
    needed: bool

    @property
    def is_in_requests(self) -> bool:
        """Whether a request can give it."""
        return self.place != "server"


def method_of(route: Route, function: PublicFunction) -> str:
    """The method of a route: what it states, else GET if each parameter is a word or several, else POST."""
    if route.method:
        return route.method
    # of a class only the contract says whether it is an Enum, and the rule must hold before there is one
    words = (one.type and not value_problem(one.type, "", {}) for one in function.parameters)
    return "GET" if all(words) else "POST"


def parameters_of_route(
    route: Route, function: PublicFunction, options: Mapping[str, str] = _NO_OPTIONS
) -> list[RequestParameter]:
    """The parameters of a function in a request, in its order: those of the path, the others in the query of a GET or
    DELETE, else in the body.

    Args:
        route: Calls the function.
        function: With all that is known of it.
        options: Of the program.
    """
    in_path = _IN_BRACES.findall(route.template)
    rest: Literal["query", "body"] = "query" if method_of(route, function) in ("GET", "DELETE") else "body"
    return [
        _of_server(one, options)
        or _parameter(one, "path" if one.name in in_path else rest, route.defaults.get(one.name, ""))
        for one in function.parameters
    ]


def _of_server(parameter: FunctionParameter, options: Mapping[str, str]) -> RequestParameter | None:
    if parameter.name not in options:
        return None
    return RequestParameter(parameter, "server", options[parameter.name], needed=False)


def _parameter(
    parameter: FunctionParameter, place: Literal["path", "query", "body"], default: str
) -> RequestParameter:
    return RequestParameter(parameter, place, default, parameter.default is None and not default)


def status_of(route: Route, error: str) -> int:
    """The status code of a declared error."""
    known = STATUS_OF_ERROR.get(error, route.errors.get(OTHER_ERRORS, REFUSED))
    return route.errors.get(error, known)


def any_number_problem(function: PublicFunction) -> str:
    """That a function takes any number of arguments, which no interface passes; empty if it does not."""
    many = next((one.name for one in function.parameters if one.is_any_number), "")
    what = f"{many} of {function.name} stands for any number of arguments, which no interface can pass"
    return f"{what}; call a function that takes a list" if many else ""


def route_problems(
    route: Route, function: PublicFunction, options: Mapping[str, str] = _NO_OPTIONS
) -> list[str]:
    """The faults of a route that calls a function, as far as the function is known."""
    if many := any_number_problem(function):
        return [many]
    method = method_of(route, function)
    problems = list(_default_problems(route.defaults, function))
    names = [one.name for one in function.parameters]
    in_path = _IN_BRACES.findall(route.template)
    problems += [
        f"the path names {one}, and {function.name} has {', '.join(names) or 'no parameter'}"
        for one in in_path
        if one not in names
    ]
    if len(set(in_path)) < len(in_path):
        problems.append("the path names a parameter twice; name it once")
    problems += [
        f"{name} is one of the `options`, which no request gives; leave it out of {where}"
        for where, names in (("the path", in_path), ("`defaults`", route.defaults))
        for name in names
        if name in options
    ]
    for one in parameters_of_route(route, function, options):
        if told := _parameter_problem(one, function):
            problems.append(f"the parameter {one.parameter.name} of {function.name}: {told}")
    if method == "GET" and (changing := sorted(set(function.effects) & _CHANGING)):
        problems.append(
            f"{function.name} has effects ({', '.join(changing)}), and GET changes nothing; state `method`, such as POST"
        )
    return [*problems, *_error_problems(route, function)]


def _parameter_problem(one: RequestParameter, function: PublicFunction) -> str:
    kind = one.parameter.type
    if not kind:
        return "it has no type; state it in `provides`"
    if not one.is_in_requests:
        return _option_problem(one, function)
    if foreign_to_documents(kind, function.classes or {}, paths=False) == "Path":
        return (
            "a client would name files of the server; take the content, or a name that the function looks up"
        )
    if one.place == "body":
        return _foreign(kind, function)
    if one.place == "path" and is_array(kind):
        return "a part of the path is one word; leave it out of the path"
    told = value_problem(kind, one.default, function.classes)
    return f"{told.partition(';')[0]}; let the `method` be POST, whose body is JSON" if told else ""


def _option_problem(one: RequestParameter, function: PublicFunction) -> str:
    """What keeps a parameter from being an option of a server."""
    kind = one.parameter.type
    if is_array(kind):
        return f"{kind} is no word, so it cannot be one of the `options`"
    return value_problem(kind, one.default, function.classes).partition(";")[0]


def option_problems(options: Mapping[str, str], called: Sequence[PublicFunction]) -> Iterator[str]:
    """What is wrong with the options of a server, whatever calls them.

    Args:
        options: The default of each, by the parameter.
        called: The functions that the server calls.
    """
    for name, word in options.items():
        types = {one.type for function in called for one in function.parameters if one.name == name}
        known = {one.name for function in called for one in function.parameters}
        if not types:
            listed = ", ".join(sorted(known)) or "none"
            yield f"no function that is called has a parameter {name}; {did_you_mean(name, known)}there is {listed}"
        elif len(types) > 1:
            yield f"{name} is {' here and '.join(sorted(types))} there; one option has one type"
        if option_name(name) in SERVER_RESERVED:
            yield f"every program has an option --{option_name(name)} of its own; rename the parameter"
        if not word:
            yield f"{name} has no default; a program starts without being told anything"


def option_name(parameter: str) -> str:
    """How an option of a server is written, without `--`."""
    return parameter.replace("_", "-").lower()


def _foreign(kind: str, function: PublicFunction) -> str:
    name = foreign_to_documents(kind, function.classes or {})
    return f"{name} has no form in JSON; take a type that JSON has, or a text of it" if name else ""


def _default_problems(defaults: Mapping[str, str], function: PublicFunction) -> Iterator[str]:
    known = {one.name: one for one in function.parameters}
    for name, word in defaults.items():
        if name not in known:
            listed = ", ".join(known) or "none"
            yield f"{function.name} has no parameter {name}; {did_you_mean(name, known)}it has {listed}"
        elif known[name].type and is_array(known[name].type):
            yield f"the default of {name}: {known[name].type} is no word; give the function a default"
        elif known[name].type and (told := value_problem(known[name].type, word, function.classes)):
            yield f"the default of {name}: {told}"


def _error_problems(route: Route, function: PublicFunction) -> Iterator[str]:
    if function.returns is None:
        return
    for name in route.errors:
        if name not in (*function.errors, OTHER_ERRORS):
            listed = ", ".join(function.errors) or "none"
            yield f"{function.name} has no error {name}; {did_you_mean(name, function.errors)}its contract has {listed}"


def api_problems(api: HttpApi, functions: Mapping[str, PublicFunction]) -> Iterator[tuple[int, str]]:
    """The routes whose path and method an earlier one has, or the API itself: the place of each, and what is wrong."""
    seen: dict[tuple[str, str], str] = {("GET", OPENAPI_PATH): "the description of the API"}
    for place, route in enumerate(api.routes):
        if route.calls in functions:
            method = method_of(route, functions[route.calls])
            key = (method, _IN_BRACES.sub("{}", route.template))
            if key in seen:
                yield place, f"{method} {route.template} is {seen[key]} already; choose another `path`"
            seen.setdefault(key, f"the route of {route.calls}")


def tool_problems(server: McpServer, place: int, function: PublicFunction) -> list[str]:
    """The faults of a tool that calls a function, as far as the function is known."""
    if many := any_number_problem(function):
        return [many]
    tool = server.tools[place]
    problems = list(_default_problems(tool.defaults, function))
    problems += [
        f"{name} is one of the `options`, which no request gives; leave it out of `defaults`"
        for name in tool.defaults
        if name in server.options
    ]
    if tool.called in [one.called for one in server.tools[:place]]:
        problems.append(f"{tool.called} is the name of an earlier tool; give it another `name`")
    for one in parameters_of_tool(tool.defaults, function, server.options):
        kind = one.parameter.type
        told = "" if kind else "it has no type; state it in `provides`"
        if kind:
            told = _foreign(kind, function) if one.is_in_requests else _option_problem(one, function)
        if told:
            problems.append(f"the parameter {one.parameter.name} of {function.name}: {told}")
    return problems


def parameters_of_tool(
    defaults: Mapping[str, str], function: PublicFunction, options: Mapping[str, str] = _NO_OPTIONS
) -> list[RequestParameter]:
    """The arguments of a tool: members of one JSON object, but for the options of the program."""
    return [
        _of_server(one, options) or _parameter(one, "body", defaults.get(one.name, ""))
        for one in function.parameters
    ]
