"""What a process may reach in which a server of a product is tried (design: shell)."""

import socket
from collections.abc import Generator
from pathlib import Path

import pytest

import specwright.wheels.inside
from specwright.gate.sandbox.kind import Sandbox
from specwright.gate.sandbox.plan import SandboxKind
from specwright.gate.sandbox.program import Program, run
from testkit.gate.running import need_sandbox

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
    need_sandbox(kind)
    inside = specwright.wheels.inside
    program = Program(inside.__name__, Path(inside.__path__[0]), "runner", tmp_path, more={"serves": serves})
    job = {"code": ASK.replace("{port}", str(port)), "web": False}
    ran = run(program, job, Sandbox.best()._replace(kind=kind), 30)
    (outcome,) = [one for one in ran.events if one["event"] == "outcome"]
    assert outcome["value"] == repr(fates)
