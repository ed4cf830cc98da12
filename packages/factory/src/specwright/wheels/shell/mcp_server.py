"""The MCP server of a product, made by the MCP SDK from the types of its functions: each tool calls one.

An error that the contract declares is a tool error with its name and message. Any other is one with an id, under which
stderr has the traceback.
"""

import json
from collections.abc import Mapping
from typing import Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from .calls import document
from .models import given, value_problem
from .served import served

__all__ = ["server"]


def server(stated: Mapping[str, Any] | None = None, options: Mapping[str, str] | None = None) -> Server:
    """The server of a product, which speaks every revision of the protocol that its SDK does.

    Args:
        stated: The interfaces of the product; those of this package if none are given.
        options: Words for the parameters that no call gives, where they are not the defaults.

    Raises:
        ValueProblem: one of the options is no value of its type.
    """
    stated = document() if stated is None else stated
    uses = {one.use["name"]: one for one in served(stated, "mcp", options)}
    arguments = {name: one.arguments("body") for name, one in uses.items()}
    listed = types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=one.use["help"],
                input_schema=arguments[name].model_json_schema(),
                output_schema=one.outputs().model_json_schema(),
                annotations=types.ToolAnnotations(read_only_hint=one.function.is_pure, open_world_hint=False),
            )
            for name, one in uses.items()
        ]
    )

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        """The tools, one for each function."""
        return listed

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The result of a function, or what is wrong with the arguments."""
        if params.name not in uses:
            told = f"Unknown tool: {params.name[:100]!r}; tools are {', '.join(uses)}"
            raise MCPError(types.INVALID_PARAMS, told)
        try:
            values = given(arguments[params.name].model_validate(params.arguments or {}))
        except ValidationError as error:
            return _told(f"the arguments of {params.name} are wrong: {value_problem(error.errors())}")
        outcome = await uses[params.name].call(values)
        return _told(f"{outcome.error}: {outcome.text}" if outcome.error else outcome.text, outcome.outputs)

    return Server(
        stated["mcp"]["name"],
        version=stated["version"],
        instructions=stated["mcp"]["help"],
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _told(text: str, result: dict[str, Any] | None = None) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=_writable(text))],
        structured_content=result and json.loads(_writable(json.dumps(result, ensure_ascii=False))),
        is_error=result is None,
    )


def _writable(text: str) -> str:
    """The same without half of a character pair, which file names have and no message can carry."""
    return text.encode("utf-8", "replace").decode()
