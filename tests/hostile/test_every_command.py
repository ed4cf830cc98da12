"""Each command on each project that somebody may send: all harm at once."""

from pathlib import Path

import pytest

from testkit.hostile_projects import CASES, COMMANDS, DAMAGED, STORED, harms
from testkit.sampling import spread

ATTACKS = [name for name in CASES if name not in DAMAGED]
GROUPS = [*([ATTACKS[place::8] for place in range(8)]), *([DAMAGED[place::16] for place in range(16)])]
SAMPLE = ("base_url in specwright.toml", "a link out of the project as state_store/product/spec.json")


def test_commands_that_look_do_no_harm_on_a_sample(released_once: Path, tmp_path: Path):
    """Two cases with four commands, among the fast tests (D-62-01)."""
    assert harms(released_once, tmp_path, SAMPLE, ("status", "verify", "export", "studio")) == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("cases", spread(GROUPS, slow=3))
def test_no_command_does_harm_on_a_project_that_was_sent(
    released_once: Path, tmp_path: Path, cases: list[str]
):
    """Every line of the report, and what is like it: each command of the program (hostile-projects) (D-62-01)."""
    assert harms(released_once, tmp_path, cases, [*COMMANDS]) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", STORED)
def test_no_command_does_harm_on_a_store_that_somebody_writes(
    released_once: Path, tmp_path: Path, postgres_url: str, name: str
):
    """The same with a store on Postgres (cases store-row-traversal, worker-checkpoint-rce)."""
    assert harms(released_once, tmp_path, [name], [*COMMANDS], postgres_url) == []
