"""`specwright mcp`: the gate as tools of a coding agent (design: mcp-server)."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from specwright.errors import InputError
from specwright.gate.terminal.output import note

TOKEN = "SPECWRIGHT_MCP_TOKEN"  # noqa: S105 - the name of a variable
"""The variable with the token that every HTTP request must carry."""

Places = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[DIR]...",
        help="The directories in which the tools may read and write; the working directory if left out.",
    ),
]
Http = Annotated[
    bool,
    typer.Option("--http", help="Serve streamable HTTP on 127.0.0.1 instead of standard input and output."),
]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="For --http; 0 takes one that is free.")]
CallSeconds = Annotated[
    float, typer.Option("--seconds", min=1, max=86_400, help="After which a call is ended.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Leave out the tools that write files.")]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Let `edit_files` change the source tree too, and not files of module directories alone.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mcp)


def mcp(
    places: Places = None,
    http: Http = False,
    port: Port = 8765,
    seconds: CallSeconds = 300,
    read_only: ReadOnly = False,
    write: Write = False,
) -> None:
    """Serve the gate to a coding agent, over MCP.

    MCP is the Model Context Protocol. docs/mcp.md says how Claude Code, Codex CLI and Cursor
    start it. If SPECWRIGHT_MCP_TOKEN is set, every HTTP request must carry it as a bearer token.
    """
    if read_only and write:
        raise InputError("--read-only and --write exclude each other", remedy="give one of them")
    try:
        from specwright.mcp_server.calls import CallLimits
        from specwright.mcp_server.roots import Roots
        from specwright.mcp_server.server import ServerOptions, serve_http, serve_stdio
    except ImportError as error:
        raise InputError(
            f"the MCP server needs the package {error.name}, which is not installed",
            remedy="pip install 'specwright[mcp]'",
        ) from error
    options = ServerOptions(
        Roots(places or [Path()]),
        CallLimits(seconds),
        read_only=read_only,
        writes_tree=write,
        token=os.environ.get(TOKEN, ""),
    )
    if http:
        serve_http(options, port)
        return
    if sys.stdin.isatty():
        note(
            "A client speaks to this over standard input; docs/mcp.md says how agents start it. Ctrl-C ends it."
        )
    serve_stdio(options)
