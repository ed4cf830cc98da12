"""What a person sees while it runs: plain lines where there is no terminal, a live line where there is one."""

import io
import re
import shutil
from contextlib import redirect_stderr
from decimal import Decimal
from pathlib import Path

import pytest

from ship_gate.terminal.output import printable
from specwright.cli.at_work import clock
from specwright.cli.progress import ConsoleProgress
from specwright.domain.costs import Budget, Cost
from specwright.ports import AnswerBought, RequestDone, RequestSent, RoleDone, RoleStarted, RunEvent
from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.cli.terminal import on_a_terminal
from testkit.processes import until

STARTED = RoleStarted("TSK-007.1/parse/round-2/challenger", "challenger", "TSK-007", "parse", "round-2")
COST = Cost(1, 9_000, 3_100, 900, Decimal("0.0312"))
DONE = RoleDone(STARTED.run_id, 3, 1200, 34, replayed=False)


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def told(*events: RunEvent | RoleStarted | RoleDone | float, scripted: bool = False) -> list[str]:
    """The plain lines of some events; a number lets seconds pass."""
    ticks, out = Clock(), io.StringIO()
    with redirect_stderr(out), ConsoleProgress(lambda _: scripted, ticks) as progress:
        for event in events:
            if isinstance(event, float):
                ticks.now += event
            else:
                progress.note(event)
    return out.getvalue().splitlines()


def test_a_role_and_its_outcome_are_one_line_with_everything_in_it() -> None:
    """DESIGN §5: which task, which module, which role, which round, how long, how many tokens, and what came of it; an
    outcome of another task is a line of its own; a role that never answered leaves none, and a plan and its lock are one."""
    line, total = told(STARTED, 2.5, DONE, RunEvent("challenged", "TSK-007", "parse round 2: FAIL"))
    for word in ("2.5s", "TSK-007", "challenger", "parse round 2", "3 calls", "1,234 tokens", "FAIL"):
        assert word in line
    assert "3 model calls, 1,234 tokens" in total
    lines = told(STARTED, DONE, RunEvent("task", "TSK-008", "Next"))
    assert "challenger" in lines[0]
    assert "TSK-008  Next" in lines[1]
    assert told(STARTED, DONE._replace(calls=0)) == []
    assert (
        told(RunEvent("proposed", "TSK-007", "contracts round 1"), RunEvent("locked", "TSK-007", "parse"))
        == []
    )


def test_a_scripted_answer_is_never_shown_as_tokens() -> None:
    """D-S6-02, DESIGN §4: the output says that it is scripted; after a crash the totals count what is asked now."""
    line, total = told(STARTED, DONE, scripted=True)
    assert "scripted" in line
    assert "token" not in line
    assert "all scripted" in total
    line, total = told(STARTED, DONE._replace(replayed=True, kept=3))
    assert "(kept)" in line
    assert "no new model call, 3 earlier answers read from the journal" in total
    assert "0 tokens" in total


SENT = RequestSent(STARTED.run_id, "openai:some at http://127.0.0.1:1/v1", first=True, tokens=9_120)
DOING = {
    "at work for": [(), (SENT, RequestDone(STARTED.run_id))],
    "waiting for the first answer of openai:some for": [(SENT,)],
    "waiting for an answer of openai:some for": [(SENT._replace(first=False),)],
}


