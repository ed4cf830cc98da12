"""`interface.json`: the interfaces of a product, rendered from its contracts (design: release).

The same contracts give the same document. The code that reads it is the same in every product.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.interfaces.records import (
    CommandWord,
    ConsoleCommand,
    FunctionUse,
    HttpApi,
    Interfaces,
    McpServer,
    PublicFunction,
    Route,
    Subcommand,
    Tool,
    function_of_contract,
    words_of,
)
from specwright.domain.interfaces.rules import (
    RequestParameter,
    method_of,
    option_name,
    parameters_of_route,
    parameters_of_tool,
    status_of,
    uses_of,
)
from specwright.errors import RefusedError


class ProductHead(NamedTuple):
    """The product's data in an interface.

    Args:
        package: Its import name.
        distribution: Its distribution name.
        version: Its version.
        summary: Its description, in one line.
    """

    package: str
    distribution: str
    version: str
    summary: str


def functions_of(
    interfaces: Interfaces, contracts: Sequence[MicroModuleContract]
) -> dict[str, PublicFunction]:
    """Return the functions that interfaces call, by name.

    Raises:
        RefusedError: no contract has a function, or its contract does not fit its interface.
    """
    by_name = {one.name: one for one in contracts}
    found: dict[str, PublicFunction] = {}
    for one in uses_of(interfaces):
        if one.calls not in by_name:
            raise RefusedError(
                f"{one.shown} calls {one.calls}, which no module of this release has",
                remedy="release the task that provides it as well",
            )
        function = found.get(one.calls) or function_of_contract(by_name[one.calls], contracts)
        if problems := one.problems(function):
            raise RefusedError(
                f"{one.shown} does not fit the contract of {one.calls}: {problems[0]}",
                remedy="change the interface or the contract by `specwright change`",
            )
        found[one.calls] = function
    return found


def interface_document(
    interfaces: Interfaces, contracts: Sequence[MicroModuleContract], head: ProductHead
) -> dict[str, Any]:
    """Return the content of `interface.json`.

    Args:
        interfaces: The approved interfaces.
        contracts: The contracts of the released modules.
        head: The product's data.

    Raises:
        RefusedError: as `functions_of`.
    """
    functions = functions_of(interfaces, contracts)
    document: dict[str, Any] = {
        **head._asdict(),
        "functions": {name: _function(one) for name, one in sorted(functions.items())},
    }
    if interfaces.command:
        document["command"] = _command(interfaces.command, functions, head)
    if interfaces.http:
        document["http"] = _server(interfaces.http, functions, head, _route)
    if interfaces.mcp:
        document["mcp"] = _server(interfaces.mcp, functions, head, _tool)
    return document


def _command(
    command: ConsoleCommand, functions: Mapping[str, PublicFunction], head: ProductHead
) -> dict[str, Any]:
    return {
        "name": command.name,
        "help": command.help or (functions[command.calls].purpose if command.calls else head.summary),
        "uses": [_use(one, functions[one.calls]) for one in command.uses],
    }


def _server(
    server: HttpApi | McpServer,
    functions: Mapping[str, PublicFunction],
    head: ProductHead,
    rendered: Callable[[Any, PublicFunction, Mapping[str, str]], dict[str, Any]],
) -> dict[str, Any]:
    return {
        "name": server.name,
        "help": server.help or head.summary,
        "options": _options(server.options, [functions[one.calls] for one in server.uses]),
        "uses": [rendered(one, functions[one.calls], server.options) for one in server.uses],
    }


def _options(options: Mapping[str, str], called: Sequence[PublicFunction]) -> list[dict[str, str]]:
    """Return the options of a server, each described as in the first function that takes it."""
    found: list[dict[str, str]] = []
    for name, default in options.items():
        function, one = next((f, one) for f in called for one in f.parameters if one.name == name)
        found.append(
            {
                "parameter": name,
                "name": option_name(name),
                "calls": function.name,
                "type": one.type,
                "default": default,
                "help": "; ".join(one.about),
            }
        )
    return found


def _route(route: Route, function: PublicFunction, options: Mapping[str, str]) -> dict[str, Any]:
    return {
        "method": method_of(route, function),
        "path": route.template,
        "calls": route.calls,
        "help": route.help or function.purpose,
        "parameters": [_parameter(one) for one in parameters_of_route(route, function, options)],
        "errors": {name: status_of(route, name) for name in function.errors},
    }


def _parameter(one: RequestParameter) -> dict[str, Any]:
    return {
        "name": one.parameter.name,
        "type": one.parameter.type,
        "place": one.place,
        "default": one.default,
        "needed": one.needed,
        "about": "; ".join(one.parameter.about),
    }


def _tool(tool: Tool, function: PublicFunction, options: Mapping[str, str]) -> dict[str, Any]:
    raises = "".join(f"\n{name}: {when}" for name, when in function.errors.items())
    return {
        "name": tool.called,
        "calls": tool.calls,
        "help": (tool.help or function.purpose) + (f"\n\nErrors:{raises}" if raises else ""),
        "parameters": [_parameter(one) for one in parameters_of_tool(tool.defaults, function, options)],
    }


def _function(function: PublicFunction) -> dict[str, Any]:
    return {
        "module": function.name,
        "purpose": function.purpose,
        "is_async": function.is_async,
        "effects": list(function.effects),
        "outputs": dict(function.returns or {}),
        "errors": dict(function.errors),
        "classes": {
            name: {
                "module": stated.module,
                "kind": stated.statement.kind,
                "fields": [[one.name, one.type, not one.default] for one in stated.statement.fields],
            }
            for name, stated in sorted((function.classes or {}).items())
        },
    }


def _use(one: FunctionUse, function: PublicFunction) -> dict[str, Any]:
    return {
        "subcommand": one.name if isinstance(one, Subcommand) else "",
        "calls": one.calls,
        "help": one.help or function.purpose,
        "words": [_word(word) for word in words_of(one, function)],
        "shows": one.shows,
        "exits": [{"code": rule.code, "when": rule.when, "of": rule.of} for rule in one.exits],
        "errors": {name: one.error_code(name) for name in function.errors},
        "other_errors": one.other_errors,
    }


def _word(word: CommandWord) -> dict[str, Any]:
    return {
        "parameter": word.parameter.name,
        "type": word.parameter.type,
        "place": word.place,
        "name": word.name,
        "metavar": word.metavar,
        "content": word.content,
        "default": word.default,
        "python_default": word.parameter.default,
        "help": word.help,
        "needed": word.needed,
        "many": word.many,
        "flag": word.flag,
        "short": word.short,
    }
