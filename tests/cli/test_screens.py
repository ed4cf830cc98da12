"""What a person sees, whole: the main pages at 80 and 120 columns, kept as files beside this test (DESIGN §9).

A change of a page shows here as a difference that a person reads. Ids and times are replaced;
the clock of the progress is given to it. `RENEW_SCREENS=1 .venv/bin/pytest tests/cli/test_screens.py`
writes the files anew.
"""

import difflib
import io
import os
import re
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from pathlib import Path

import pytest

from ship_gate import judge_directory
from ship_gate.cli import present_verdict
from specwright.cli.progress import ConsoleProgress
from specwright.domain.costs import Budget, Cost
from specwright.ports import AnswerBought, RoleDone, RoleStarted, RunEvent

SCREENS = Path(__file__).parent / "screens"
RENEW = "RENEW_SCREENS"
_ID = re.compile(r"\b([A-Z]+)-[0-9a-f]{8}\b")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{12}Z")
BOUGHT = SCREENS / "bought.journal"
"""Answers with tokens, without their texts."""


class Terminal(io.StringIO):
    """A terminal that keeps what is printed."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(params=[80, 120])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The columns of the terminal."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    return request.param


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("status", ["status"]),
        ("tasks", ["tasks"]),
        ("module", ["module", "initials"]),
        ("escalation", ["escalations", "ESC"]),
    ],
    ids=["status", "tasks", "module", "escalation"],
)
def test_the_pages_of_a_halted_project(
    name: str, words: list[str], width: int, halted_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-S9-08, F-17.1-04: where it stands, its tasks, a module; and, on one screen, what waits for a person: the
    decision, what failed, the recommended answer with its commands, every other one."""
    monkeypatch.chdir(halted_once)
    (escalation,) = (halted_once / "state_store/escalations").glob("ESC-????????.json")
    words = [escalation.stem if word == "ESC" else word for word in words]
    page = printed(lambda: specwright_code(*words))
    assert len(page.splitlines()) <= 40
    compare(name, width, page)


def test_the_page_of_the_costs(
    width: int, halted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens and money by role, of a run whose answers were bought."""
    project = Path(shutil.copytree(halted_once, tmp_path / "project"))
    shutil.copy(BOUGHT, project / ".specwright/journal.jsonl")
    monkeypatch.chdir(project)
    compare("costs", width, printed(lambda: specwright_code("costs")))


def test_the_page_of_a_gate_with_ten_findings(width: int, halted_once: Path, tmp_path: Path) -> None:
    """Each finding says where and what to do, and none is cut."""
    (version,) = (halted_once / "state_store/modules").glob("*/*")
    module = tmp_path / "initials"
    shutil.copytree(version, module)
    (module / "ship.json").unlink()
    entry = module / "implementation/__init__.py"
    faults = ["import subprocess", "import socket", "import threading", "import ctypes", "import random"]
    faults += ["import requests", "global_count = []", "eval('1')", "exec('1')", "open('/etc/passwd')"]
    faults += ["compile('1', '', 'exec')", "__import__('os')", "globals()", "import multiprocessing"]
    entry.chmod(0o600)
    entry.write_text(entry.read_text() + "\n" + "\n".join(faults) + "\n")
    judged = judge_directory(module)
    assert len(judged.findings) >= 10
    judged = judged._replace(findings=judged.findings[:10])
    compare("gate", width, printed(lambda: present_verdict(judged, 1.2, as_json=False)))


def test_the_lines_of_a_run(width: int) -> None:
    """Who is at work, what came of it, what it cost, and the sum."""
    seconds, screen = [0.0], Terminal()
    bought = AnswerBought(
        Cost(1, 9_000, 3_100, 900, Decimal("0.0312")), Cost(4, 0, 9_000, 2_000), Budget(100_000)
    )

    def role(name: str, subject: str, stage: str, outcome: str, kind: str) -> list[object]:
        place = RoleStarted(f"TSK-001.1/{subject}/{stage}/{name}", name, "TSK-001", subject, stage)
        return [
            place,
            12.5,
            bought,
            RoleDone(place.run_id, 1, 3_100, 900, replayed=False),
            RunEvent(kind, "TSK-001", outcome),
        ]

    events = [
        RunEvent("task", "TSK-001", "Divide an amount evenly"),
        *role("planner", "plan", "round-1", "to_cents, split_evenly", "plan"),
        *role("proposer", "split_evenly", "round-1", "split_evenly round 1", "proposed"),
        *role("challenger", "split_evenly", "round-1", "split_evenly round 1: FAIL", "challenged"),
        *role("arbiter", "split_evenly", "round-2", "split_evenly round 2: APPROVE", "adjudicated"),
        RunEvent("sealed", "TSK-001", "split_evenly MM-1a2b3c4d@1.0.0, 24 tests"),
        RunEvent("halted", "TSK-001", "ESC-1a2b3c4d: to_cents could not be shipped"),
    ]
    with redirect_stderr(screen), ConsoleProgress(lambda _: False, lambda: seconds[0]) as progress:
        for event in events:
            if isinstance(event, float):
                seconds[0] += event
            else:
                progress.note(event)
    compare("run", width, screen.getvalue())


def specwright_code(*words: str) -> None:
    """Run a command whose output is caught already."""
    from specwright.cli.main import main

    assert main(list(words)) == 0


def printed(show: Callable[[], object]) -> str:
    """What is printed on a terminal."""
    screen = Terminal()
    with redirect_stdout(screen):
        show()
    return screen.getvalue()


def compare(name: str, width: int, text: str) -> None:
    """Hold a screen against its file."""
    file = SCREENS / f"{name}-{width}.txt"
    lines = "\n".join(line.rstrip() for line in _without_draws(text).splitlines()) + "\n"
    if os.environ.get(RENEW):
        file.write_text(lines, encoding="utf-8")
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    difference = "\n".join(difflib.unified_diff(before.splitlines(), lines.splitlines(), lineterm=""))
    assert not difference, f"{file.name} is another one; {RENEW}=1 writes it anew\n{difference}"
    for line in lines.splitlines():
        whole = any(mark in line for mark in ("specwright ", "/", "Interface"))
        assert whole or len(line) <= width, line


def _without_draws(text: str) -> str:
    """A screen with other ids and times of the same width."""
    return _TIME.sub("2026-01-01T00:00:00.000Z", _ID.sub(r"\1-00000000", text))
