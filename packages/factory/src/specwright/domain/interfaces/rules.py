"""Checks of a product's interfaces, and the mapping from requests to parameters (design: release).

Before there are contracts, only the name and parameters of a function are known. A contract adds outputs, errors and
classes; then every type must be one that a command line or a request can express.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

from ship_gate.base.text import did_you_mean
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.types import class_names
from specwright.domain.acceptance.records import PublicName, name_of
from specwright.domain.interfaces.records import (
    OTHER_ERRORS,
    RESERVED,
    CommandWord,
    ConsoleCommand,
    ExitRule,
    FunctionParameter,
    FunctionUse,
    HttpApi,
    Interfaces,
    McpServer,
    PublicFunction,
    Route,
    Subcommand,
    foreign_to_documents,
    function_of_contract,
    function_of_signature,
    is_array,
    value_problem,
    word_problem,
    words_of,
)

OPENAPI_PATH = "/openapi.json"
"""The path of an API's own description."""

REFUSED = 422
"""The status code of errors that are not in the table, and of values of wrong types."""

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
"""The status codes of Python's more specific errors; `docs/interfaces.md` has the same table."""

_CHANGING = {"POST", "PUT", "PATCH", "WRITE", "MUTATION"}
_IN_BRACES = re.compile(r"\{([a-z][a-z0-9_]*)\}")


SERVER_RESERVED = ("help", "host", "most-body", "port", "version")
"""The options that every program has."""

_NO_OPTIONS: Mapping[str, str] = {}


class RequestParameter(NamedTuple):
    """A parameter in a request.

    Args:
        parameter: The function's parameter.
        place: The part of the request; `server` if it is an option of the program instead.
        default: The default that the interface states; empty if none.
        needed: Whether it is required.
    """

    parameter: FunctionParameter
    place: Literal["path", "query", "body", "server"]
    default: str
    needed: bool

    @property
    def is_in_requests(self) -> bool:
        """Whether requests contain it."""
        return self.place != "server"


def method_of(route: Route, function: PublicFunction) -> str:
    """Return the method of a route: the stated one, else GET if words can give every parameter, else POST."""
    if route.method:
        return route.method
    # only the contract says whether a class is an Enum, but the method must not change when there is one
    words = (one.type and not value_problem(one.type, "", {}) for one in function.parameters)
    return "GET" if all(words) else "POST"


def parameters_of_route(
    route: Route, function: PublicFunction, options: Mapping[str, str] = _NO_OPTIONS
) -> list[RequestParameter]:
    """Return the parameters of a request, in the function's order: in the path, or else in the query of a GET or DELETE, or
    else in the body.

    Args:
        route: The route that calls the function.
        function: The function.
        options: The options of the program.
    """
    in_path = _IN_BRACES.findall(route.template)
    rest: Literal["query", "body"] = "query" if method_of(route, function) in ("GET", "DELETE") else "body"
    return [
        _requested(one, "path" if one.name in in_path else rest, route.defaults, options)
        for one in function.parameters
    ]


def _requested(
    parameter: FunctionParameter,
    place: Literal["path", "query", "body"],
    defaults: Mapping[str, str],
    options: Mapping[str, str],
) -> RequestParameter:
    if parameter.name in options:
        return RequestParameter(parameter, "server", options[parameter.name], needed=False)
    default = defaults.get(parameter.name, "")
    return RequestParameter(parameter, place, default, parameter.default is None and not default)


def status_of(route: Route, error: str) -> int:
    """Return the status code of a declared error."""
    known = STATUS_OF_ERROR.get(error, route.errors.get(OTHER_ERRORS, REFUSED))
    return route.errors.get(error, known)


def any_number_problem(function: PublicFunction) -> str:
    """Report a parameter for any number of arguments, which no interface can pass; empty if there is none."""
    many = next((one.name for one in function.parameters if one.is_any_number), "")
    what = f"{many} of {function.name} stands for any number of arguments, which no interface can pass"
    return f"{what}; call a function that takes a list" if many else ""


def route_problems(
    route: Route, function: PublicFunction, options: Mapping[str, str] = _NO_OPTIONS
) -> list[str]:
    """Return the faults of a route, as far as its function is known."""
    if many := any_number_problem(function):
        return [many]
    method, names = method_of(route, function), [one.name for one in function.parameters]
    in_path = _IN_BRACES.findall(route.template)
    problems = [
        f"the path names {one}, and {function.name} has {', '.join(names) or 'no parameter'}"
        for one in in_path
        if one not in names
    ]
    if len(set(in_path)) < len(in_path):
        problems.append("the path names a parameter twice; name it once")
    problems += [f"{one} {_ONE_OF_OPTIONS} the path" for one in in_path if one in options]
    requested = parameters_of_route(route, function, options)
    problems += _request_problems(function, route.defaults, options, requested, remote=True)
    if method == "GET" and (changing := sorted(set(function.effects) & _CHANGING)):
        problems.append(
            f"{function.name} has effects ({', '.join(changing)}), and GET changes nothing; state `method`, such as POST"
        )
    return [*problems, *_error_problems(route.errors, function)]


