"""The page for coding agents: what it tells a person to paste is valid and starts the real server."""

import json
import re
import tomllib
from typing import Any, cast

import anyio
import typer

from ship_gate.mcp_server import server_of
from specwright.cli.main import app
from testkit.paths import ROOT

PAGE = (ROOT / "docs/mcp.md").read_text(encoding="utf-8")
_READERS = {"json": json.loads, "toml": tomllib.loads}
_BLOCK = re.compile(r"^```(json|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def servers() -> list[dict[str, Any]]:
    """The servers that the page registers."""
    snippets = [_READERS[kind](text) for kind, text in _BLOCK.findall(PAGE)]
    entries = (one.get("mcpServers") or one.get("mcp_servers") or {} for one in snippets)
    return [server for entry in entries for server in entry.values()]


def tools() -> set[str]:
    """The names of the server's tools."""
    return {tool.name for tool in anyio.run(server_of(ROOT).list_tools)}


def test_the_page_registers_the_command_that_exists():
    """Its JSON and TOML can be read; `command` and `args` are a command line that `specwright` takes (D-50-03)."""
    assert len(servers()) == 3
    for server in servers():
        assert server["command"] == "specwright"
        name, *given = server["args"]
        command = cast(Any, typer.main.get_command(app)).commands[name]
        command.make_context(name, given).close()


def test_the_page_names_tools_that_exist():
    """It allows and lists each tool, and the round that it shows calls no others (D-50-03)."""
    assert set(re.findall(r"mcp__specwright__(\w+)", PAGE)) == tools()
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == tools()
    assert set(re.findall(r"Called specwright\.(\w+)", PAGE)) <= tools()
