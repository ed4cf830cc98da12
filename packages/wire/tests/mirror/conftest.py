"""An empty database, of SQLite and of Postgres, and logs to mirror."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from agent_wire.log import SqliteWireLog
from agent_wire.mirror import BATCH, Mirror
from agent_wire.mirror.model import ReadModel
from testkit.postgres import postgres, postgres_once
from wire_testkit.damage import OPENED, TOPIC, open_log

__all__ = ["postgres", "postgres_once"]

MakeMirror = Callable[..., Mirror]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'model.db'}"
    return str(request.getfixturevalue("postgres"))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteWireLog]:
    """An empty log; it and all others are closed at the end."""
    yield open_log(tmp_path / "wire.db")
    while OPENED:
        OPENED.pop().close()


@pytest.fixture
def mirror_to(log: SqliteWireLog) -> Iterator[MakeMirror]:
    """A mirror of the log, or of another one, to a database, with a connection of its own."""
    with ExitStack() as stack:

        def make(to: str, of: SqliteWireLog = log, batch: int = BATCH) -> Mirror:
            model = ReadModel(to)
            stack.callback(model.close)
            return Mirror(of, TOPIC, model, batch=batch)

        yield make


@pytest.fixture
def make_mirror(url: str, mirror_to: MakeMirror) -> MakeMirror:
    """The same to the empty database."""
    return partial(mirror_to, url)
