"""Escalations as they are stored (F§17.1)."""

from specwright.application.factory import Reading
from specwright.domain.escalation import EscalationArtifact
from specwright.errors import CorruptionError, InputError

__all__ = ["escalation_at"]


def escalation_at(factory: Reading, escalation_id: str) -> EscalationArtifact:
    """An escalation by its id.

    Raises:
        InputError: there is none.
        CorruptionError: there was one, and its file is gone.
    """
    path = f"escalations/{escalation_id}.json"
    if not factory.store.exists(path):
        state = factory.projection.state
        if state and any(entry.escalation_ref == escalation_id for entry in state.tasks.values()):
            raise CorruptionError(
                f"the escalation {escalation_id} is gone",
                where=f"state_store/{path}",
                remedy="restore `state_store/` from a copy of the project",
            )
        raise InputError(
            f"there is no escalation {escalation_id}", remedy="`specwright escalations` lists those that wait"
        )
    return EscalationArtifact.from_bytes(factory.store.read(path), path)
