"""`examples/streaks`: a product that no playbook knows, answered by readers of the requests alone, and recorded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STREAKS = ROOT / "examples" / "streaks"


@pytest.mark.slow
def test_the_recorded_run_ships_again(tmp_path: Path):
    """D-S4-06, D-S6-02: `replay:` serves the recorded answers by place; the gate and the wheel are real."""
    command = [
        sys.executable,
        "-m",
        "specwright.cli",
        "run",
        str(tmp_path / "streaks"),
        "--approve",
        "--json",
    ]
    told = subprocess.run(
        [*command, "--spec", str(STREAKS / "SPEC.md"), "--model", f"replay:{STREAKS / 'recorded.journal'}"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    document = json.loads(told.stdout)
    assert document["where"] == "released"
    assert document["scripted"] is True
    wheel = Path(document["release"]["wheel"])
    used = subprocess.run(
        [
            sys.executable,
            "-c",
            "from streaks import longest_streak, read_days\n"
            "print(longest_streak(read_days('2026-03-01\\n2026-03-02\\n\\n2026-03-04\\n')))",
        ],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(wheel)},
        cwd=tmp_path,
        check=False,
    )
    assert "2, " in used.stdout, used.stderr
    assert "2026, 3, 1" in used.stdout
