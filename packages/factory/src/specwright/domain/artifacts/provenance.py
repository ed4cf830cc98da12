"""Who saw what and made what: context packs (design: provenance) and contributions (design: provenance)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ship_gate.base.ids import TaskId
from ship_gate.base.record import Record, Text, Timestamp

Reference = Annotated[str, Field(pattern=r"^[A-Z]+-[A-Za-z0-9-]+@[0-9]+\.[0-9]+\.[0-9]+$")]
"""`id@version` (design: provenance, artifact-lifecycle)."""

PackId = Annotated[str, Field(pattern=r"^CP-[0-9a-f]{8}$")]
"""The id of a context pack (design: artifact-lifecycle)."""

CONTRACT = "contract.json"
"""The file that a contract is (design: contracts)."""

SURFACE = (CONTRACT, "examples.md", "ship.json")
"""What others see of a shipped module (design: closed-source)."""

EXTRACT = "summary.md"
"""The file by which a reference is summarised."""

METADATA = "metadata.json"
"""The file that says name, version and index status of a reference, and no more."""


NOT_IN_PACK = (
    "'{path}' is not part of your context pack. Everything outside it is a closed-source service (§6.8)."
)
"""The refusal of any other path, `{path}` (design: graphs)."""


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
    """Whether a file of a reference, by its path below it, is shown at a permission (design: context-packs)."""
    return permission is Permission.FULL or path in _SHOWN[permission]


class Author(Record):
    """Who made something: the role and its invocation."""

    role: Text
    run_id: Text


class CreatedFor(Author):
    """The invocation that a pack was made for."""

    task_ref: TaskId


class IncludedRef(Record):
    """What the role gets, and why."""

    ref: Reference
    permission: Permission
    reason: Text


class ExcludedRef(Record):
    """What the role does not get, and why."""

    ref: Reference
    reason: Text


class ContextPack(Record):
    """The manifest of everything that one role invocation was given."""

    context_pack_id: PackId
    created_for: CreatedFor
    included_refs: list[IncludedRef]
    excluded_refs: list[ExcludedRef]
    default_permission: Permission = Permission.CONTRACT_ONLY
    created_at: Timestamp


class ContributionType(StrEnum):
    """What a role invocation produced."""

    CONTRACT = "CONTRACT"
    MICRO_PLAN = "MICRO_PLAN"
    IMPLEMENTATION = "IMPLEMENTATION"
    CHALLENGE = "CHALLENGE"
    ADJUDICATION = "ADJUDICATION"
    SHIP_EVIDENCE = "SHIP_EVIDENCE"


class Contribution(Record):
    """The one product of one role invocation; never changed."""

    contribution_id: Annotated[str, Field(pattern=r"^CONTRIB-[0-9a-f]{8}$")]
    type: ContributionType
    produced_by: Author
    artifact_ref: Reference
    task_ref: TaskId
    created_at: Timestamp
    context_pack_ref: PackId
