"""A person's answers that resume a task in place survive crashes: nothing is asked, judged or written twice (D9, D22)."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.killing import Job
from testkit.layout import examine_store
from testkit.loop.processes import assert_kills_change_nothing
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, failing, rejecting
from testkit.sampling import nightly, slow
from testkit.workshop import Workshop

SOUND = PLAYBOOK / "TSK-001/initials/round-1"
SOURCE = (SOUND / "deliverable/implementation/__init__.py").read_text()

OVERRIDE: tuple[str, dict[str, Any]] = ("APPROVE_OVERRIDE", {"rationale": "It is right as I read it."})
FIX: tuple[str, dict[str, Any]] = (
    "PROVIDE_FIX",
    {
        "fix_description": "As it should be.",
        "fix_artifacts": {"implementation/__init__.py": SOURCE + "\n# Mine.\n"},
    },
)
PLAN: tuple[str, dict[str, Any]] = (
    "REVISE_PLAN",
    {"revised_micro_plan": [{"module_id": "initials", "description": "The first letters of a name."}]},
)


def rejected(directory: Path) -> Path:
    """A playbook whose module is rejected in its third round, and whose fourth and fifth would go well."""
    playbook = Path(shutil.copytree(PLAYBOOK, directory))
    debate = playbook / "TSK-001/initials"
    failing(debate, 3)
    rejecting(debate / "round-3")
    for number in (4, 5):
        shutil.copytree(SOUND, debate / f"round-{number}")
    return playbook


@pytest.mark.parametrize(
    ("answers", "step", "forgetting"),
    [
        nightly((OVERRIDE,), 11, True, timeout=600),
        nightly((OVERRIDE,), 17, False, timeout=600),
        slow((FIX,), 19, True, timeout=600),
        nightly((PLAN, FIX), 37, True, timeout=600),
    ],
    ids=["override, checkpoints lost", "override", "fix, checkpoints lost", "plan, then fix"],
)
def test_a_resumed_run_that_is_killed_again_and_again_ends_all_the_same(
    workshop: Workshop,
    tmp_path: Path,
    answers: tuple[tuple[str, dict[str, Any]], ...],
    step: int,
    forgetting: bool,
):
    """The same bytes as without a kill, each place of the journal once; with checkpoints and without (D-S4-03, D-09-01,
    F-17.2-02, F-17.2-10, F-17.2-11)."""
    playbook = rejected(tmp_path / "playbook")
    whole = Job(str(tmp_path / "whole"), str(NAMEPLATE_SPEC), f"playbook:{playbook}", answers=answers)
    again = whole._replace(directory=str(tmp_path / "again"))
    assert_kills_change_nothing(workshop, whole, again, step, forgetting=forgetting, least=6)
    examine_store(tmp_path / "whole")
