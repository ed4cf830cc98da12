"""Progress on stderr: a live line on a terminal, plain lines elsewhere.

The live line says which task, module and role is at work, for how long, how much of the project is done, and the
tokens so far. Elsewhere a role that takes long is announced, so that a silent log is not taken for a hang.
"""

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from specwright.cli.output import printable
from specwright.cli.progress_lines import Answered, clock, counted, place_of, role_line, step_line
from specwright.ports.progress import RoleDone, RoleStarted, Step

__all__ = ["ConsoleProgress"]

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_SECOND = 8
_LONG_SECONDS = 5.0
_REMINDER_SECONDS = 60.0
_STAGES = {"wheel": "trying the wheel", "released": "writing the summary"}
_TASK_ENDS = {"shipped", "halted"}
_BAD, _GOOD = ("FAIL", "REJECT", "✗"), ("✓",)


class ConsoleProgress:
    """The progress port on stderr: which task, which module, which role, how long, how many tokens.

    Args:
        scripted: Whether a playbook or a recording answers for a role.
        ticks: Monotonic seconds.
    """

    def __init__(self, scripted: Callable[[str], bool], ticks: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._unicode = self._console.encoding.lower().startswith("utf")
        self._scripted = scripted
        self._ticks = ticks
        self._began = ticks()
        self._lock = threading.RLock()
        self._live: Live | None = None
        self._reminder: threading.Timer | None = None
        self._started: RoleStarted | None = None
        self._started_at = 0.0
        self._answered: Answered | None = None
        self._task = ""
        self._stage = "opening"
        self._done_and_all = (0, 0)
        self._invented = 0
        self.calls = 0
        self.kept_calls = 0
        self.tokens = 0
        self.count_tasks: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """Tasks that are shipped, and all; asked at each step."""

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._console.is_dumb_terminal and self._unicode:
            self._live = Live(
                console=self._console,
                get_renderable=self._now,
                refresh_per_second=_FRAMES_PER_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
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

    def note(self, event: Step | RoleStarted | RoleDone) -> None:
        """Show an event."""
        with self._lock:
            if isinstance(event, RoleStarted):
                self._begin(event)
            elif isinstance(event, RoleDone):
                self._end(event)
            else:
                self._step(event)

    def used(self) -> dict[str, int]:
        """What this command asked of models; answers that the journal gave cost nothing again."""
        return {"calls": self.calls, "calls_from_journal": self.kept_calls, "tokens": self.tokens}

    def _begin(self, event: RoleStarted) -> None:
        self._flush(None)
        self._started, self._started_at = event, self._ticks()
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
        self._answered = Answered(started, event, self._ticks() - self._started_at, scripted)
        self.calls += event.calls
        self.kept_calls += event.kept
        self._invented += event.calls if scripted else 0
        self.tokens += 0 if event.replayed else event.input_tokens + event.output_tokens

    def _step(self, event: Step) -> None:
        self._done_and_all = self.count_tasks()
        self._stage = _STAGES.get(event.kind, "checking")
        self._task = f"{event.task} {event.text}" if event.kind == "task" else self._task
        if event.kind in _TASK_ENDS:
            self._task = ""
        if self._answered is not None and self._answered.has_outcome(event):
            self._flush(event)
            return
        self._flush(None)
        if line := step_line(self._elapsed(), event, unicode=self._unicode):
            self._print(line)

    def _flush(self, outcome: Step | None) -> None:
        answered, self._answered = self._answered, None
        if answered is not None and answered.done.calls:
            self._print(role_line(self._elapsed(), answered, outcome, unicode=self._unicode))

    def _sum(self) -> str:
        told = counted(self.calls, "model call")
        if self.kept_calls:
            told += f", {self.kept_calls:,} of them answered by the journal"
        if self._invented == self.calls:
            return f"{told}, all scripted"
        return f"{told}, {counted(self.tokens, 'token')}" + (
            f", {self._invented:,} calls scripted" if self._invented else ""
        )

    def _now(self) -> Text:
        """The live line."""
        frame = _FRAMES[int(self._ticks() * _FRAMES_PER_SECOND) % len(_FRAMES)]
        started = self._started
        parts = [self._task]
        if started is not None:
            working = " ".join(filter(None, (started.role, place_of(started))))
            parts.append(f"{working} {clock(self._ticks() - self._started_at)}")
        else:
            parts.append(self._stage)
        done, every = self._done_and_all
        parts.append(f"{done} of {every} tasks" if every else "")
        parts.append(f"{self.tokens:,} tokens" if self.tokens else "")
        text = " · ".join(filter(None, [*parts, clock(self._elapsed())]))
        return Text(f"{frame} {printable(text)}", no_wrap=True, overflow="ellipsis")

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
            waited = clock(self._ticks() - self._started_at)
            place = " ".join(filter(None, (started.task, started.role, place_of(started))))
            self._print(f"{clock(self._elapsed()):>7} … {place}: at work for {waited}")
            self._remind_in(_REMINDER_SECONDS)

    def _stop_reminding(self) -> None:
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder = None

    def _elapsed(self) -> float:
        return self._ticks() - self._began

    def _print(self, line: str) -> None:
        text = Text(printable(line))
        text.highlight_words(_BAD, style="red")
        text.highlight_words(_GOOD, style="green")
        self._console.print(text)
