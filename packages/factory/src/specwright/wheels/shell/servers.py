"""The programs that start the servers of a product."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from .calls import ServerOptions, document, escaped, extra_missing, signals_end
from .scalars import ValueProblem

__all__ = ["http", "mcp"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST_CONNECTIONS = 128
_END_SECONDS = 5
_MEBIBYTE = 1024 * 1024


def http(arguments: Sequence[str] | None = None) -> int:
    """Serve the HTTP API until a signal, on the loopback interface unless `--host` says otherwise; the exit code.

    Args:
        arguments: Without the name of the program; by default those of the process.
    """
    stated = document()
    parser = _parser(stated, "http")
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at; this machine alone by default"
    )
    parser.add_argument("--port", type=int, default=8000, help="0 for one that is free; default: 8000")
    parser.add_argument(
        "--most-body",
        type=int,
        default=_MEBIBYTE,
        metavar="BYTES",
        help=f"of the body of a request; default: {_MEBIBYTE}",
    )
    chosen = parser.parse_args(arguments)
    try:
        import uvicorn

        from .http_api import application
    except ImportError:
        return extra_missing(stated["http"]["name"], stated["distribution"], "interfaces")
    try:
        found = application(
            stated,
            ServerOptions.words(chosen, stated["http"]["options"]),
            most_body=chosen.most_body,
            hosts=_LOOPBACK if chosen.host in _LOOPBACK else (),
        )
    except ValueProblem as problem:
        parser.error(str(problem))
    with signals_end():
        uvicorn.run(
            found,
            host=chosen.host,
            port=chosen.port,
            ws="none",
            lifespan="off",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_END_SECONDS,
        )
    return 0


def mcp(arguments: Sequence[str] | None = None) -> int:
    """Serve one MCP client over standard input and output, until it closes them; the exit code.

    Args:
        arguments: Without the name of the program; by default those of the process.
    """
    stated = document()
    parser = _parser(stated, "mcp")
    chosen = parser.parse_args(arguments)
    try:
        import anyio
        from mcp.server.stdio import stdio_server

        from .mcp_server import server
    except ImportError:
        return extra_missing(stated["mcp"]["name"], stated["distribution"], "interfaces")
    try:
        found = server(stated, ServerOptions.words(chosen, stated["mcp"]["options"]))
    except ValueProblem as problem:
        parser.error(str(problem))

    async def serve() -> None:
        """Answer on standard input and output until the client leaves."""
        async with stdio_server() as (reads, writes):
            await found.run(reads, writes, found.create_initialization_options())

    try:
        anyio.run(serve)
    except KeyboardInterrupt:
        return 130
    return 0


def _parser(stated: Mapping[str, Any], kind: str) -> argparse.ArgumentParser:
    name, description = stated[kind]["name"], escaped(stated[kind]["help"])
    parser = argparse.ArgumentParser(prog=name, description=description, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{name} {stated['version']}")
    ServerOptions.add_to(parser, stated[kind]["options"])
    return parser
