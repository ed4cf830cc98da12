"""The progress port: events of a run, for display."""

from typing import NamedTuple, Protocol

from specwright.domain.costs import Budget, Cost


class Step(NamedTuple):
    """An event of the run, of a kind such as `task`, `module`, `sealed`, `halted`, `gate` or `release`."""

    kind: str
    task: str
    text: str


class RoleStarted(NamedTuple):
    """A role was invoked."""

    run_id: str
    role: str
    task: str
    subject: str
    stage: str


class RoleDone(NamedTuple):
    """A role answered. Tokens are those of live calls; if there were none (`replayed`), those of recorded calls."""

    run_id: str
    calls: int
    input_tokens: int
    output_tokens: int
    replayed: bool
    kept: int = 0
    """Calls that the journal answered."""


class RequestSent(NamedTuple):
    """A role's model was asked; `RequestDone` follows, whether it answers or not.

    Args:
        run_id: The invocation.
        model: As the journal names it.
        first: Whether the project has no answer of this model yet.
    """

    run_id: str
    model: str
    first: bool


class RequestDone(NamedTuple):
    """The model that was asked has answered, or has failed for good."""

    run_id: str


class AnswerBought(NamedTuple):
    """An answer was bought and journalled.

    Args:
        cost: Its cost.
        total: That of the project so far.
        budget: The project's.
    """

    cost: Cost
    total: Cost
    budget: Budget


ProgressEvent = Step | RoleStarted | RoleDone | RequestSent | RequestDone | AnswerBought


class Progress(Protocol):
    """Receives events; never fails the run."""

    def note(self, event: ProgressEvent) -> None:
        """Show an event."""
        ...
