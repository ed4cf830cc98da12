"""The artifact envelope and its status machine (design: artifact-lifecycle); context packs and contributions, which
record what each role saw and made (design: provenance)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from ship_gate.base.ids import ArtifactId, ArtifactType, TaskId
from ship_gate.base.record import Record, SemVer, Text, Timestamp
from specwright.domain.base import transitions

Reference = Annotated[str, Field(pattern=r"^[A-Z]+-[A-Za-z0-9-]+@[0-9]+\.[0-9]+\.[0-9]+$")]
"""`id@version` (design: provenance, artifact-lifecycle)."""

PackId = Annotated[str, Field(pattern=r"^CP-[0-9a-f]{8}$")]
"""The id of a context pack (design: artifact-lifecycle)."""

CONTRACT = "contract.json"
"""The file of a contract (design: contracts)."""

SURFACE = (CONTRACT, "examples.md", "ship.json")
"""The files of a shipped module that other roles may see (design: role-access)."""

EXTRACT = "summary.md"
"""The file that holds a reference's summary."""

METADATA = "metadata.json"
"""The file that holds only a reference's name, version and index status."""


NOT_IN_PACK = (
    "'{path}' is not part of your context pack. Everything outside it is a closed-source service (§6.8)."
)
"""The answer for any other `{path}` (design: engineering)."""


class Permission(StrEnum):
    """How much of a reference a role may see (design: provenance)."""

    FULL = "FULL"
    CONTRACT_ONLY = "CONTRACT_ONLY"
    SUMMARY_ONLY = "SUMMARY_ONLY"
    METADATA_ONLY = "METADATA_ONLY"


_SHOWN: Mapping[Permission, tuple[str, ...]] = {
    Permission.CONTRACT_ONLY: SURFACE,
    Permission.SUMMARY_ONLY: (EXTRACT,),
    Permission.METADATA_ONLY: (METADATA,),
}


def shown(permission: Permission, path: str) -> bool:
    """Whether a permission shows the file at a path of a reference (design: role-access)."""
    return permission is Permission.FULL or path in _SHOWN[permission]


class Author(Record):
    """The author of something: a role and its invocation."""

    role: Text
    run_id: Text


class CreatedFor(Author):
    """The invocation that a pack was made for."""

    task_ref: TaskId


class IncludedRef(Record):
    """A reference that the role gets, and why."""

    ref: Reference
    permission: Permission
    reason: Text


class ExcludedRef(Record):
    """A reference that the role does not get, and why."""

    ref: Reference
    reason: Text


class ContextPack(Record):
    """The manifest of everything that one role invocation may see."""

    context_pack_id: PackId
    created_for: CreatedFor
    included_refs: list[IncludedRef]
    excluded_refs: list[ExcludedRef]
    default_permission: Permission = Permission.CONTRACT_ONLY
    created_at: Timestamp


class ContributionType(StrEnum):
    """The kinds of result of a role invocation."""

    CONTRACT = "CONTRACT"
    MICRO_PLAN = "MICRO_PLAN"
    IMPLEMENTATION = "IMPLEMENTATION"
    CHALLENGE = "CHALLENGE"
    ADJUDICATION = "ADJUDICATION"
    SHIP_EVIDENCE = "SHIP_EVIDENCE"


class Contribution(Record):
    """The result of one role invocation; immutable."""

    contribution_id: Annotated[str, Field(pattern=r"^CONTRIB-[0-9a-f]{8}$")]
    type: ContributionType
    produced_by: Author
    artifact_ref: Reference
    task_ref: TaskId
    created_at: Timestamp
    context_pack_ref: PackId


FIRST_VERSION = "1.0.0"


class ArtifactStatus(StrEnum):
    """The statuses of an artifact (design: artifact-lifecycle)."""

    DRAFT = "DRAFT"
    CHALLENGED = "CHALLENGED"
    ADJUDICATED = "ADJUDICATED"
    SHIPPED = "SHIPPED"
    DEPRECATED = "DEPRECATED"


_S = ArtifactStatus

_TRANSITIONS = frozenset(
    {
        (_S.DRAFT, _S.CHALLENGED),
        (_S.CHALLENGED, _S.ADJUDICATED),
        (_S.ADJUDICATED, _S.SHIPPED),
        (_S.ADJUDICATED, _S.DRAFT),
        (_S.SHIPPED, _S.DEPRECATED),
    }
)
"""The five legal transitions (design: artifact-lifecycle)."""