def test_a_silent_role_is_announced_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN §9: a log that stays empty for long is not taken for a hang, nor a model that is not there for one that
    thinks."""
    monkeypatch.setattr("specwright.cli.progress._LONG_SECONDS", 0.2)
    for doing, events in ((doing, events) for doing, cases in DOING.items() for events in cases):
        out = io.StringIO()
        with redirect_stderr(out), ConsoleProgress(lambda _: False) as progress:
            for event in (STARTED, *events):
                progress.note(event)
            until(lambda out=out: "…" in out.getvalue(), 5)
        said = out.getvalue().splitlines()[0]
        assert f"TSK-007  challenger parse round 2        {doing} " in said
        assert ("about 9,100 tokens in this call" in said, "http" in said) == ("waiting" in doing, False)


def test_the_calls_of_a_role_that_was_cut_short_are_counted() -> None:
    """D-S9-13: the sum after Ctrl-C is what `costs` says, with what earlier commands bought."""
    bought = AnswerBought(COST, COST._replace(requests=7), Budget())
    (line,) = told(STARTED, bought, bought)
    assert "2 model calls, 8,000 tokens, price: $0.0624; 7 calls since the project began" in line


def test_the_lines_of_a_long_run_have_the_same_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """DESIGN §9: role, place, duration and outcome stand below one another, with a reminder between them, with a price and
    without."""
    monkeypatch.setattr("specwright.cli.progress._LONG_SECONDS", 0.01)
    out, priced = io.StringIO(), AnswerBought(COST, COST, Budget())
    planned = RoleStarted("TSK-007.1/plan/round-1/planner", "planner", "TSK-007", "plan", "round-1")
    with redirect_stderr(out), ConsoleProgress(lambda _: False) as progress:
        progress.note(STARTED)
        until(lambda: "at work for" in out.getvalue(), 5)
        progress.note(DONE)
        progress.note(RunEvent("challenged", "TSK-007", "parse round 2: FAIL"))
        monkeypatch.setattr("specwright.cli.progress._LONG_SECONDS", 60.0)
        for event in (planned, priced, RoleDone(planned.run_id, 12, 130_000, 1200, replayed=False)):
            progress.note(event)
        progress.note(RunEvent("plan", "TSK-007", "parse"))
    reminder, unpriced, plan, *_ = out.getvalue().splitlines()
    task, role, place = (unpriced.index(word) for word in ("TSK-007", "challenger", "parse"))
    assert reminder.index("TSK-007") == plan.index("TSK-007") == task
    assert reminder.index("challenger") == plan.index("planner") == role
    assert reminder.index("parse round 2") == plan.index("plan ", role + 8) == place
    assert unpriced.index("FAIL") == plan.index("parse")
    assert "$0.0312" in plan


def test_a_duration_is_short_and_exact_enough() -> None:
    """DESIGN §9: how long."""
    times = {0.04: "0.0s", 59.94: "59.9s", 61: "1:01", 3599: "59:59", 3725: "1:02:05"}
    assert {seconds: clock(seconds) for seconds in times} == times


def test_what_others_wrote_cannot_steer_the_terminal() -> None:
    """DESIGN §9: control characters of models, files and providers stay out of it."""
    assert printable("a\x1b[2Jb\x07c\x9bd\r\n\te") == "a[2Jbcd\n\te"
    (line,) = told(RunEvent("halted", "TSK-007", "because\x1b]0;title\x07"))
    assert "\x1b" not in line


def test_a_run_on_no_terminal_prints_one_line_for_each_role(released_once: Path) -> None:
    """DESIGN §9: plain lines of at most 100 columns, no escape codes, no start lines but for what takes long."""
    said = (released_once.parent / "told").read_text()
    lines = said.splitlines()
    assert sum(" call" in line and "model call" not in line for line in lines) == 7
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in said
    assert not [
        line for line in lines if "…" in line and "at work for" not in line
    ]  # a role that takes its time


@pytest.mark.slow
def test_a_run_on_a_terminal_shows_a_live_line_and_leaves_a_clean_screen(tmp_path: Path) -> None:
    """DESIGN §9: what is at work now, and the summary last, with the cursor back."""
    given = ("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK, "--approve")
    screen = on_a_terminal(*given).screen
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen)
    assert re.search(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] [\d.]+s · \w+ .*· 0 of 1 tasks · TSK-001 Initials", shown)
    assert "\x1b[?25l" in screen
    assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l")
    labels = re.findall(r"^\s*(Shipped|Proof|Install|Use|Note):", shown.replace("\r", ""), re.MULTILINE)
    assert labels == ["Shipped", "Proof", "Install", "Use", "Note"]


@pytest.mark.slow
def test_a_preflight_that_fails_says_in_one_line_what_failed(tmp_path: Path) -> None:
    """D-11-06, D18: a person who watches sees why a role is asked once more, as it happens."""
    playbook = shutil.copytree(SMALL / "playbook", tmp_path / "playbook")
    source = playbook / "TSK-001/initials/round-1/deliverable/implementation/__init__.py"
    source.write_text(source.read_text().replace("upper()", "lower()"))
    spec = SMALL / "SPEC.md"
    ended = specwright(
        "run", tmp_path / "project", "--spec", spec, "--model", f"playbook:{playbook}", "--approve"
    )
    assert ended.code == 1, ended  # the playbook has no other draft
    (line,) = {line[10:] for line in ended.err.splitlines() if " preflight " in line}
    assert line.startswith("TSK-001  preflight  initials: ")
    assert "test_initials.py" in line
    assert "(and " in line
