"""Projects at each stage, made by commands, once for all tests that look at them."""

import json
import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.loop.products import failing, pair, rejecting
from testkit.shared_fixtures import made_once

__all__ = ["halted_once", "released_once", "sent_back", "waiting_once", "with_playbook_of"]


@pytest.fixture(scope="session")
def waiting_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project whose spec waits for approval; copied, never used."""

    def make(directory: Path) -> None:
        waiting = specwright("run", directory / "project", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)
        assert waiting.code == 3, waiting
        (directory / "told").write_text(waiting.err)

    return made_once(tmp_path_factory, worker_id, "waiting", make) / "project"


@pytest.fixture(scope="session")
def released_once(waiting_once: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A project that is done; only looked at. What was said on the way lies beside it, in `told`."""

    def make(directory: Path) -> None:
        approved = specwright("approve", shutil.copytree(waiting_once, directory / "project"))
        assert approved.code == 0, approved
        (directory / "told").write_text((waiting_once.parent / "told").read_text() + approved.err)

    return made_once(tmp_path_factory, worker_id, "released", make) / "project"


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


def with_playbook_of(directory: Path) -> None:
    """Have the project in a directory that was copied go on with the playbook beside it."""
    options = directory / "project/.specwright/run.json"
    last = json.loads(options.read_text())
    last["options"]["model"] = f"playbook:{directory / 'playbook'}"
    options.write_text(json.dumps(last))


def sent_back(project: Path, words: str, spec_text: str = "") -> None:
    """Record an amendment as a run leaves it that is killed before the researcher answers."""
    history = project / "state_store/product/history.json"
    noted = json.loads(history.read_text())
    answer = {"action": "AMEND", "text": words, "spec_text": spec_text, "asked": 1}
    first = {"first_spec_text": (project / "state_store/product/SPEC.md").read_text()} if spec_text else {}
    history.write_text(json.dumps({**noted, **first, "answers": [*noted["answers"], answer]}))
