"""Asks the servers of an installed product, in the process that imports them (design: release, shell).

Each is asked by the client of the library that it is made with. It compares nothing: it says what came back.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ship_gate.inside.frames import Link
from specwright.wheels.inside.command import redirect

_MOST_CHARACTERS = 100_000


def run(link: Link, plan: dict[str, Any]) -> None:
    """Ask one server all that a job has."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    scratch = Path(plan["scratch"])
    folder = scratch / "work"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    redirect(scratch)
    sys.path.append(plan["product"])
    try:
        send({"event": "outcome", **(_of_api(job) if job["kind"] == "http" else _of_tools(job))})
    except Exception as error:
        send({"event": "outcome", "problem": f"{type(error).__name__}: {error}"})
    send({"event": "end"})


def _of_api(job: dict[str, Any]) -> dict[str, Any]:
    from fastapi.testclient import TestClient

    shell = importlib.import_module(f"{job['package']}._shell.http_api")
    client = TestClient(shell.application(), raise_server_exceptions=False)
    answers = [answer_of(client, request) for request in job["requests"]]
    return {"answers": [{**one, "body": one["body"][:_MOST_CHARACTERS]} for one in answers]}


def answer_of(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request; its body is JSON."""
    body = request["body"]
    headers = {} if body is None else {"Content-Type": "application/json"}
    came = client.request(request["method"], request["target"], content=body, headers=headers)
    return {"status": came.status_code, "body": came.content.decode("utf-8", "replace")}


def _of_tools(job: dict[str, Any]) -> dict[str, Any]:
    shell = importlib.import_module(f"{job['package']}._shell.mcp_server")
    return called(shell.server(), job["revision"], job["calls"])


def called(server: Any, revision: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Call tools, as a client of one revision of the protocol does."""
    import anyio

    return anyio.run(_called, server, revision, calls)


async def _called(server: Any, revision: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    import anyio
    from mcp import ClientSession
    from mcp.shared.memory import create_client_server_memory_streams

    found: dict[str, Any] = {}
    async with create_client_server_memory_streams() as (ours, its), anyio.create_task_group() as group:
        group.start_soon(server.run, *its, server.create_initialization_options())
        async with ClientSession(*ours) as session:
            await _greet(session, revision)
            tools = [one.name for one in (await session.list_tools()).tools]
            answers: list[Any] = [await session.call_tool(*one) for one in calls]
            found = {
                "revision": session.protocol_version,
                "tools": tools,
                "answers": [
                    {
                        "error": one.content[0].text if one.is_error else "",
                        "result": None if one.is_error else one.structured_content,
                    }
                    for one in answers
                ],
            }
        group.cancel_scope.cancel()
    return found


async def _greet(session: Any, revision: str) -> None:
    """Begin as clients of a revision do: with a handshake up to 2025-11-25, later without state."""
    from mcp import types

    if revision > "2025-11-25":
        await session.discover()
        return
    greeting = types.InitializeRequestParams(
        protocol_version=revision,
        capabilities=types.ClientCapabilities(),
        client_info=types.Implementation(name="specwright", version="1"),
    )
    session.adopt(
        await session.send_request(types.InitializeRequest(params=greeting), types.InitializeResult)
    )
    await session.send_notification(types.InitializedNotification())
