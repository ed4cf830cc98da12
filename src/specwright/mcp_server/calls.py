"""Calls as processes: each can be ended at any moment with all that it started, and none can take the server along
(design: mcp-server)."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from specwright.errors import SpecwrightError
from specwright.mcp_server.roots import Roots

_COMMAND = [sys.executable, "-P", "-m", "specwright.mcp_server.call"]
"""`-P`: a directory in which the server was started may hold a package of our name."""

_LONGEST_LINE = 64 * 1024 * 1024

Report = Callable[[int, int, str], Awaitable[None]]
"""Passes on how far a call is: done, of how many, what."""


class CallLimits(NamedTuple):
    """What calls may take.

    Args:
        seconds: Of each.
        at_once: How many at a time; further ones wait.
    """

    seconds: float = 300.0
    at_once: int = 4


class CallError(SpecwrightError):
    """A call that came to nothing; the message is for the agent."""


class CallProcesses:
    """Runs calls.

    Args:
        roots: Where they may read and write.
        scratch: A directory for what they leave to later ones.
        limits: What they may take.
        writes_tree: Whether they may edit files of the source tree, beside those of module directories.
    """

    def __init__(self, roots: Roots, scratch: Path, limits: CallLimits, *, writes_tree: bool = False) -> None:
        self._roots = roots
        self._scratch = scratch
        self._limits = limits
        self._writes_tree = writes_tree
        self._room = anyio.CapacityLimiter(limits.at_once)

    async def run(self, tool: str, arguments: Mapping[str, Any], report: Report) -> dict[str, Any]:
        """What a tool gives.

        Args:
            tool: Its name.
            arguments: Of the tool, checked.
            report: Is told how far it is.

        Raises:
            CallError: it could not do it, took too long, or ended.
        """
        seconds = self._limits.seconds
        request = {
            "tool": tool,
            "arguments": arguments,
            "roots": [str(place) for place in self._roots.places],
            "scratch": str(self._scratch),
            "seconds": seconds,
            "writes_tree": self._writes_tree,
        }
        async with self._room:
            with anyio.move_on_after(seconds):
                return await self._outcome(request, report)
        raise CallError(
            f"the call took more than {seconds:g} seconds and was ended",
            remedy="name fewer directories, or have the server started with a larger --seconds",
        )

    async def _outcome(self, request: Mapping[str, Any], report: Report) -> dict[str, Any]:
        # what a call that is cut off would leave behind goes with this directory
        with tempfile.TemporaryDirectory(dir=self._scratch, ignore_cleanup_errors=True) as own:
            process = await anyio.open_process(
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None,
                env={**os.environ, "TMPDIR": own},
                start_new_session=True,
            )
            try:
                return await _answer(process, request, report)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()  # sandboxed processes end with the one that started them
                with anyio.CancelScope(shield=True):
                    await process.aclose()


async def _answer(process: anyio.abc.Process, request: Mapping[str, Any], report: Report) -> dict[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise CallError("the call has no pipes")
    try:
        await process.stdin.send(json.dumps(request).encode() + b"\n")
        async for document in _documents(BufferedByteReceiveStream(process.stdout)):
            if "error" in document:
                raise CallError(document["error"])
            if "result" in document:
                return document["result"]
            await report(document["done"], document["of"], document["what"])
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.IncompleteRead):
        pass  # it has ended, as below
    raise CallError(
        "the process of the call ended without an answer",
        remedy="it may have been short of memory; call again with fewer directories",
    )


async def _documents(lines: BufferedByteReceiveStream) -> AsyncIterator[dict[str, Any]]:
    while True:
        yield json.loads(await lines.receive_until(b"\n", _LONGEST_LINE))
