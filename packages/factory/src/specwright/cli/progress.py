"""Progress on stderr: a live line on a terminal, plain lines elsewhere.

The live line says which role works on what, the tokens of the request that is under way and of the project, the money if
its price is known, for how long it waits, and how much of the project is done.
Elsewhere a role that takes long is announced, so that a silent log is not taken for a hang.
A role's end and its outcome arrive as two events and are shown in one line.
"""

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task
from rich.table import Column
from rich.text import Text

from ship_gate.base.text import one_line
from ship_gate.terminal.output import UNLIMITED, counted, printable, width_of
from ship_gate.terminal.page import brief, coloured, wrapped
from specwright.cli.at_work import clock, place_in_words, waiting_in_words
from specwright.documents.stops import CallsUsed
from specwright.domain.costs import Cost, dollars, money
from specwright.ports import (
    AnswerBought,
    ProgressEvent,
    RequestDone,
    RequestSent,
    RoleDone,
    RoleStarted,
    RunEvent,
)

_LONG_SECONDS = 5.0
_REMINDER_SECONDS = 60.0
_STAGES = {
    "wheel": "trying the wheel",
    "released": "writing the summary",
    "unreleased": "writing the summary",
}
_TASK_ENDS = {"shipped", "halted"}
_MARKS = {
    "task": "▶",
    "sealed": "✓",
    "shipped": "✓",
    "released": "✓",
    "halted": "✗",
    "unreleased": "✗",
    "preflight": "✗",
    "refused": "✗",
    "gate": "✗",
}
_PLAIN_MARKS = {"▶": ">", "✓": "+", "✗": "!", "·": "-", "…": "."}
_OUTCOMES = {"spec", "plan", "proposed", "provided", "challenged", "adjudicated", "overruled", "amended"}
_SHOWN_BY_ROLE = {"locked", "proposed", "amended"}  # the line of the role that did it says so
_LONGEST_PLAN = 40
_PLACE = 20
"""Columns of what a role works on."""
_SCRIPTED, _TOKENS = 13, len("140,000 tokens $0.0312")
"""Columns of what a role's answers took, before their outcome."""
_HANGING = 10
"""Columns of the time and the mark."""


