"""The universal artifact envelope and its status machine (F§8)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from specwright.domain.ids import ArtifactId, ArtifactType
from specwright.domain.provenance import PackId, Reference
from specwright.domain.record import Record, SemVer, Text, Timestamp
from specwright.errors import RefusedError

__all__ = [
    "ADJUDICATED_BY",
    "AMENDED_AFTER",
    "CHALLENGED_BY",
    "CHALLENGED_STILL",
    "DEPRECATED_FOR",
    "FIRST_VERSION",
    "LOCKED_AFTER",
    "OVERRULED_BY",
    "REJECTED_BY",
    "REVISED_BY",
    "REVISES",
    "SEALED_AS",
    "TRANSITIONS",
    "ArtifactEnvelope",
    "ArtifactRef",
    "ArtifactStatus",
    "Author",
    "check_transition",
    "next_version",
    "version_number",
]

CHALLENGED_BY = "challenged by it"
ADJUDICATED_BY = "adjudicated by it"
REJECTED_BY = "sent back for revision by it"
OVERRULED_BY = "approved by it, in place of the Arbiter's ruling"
CHALLENGED_STILL = "challenged by it, since a person overrules what sent it back"
AMENDED_AFTER = "amended as it says"
LOCKED_AFTER = "locked after it"
SEALED_AS = "sealed as it"
DEPRECATED_FOR = "deprecated for it"
REVISED_BY = "revised by it"
"""The grounds on which a status moved, as the purposes of an envelope's outputs (ADR 0043)."""

REVISES = "the version that it revises"
"""The purpose of the input that makes a lineage (F§8.3)."""

FIRST_VERSION = "1.0.0"


class ArtifactStatus(StrEnum):
    """Where an artifact stands (F§8.4)."""

    DRAFT = "DRAFT"
    CHALLENGED = "CHALLENGED"
    ADJUDICATED = "ADJUDICATED"
    SHIPPED = "SHIPPED"
    DEPRECATED = "DEPRECATED"


_S = ArtifactStatus

TRANSITIONS: Mapping[ArtifactStatus, frozenset[ArtifactStatus]] = {
    _S.DRAFT: frozenset({_S.CHALLENGED}),
    _S.CHALLENGED: frozenset({_S.ADJUDICATED}),
    _S.ADJUDICATED: frozenset({_S.SHIPPED, _S.DRAFT}),
    _S.SHIPPED: frozenset({_S.DEPRECATED}),
    _S.DEPRECATED: frozenset(),
}
"""The five legal transitions (F§8.4)."""

_MADE_BY: Mapping[str, ArtifactStatus | None] = {
    CHALLENGED_BY: _S.CHALLENGED,
    ADJUDICATED_BY: _S.ADJUDICATED,
    OVERRULED_BY: _S.ADJUDICATED,
    CHALLENGED_STILL: _S.CHALLENGED,
    AMENDED_AFTER: _S.ADJUDICATED,
    REJECTED_BY: _S.DRAFT,
    LOCKED_AFTER: _S.SHIPPED,
    SEALED_AS: _S.SHIPPED,
    DEPRECATED_FOR: _S.DEPRECATED,
    REVISED_BY: None,
}
"""The status that each ground makes."""

_WHY_NOT: Mapping[tuple[ArtifactStatus, ArtifactStatus], str] = {
    (_S.DRAFT, _S.SHIPPED): "the debate cannot be skipped",
    (_S.DRAFT, _S.ADJUDICATED): "the challenge cannot be skipped",
    (_S.SHIPPED, _S.DRAFT): "a shipped artifact is immutable; a change is a new version",
    (_S.SHIPPED, _S.CHALLENGED): "a shipped artifact is immutable; it is judged again as a new version",
    (_S.CHALLENGED, _S.DRAFT): "only the Arbiter sends an artifact back",
    (_S.CHALLENGED, _S.SHIPPED): "the adjudication cannot be skipped",
}
"""The reasons of F§8.4; DEPRECATED is terminal."""


def check_transition(artifact_id: str, old: ArtifactStatus, new: ArtifactStatus) -> None:
    """Refuse a status change that the table does not hold.

    Raises:
        RefusedError: names the artifact, both statuses and the reason.
    """
    if new in TRANSITIONS[old]:
        return
    legal = ", ".join(sorted(TRANSITIONS[old])) or "nothing, it is terminal"
    why = f": {_WHY_NOT[old, new]}" if (old, new) in _WHY_NOT else ""
    raise RefusedError(
        f"{artifact_id} cannot go from {old} to {new}{why}",
        where="F§8.4",
        remedy=f"from {old} it may become: {legal}",
    )


def version_number(version: str) -> tuple[int, ...]:
    """A version as what it is compared by (F§8.3)."""
    return tuple(map(int, version.split(".")))


def next_version(highest: str) -> str:
    """The next patch: what a revision gets, which changes nothing that was shipped (F§8.3, ADR 0042)."""
    major, minor, patch = version_number(highest)
    return f"{major}.{minor}.{patch + 1}"


class Author(Record):
    """Who made an artifact: the role and its invocation."""

    role: Text
    run_id: Text


class ArtifactRef(Record):
    """A reference of provenance, `id@version` with its purpose."""

    ref: Reference
    purpose: Text


class ArtifactEnvelope(Record):
    """The metadata of every artifact (F§8).

    `inputs` is what it was made from; `outputs` is what came of it: the records that moved its status, the version
    that revises it, the module that it was sealed as.
    """

    artifact_id: ArtifactId
    artifact_type: ArtifactType
    version: SemVer = FIRST_VERSION
    status: ArtifactStatus = ArtifactStatus.DRAFT
    created_at: Timestamp
    created_by: Author
    context_pack_ref: PackId
    inputs: list[ArtifactRef] = Field(default_factory=list)
    outputs: list[ArtifactRef] = Field(default_factory=list)
    notes: str = ""

    @model_validator(mode="after")
    def _id_of_its_type(self) -> Self:
        if not self.artifact_id.startswith(f"{self.artifact_type.prefix}-"):
            raise ValueError(
                f"the id of a {self.artifact_type} starts with {self.artifact_type.prefix}-, got {self.artifact_id}"
            )
        return self

    @property
    def ref(self) -> str:
        """`id@version`."""
        return f"{self.artifact_id}@{self.version}"

    @property
    def revised(self) -> str:
        """The id of the version that it revises; empty for the first of its lineage."""
        return next((given.ref.partition("@")[0] for given in self.inputs if given.purpose == REVISES), "")

    @property
    def as_created(self) -> "ArtifactEnvelope":
        """What it was before anything came of it; that part never changes (F§8.2)."""
        return self.model_copy(update={"status": ArtifactStatus.DRAFT, "outputs": []})

    @property
    def status_by_grounds(self) -> ArtifactStatus | None:
        """The status that its outputs make; None where one of them is no ground that is known."""
        status = ArtifactStatus.DRAFT
        for output in self.outputs:
            if output.purpose not in _MADE_BY:
                return None
            status = _MADE_BY[output.purpose] or status
        return status

    def made_from(self, ref: str) -> bool:
        """Whether a reference is among its inputs."""
        return any(given.ref == ref for given in self.inputs)

    def came_of_it(self, *purposes: str) -> list[ArtifactRef]:
        """Its outputs of some purposes, in order."""
        return [given for given in self.outputs if given.purpose in purposes]

    def has_output(self, output: ArtifactRef) -> bool:
        """Whether something came of it already."""
        return output in self.outputs
