"""A project whose second task halted by an exception against the first one's module."""

import json
from functools import partial
from pathlib import Path

import pytest

from testkit.cli.commands import SMALL, specwright
from testkit.loop.exceptions import asked
from testkit.loop.products import pair
from testkit.loop.role_answers import plan, planned
from testkit.shared_fixtures import made_once

__all__ = ["raised_once"]

SEPARATOR = {"name": "separator", "type": "str", "constraints": ["is one character", "defaults to '.'"]}


@pytest.fixture(scope="session")
def raised_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """That project; only looked at."""
    make = partial(_raised_product, answers=tmp_path_factory.mktemp("raised") / "playbook")
    return made_once(tmp_path_factory, worker_id, "raised", make) / "project"


def _raised_product(directory: Path, answers: Path) -> None:
    """Run it below a directory, as `project`; its answers are made at a place that stays."""
    playbook = pair(answers)
    contracts = playbook / "TSK-002/contracts/round-1"
    contracts.mkdir(parents=True)
    (playbook / "TSK-002/planner.json").write_text(json.dumps({"plan": plan(planned("badge", "initials"))}))
    exception = asked("initials", proposed_delta={"added_inputs": [SEPARATOR]})
    (contracts / "challenger-exception.json").write_text(json.dumps(exception))
    options = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
    halted = specwright("run", directory / "project", *options)
    assert halted.code == 3, halted