class ConsoleProgress:
    """The progress port on stderr.

    Args:
        scripted: Whether a playbook answers for a role.
        ticks: Monotonic seconds.
    """

    def __init__(self, scripted: Callable[[str], bool], ticks: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._unicode = self._console.encoding.lower().startswith("utf")
        self._scripted = scripted
        self._ticks = ticks
        self._began = ticks()
        self._lock = threading.RLock()
        self._live: Progress | None = None
        self._reminder: threading.Timer | None = None
        self._started: RoleStarted | None = None
        self._started_at = 0.0
        self._sent: RequestSent | None = None
        self._sent_at = 0.0
        self._answered: tuple[str, str] | None = None
        """The task of the role that answered last, and the line about it, until its outcome is known."""
        self._task = ""
        self._stage = "opening"
        self._done_and_all = (0, 0)
        self._scripted_calls = 0
        self._cost = Cost()
        self._role_cost = Cost()
        self._spent: AnswerBought | None = None
        self.calls = 0
        self.journalled_calls = 0
        self.tokens = 0
        self.count_tasks: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """Tasks that are shipped, and all; asked at each step."""

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._console.is_dumb_terminal and self._unicode:
            self._live = Progress(
                SpinnerColumn(),
                _AtWork(self._at_work),
                console=self._console,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.add_task("", total=None)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._stop_reminding()
            self._flush(None)
        if self._live is not None:
            self._live.stop()
        if self.calls:
            self._print(f"{clock(self._elapsed()):>7}   {self._sum()}")

    def note(self, event: ProgressEvent) -> None:
        """Show an event."""
        with self._lock:
            if isinstance(event, AnswerBought):
                self._spent, self._cost = event, self._cost.plus(event.cost)
                self._role_cost = self._role_cost.plus(event.cost)
                self.calls += event.cost.requests
                self.tokens += event.cost.tokens
            elif isinstance(event, RequestSent):
                self._sent, self._sent_at = event, self._ticks()
            elif isinstance(event, RequestDone):
                self._sent = None
            elif isinstance(event, RoleStarted):
                self._begin(event)
            elif isinstance(event, RoleDone):
                self._end(event)
            else:
                self._step(event)

    def used(self) -> CallsUsed:
        """What this command asked of models; answers from the journal cost nothing again."""
        usd = None if self._cost.unpriced else float(round(self._cost.usd, 6))
        return CallsUsed(
            calls=self.calls, calls_from_journal=self.journalled_calls, tokens=self.tokens, usd=usd
        )

    def _begin(self, event: RoleStarted) -> None:
        self._flush(None)
        self._started, self._started_at, self._role_cost = event, self._ticks(), Cost()
        self._sent = None
        if self._live is None:
            self._remind_in(_LONG_SECONDS)

    def _end(self, event: RoleDone) -> None:
        self._stop_reminding()
        self._stage = "checking"
        started = self._started
        if started is None:
            return
        self._started = None
        scripted = self._scripted(started.role)
        if event.calls:
            used = f"{counted(event.calls, 'call'):>8} {clock(self._ticks() - self._started_at):>6}"
            tokens = _tokens(event, self._role_cost, scripted=scripted)
            head = f"{_columns(started)} {used}  {tokens:<{_SCRIPTED if scripted else _TOKENS}}"
            self._answered = started.task, head
        self.calls += (
            event.calls - self._role_cost.requests
        )  # what was bought is counted, also if a role is cut short
        self.journalled_calls += event.kept
        self._scripted_calls += event.calls if scripted else 0
        tokens = 0 if event.replayed else event.input_tokens + event.output_tokens
        self.tokens += max(0, tokens - self._role_cost.tokens)

    def _step(self, event: RunEvent) -> None:
        self._done_and_all = self.count_tasks()
        self._stage = _STAGES.get(event.kind, "checking")
        self._task = f"{event.task} {event.text}" if event.kind == "task" else self._task
        if event.kind in _TASK_ENDS:
            self._task = ""
        if self._answered is not None and event.kind in _OUTCOMES and event.task == self._answered[0]:
            self._flush(event)
            return
        self._flush(None)
        if event.kind == "task":
            self._line(_MARKS["task"], event.task, event.text, "")
        elif event.kind not in _SHOWN_BY_ROLE:
            self._line(_MARKS.get(event.kind, "·"), event.task, f"{event.kind:<10}", event.text)

    def _flush(self, outcome: RunEvent | None) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            self._line("·", *answered, _outcome(outcome) if outcome else "")

    def _line(self, mark: str, task: str, head: str, text: str) -> None:
        shown = mark if self._unicode else _PLAIN_MARKS[mark]
        head, text = (part if part.isprintable() else one_line(part) for part in (head, text))
        self._print(f"{clock(self._elapsed()):>7} {shown} {task:<8} {head} {text}".rstrip())

    def _sum(self) -> str:
        text = counted(self.calls, "model call")
        if self.calls and self.journalled_calls == self.calls:
            text = f"no new model call, {counted(self.calls, 'earlier answer')} read from the journal"
        elif self.journalled_calls:
            text += f", {self.journalled_calls:,} of them answered by the journal"
        if self._scripted_calls == self.calls:
            return f"{text}, all scripted"
        paid = f", price: {money(self._cost)}" if self._cost.requests else ""
        since = self._spent.total.requests if self._spent else 0
        scripted = f", {self._scripted_calls:,} calls scripted" if self._scripted_calls else ""
        older = f"; {since:,} calls since the project began" if since > self._cost.requests else ""
        return f"{text}, {counted(self.tokens, 'token')}{paid}{scripted}{older}"

    def _at_work(self) -> str:
        """The text of the live line."""
        (done, every), started = self._done_and_all, self._started
        role, doing = self._stage, ""
        if started is not None:
            role, doing = " ".join(filter(None, (started.role, _place(started)))), self._doing()
        tasks = f"{done} of {every} tasks" if every else ""
        parts = [clock(self._elapsed()), role, _meter(self._sent, self._spent), doing, tasks, self._task]
        return " · ".join(filter(None, parts))

    def _doing(self) -> str:
        """Whether the role waits for its model, and for how long."""
        if self._sent is None:
            return f"at work for {clock(self._ticks() - self._started_at)}"
        waiting = waiting_in_words(self._sent.model, first=self._sent.first)
        return f"{waiting} for {clock(self._ticks() - self._sent_at)}"

    def _remind_in(self, seconds: float) -> None:
        self._stop_reminding()
        self._reminder = threading.Timer(seconds, self._remind)
        self._reminder.daemon = True
        self._reminder.start()

    def _remind(self) -> None:
        with self._lock:
            started = self._started
            if started is None:
                return
            meter = _meter(self._sent, self._spent)
            self._line("…", started.task, _columns(started), ", ".join(filter(None, (self._doing(), meter))))
            self._remind_in(_REMINDER_SECONDS)

    def _stop_reminding(self) -> None:
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder = None

    def _elapsed(self) -> float:
        return self._ticks() - self._began

    def _print(self, line: str) -> None:
        width = width_of(sys.stderr) if sys.stderr.isatty() else UNLIMITED  # of a log each event is a line
        self._console.print(coloured(fitted(line, width)))


def fitted(line: str, width: int) -> str:
    """A line as wide as the terminal: where it does not fit, its words are put together and wrapped behind the time."""
    if len(line) <= width:
        return line
    time_and_mark, words = line[:_HANGING], " ".join(line[_HANGING:].split())
    if width < 4 * _HANGING:
        return "\n".join(wrapped(" ".join(line.split()), width))
    return time_and_mark + f"\n{' ' * _HANGING}".join(wrapped(words, width - _HANGING))


class _AtWork(ProgressColumn):
    """What is at work, on what is left of the line."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__(Column(ratio=1, no_wrap=True, overflow="ellipsis"))
        self._text = text

    def render(self, task: Task) -> Text:
        """The text as it is now."""
        return Text(printable(self._text()))


def _tokens(done: RoleDone, cost: Cost, *, scripted: bool) -> str:
    """The tokens and their price, or why there are none; that a price is unknown is said at the end."""
    if scripted:
        return "scripted"
    if not done.input_tokens + done.output_tokens:
        return "tokens unknown"
    tokens = counted(done.input_tokens + done.output_tokens, "token")
    if done.replayed:
        return f"{tokens} (kept)"
    return f"{tokens} {money(cost)}" if cost.requests and not cost.unpriced else tokens


def _meter(sent: RequestSent | None, spent: AnswerBought | None) -> str:
    """The tokens of the request under way, and what the project has spent of its budget:
    `about 9,100 tokens in this call, 45,200 of 100,000 in all, $0.31 of $2.00`."""
    parts = [f"about {round(sent.tokens, -2):,} tokens in this call"] if sent and sent.tokens else []
    if spent:
        total, budget = spent.total, spent.budget
        unit = "in all" if parts else "tokens in all"
        parts.append(f"{total.tokens:,}{f' of {budget.tokens:,}' if budget.tokens else ''} {unit}")
        if (paid := money(total)) != "unknown":
            parts.append(f"{paid} of {dollars(budget.usd)}" if budget.usd else paid)
    return ", ".join(parts)


def _columns(started: RoleStarted) -> str:
    """The role and what it works on, in the columns that all lines about roles have."""
    return f"{started.role:<10} {_place(started):<{_PLACE}}"


def _place(started: RoleStarted) -> str:
    return place_in_words(started.subject, started.stage)


def _outcome(step: RunEvent) -> str:
    if step.kind == "plan":
        return brief(step.text, _LONGEST_PLAN)
    if step.kind == "spec":
        return "complete"
    return step.text.rpartition(": ")[2] if ": " in step.text else ""
