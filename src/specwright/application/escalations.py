"""Escalations as they are stored (F§17.1)."""

from specwright.application.factory import Reading
from specwright.domain.escalation import EscalationArtifact
from specwright.errors import InputError

__all__ = ["escalation_at"]


def escalation_at(factory: Reading, escalation_id: str) -> EscalationArtifact:
    """An escalation by its id.

    Raises:
        InputError: there is none.
    """
    path = f"escalations/{escalation_id}.json"
    if not factory.store.exists(path):
        raise InputError(
            f"there is no escalation {escalation_id}", remedy="`specwright escalations` lists those that wait"
        )
    return EscalationArtifact.from_bytes(factory.store.read(path), path)
