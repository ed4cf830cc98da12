"""Each command on each project that somebody may send: all harm at once."""

from pathlib import Path

import pytest

from testkit.hostile_projects import CASES, COMMANDS, STORED, TURNS, harms
from testkit.sampling import nightly, slow

EACH = [*COMMANDS]

LOOKING = ("status", "verify", "export", "studio")
SAMPLE = {
    "base_url in specwright.toml": LOOKING,
    "a link out of the project as state_store/product/spec.json": LOOKING,
    "a checkpoint that calls a shell": ("run",),
}


def test_a_sample_of_projects_does_no_harm(released_once: Path, tmp_path: Path):
    """Two cases with four commands that look, and one that a run would carry out, among the fast tests (D-62-01)."""
    assert harms(released_once, tmp_path, SAMPLE) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(4))
def test_no_project_that_was_sent_does_harm(released_once: Path, tmp_path: Path, part: int):
    """Every line of the report, and what is like it, each with commands in turn (hostile-projects) (D-62-01)."""
    assert harms(released_once, tmp_path, {name: TURNS[name] for name in [*CASES][part::4]}) == []


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(24))
def test_no_command_does_harm_on_a_project_that_was_sent(released_once: Path, tmp_path: Path, part: int):
    """Each command of the program on each of them (hostile-projects) (D-62-01)."""
    assert harms(released_once, tmp_path, dict.fromkeys([*CASES][part::24], EACH)) == []


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        *(slow(name, EACH[place::3], timeout=900) for place, name in enumerate(STORED)),
        *(nightly(name, EACH, timeout=900) for name in STORED),
    ],
)
def test_no_command_does_harm_on_a_store_that_somebody_writes(
    released_once: Path, tmp_path: Path, postgres_url: str, name: str, commands: list[str]
):
    """The same with a store on Postgres, each of them by day with a third of the commands (cases store-row-traversal,
    worker-checkpoint-rce)."""
    assert harms(released_once, tmp_path, {name: commands}, postgres_url) == []