_ONE_OF_OPTIONS = "is one of the `options`, which no request gives; leave it out of"


def _request_problems(
    function: PublicFunction,
    defaults: Mapping[str, str],
    options: Mapping[str, str],
    requested: Sequence[RequestParameter],
    *,
    remote: bool,
) -> Iterator[str]:
    """Report parameters of a function that requests and stated defaults cannot give.

    Args:
        function: The function.
        defaults: The stated defaults, by parameter.
        options: The options of the program.
        requested: The parameters of the request.
        remote: Whether requests come from other machines, so that none may name a file.
    """
    yield from _default_problems(defaults, function)
    yield from (f"{name} {_ONE_OF_OPTIONS} `defaults`" for name in defaults if name in options)
    for one in requested:
        if told := _parameter_problem(one, function, remote=remote):
            yield f"the parameter {one.parameter.name} of {function.name}: {told}"


def _parameter_problem(one: RequestParameter, function: PublicFunction, *, remote: bool) -> str:
    kind = one.parameter.type
    if not kind:
        return "it has no type; state it in `provides`"
    if not one.is_in_requests:
        return _option_problem(one, function)
    if remote and foreign_to_documents(kind, function.classes or {}, paths=False) == "Path":
        return (
            "a client would name files of the server; take the content, or a name that the function looks up"
        )
    if one.place == "body":
        name = foreign_to_documents(kind, function.classes or {})
        return f"{name} has no form in JSON; take a type that JSON has, or a text of it" if name else ""
    if one.place == "path" and is_array(kind):
        return "a part of the path is one word; leave it out of the path"
    told = value_problem(kind, one.default, function.classes)
    return f"{told.partition(';')[0]}; let the `method` be POST, whose body is JSON" if told else ""


def _option_problem(one: RequestParameter, function: PublicFunction) -> str:
    """Return why a parameter cannot be an option of a server; empty if it can."""
    kind = one.parameter.type
    if is_array(kind):
        return f"{kind} is no word, so it cannot be one of the `options`"
    return value_problem(kind, one.default, function.classes).partition(";")[0]


def option_problems(options: Mapping[str, str], called: Sequence[PublicFunction]) -> Iterator[str]:
    """Report faults of a server's options.

    Args:
        options: The default of each option, by parameter.
        called: The functions that the server calls.
    """
    for name, word in options.items():
        types = {one.type for function in called for one in function.parameters if one.name == name}
        known = sorted({one.name for function in called for one in function.parameters})
        if not types:
            listed = ", ".join(known) or "none"
            yield f"no function that is called has a parameter {name}; {did_you_mean(name, known)}there is {listed}"
        elif len(types) > 1:
            yield f"{name} is {' here and '.join(sorted(types))} there; one option has one type"
        if option_name(name) in SERVER_RESERVED:
            yield f"every program has an option --{option_name(name)} of its own; rename the parameter"
        if not word:
            yield f"{name} has no default; a program starts without being told anything"


def option_name(parameter: str) -> str:
    """Return the name of a server's option, without `--`."""
    return parameter.replace("_", "-").lower()


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


def _error_problems(stated: Iterable[str], function: PublicFunction) -> Iterator[str]:
    """Report errors in an interface that the contract of its function does not declare."""
    for name in stated if function.returns is not None else ():
        if name not in (*function.errors, OTHER_ERRORS):
            listed = ", ".join(function.errors) or "none"
            yield f"{function.name} has no error {name}; {did_you_mean(name, function.errors)}its contract has {listed}"


def api_problems(api: HttpApi, functions: Mapping[str, PublicFunction]) -> Iterator[tuple[int, str]]:
    """Report routes whose path and method an earlier route or the API itself has: the route's position, and the message."""
    seen: dict[tuple[str, str], str] = {("GET", OPENAPI_PATH): "the description of the API"}
    for place, route in enumerate(api.routes):
        if route.calls in functions:
            method = method_of(route, functions[route.calls])
            key = (method, _IN_BRACES.sub("{}", route.template))
            if key in seen:
                yield place, f"{method} {route.template} is {seen[key]} already; choose another `path`"
            seen.setdefault(key, f"the route of {route.calls}")


