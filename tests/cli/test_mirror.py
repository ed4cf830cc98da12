"""`specwright mirror`: beside a run, after it, and what it says."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.cli.commands import command, specwright
from testkit.postgres import postgres, postgres_once
from testkit.processes import until
from wire_testkit.tables import rows, tables

__all__ = ["postgres", "postgres_once"]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'model.db'}"
    return str(request.getfixturevalue("postgres"))


def test_a_project_is_mirrored_once_and_its_position_is_told(released: Path, url: str):
    """D-47-01, D-47-04, D-S9-03: to the end, in words and as JSON; `--status` writes nothing."""
    wires = len(specwright("wire", "log", released, "--json").document["wires"])
    ahead = specwright("mirror", released, "--to", url, "--status", "--json").document
    done = specwright("mirror", released, "--to", url, "--once")
    seen = specwright("mirror", released, "--to", url, "--status", "--json").document

    assert (ahead["position"], ahead["lag"]) == (0, wires)
    assert (done.code, done.out) == (0, f"{wires} of {wires} Wires mirrored to {url}\n")
    assert (seen["position"], seen["lag"], seen["log_end"]) == (wires, 0, wires)
    assert [row["task_state"] for row in rows(url, "agent_tasks")] == ["completed"]
    live = tables(url)
    again = specwright("mirror", released, "--to", url, "--rebuild", "--once", "--json")
    assert (again.code, again.document["position"]) == (0, wires)
    assert tables(url) == live


def test_without_a_database_a_file_in_the_project_is_written(released: Path, monkeypatch: pytest.MonkeyPatch):
    """D-47-01: or the one of the setting; the project stays intact."""
    assert specwright("mirror", released, "--once").code == 0
    model = released / ".specwright" / "read_model.db"
    live = tables(f"sqlite:///{model}")
    monkeypatch.setenv("SPECWRIGHT_MIRROR", f"sqlite:///{released.parent / 'other.db'}")

    assert specwright("mirror", released, "--json").document["lag"] == 0
    assert tables(f"sqlite:///{released.parent / 'other.db'}") == live
    assert specwright("verify", released).code == 0


@pytest.mark.slow
def test_what_is_mirrored_beside_a_run_is_what_is_rebuilt_after_it(waiting: Path, url: str, tmp_path: Path):
    """D-47-02: from the approval to the release; then interrupted, and compared with a mirror of the whole log."""
    following = subprocess.Popen(command("mirror", waiting, "--to", url), stderr=subprocess.PIPE, text=True)
    try:
        assert specwright("approve", waiting).code == 0
        until(lambda: _lag(waiting, url) == 0)
    finally:
        following.send_signal(signal.SIGINT)
        _, told = following.communicate(timeout=30)
    assert following.returncode == 130
    assert "nothing is lost" in told
    assert "Traceback" not in told
    anew = f"sqlite:///{tmp_path / 'anew.db'}"
    assert specwright("mirror", waiting, "--to", anew, "--once").code == 0
    assert tables(anew) == tables(url)
    assert specwright("mirror", waiting, "--to", url, "--rebuild", "--once").code == 0
    assert tables(anew) == tables(url)


def _lag(directory: Path, url: str) -> int:
    return int(specwright("mirror", directory, "--to", url, "--status", "--json").document["lag"])


def test_a_database_that_is_away_is_one_message_without_the_password(released: Path):
    """D-47-04, D-S9-04: exit 1; the project is not touched."""
    away = "postgresql://ana:s3cret@127.0.0.1:1/model"
    told = specwright("mirror", released, "--to", away, "--once")

    told.refuses("cannot be reached", "postgresql://***@127.0.0.1:1/model", code=1)
    assert "s3cret" not in told.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "mysql://host/model"), ("mysql://host/model", "sqlite:////")),
        (("--status", "--rebuild"), ("choose one",)),
    ],
)
def test_a_bad_option_is_one_message(
    released_once: Path, arguments: tuple[str, ...], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    """D-S9-04: exit 2, nothing written, before anything has to be installed."""
    monkeypatch.setitem(sys.modules, "agent_wire.mirror", None)
    specwright("mirror", released_once, *arguments, "--once").refuses(*words)


def test_without_the_extra_the_command_says_what_to_install(released_once: Path):
    """D-47-01, D-S10-01: only this command needs SQLAlchemy."""
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; sys.modules['psycopg'] = None\n"
        "from specwright.cli.main import main\n"
        f"assert main(['status', {str(released_once)!r}]) == 0\n"
        f"sys.exit(main(['mirror', {str(released_once)!r}, '--once']))\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ}
    )

    assert told.returncode == 2
    assert "pip install 'alembic" in told.stderr
