"""The MCP server of a product: each tool calls one function, over standard input and output.

Arguments are checked by the contract, as those of the command are. An error that the contract declares is a tool error with
its name and message; any other is one with an id, under which stderr has the traceback.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from .calls import Function, ServerOptions, document, escaped, extra_missing, log_fault
from .results import json_text, json_value
from .scalars import ValueProblem
from .types import read_json

__all__ = ["ToolCalls", "main"]


class ToolCalls:
    """Calls of a product's functions by the names of tools, without the protocol.

    Args:
        stated: The interfaces of the product.
        options: Words for the parameters that no call gives, where they are not the defaults.

    Raises:
        ValueProblem: one of these is no value of its type.
    """

    def __init__(self, stated: Mapping[str, Any], options: Mapping[str, str] | None = None) -> None:
        self.tools: dict[str, Mapping[str, Any]] = {one["name"]: one for one in stated["mcp"]["tools"]}
        self._functions = {name: Function(name, one) for name, one in stated["functions"].items()}
        self._options = ServerOptions(stated["mcp"]["options"], self._functions, options)

    def call(self, name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """The result as a text and as an object; the object is None if the text says what went wrong.

        Args:
            name: Of a tool that there is.
            given: The arguments, as a parser of JSON gives them.
        """
        tool = self.tools[name]
        function = self._functions[tool["calls"]]
        try:
            outputs = function.call(_arguments(tool, function, given, self._options))
            text = json_text(outputs) if outputs else "null"
            return _writable(text), _writable({one: json_value(value) for one, value in outputs.items()})
        except ValueProblem as problem:
            return _writable(f"the arguments of {name} are wrong: {problem}"), None
        except (Exception, SystemExit) as error:  # what the function raises, declared or not
            if declared := function.declared(error):
                return _writable(f"{declared}: {error}"), None
            return f"a fault of the server; its log has the id {log_fault()}", None


def _arguments(
    tool: Mapping[str, Any], function: Function, given: Mapping[str, Any], options: ServerOptions
) -> dict[str, Any]:
    known = {one["name"]: one for one in tool["parameters"] if one["place"] != "server"}
    for name in given:
        if name not in known:
            raise ValueProblem(
                f"{name[:100]!r}: there is no such argument; known are {', '.join(known) or 'none'}"
            )
    of_server = [one for one in tool["parameters"] if one["place"] == "server"]
    found = {one["name"]: options.value(function, one["name"], one["type"]) for one in of_server}
    try:
        values = _exact(given)
        for name, one in known.items():
            if name in values:
                found[name] = function.types.from_data(one["type"], values[name], name)
            elif one["default"]:
                found[name] = function.default(one["type"], one["default"])
            elif one["needed"]:
                raise ValueProblem(f"{name}: it is missing")
    except RecursionError as error:
        raise ValueProblem("they are nested too deeply") from error
    return found


def _exact(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with exact numbers, as those of every other document."""
    try:
        return read_json(json.dumps(dict(given)))
    except ValueError as error:  # such as NaN, which a client's JSON may have
        raise ValueProblem(f"they are not JSON: {error}") from error


def _writable(value: Any) -> Any:
    """The same with half of a character pair, which no message can carry, as its escape: file names have such."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case list():
            return [_writable(one) for one in cast("list[Any]", value)]
        case dict():
            return {_writable(name): _writable(one) for name, one in cast("dict[str, Any]", value).items()}
        case _:
            return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one client over standard input and output, until it closes them; the exit code.

    Args:
        arguments: Without the name of the program; by default those of the process.
    """
    stated = document()
    name = stated["mcp"]["name"]
    parser = argparse.ArgumentParser(
        prog=name, description=escaped(stated["mcp"]["help"]), allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{name} {stated['version']}")
    ServerOptions.add_to(parser, stated["mcp"]["options"])
    chosen = parser.parse_args(arguments)
    try:
        calls = ToolCalls(stated, ServerOptions.words(chosen, stated["mcp"]["options"]))
    except ValueProblem as problem:
        parser.error(str(problem))
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ImportError:
        return extra_missing(name, stated["distribution"], "mcp")
    server = _server(stated, calls)

    async def serve() -> None:
        async with stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    try:
        anyio.run(serve)
    except KeyboardInterrupt:
        return 130
    return 0


def _server(stated: Mapping[str, Any], calls: ToolCalls) -> Any:
    import anyio
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    # nothing shows that functions may run beside each other
    one_at_a_time = anyio.CapacityLimiter(1)

    async def list_tools(context: Any, params: Any) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=one["name"],
                    description=one["description"],
                    input_schema=one["input_schema"],
                    output_schema=one["output_schema"],
                    annotations=types.ToolAnnotations(
                        read_only_hint=one["reads_only"], open_world_hint=False
                    ),
                )
                for one in calls.tools.values()
            ]
        )

    async def call_tool(context: Any, params: Any) -> Any:
        if params.name not in calls.tools:
            told = f"Unknown tool: {params.name[:100]!r}; tools are {', '.join(calls.tools)}"
            raise MCPError(types.INVALID_PARAMS, told)
        given: dict[str, Any] = params.arguments or {}
        text, result = await anyio.to_thread.run_sync(
            lambda: calls.call(params.name, given), limiter=one_at_a_time, abandon_on_cancel=True
        )
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content=result,
            is_error=result is None,
        )

    return Server(
        stated["mcp"]["name"],
        version=stated["version"],
        instructions=stated["mcp"]["help"],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
