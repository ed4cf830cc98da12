"""The universal artifact envelope and its status machine (F§8)."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from specwright.domain.ids import ArtifactId, ArtifactType
from specwright.domain.record import Record, SemVer, Timestamp
from specwright.errors import RefusedError

__all__ = ["TRANSITIONS", "ArtifactEnvelope", "ArtifactRef", "ArtifactStatus", "Author", "check_transition"]


class ArtifactStatus(StrEnum):
    """Where an artifact stands (F§8.4)."""

    DRAFT = "DRAFT"
    CHALLENGED = "CHALLENGED"
    ADJUDICATED = "ADJUDICATED"
    SHIPPED = "SHIPPED"
    DEPRECATED = "DEPRECATED"


TRANSITIONS: Mapping[ArtifactStatus, frozenset[ArtifactStatus]] = {
    ArtifactStatus.DRAFT: frozenset({ArtifactStatus.CHALLENGED}),
    ArtifactStatus.CHALLENGED: frozenset({ArtifactStatus.ADJUDICATED}),
    ArtifactStatus.ADJUDICATED: frozenset({ArtifactStatus.SHIPPED, ArtifactStatus.DRAFT}),
    ArtifactStatus.SHIPPED: frozenset({ArtifactStatus.DEPRECATED}),
    ArtifactStatus.DEPRECATED: frozenset(),
}
"""The five legal transitions (F§8.4)."""


def check_transition(artifact_id: str, old: ArtifactStatus, new: ArtifactStatus) -> None:
    """Refuse a status change that the table does not hold.

    Raises:
        RefusedError: names the artifact and both statuses.
    """
    if new not in TRANSITIONS[old]:
        legal = ", ".join(sorted(TRANSITIONS[old])) or "nothing, it is terminal"
        raise RefusedError(
            f"{artifact_id} cannot go from {old} to {new}",
            where="F§8.4",
            remedy=f"from {old} it may become: {legal}",
        )


class Author(Record):
    """Who made an artifact: the role and its invocation."""

    role: str
    run_id: str


class ArtifactRef(Record):
    """A reference of provenance, `id@version` with its purpose."""

    ref: str
    purpose: str


class ArtifactEnvelope(Record):
    """The metadata of every artifact (F§8)."""

    artifact_id: ArtifactId
    artifact_type: ArtifactType
    version: SemVer = "1.0.0"
    status: ArtifactStatus = ArtifactStatus.DRAFT
    created_at: Timestamp
    created_by: Author
    context_pack_ref: str
    inputs: list[ArtifactRef] = Field(default_factory=list)
    outputs: list[ArtifactRef] = Field(default_factory=list)
    notes: str = ""