class Purpose(StrEnum):
    """The `purpose` of an `ArtifactRef`: the use of an input, or the effect of an output on the artifact."""

    REVISES = "revises"
    IMPLEMENTS = "implements"
    PLANS = "plans"
    PART_OF = "part-of"
    REUSE_SEARCH = "reuse-search"
    CHALLENGED_BY = "challenged-by"
    CHALLENGED_STILL = "challenged-still"
    ADJUDICATED_BY = "adjudicated-by"
    OVERRULED_BY = "overruled-by"
    AMENDED_AFTER = "amended-after"
    REJECTED_BY = "rejected-by"
    LOCKED_AFTER = "locked-after"
    SEALED_AS = "sealed-as"
    DEPRECATED_FOR = "deprecated-for"
    REVISED_BY = "revised-by"
    OPENS_ROUND = "opens-round"
    IN_ROUND = "in-round"


_STATUS_AFTER: Mapping[str, ArtifactStatus | None] = {
    Purpose.CHALLENGED_BY: _S.CHALLENGED,
    Purpose.CHALLENGED_STILL: _S.CHALLENGED,
    Purpose.ADJUDICATED_BY: _S.ADJUDICATED,
    Purpose.OVERRULED_BY: _S.ADJUDICATED,
    Purpose.AMENDED_AFTER: _S.ADJUDICATED,
    Purpose.REJECTED_BY: _S.DRAFT,
    Purpose.LOCKED_AFTER: _S.SHIPPED,
    Purpose.SEALED_AS: _S.SHIPPED,
    Purpose.DEPRECATED_FOR: _S.DEPRECATED,
    Purpose.REVISED_BY: None,
    Purpose.OPENS_ROUND: None,
    Purpose.IN_ROUND: None,
}
"""The status that each purpose of an output gives the artifact; None if it leaves the status."""

_WHY_NOT: Mapping[tuple[ArtifactStatus, ArtifactStatus], str] = {
    (_S.DRAFT, _S.SHIPPED): "the debate cannot be skipped",
    (_S.DRAFT, _S.ADJUDICATED): "the challenge cannot be skipped",
    (_S.SHIPPED, _S.DRAFT): "a shipped artifact is immutable; a change is a new version",
    (_S.SHIPPED, _S.CHALLENGED): "a shipped artifact is immutable; it is judged again as a new version",
    (_S.CHALLENGED, _S.DRAFT): "only the Arbiter sends an artifact back",
    (_S.CHALLENGED, _S.SHIPPED): "the adjudication cannot be skipped",
}
"""The reasons why some transitions are illegal; DEPRECATED is terminal."""


def check_transition(artifact_id: str, old: ArtifactStatus, new: ArtifactStatus) -> None:
    """Raise unless a change of status is legal.

    Raises:
        RefusedError: the change is not legal; the message names the artifact, both statuses and the reason.
    """
    transitions.check_transition(
        artifact_id,
        old,
        new,
        legal=_TRANSITIONS,
        why_not=_WHY_NOT.get((old, new), ""),
        where="docs/design.md#artifact-lifecycle",
    )


def version_number(version: str) -> tuple[int, ...]:
    """Return a version as a tuple for comparison (design: artifact-lifecycle)."""
    return tuple(map(int, version.split(".")))


def next_version(highest: str) -> str:
    """Return the next patch version, for a revision that leaves shipped versions alone (design: artifact-lifecycle)."""
    major, minor, patch = version_number(highest)
    return f"{major}.{minor}.{patch + 1}"


class ArtifactRef(Record):
    """A reference to an artifact, `id@version`, with its purpose."""

    ref: Reference
    purpose: Text


class ArtifactEnvelope(Record):
    """The metadata of an artifact (design: artifact-lifecycle).

    `inputs` refers to what it was made from. `outputs` refers to what followed: the records that changed its status, the
    next revision, the sealed module.
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
        """The id of the artifact that this one revises; empty for the first."""
        return self._made_from(Purpose.REVISES)

    @property
    def implemented(self) -> str:
        """The id of the contract that an implementation implements."""
        return self._made_from(Purpose.IMPLEMENTS)

    def _made_from(self, purpose: Purpose) -> str:
        return next((used.ref.partition("@")[0] for used in self.inputs if used.purpose == purpose), "")

    @property
    def as_created(self) -> "ArtifactEnvelope":
        """The envelope as created; that part never changes (design: artifact-lifecycle)."""
        return self.model_copy(update={"status": ArtifactStatus.DRAFT, "outputs": []})

    @property
    def status_by_grounds(self) -> ArtifactStatus | None:
        """The status that follows from the outputs; None if one has an unknown purpose."""
        status = ArtifactStatus.DRAFT
        for output in self.outputs:
            if output.purpose not in _STATUS_AFTER:
                return None
            status = _STATUS_AFTER[output.purpose] or status
        return status

    def has_input(self, ref: str) -> bool:
        """Whether a reference is among the inputs."""
        return any(used.ref == ref for used in self.inputs)

    def came_of_it(self, *purposes: str) -> list[ArtifactRef]:
        """Return the outputs of some purposes, in order."""
        return [output for output in self.outputs if output.purpose in purposes]

    def has_output(self, output: ArtifactRef) -> bool:
        """Whether the outputs contain one."""
        return output in self.outputs
