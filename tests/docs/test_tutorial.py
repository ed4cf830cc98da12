"""The tutorial's commands do what it says, from the spec to the wheel, with the halt on the way."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.paths import ROOT

TUTORIAL = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
EXECUTED = {"specwright", "cp", "mkdir"}
WAITS = 3

_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_tutorial_runs_as_it_is_written(tmp_path: Path):
    """Every command of a block ends well or waits, and what a text block shows was printed (F-17.2-03)."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed = ""
    for kind, block in _BLOCK.findall(TUTORIAL.partition("\n## 6. ")[0]):
        if kind == "sh":
            printed += "".join(_run(line, tmp_path) for line in block.splitlines())
        else:
            missing = [line for line in map(_one_line, block.splitlines()) if line not in _one_line(printed)]
            assert missing == [], printed

    assert list(tmp_path.glob("build/tab/state_store/releases/*/tabkeeper-1.0.0-py3-none-any.whl"))


def _run(line: str, directory: Path) -> str:
    program, *arguments = shlex.split(line, comments=True)
    if program not in EXECUTED:
        return ""
    if "ESC-1a2b3c4d" in arguments:
        (escalation,) = directory.glob("build/tab/state_store/escalations/ESC-*.json")
        arguments = [escalation.stem if word == "ESC-1a2b3c4d" else word for word in arguments]
    start = (
        [sys.executable, "-m", "specwright.cli"] if program == "specwright" else [str(shutil.which(program))]
    )
    done = subprocess.run(
        [*start, *arguments], cwd=directory, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode in (0, WAITS), f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def _one_line(text: str) -> str:
    return " ".join(text.split())
