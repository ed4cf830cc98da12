"""Runs modules that ask hosts, with one test that scripts these, past the static checks."""

import socket
import struct
import threading
from typing import Any, NamedTuple

from gate_testkit.static_judging import contract_of
from ship_gate.findings import Finding
from ship_gate.runs import TestRun, named_tests, observed_findings, run_tests
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.pair import prepare
from ship_gate.sandbox.staging import lay_out, stage, workspace
from ship_gate.verdict import Candidate

__all__ = ["HostsRun", "LocalServer", "run_with_hosts"]


class HostsRun(NamedTuple):
    """What a run showed, and what was observed of the module."""

    run: TestRun
    findings: tuple[Finding, ...]

    def codes(self):
        """Of all findings."""
        return {finding.code for finding in (*self.run.findings, *self.findings)}


def run_with_hosts(source: Any, test: Any, effects: Any = ("CALL https://a.example",)):
    """Run `f(path, text)` with one file of tests.

    Args:
        source: Of the entry file.
        test: The file; `web` and `f` are imported.
        effects: What the contract declares.
    """
    header = (
        "import pytest\nfrom pathlib import Path\nfrom modules.f import f\nfrom modules.testing import web\n"
    )
    source = f'__all__ = ["f"]\n{source}'
    files = {"implementation/__init__.py": source.encode(), "tests/test_f.py": (header + test).encode()}
    whole, sandbox = Candidate(contract_of(effects), files), Sandbox.best()
    with workspace() as root, prepare(lay_out(root, sandbox), "test_runner") as pair:
        staged = stage(root, whole, files, sandbox)
        run = run_tests(staged, whole.contract, named_tests(files), 20, pair)
        return HostsRun(run, (*observed_findings(pair.exchange.observed(), whole.contract, staged),))


_REAL = {
    "closed": b"",
    "malformed": b"\x00\x01 no answer at all\r\n\r\n",
    "cut off": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut",
    "reset": b"",
    "timeout": b"",
    "timeout in body": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut",
    "": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
}


class LocalServer:
    """A real server on loopback that answers one request in a way.

    Args:
        how: It fails; empty if it does not.
    """

    def __init__(self, how: str) -> None:
        self._how, self._is_over = how, threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self.port: int = self._listening.getsockname()[1]

    def _answer(self) -> None:
        with self._listening.accept()[0] as connection:
            connection.recv(65536)
            if self._how == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            connection.sendall(_REAL[self._how])
            if self._how.startswith("timeout"):
                self._is_over.wait(10)

    def __enter__(self) -> "LocalServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(10)
        self._listening.close()
