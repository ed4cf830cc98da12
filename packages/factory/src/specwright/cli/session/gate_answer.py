"""The answer at the approval gate, as a person types it in a terminal (design: approval)."""

from collections.abc import Callable

from ship_gate.terminal.output import say
from specwright.application.stages.status import ProjectStatus
from specwright.bootstrap.project import Project
from specwright.cli.terminal.output import ask

Step = Callable[[Project], ProjectStatus]
"""What a command has a project do: `Project.run`, `approve`, ..."""


def gate_answer(sha256: str) -> Step | None:
    """What a person wants done with the spec that waits; None to decide later.

    Args:
        sha256: Of the spec that was shown: an approval holds for this one.
    """
    while (typed := ask("approve, amend, reject, or later? ")) is not None:
        word = typed.lower()
        if word == "later":
            return None
        if word == "approve":
            return lambda project: project.approve(sha256)
        if word == "amend" and (feedback := ask("What to change: ")):
            return lambda project: project.amend(feedback)
        if word == "reject" and (reasons := ask("Why: ")):
            return lambda project: project.reject(reasons)
        say("Nothing was sent. Type one of the four words; amend and reject need a text.")
    say()
    return None
