"""What a process may reach in which a server of a product is tried (design: shell)."""

import socket
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from specwright.gate.sandbox.exchange import Exchange
from specwright.gate.sandbox.kind import Sandbox
from specwright.gate.sandbox.plan import Plan, SandboxKind
from specwright.gate.sandbox.process import start

ASK = """
import socket

def fate(step):
    try:
        return step()
    except OSError as error:
        return type(error).__name__

def serve():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=5):
            return "served"

def leave():
    with socket.create_connection(("127.0.0.1", {port}), timeout=5):
        return "reached"

(fate(serve), fate(leave))
"""


class Ledger:
    """What was reported."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def reported(self, header: dict[str, Any]) -> None:
        """Keep it."""
        self.events.append(header)

    def called(self, call: dict[str, Any], payload: bytes) -> None:
        """Nothing is called through the gate."""

    def replied(self, header: dict[str, Any], payload: bytes) -> None:
        """As above."""


@pytest.fixture
def port() -> Generator[int]:
    """A port of this machine at which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    ("kind", "serves", "fates"),
    [
        (SandboxKind.BUBBLEWRAP, True, ("served", "ConnectionRefusedError")),
        (SandboxKind.BUBBLEWRAP, False, ("PermissionError", "PermissionError")),
        (SandboxKind.LANDLOCK, True, ("PermissionError", "PermissionError")),
    ],
)
def test_a_server_has_a_loopback_interface_of_its_own_and_nothing_else_has_one(
    tmp_path: Path, port: int, kind: SandboxKind, serves: bool, fates: tuple[str, str]
):
    """It listens and is reached there; a port of the machine is not there. Landlock cannot offer that (D-45-08)."""
    limits = Sandbox.best().limits
    plan = Plan("product.runner", tmp_path, tmp_path, (), None, limits, {"serves": serves})
    child, ledger = start(plan, kind), Ledger()
    try:
        Exchange(child, None, plan.writes, limits).run(
            {"code": ASK.replace("{port}", str(port)), "web": False}, {}, ledger, 30
        )
    finally:
        child.stop()
    (outcome,) = [one for one in ledger.events if one["event"] == "outcome"]
    assert outcome["value"] == repr(fates)
