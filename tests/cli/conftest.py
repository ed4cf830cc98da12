"""Projects at each stage, and endpoints that misbehave."""

import http.server
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, ROOT, SMALL, SPEC, specwright
from testkit.loop.approved_products import approved
from testkit.loop.doors import halted_doors
from testkit.loop.products import failing, pair, rejecting
from testkit.shared_fixtures import made_once

__all__ = ["approved", "halted_doors"]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys and no settings of whoever runs the tests."""
    for name in os.environ:
        if name.startswith("SPECWRIGHT_") or name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("SPECWRIGHT_MAX_RETRIES", "0")
    monkeypatch.setenv("COLUMNS", "100")  # pages are as wide as the terminal of whoever runs the tests


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with a SPEC.md."""
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "SPEC.md").write_text(SPEC)
    return directory


@pytest.fixture(scope="session")
def waiting_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose spec waits for approval; copied, never used."""

    def make(directory: Path) -> None:
        waiting = specwright("run", directory / "project", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)
        assert waiting.code == 3, waiting
        (directory / "told").write_text(waiting.err)

    return made_once(tmp_path_factory, worker_id, "waiting", make) / "project"


@pytest.fixture
def waiting(waiting_once: Path, tmp_path: Path) -> Path:
    """A project whose spec waits for approval."""
    return Path(shutil.copytree(waiting_once, tmp_path / "waiting"))


@pytest.fixture(scope="session")
def released_once(waiting_once: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project that is done; only looked at. What was said on the way lies beside it, in `told`."""

    def make(directory: Path) -> None:
        approved = specwright("approve", shutil.copytree(waiting_once, directory / "project"))
        assert approved.code == 0, approved
        (directory / "told").write_text((waiting_once.parent / "told").read_text() + approved.err)

    return made_once(tmp_path_factory, worker_id, "released", make) / "project"


@pytest.fixture
def released(released_once: Path, tmp_path: Path) -> Path:
    """A project that is done."""
    return Path(shutil.copytree(released_once, tmp_path / "released"))


@pytest.fixture(scope="session")
def halted_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose second module shipped and whose first one failed three times; only looked at."""
    # outside of what is copied: the project remembers where its playbook is
    playbook = pair(tmp_path_factory.mktemp("halted") / "playbook")
    failing(playbook / "TSK-001/shout", 3)
    rejecting(playbook / "TSK-001/shout/round-3")

    def make(directory: Path) -> None:
        options = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
        halted = specwright("run", directory / "project", *options)
        assert halted.code == 3, halted

    return made_once(tmp_path_factory, worker_id, "halted", make) / "project"


Answer = tuple[int, bytes]


@pytest.fixture
def endpoint() -> Iterator[Callable[[Answer | None], str]]:
    """Starts servers on loopback that give one answer to everything, or none at all; gives their base URLs."""
    servers: list[http.server.ThreadingHTTPServer] = []
    release = threading.Event()

    def start(answer: Answer | None) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if answer is None:
                    release.wait(30)
                    return
                self.send_response(answer[0])
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer[1])))
                self.end_headers()
                self.wfile.write(answer[1])

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1"

    yield start
    release.set()
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session", autouse=True)
def terminal_may_close() -> Iterator[None]:
    """These tests may themselves run under nohup, whose ignored signal every child would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
