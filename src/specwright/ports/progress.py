"""The progress port: what a person watching wants to know now."""

from typing import NamedTuple, Protocol

__all__ = ["Progress", "RoleDone", "RoleStarted", "Step"]


class Step(NamedTuple):
    """Something happened in the run: `task`, `module`, `sealed`, `halted`, `gate`, `release`..."""

    kind: str
    task: str
    text: str


class RoleStarted(NamedTuple):
    """A role is being asked."""

    run_id: str
    role: str
    task: str
    subject: str
    stage: str


class RoleDone(NamedTuple):
    """A role answered. Tokens are those that were asked live; if nothing was (`replayed`), those that were kept."""

    run_id: str
    calls: int
    input_tokens: int
    output_tokens: int
    replayed: bool
    kept: int = 0
    """Calls that the journal answered."""


class Progress(Protocol):
    """Takes notice; never fails the run."""

    def note(self, event: Step | RoleStarted | RoleDone) -> None:
        """Show an event."""
        ...
