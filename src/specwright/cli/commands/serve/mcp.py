"""`specwright mcp`: the gate as tools of a coding agent (design: mcp-server)."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from specwright.errors import InputError
from specwright.gate.terminal.output import note

Root = Annotated[Path, typer.Argument(metavar="[DIR]", help="The directory that holds the modules to judge.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(mcp)


def mcp(root: Root = Path()) -> None:
    """Serve the gate to a coding agent, over MCP.

    MCP is the Model Context Protocol. An agent starts this command and speaks to it over
    standard input and output; docs/mcp.md says how Claude Code, Codex CLI and Cursor do.
    """
    try:
        from specwright.mcp_server import serve
    except ImportError as error:
        raise InputError(
            f"the MCP server needs the package {error.name}, which is not installed",
            remedy="pip install 'specwright[mcp]'",
        ) from error
    if sys.stdin.isatty():
        note(
            "An agent speaks to this over standard input; docs/mcp.md says how it starts it. Ctrl-C ends it."
        )
    serve(root)
