"""The pages for coding agents: what they tell a person to paste is valid and starts the real server."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
import typer

from ship_gate.mcp_server import server_of
from specwright.cli.main import app
from testkit.paths import ROOT

PAGES = sorted((ROOT / "docs/agents").glob("*.md"))
_READERS = {"json": json.loads, "toml": tomllib.loads}
_BLOCK = re.compile(r"^```(json|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(path: Path) -> list[Any]:
    """The documents that a page shows, read."""
    return [_READERS[kind](text) for kind, text in _BLOCK.findall(path.read_text(encoding="utf-8"))]


def servers(path: Path) -> list[dict[str, Any]]:
    """The servers that they register."""
    entries = (one.get("mcpServers") or one.get("mcp_servers") or {} for one in snippets(path))
    return [server for entry in entries for server in entry.values()]


def tools() -> set[str]:
    """The names of the server's tools."""
    return {tool.name for tool in anyio.run(server_of(ROOT).list_tools)}


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_a_page_registers_the_command_that_exists(path: Path):
    """Its JSON and TOML can be read; `command` and `args` are a command line that `specwright` takes (D-50-03)."""
    assert servers(path)
    for server in servers(path):
        assert server["command"] == "specwright"
        name, *given = server["args"]
        command = cast(Any, typer.main.get_command(app)).commands[name]
        command.make_context(name, given).close()


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_a_page_names_tools_that_exist(path: Path):
    """Those that it allows, and those of the round that it shows (D-50-03)."""
    text, names = path.read_text(encoding="utf-8"), tools()
    allowed = re.findall(r"mcp__specwright__(\w+)", text)
    called = re.findall(r"(?:specwright - |specwright\.|Called )([a-z_]+)\b(?=[ (:{]|$)", text, re.MULTILINE)
    assert called
    assert {*allowed, *called} - {"json", "toml"} <= names, called


def test_the_page_lists_the_tools():
    """Each of them (D-50-03)."""
    text = (ROOT / "docs/mcp.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == tools()


def test_there_is_a_page_for_each_of_three_agents():
    """On the site, and led to from the page of the server (D-50-03)."""
    assert [path.stem for path in PAGES] == ["claude-code", "codex-cli", "cursor"]
    site, server = (ROOT / "mkdocs.yml").read_text(), (ROOT / "docs/mcp.md").read_text()
    for path in PAGES:
        assert f"agents/{path.name}" in site
        assert f"agents/{path.name}" in server
