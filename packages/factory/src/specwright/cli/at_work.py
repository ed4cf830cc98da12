"""What a run is doing, in words: of the live line, of the lines of a log, and of `status`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specwright.bootstrap.views import AtWork


def clock(seconds: float) -> str:
    """A duration: `9.8s`, `4:05`, `1:02:03`."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def place_in_words(subject: str, stage: str) -> str:
    """What a role works on: a module or the contracts, and the round unless it is the first."""
    stage = stage.replace("-", " ")
    return " ".join(filter(None, (subject, "" if stage == "round 1" else stage)))


def waiting_in_words(model: str, *, first: bool) -> str:
    """That a model is asked and has not answered; the address of its server is left out."""
    return f"waiting for {'the first answer' if first else 'an answer'} of {model.partition(' at ')[0]}"


def at_work_in_words(noted: "AtWork", tasks: Sequence[str] = ()) -> str:
    """What a run is doing.

    Args:
        noted: By the run.
        tasks: Those in progress, as `TSK-001 Divide an amount`.
    """
    task = next((one for one in tasks if one.split()[0] == noted.task), noted.task)
    role = " ".join(filter(None, (noted.role, place_in_words(noted.subject or "", noted.stage or ""))))
    doing = "at work" if noted.role else "working without a model"
    if noted.waits_for:
        doing = waiting_in_words(noted.waits_for, first=noted.first_answer)
    return " · ".join(filter(None, (task, role, f"{doing} for {clock(noted.seconds)}")))
