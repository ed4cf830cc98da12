"""MCP servers as processes, and sessions of the SDK's client with them."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

SERVE = ["-P", "-m", "specwright", "mcp"]


class Answer(NamedTuple):
    """What a tool gave, or what was wrong."""

    result: Any
    error: str


class Agent:
    """A coding agent's side of a session: it calls tools and keeps what it was told of them."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool."""
        told = await self.client.call_tool(tool, arguments)
        text = told.content[0].text if told.content else ""
        return Answer(None, text) if told.is_error else Answer(told.structured_content, "")

    async def gate(self, *directories: str) -> Any:
        """What `gate` gives, which must be no error."""
        answer = await self.call("gate", directories=list(directories))
        assert not answer.error, answer.error
        return answer.result


def with_agent(
    root: Path, play: Callable[[Agent], Awaitable[None]], *options: str, http: bool = False
) -> None:
    """Run a session over standard input and output, or over HTTP."""

    async def run() -> None:
        with anyio.fail_after(230):
            async with over_http(root, *options) if http else over_stdio(root, *options) as client:
                await play(Agent(client))

    anyio.run(run)


@asynccontextmanager
async def over_stdio(root: Path, *options: str) -> AsyncIterator[Client]:
    """A client with a server of its own, over standard input and output."""
    command = StdioServerParameters(
        command=sys.executable, args=[*SERVE, str(root), *options], env=dict(os.environ)
    )
    async with Client(command) as client:
        yield client


@asynccontextmanager
async def over_http(root: Path, *options: str) -> AsyncIterator[Client]:
    """A client with a server of its own, over HTTP."""
    with http_server(root, *options) as url:
        async with Client(streamable_http_client(url)) as client:
            yield client


@contextmanager
def http_server(root: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """A server on a free port; gives its address."""
    command = [sys.executable, *SERVE, str(root), "--http", "--port", "0", *options]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(env or {})},
    ) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            assert "http://127.0.0.1:" in line, line + server.stderr.read()
            yield line.split()[-1]
        finally:
            server.terminate()
            server.wait(10)
