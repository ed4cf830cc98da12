"""A product whose one module has tests that notice too little: a branch that no test enters."""

import shutil
from pathlib import Path

from testkit.cli.commands import SMALL, specwright
from testkit.endpoint import serving

__all__ = ["BRANCH", "halted_weak"]

BRANCH = """

def _shortened(letters: str) -> str:
    if len(letters) > 40:
        return letters[:40]
    return letters
"""
"""Five small faults in it are noticed by no test."""


def halted_weak(base: Path, ending: str = "") -> None:
    """Make the project, halted because a Proposer gave the same weak tests until its attempts were spent; its playbook lies
    beside it.

    Args:
        base: For both.
        ending: What stands for the last line of the module; by default a call of the branch.
    """
    playbook = Path(shutil.copytree(SMALL / "playbook", base / "playbook"))
    answers = playbook / "TSK-001/initials/round-1"
    entry = answers / "deliverable/implementation/__init__.py"
    sound = entry.read_text()
    called = 'return _shortened("".join(letters).upper())'
    weak = sound.replace('return "".join(letters).upper()', ending or called)
    entry.write_text(weak if ending else weak + BRANCH)
    with serving(playbook) as endpoint:
        told = specwright(
            *("run", base / "project", "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}"),
            *("--role-model", "proposer=openai:m", "--base-url", endpoint.base_url, "--approve"),
        )
    assert told.code == 3, told
    entry.write_text(sound)
