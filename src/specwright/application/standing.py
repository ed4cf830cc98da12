"""Where a project stands, and what a person can do about it."""

from enum import StrEnum
from typing import NamedTuple

from specwright.application.factory import Reading
from specwright.application.releasing import last_release
from specwright.application.stops.loop_stops import open_escalations
from specwright.domain.dispatch import Outcome, outcome

__all__ = ["Standing", "Where", "standing"]


class Where(StrEnum):
    """The stops of a run, and what lies between them."""

    NEW = "new"
    RESEARCH = "research"
    APPROVAL = "approval"
    RUNNING = "running"
    HALTED = "halted"
    STALLED = "stalled"
    RELEASED = "released"
    RELEASE_FAILED = "release_failed"
    RELEASE_DUE = "release_due"


class Standing(NamedTuple):
    """A project's place, with the escalations that wait for a person."""

    where: Where
    escalations: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """What a command that drove the project here returns (DESIGN §9)."""
        if self.where is Where.RELEASED:
            return 0
        waits = self.where in (Where.APPROVAL, Where.HALTED, Where.STALLED)
        return 3 if waits else 1


def standing(factory: Reading) -> Standing:
    """Read it from the log and the product files; nothing is asked of the graph."""
    state = factory.projection.state
    if state is None:
        if factory.projection.spec is not None:
            return Standing(Where.RUNNING)
        return Standing(Where.APPROVAL if factory.store.exists("product/spec.json") else Where.NEW)
    escalations = tuple(open_escalations(factory))
    where = {
        Outcome.RUNNABLE: Where.RUNNING,
        Outcome.HALTED: Where.HALTED,
        Outcome.STALLED: Where.STALLED,
        Outcome.COMPLETE: Where.RELEASE_DUE,
    }[outcome(state)]
    if where is Where.RELEASE_DUE and (made := last_release(factory)):
        where = Where.RELEASED if made.succeeded else Where.RELEASE_FAILED
    return Standing(where, escalations)