def tool_problems(server: McpServer, place: int, function: PublicFunction) -> list[str]:
    """Return the faults of a tool, as far as its function is known."""
    if many := any_number_problem(function):
        return [many]
    tool = server.tools[place]
    problems = list[str]()
    if tool.called in [one.called for one in server.tools[:place]]:
        problems.append(f"{tool.called} is the name of an earlier tool; give it another `name`")
    requested = parameters_of_tool(tool.defaults, function, server.options)
    return [
        *problems,
        *_request_problems(function, tool.defaults, server.options, requested, remote=False),
    ]


def parameters_of_tool(
    defaults: Mapping[str, str], function: PublicFunction, options: Mapping[str, str] = _NO_OPTIONS
) -> list[RequestParameter]:
    """Return the arguments of a tool: members of one JSON object, except for the options of the program."""
    return [_requested(one, "body", defaults, options) for one in function.parameters]


class Use(NamedTuple):
    """A function that an interface calls.

    Args:
        field: The path of the field in the interfaces.
        shown: Its name in messages.
        calls: The name of the function.
        problems: Returns the faults of the interface, as far as the function is known.
        defaults: Defaults of parameters, as words; for a server all its options, also those of other functions.
    """

    field: str
    shown: str
    calls: str
    problems: Callable[[PublicFunction], Sequence[str]]
    defaults: Mapping[str, str] = MappingProxyType({})


def uses_of(interfaces: Interfaces) -> list[Use]:
    """Return all function calls of interfaces."""
    found = [
        Use(
            field,
            f"the command `{command.line(one)}`",
            one.calls,
            partial(use_problems, one),
            {word.parameter: word.default for word in one.parameters if word.default},
        )
        for field, command, one in _commands(interfaces)
    ]
    if http := interfaces.http:
        found += [
            Use(
                f"http.routes[{place}]",
                f"the route `{one.template}`",
                one.calls,
                partial(route_problems, one, options=http.options),
                {**http.options, **one.defaults},
            )
            for place, one in enumerate(http.routes)
        ]
    if mcp := interfaces.mcp:
        found += [
            Use(
                f"mcp.tools[{place}]",
                f"the tool `{one.called}`",
                one.calls,
                partial(tool_problems, mcp, place),
                {**mcp.options, **one.defaults},
            )
            for place, one in enumerate(mcp.tools)
        ]
    return found


