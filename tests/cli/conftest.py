"""Projects at each stage, and endpoints that misbehave."""

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from testkit.cli.commands import SPEC
from testkit.cli.projects import halted_once, released_once, waiting_once
from testkit.loop.approved_products import approved
from testkit.loop.doors import halted_doors
from testkit.loopback import Asked, Reply, answering
from testkit.paths import FACTORY

__all__ = ["approved", "halted_doors", "halted_once", "released_once", "waiting_once"]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys and no settings of whoever runs the tests."""
    for name in os.environ:
        if name.startswith("SPECWRIGHT_") or name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(FACTORY))
    monkeypatch.setenv("SPECWRIGHT_RETRY_SECONDS", "0")
    monkeypatch.setenv("COLUMNS", "100")  # pages are as wide as the terminal of whoever runs the tests


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with a SPEC.md."""
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "SPEC.md").write_text(SPEC)
    return directory


@pytest.fixture
def waiting(waiting_once: Path, tmp_path: Path) -> Path:
    """A project whose spec waits for approval."""
    return Path(shutil.copytree(waiting_once, tmp_path / "waiting"))


@pytest.fixture
def released(released_once: Path, tmp_path: Path) -> Path:
    """A project that is done."""
    return Path(shutil.copytree(released_once, tmp_path / "released"))


Answer = tuple[int, bytes]


@pytest.fixture
def endpoint() -> Iterator[Callable[[Answer | None], str]]:
    """Starts servers on loopback that give one answer to everything, or none at all; gives their base URLs."""
    release = threading.Event()

    def replying(answer: Answer | None) -> Callable[[Asked], Reply | None]:
        def reply(asked: Asked) -> Reply | None:
            if answer is None:
                release.wait(30)
            return Reply(*answer) if answer else None

        return reply

    with ExitStack() as servers:
        yield lambda answer: f"{servers.enter_context(answering(replying(answer)))}/v1"
        release.set()


@pytest.fixture(scope="session", autouse=True)
def terminal_may_close() -> Iterator[None]:
    """These tests may themselves run under nohup, whose ignored signal every child would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
