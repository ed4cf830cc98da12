"""The lines of the progress: one per role that answered, with what came of it, and one per step that matters.

A role's end and its outcome arrive as two events; they are told in one line. Pure text, no terminal.
"""

from typing import NamedTuple

from specwright.domain.one_line import one_line
from specwright.ports.progress import RoleDone, RoleStarted, Step

__all__ = ["Answered", "clock", "counted", "place_of", "role_line", "step_line", "tokens_told"]

_MARKS = {
    "task": "▶",
    "sealed": "✓",
    "shipped": "✓",
    "released": "✓",
    "halted": "✗",
    "preflight": "✗",
    "gate": "✗",
}
_PLAIN_MARKS = {"▶": ">", "✓": "+", "✗": "!", "·": "-"}
_OUTCOMES = {"spec", "plan", "proposed", "provided", "challenged", "adjudicated", "overruled", "amended"}
_UNTOLD = {"locked", "proposed", "amended"}  # said already by the line of the role that did it
_LONGEST = 40


class Answered(NamedTuple):
    """A role's invocation that ended.

    Args:
        started: What it was asked.
        done: What it used.
        seconds: How long it took.
        scripted: Whether a playbook or a recording answered.
    """

    started: RoleStarted
    done: RoleDone
    seconds: float
    scripted: bool

    def has_outcome(self, step: Step) -> bool:
        """Whether a step says what came of it."""
        return step.kind in _OUTCOMES and step.task == self.started.task


def clock(seconds: float) -> str:
    """A duration: `9.8s`, `4:05`, `1:02:03`."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(number: int, what: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def tokens_told(done: RoleDone, *, scripted: bool) -> str:
    """The tokens, or why there are none."""
    if scripted:
        return "scripted"
    tokens = counted(done.input_tokens + done.output_tokens, "token")
    return f"{tokens} (kept)" if done.replayed else tokens


def place_of(started: RoleStarted) -> str:
    """What a role works on: a module or the contracts, and the round unless it is the first."""
    stage = started.stage.replace("-", " ")
    return " ".join(filter(None, (started.subject, "" if stage == "round 1" else stage)))


def role_line(elapsed: float, answered: Answered, outcome: Step | None, *, unicode: bool) -> str:
    """The line of a role that answered."""
    started, done = answered.started, answered.done
    used = (
        f"{counted(done.calls, 'call'):>8} {clock(answered.seconds):>6}  "
        f"{tokens_told(done, scripted=answered.scripted):<13}"
    )
    text = "" if outcome is None else _outcome(outcome)
    return _line(
        elapsed, "·", started.task, f"{started.role:<10} {place_of(started):<20} {used}", text, unicode
    )


def step_line(elapsed: float, step: Step, *, unicode: bool) -> str:
    """The line of a step; empty if a role's line says it already."""
    if step.kind in _UNTOLD:
        return ""
    if step.kind == "task":
        return _line(elapsed, _MARKS["task"], step.task, step.text, "", unicode)
    return _line(elapsed, _MARKS.get(step.kind, "·"), step.task, f"{step.kind:<10}", step.text, unicode)


def _outcome(step: Step) -> str:
    if step.kind == "plan":
        return step.text if len(step.text) <= _LONGEST else f"{step.text[: _LONGEST - 3]}..."
    if step.kind == "spec":
        return "complete"
    return step.text.rpartition(": ")[2] if ": " in step.text else ""


def _line(elapsed: float, mark: str, task: str, head: str, text: str, unicode: bool) -> str:
    shown = mark if unicode else _PLAIN_MARKS[mark]
    head, text = (part if part.isprintable() else one_line(part) for part in (head, text))
    return f"{clock(elapsed):>7} {shown} {task:<8} {head} {text}".rstrip()