def interface_problems(
    interfaces: Interfaces, provided: Sequence[PublicName], with_effects: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Return the faults of interfaces before there are contracts, each with its field.

    Args:
        interfaces: The interfaces of the spec.
        provided: The public names of all tasks.
        with_effects: The functions of tasks whose sketch states effects.
    """
    stated = {name_of(public): public for public in reversed(provided)}
    functions = {name: one for name, public in stated.items() if (one := function_of_signature(public))}
    found = list(_double_names(interfaces))
    for one in uses_of(interfaces):
        if one.calls not in functions:
            found.append((f"{one.field}.calls", _not_provided(one.calls, stated)))
        else:
            found += [(one.field, message) for message in one.problems(functions[one.calls])]
    for field, server in (("http", interfaces.http), ("mcp", interfaces.mcp)):
        if server:
            called = [functions[one.calls] for one in server.uses if one.calls in functions]
            found += [(f"{field}.options", told) for told in option_problems(server.options, called)]
    if interfaces.http:
        for place, route in enumerate(interfaces.http.routes):
            is_get = route.calls in functions and method_of(route, functions[route.calls]) == "GET"
            if is_get and not route.method and route.calls in with_effects:
                told = f"the task of {route.calls} has effects, and GET changes nothing; state `method`, POST or GET"
                found.append((f"http.routes[{place}].method", told))
        for place, told in api_problems(interfaces.http, functions):
            found.append((f"http.routes[{place}].path", told))
    return found


def _double_names(interfaces: Interfaces) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    for field, _, one in _commands(interfaces):
        if isinstance(one, Subcommand):
            if one.name in names:
                yield f"{field}.name", f"{one.name} is the name of an earlier subcommand; choose another"
            names.add(one.name)


def _commands(interfaces: Interfaces) -> Iterator[tuple[str, ConsoleCommand, FunctionUse]]:
    """Yield each subcommand with its field, or the command if it has none."""
    if command := interfaces.command:
        for place, one in enumerate(command.uses):
            yield f"command.subcommands[{place}]" if command.subcommands else "command", command, one


def interface_warnings(interfaces: Interfaces) -> list[tuple[str, str]]:
    """Return warnings with their fields: a result and an error with the same exit code."""
    return [
        (
            f"{field}.errors",
            f"exit code {rule.code} of `{command.line(one)}` says that {exit_condition(rule)}, and that "
            f"{'another error' if name == OTHER_ERRORS else name} was raised: a script cannot tell them apart; give "
            "one another code",
        )
        for field, command, one in _commands(interfaces)
        for rule in one.exits
        for name, code in one.errors.items()
        if code == rule.code
    ]


def exit_condition(rule: ExitRule) -> str:
    """Describe the condition of an exit rule."""
    return f"{f'`{rule.of}`' if rule.of else 'the result'} is {'not empty' if rule.when == 'filled' else 'empty'}"


def _not_provided(name: str, stated: Mapping[str, PublicName]) -> str:
    if name in stated:
        return f"{name} is provided as a class; name a function, with its parameters in `provides`"
    functions = [one for one, public in stated.items() if "(" in public]
    like = did_you_mean(name, functions)
    return f"no task provides the function {name}; {like}tasks provide {', '.join(functions) or 'none'} in `acceptance`"


def use_problems(use: FunctionUse, function: PublicFunction) -> list[str]:
    """Return the faults of a command or subcommand, as far as its function is known."""
    known = [one.name for one in function.parameters]
    problems = [
        f"{function.name} has no parameter {one.parameter}; {did_you_mean(one.parameter, known)}it has "
        f"{', '.join(known) or 'none'}"
        for one in use.parameters
        if one.parameter not in known
    ]
    if double := _first_double([one.parameter for one in use.parameters]):
        problems.append(f"the parameter {double} is mapped twice; map it once")
    if many := any_number_problem(function):
        return [*problems, many]
    words = words_of(use, function)
    problems += [
        f"the parameter {word.parameter.name} of {function.name}: {problem}"
        for word in words
        if (problem := word_problem(word, function.classes))
    ]
    return [*problems, *_line_problems(words), *_result_problems(use, function)]


def unfit_contracts(
    interfaces: Interfaces | None,
    contracts: Mapping[str, MicroModuleContract],
    others: Sequence[MicroModuleContract] = (),
) -> list[str]:
    """Report contracts of a plan that the product's interfaces cannot call.

    Args:
        interfaces: The product's interfaces.
        contracts: The contracts of the plan, by name.
        others: Contracts whose classes they may name.
    """
    known = [*contracts.values(), *others]
    return [
        f"modules.{one.calls}: {one.shown} calls it, and {problem}"
        for one in (uses_of(interfaces) if interfaces else ())
        if one.calls in contracts
        for problem in one.problems(function_of_contract(contracts[one.calls], known))
    ]


def _first_double(names: Sequence[str]) -> str:
    return next((name for place, name in enumerate(names) if name in names[:place]), "")


def _line_problems(words: Sequence[CommandWord]) -> Iterator[str]:
    """Report conflicts between the words of one command line."""
    options = [one.name for one in words if one.place == "option"]
    for name in options:
        if name in RESERVED or name.removeprefix("no-") in RESERVED:
            yield f"every command has an option --{name} of its own; give the parameter another `name`"
    options += [f"no-{one.name}" for one in words if one.flag]
    if double := _first_double(options):
        yield f"two options are called --{double}; give one another `name`"
    if double := _first_double([one.short for one in words if one.short]):
        yield f"two options are called -{double}; give one another `short`"
    for one in words:
        if one.short and one.place != "option":
            yield f"{one.parameter.name} is no option, so it cannot be called -{one.short}; leave `short` out"
    if sum(one.place == "stdin" for one in words) > 1:
        yield "two parameters come from stdin; a command has only one, so let the other name a file"
    arguments = [one for one in words if one.place == "argument"]
    for before, after in pairwise(arguments):
        if before.many or not before.needed:
            yield (
                f"after {before.name}, which takes any number of words or none, nothing tells where {after.name} begins; "
                "make one of them an option"
            )


def _result_problems(use: FunctionUse, function: PublicFunction) -> Iterator[str]:
    if function.returns is None:
        return
    parts = result_parts(function)
    shown = [*use.shows, *(rule.of for rule in use.exits if rule.of)]
    for name in shown:
        if name not in parts:
            listed = ", ".join(parts) or "none"
            yield f"the result of {function.name} has no part {name}; {did_you_mean(name, parts)}it has {listed}"
    if any(not rule.of for rule in use.exits) and len(function.returns) != 1:
        yield f"{function.name} has {len(function.returns)} outputs; `of` must name one for an exit code"
    yield from _error_problems(use.errors, function)


def result_parts(function: PublicFunction) -> list[str]:
    """Return the outputs of a function, and the fields of a single output that is a record."""
    returns, classes = function.returns or {}, function.classes or {}
    fields: list[str] = []
    if len(returns) == 1:
        (kind,) = returns.values()
        if kind in classes and class_names(kind) == (kind,):
            fields = [one.name for one in classes[kind].statement.fields]
    return [*returns, *fields]
