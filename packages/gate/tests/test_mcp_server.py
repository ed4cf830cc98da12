"""The MCP server: a client of the SDK brings a module directory to a green gate over standard input and output."""

import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from testkit.paths import ROOT

MODULE = ROOT / "packages/gate/tests/modules/tally_words"


def with_client(root: Path, play: Callable[[Client], Awaitable[None]]) -> None:
    """Run a session with a server of its own."""
    command = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "ship_gate", "mcp", str(root)], env=dict(os.environ)
    )

    async def run() -> None:
        with anyio.fail_after(200):
            async with Client(command) as client:
                await play(client)

    anyio.run(run)


async def result_of(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured result of a call, which must be no error."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def error_of(client: Client, tool: str, **arguments: Any) -> str:
    """The message of a call that is refused."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return getattr(answer.content[0], "text", "")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with one sound module."""
    shutil.copytree(MODULE, tmp_path / "root/tally_words")
    return tmp_path / "root"


def test_the_five_tools_only_read(root: Path):
    """None is announced as one that writes, and each says what it takes and gives (D-50-03)."""

    async def play(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["gate", "package", "explain", "contract_schema", "skeleton"]
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.description
            assert tool.output_schema

    with_client(root, play)


def test_a_package_is_judged_as_by_the_command(root: Path):
    """The document is that of `package --json`, and a path that leads out of the root is refused (D-50-03)."""
    (root / "counts.py").write_text(
        'def add(a: int, b: int) -> int:\n    """Sum.\n\n    >>> add(1, 2)\n    4\n    """\n    return a + b\n'
    )

    async def play(client: Client) -> None:
        found = await result_of(client, "package", directory="counts.py", function="add", seconds=60)
        assert found["verdict"] == "WRONG"
        assert found.keys() >= {
            "verdict",
            "directory",
            "packages",
            "functions",
            "notes",
            "tests",
            "passed",
            "seconds",
        }
        assert found["functions"][0]["findings"][0]["message"] == "add(1, 2)\ngives 3; stated is 4"
        assert "not below the directory" in await error_of(client, "package", directory="..")

    with_client(root, play)


@pytest.mark.slow
def test_a_client_brings_a_module_to_a_green_gate(root: Path):
    """Contract, skeleton, gate, explanation, correction, gate (D-50-03)."""
    module = root / "tally_words"
    source = module / "implementation/__init__.py"
    sound = source.read_text()

    async def play(client: Client) -> None:
        schema = await result_of(client, "contract_schema")
        contract = json.loads((module / "contract.json").read_text())
        assert set(schema["schema_of_contract"]["required"]) <= set(contract)
        skeleton = await result_of(client, "skeleton", directory="tally_words")
        assert skeleton["problems"] == []
        assert sound.split('"""')[3].strip() in skeleton["files"]["implementation/__init__.py"]
        claimed = json.loads((module / "tests/obligations.json").read_text()).values()
        assert {pointer for pointers in claimed for pointer in pointers} == set(skeleton["obligations"])
        source.write_text(sound.replace("text.casefold() if fold else text", "text"))
        judged = await result_of(client, "gate", directories=["."])
        assert judged["verdict"] == "FAIL"
        finding = judged["modules"][0]["findings"][0]
        assert finding["code"] == "tests.failed"
        explained = await result_of(client, "explain", code=finding["code"])
        assert explained["steps"]
        source.write_text(sound)
        judged = await result_of(client, "gate", directories=["tally_words"])
        assert judged == {
            "verdict": "PASS",
            "modules": [{"directory": "tally_words", "result": "PASS", "findings": []}],
        }

    with_client(root, play)


def test_a_faulty_contract_has_problems_and_no_skeleton(root: Path):
    """As many as there are at once (D-50-03)."""
    path = root / "tally_words/contract.json"
    contract = json.loads(path.read_text())
    contract["inputs"][0]["type"] = "Unknown"
    path.write_text(json.dumps(contract))

    async def play(client: Client) -> None:
        skeleton = await result_of(client, "skeleton", directory="tally_words")
        assert any("Unknown" in problem for problem in skeleton["problems"])
        assert skeleton["files"] == {}

    with_client(root, play)


def test_a_call_reaches_nothing_outside_its_root(root: Path, tmp_path: Path):
    """A path that leads out, a link, an unknown code: each is one message (D-50-03)."""
    shutil.copytree(MODULE, tmp_path / "outside")
    (root / "link").symlink_to(tmp_path / "outside")

    async def play(client: Client) -> None:
        for place in ("..", str(tmp_path / "outside"), "link"):
            assert "not below" in await error_of(client, "gate", directories=[place])
            assert "not below" in await error_of(client, "skeleton", directory=place)
        assert "no such directory" in await error_of(client, "gate", directories=["nowhere"])
        assert "no finding" in await error_of(client, "explain", code="nothing.such")

    with_client(root, play)


def test_arguments_that_do_not_fit_are_refused_in_a_line(root: Path):
    """What is wrong, with which tool, and what it takes, without the words of a library (D-50-03)."""
    wrong: list[tuple[str, dict[str, Any], str, str]] = [
        ("gate", {}, "directories: Field required", "call it with directories"),
        ("gate", {"directories": 3}, "directories: ", "call it with directories"),
        ("gate", {"directories": []}, "directories: ", "call it with directories"),
        (
            "package",
            {"directory": ".", "seconds": 0},
            "seconds: ",
            "call it with directory, function, seconds",
        ),
    ]

    async def play(client: Client) -> None:
        for tool, arguments, what, advice in wrong:
            said = await error_of(client, tool, **arguments)
            assert all(part in said for part in (f"tool {tool}", what, advice)), said
            assert "pydantic" not in said
            assert "validation error" not in said

    with_client(root, play)


def test_a_contract_makes_no_folder_writable(root: Path):
    """Whatever is called, the files under the root are the same afterwards (D-50-03)."""
    shutil.copy(MODULE / "contract.json", root / "contract.json")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    async def play(client: Client) -> None:
        await result_of(client, "skeleton", directory=".")
        await client.call_tool("edit_files", {"files": [{"path": "tests/test_app.py", "text": "import os"}]})

    with_client(root, play)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
