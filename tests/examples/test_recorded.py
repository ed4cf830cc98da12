"""Products that no playbook knows, answered by readers of the requests alone, and recorded
(`examples/*/recorded.journal`)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from testkit.paths import ROOT
from testkit.sampling import spread


class Recorded(NamedTuple):
    """A recorded example, and what its wheel must answer when it is used."""

    name: str
    use: str
    says: tuple[str, ...]


EXAMPLES = (
    Recorded(
        "streaks",
        "from streaks import longest_streak, read_days\n"
        "print(longest_streak(read_days('2026-03-01\\n2026-03-02\\n\\n2026-03-04\\n')))",
        ("2, ", "2026, 3, 1"),
    ),
    Recorded(
        "ledgerline",
        "from ledgerline import minutes_per_label\n"
        "print(minutes_per_label(['2026-05-06 09:15-12:00 client-a: wrote', '', '# rest']))",
        ("client-a", "165"),
    ),
    Recorded(  # a fault of a contract was found late, and its debate was reopened
        "rotacheck",
        "from rotacheck import find_double_bookings, parse_rota\n"
        "shifts = parse_rota('2026-11-23 22:00-02:00 bo\\n# rest\\n2026-11-24 01:30-04:00 bo (late)\\n')\n"
        "print([found.minutes for found in find_double_bookings(shifts)])",
        ("[30]",),
    ),
)


@pytest.mark.parametrize("example", spread(EXAMPLES, slow=len(EXAMPLES)), ids=lambda example: example.name)
def test_the_recorded_run_ships_again(example: Recorded, tmp_path: Path):
    """D-S4-06, D-S6-02: `replay:` serves the recorded answers by place; the gate and the wheel are real."""
    folder = ROOT / "examples" / example.name
    command = [
        *(sys.executable, "-m", "specwright.cli", "run", str(tmp_path / "project"), "--approve", "--json"),
        *("--spec", str(folder / "SPEC.md"), "--model", f"replay:{folder / 'recorded.journal'}"),
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert told.returncode == 0, told.stderr[-2000:]
    document = json.loads(told.stdout)
    assert document["where"] == "released"
    assert document["scripted"] is True
    used = subprocess.run(
        [sys.executable, "-c", example.use],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": document["release"]["wheel"]},
        cwd=tmp_path,
        check=False,
    )
    assert [said for said in example.says if said not in used.stdout] == [], used.stderr
