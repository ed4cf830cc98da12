"""A product of three tasks for a door: `initials`, the `banner` that calls it, and a `monogram` that cannot be made with it.

The Proposer of the third raises an interface change exception. As the files have it, the change is compatible; `breaking`
makes an input of it that every caller has to give, so that the second task is migrated by a fourth.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import SMALL, specwright
from testkit.loop.products import PLAYBOOK, replace
from testkit.paths import PRODUCTS
from testkit.shared_fixtures import made_once

__all__ = ["DOORS", "breaking", "doors", "halted_doors"]

DOORS = PRODUCTS / "doors/playbook"
CHANGED = "TSK-001/changed/initials/round-1/deliverable"
BANNER = "TSK-004/banner/round-1/deliverable/implementation/__init__.py"


def doors(directory: Path) -> Path:
    """The playbook with the compatible change."""
    for playbook in (PLAYBOOK, DOORS):
        shutil.copytree(playbook, directory, dirs_exist_ok=True)
    return directory


def breaking(directory: Path) -> Path:
    """The playbook with the change that breaks the banner."""
    doors(directory)
    (raised,) = directory.rglob("*-exception.json")
    _edit(raised, _required)
    deliverable = directory / CHANGED
    replace(deliverable / "implementation/__init__.py", 'separator: str = ""', "separator: str")
    replace(deliverable / "examples.md", 'initials("ada lovelace")', 'initials("ada lovelace", "")')
    replace(deliverable / "examples.md", 'initials("42")', 'initials("42", "")')
    replace(deliverable / "tests/test_initials.py", "initials(name)", 'initials(name, "")')
    replace(deliverable / "tests/test_initials.py", 'initials(" a ")', 'initials(" a ", "")')
    replace(deliverable / "tests/test_initials.py", 'lovelace") ==', 'lovelace", "") ==')
    _edit(deliverable / "tests/obligations.json", _without_default)
    shutil.copytree(directory / "TSK-002", directory / "TSK-004")
    replace(directory / BANNER, "{initials(name)}", "{initials(name, '')}")
    return directory


@pytest.fixture(scope="session")
def halted_doors(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The product with the change that breaks the banner, until the third task has raised its exception; only copied.
    Beside it lies its playbook."""

    def make(base: Path) -> None:
        playbook = breaking(base / "playbook")
        options = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
        halted = specwright("run", base / "halted", *options)
        assert halted.code == 3, halted

    return made_once(tmp_path_factory, worker_id, "doors", make)


def _required(exception: Any) -> None:
    (separator,) = exception["proposed_delta"]["added_inputs"]
    separator["constraints"].remove("defaults to ''")
    exception["compatibility"] = "BREAKING"


def _without_default(claims: Any) -> None:
    claims["test_each_word_gives_its_first_letter"].remove("/inputs/1/constraints/1")


def _edit(path: Path, change: Any) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))
