"""The server: what a client asks, answered by the tools, over standard input and output or over HTTP on this machine
(design: mcp-server)."""

import hmac
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import anyio
import uvicorn
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from specwright import __version__
from specwright.domain.base.record import validation_messages
from specwright.domain.base.text import did_you_mean
from specwright.errors import InputError
from specwright.mcp_server.calls import CallError, CallLimits, CallProcesses
from specwright.mcp_server.roots import Roots
from specwright.mcp_server.tools import INSTRUCTIONS, Tool, offered, tool_named

HOST = "127.0.0.1"
PATH = "/mcp"
_MOST_SESSIONS = 64
_MOST_BODY = 4 * 1024 * 1024


class ServerOptions(NamedTuple):
    """How the server works.

    Args:
        roots: The directories in which it may read and write.
        limits: What its calls may take.
        read_only: Whether tools that write are left out.
        writes_tree: Whether `edit_files` changes the source tree too, and not files of module directories alone.
        token: Without which no HTTP request is answered; empty if there is none.
    """

    roots: Roots
    limits: CallLimits = CallLimits()
    read_only: bool = False
    writes_tree: bool = False
    token: str = ""


def serve_stdio(options: ServerOptions) -> None:
    """Serve one client over standard input and output, until it closes them."""
    with _scratch() as scratch:
        _end_at_signals(scratch)
        anyio.run(_serve_stdio, _server(options, scratch))


async def _serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


def serve_http(options: ServerOptions, port: int) -> None:
    """Serve clients over streamable HTTP on the loopback interface, until a signal.

    Args:
        options: How the server works.
        port: On which; 0 for any that is free.

    Raises:
        InputError: the port cannot be had.
    """
    with _scratch() as scratch, _listening(port) as listener:
        port = listener.getsockname()[1]
        hosts = [f"{name}:{port}" for name in (HOST, "localhost")]
        app: ASGIApp = _server(options, scratch).streamable_http_app(
            streamable_http_path=PATH,
            max_sessions=_MOST_SESSIONS,
            max_request_body_size=_MOST_BODY,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=hosts,
                allowed_origins=[f"http://{host}" for host in hosts],
            ),
        )
        if options.token:
            app = BearerToken(app, options.token)
        config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=2)
        print(f"specwright mcp: http://{HOST}:{port}{PATH}", file=sys.stderr, flush=True)  # noqa: T201
        uvicorn.Server(config).run(sockets=[listener])


class BearerToken:
    """Lets a request pass only with the token.

    Args:
        app: What answers it then.
        token: The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI has it."""
        given = b"".join(value for name, value in scope.get("headers", ()) if name == b"authorization")
        if scope["type"] != "http" or hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        response = PlainTextResponse(
            "The token is missing or wrong.\n", 401, headers={"WWW-Authenticate": "Bearer"}
        )
        await response(scope, receive, send)


def _server(options: ServerOptions, scratch: Path) -> Server[Any]:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="specwright mcp: %(message)s")
    calls = CallProcesses(options.roots, scratch, options.limits, writes_tree=options.writes_tree)
    tools = offered(read_only=options.read_only)

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in tools])

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = tool_named(params.name, read_only=options.read_only)
        if tool is None:
            known = [one.name for one in tools]
            raise MCPError(
                types.INVALID_PARAMS,
                f"Unknown tool: {params.name[:100]!r}; {did_you_mean(params.name[:100], known)}tools are {', '.join(known)}",
            )
        try:
            given = tool.arguments.model_validate(params.arguments or {}).to_json()
            result = await calls.run(tool.name, given, context.session.report_progress)
        except ValidationError as error:
            return _failed(f"the arguments of {tool.name} are wrong: {'; '.join(validation_messages(error))}")
        except CallError as error:
            return _failed(str(error))
        text = tool.result.model_validate(result).model_dump_json()
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=result
        )

    return Server(
        "specwright",
        version=__version__,
        title="Specwright",
        description="The ship gate: does a module keep its contract?",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_short(tool.arguments.model_json_schema()),
        output_schema=_short(tool.result.model_json_schema(mode="serialization")),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.destroys or not tool.writes,
            open_world_hint=False,
        ),
    )


def _short(schema: Any) -> Any:
    """A schema without the titles that pydantic makes of names: a client reads all schemas before the first call."""
    if isinstance(schema, list):
        return [_short(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    # a property may be called `title`; its schema is an object
    return {
        name: _short(one)
        for name, one in cast("dict[str, Any]", schema).items()
        if name != "title" or not isinstance(one, str)
    }


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


@contextmanager
def _scratch() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="specwright-mcp-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _listening(port: int) -> Generator[socket.socket]:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except OSError as error:
            raise InputError(
                f"the port cannot be had: {error.strerror}",
                where=f"{HOST}:{port}",
                remedy="--port 0 takes a free one",
            ) from error
        yield listener


def _end_at_signals(scratch: Path) -> None:
    """End at once: a thread may wait for standard input, and calls end with the server."""

    def end(number: int, frame: object) -> None:
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(128 + number)

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, end)
