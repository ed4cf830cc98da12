"""A debate in the round that is judged, as both judges take it (design: debate)."""

from collections.abc import Sequence
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from specwright.application.debate.deliverable import Deliverable
from specwright.application.messages.debate import JudgedDebate
from specwright.application.store.debates import DebateHistory
from specwright.domain.answers.answers import Amendment
from specwright.domain.debate.debate import MAX_REVISIONS
from specwright.ports.roles import Place, Role


class Case(NamedTuple):
    """A debate in the round that is judged.

    Args:
        deliverable: What is debated.
        version_id: Its version.
        number: The round.
        history: The debate so far; its last proposal is judged, or its last challenge.
        revisions_left: Of the deliverable.
    """

    deliverable: Deliverable
    version_id: str
    number: int
    history: DebateHistory
    revisions_left: int = MAX_REVISIONS

    @property
    def name(self) -> str:
        """Of the deliverable."""
        return self.deliverable.name

    @property
    def contracts(self) -> list[MicroModuleContract]:
        """Those that are debated or implemented."""
        return self.deliverable.contracts(self.version_id)

    @property
    def shown(self) -> JudgedDebate:
        """What a request tells of it."""
        return JudgedDebate(self.name, self.contracts, self.history, revisions_left=self.revisions_left)

    def place(self, role: Role) -> Place:
        """Where a role judges it."""
        return self.deliverable.task.place(self.name, f"round-{self.number}", role)

    def problems_by_code(self, amendments: Sequence[Amendment]) -> Sequence[str] | None:
        """What keeps the contracts from being locked with amendments; None if code cannot apply them."""
        return self.deliverable.problems_by_code(self.version_id, self.number, amendments)
