"""Starts a server of an installed product as its script does, asks it, and ends it (design: release, shell).

The server has the main thread, as it has where it is installed; another one is its client. It compares nothing: it says what
came back.
"""

import base64
import http.client
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from specwright.gate.inside.frames import Link
from specwright.gate.inside.observation.clock import ModuleClock
from specwright.gate.inside.web.direct import lead_to
from specwright.gate.inside.web.script import Web
from specwright.wheels.inside.program import exit_code, file_text, redirect

_MOST_BYTES = 100_000
_SECONDS = 20.0
_ADDRESS = re.compile(rb"http://127\.0\.0\.1:([0-9]+)")


def run(link: Link, plan: dict[str, Any]) -> None:
    """Start one server, and ask it all that a job has."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    scratch = Path(plan["scratch"])
    folder = scratch / "work"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    streams = redirect(scratch, b"")
    connect = socket.create_connection
    if job["web"]:
        web = Web()
        web.describe(job["hosts"], ())
        lead_to(web, ModuleClock())
    client = (
        _LineClient(job["lines"])
        if job["lines"]
        else _HttpClient(job["requests"], streams["stderr"], connect)
    )
    thread = threading.Thread(target=client.ask, daemon=True)
    code = exit_code(job["program"], (*client.arguments, *job["options"]), thread.start)
    thread.join(_SECONDS)
    send(
        {
            "event": "outcome",
            "code": code,
            "stderr": file_text(streams["stderr"]),
            "answers": client.answers,
            "printed": client.printed,
        }
    )
    send({"event": "end"})


class _HttpClient:
    """Sends requests to the server as soon as it says where it is reached, then a signal.

    Args:
        requests: One after the other.
        stderr: Where it says so.
        connect: Makes a real connection, where those of the product end at scripted hosts.
    """

    arguments = ("--port", "0")

    def __init__(self, requests: list[dict[str, Any]], stderr: Path, connect: Callable[..., Any]) -> None:
        self.answers: list[dict[str, Any]] = []
        self.printed: list[str] = []
        self._requests, self._stderr, self._connect = requests, stderr, connect

    def ask(self) -> None:
        """Send all of them."""
        try:
            port = self._port()
            for request in self._requests:
                self.answers.append(_answer(port, request, self._connect))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def _port(self) -> int:
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            if found := _ADDRESS.search(self._stderr.read_bytes()):
                return int(found[1])
            time.sleep(0.02)
        return 0


def _answer(port: int, request: dict[str, Any], connect: Callable[..., Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.sock = connect(("127.0.0.1", port), _SECONDS)
        body = None if request["body"] is None else base64.b64decode(request["body"])
        headers = {"Content-Type": request["content_type"]} if body is not None else {}
        connection.request(request["method"], request["target"], body, headers)
        came = connection.getresponse()
        data = came.read(_MOST_BYTES)
        kind = came.getheader("Content-Type", "")
        return {"status": came.status, "content_type": kind, "body": base64.b64encode(data).decode()}
    except (OSError, http.client.HTTPException) as error:
        told = base64.b64encode(f"{type(error).__name__}: {error}".encode()).decode()
        return {"status": 0, "content_type": "", "body": told}
    finally:
        connection.close()


class _LineClient:
    """Writes lines to the server's standard input, and reads a line after each that asks something.

    Args:
        lines: In their order.
    """

    arguments: tuple[str, ...] = ()

    def __init__(self, lines: list[str]) -> None:
        self.answers: list[dict[str, Any]] = []
        self.printed: list[str] = []
        self._lines = lines
        given, self._to_server = os.pipe()
        self._from_server, taken = os.pipe()
        os.dup2(given, 0)
        os.dup2(taken, 1)
        for one in (given, taken):
            os.close(one)

    def ask(self) -> None:
        """Write all of them, then end its input."""
        with os.fdopen(self._from_server, "rb") as out, os.fdopen(self._to_server, "wb", buffering=0) as into:
            for line in self._lines:
                into.write(line.encode() + b"\n")
                if '"id"' in line or not line.startswith("{"):
                    self._read(out)

    def _read(self, out: BinaryIO) -> None:
        # a server that ends prints an empty line's worth: nothing
        if line := out.readline(_MOST_BYTES):
            self.printed.append(line.decode("utf-8", "replace").rstrip("\n"))
