"""Progress on stderr: a live line on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from specwright.ports.progress import RoleDone, RoleStarted, Step

__all__ = ["ConsoleProgress"]

_MARK = {
    "task": "▶",
    "sealed": "✓",
    "shipped": "✓",
    "released": "✓",
    "halted": "✗",
    "challenged": "·",
    "adjudicated": "·",
}


class ConsoleProgress:
    """The progress port on stderr: which task, which module, which role, how long, how many tokens."""

    def __init__(self, *, scripted: bool) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._status: Status | None = None
        self._began = time.monotonic()
        self._role_began = 0.0
        self._scripted = scripted
        self.calls = 0
        self.tokens = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("starting")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def note(self, event: Step | RoleStarted | RoleDone) -> None:
        """Show an event."""
        if isinstance(event, RoleStarted):
            self._role_began = time.monotonic()
            place = " ".join(filter(None, (event.task, event.subject, event.stage)))
            if self._status is not None:
                self._status.update(Text(f"{event.role}  {place}"))
            else:
                self._line(f"… {event.role} {place}")
        elif isinstance(event, RoleDone):
            self._done(event)
        else:
            self._line(f"{_MARK.get(event.kind, '·')} {event.kind:<11} {event.task:<8} {event.text}")

    def _done(self, event: RoleDone) -> None:
        self.calls += event.calls
        used = event.input_tokens + event.output_tokens
        self.tokens += used
        took = time.monotonic() - self._role_began
        how = "scripted" if self._scripted else "replayed" if event.replayed else f"{used:,} tokens"
        self._line(f"  {event.run_id}: {event.calls} calls, {took:.1f} s, {how}")

    def _line(self, text: str) -> None:
        elapsed = time.monotonic() - self._began
        self._console.print(Text(f"{elapsed:6.1f}s {text}"))
