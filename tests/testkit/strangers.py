"""Keys and passwords of the person, and a place that waits for them."""

import socket
import threading
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from testkit.loopback import Asked, Reply, answering

__all__ = ["KEY", "Database", "WebServer", "database", "secrets", "web_server"]

KEY = "sk-canary-of-the-person"
PASSWORD = "canary-of-the-person"


@pytest.fixture
def secrets(bare_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person has a key and a password in the environment, and no settings."""
    monkeypatch.setenv("SPECWRIGHT_RETRY_SECONDS", "0")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


class WebServer(NamedTuple):
    """A server of a stranger.

    Args:
        base_url: Its address.
        requests: The header `Authorization` of each request.
    """

    base_url: str
    requests: list[str]


@pytest.fixture
def web_server() -> Iterator[WebServer]:
    """A server on loopback that refuses every request and remembers it."""
    requests: list[str] = []

    def refused(asked: Asked) -> Reply:
        requests.append(asked.headers.get("Authorization", ""))
        return Reply(400, {})

    with answering(refused) as address:
        yield WebServer(f"{address}/v1", requests)


class Database(NamedTuple):
    """A database of a stranger.

    Args:
        url: Its address.
        connections: Who connected.
    """

    url: str
    connections: list[object]


@pytest.fixture
def database() -> Iterator[Database]:
    """A port on loopback that remembers each connection and ends it."""
    connections: list[object] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, address = listening.accept()
            except OSError:  # the test is over
                return
            connections.append(address)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    yield Database(f"postgresql://person@127.0.0.1:{listening.getsockname()[1]}/d", connections)
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
