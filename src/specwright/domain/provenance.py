"""Who saw what and made what: context packs (F§5.3) and contributions (F§5.2)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from specwright.domain.record import Record, Text, Timestamp

__all__ = [
    "ContextPack",
    "Contribution",
    "ContributionType",
    "CreatedFor",
    "ExcludedRef",
    "IncludedRef",
    "Permission",
    "ProducedBy",
]


class Permission(StrEnum):
    """How much of a reference a role may see (F§5.3)."""

    FULL = "FULL"
    CONTRACT_ONLY = "CONTRACT_ONLY"
    SUMMARY_ONLY = "SUMMARY_ONLY"
    METADATA_ONLY = "METADATA_ONLY"


class CreatedFor(Record):
    """The invocation that a pack was made for."""

    role: str
    run_id: str
    task_ref: str


class IncludedRef(Record):
    """What the role gets, and why."""

    ref: str
    permission: Permission
    reason: Text


class ExcludedRef(Record):
    """What the role does not get, and why."""

    ref: str
    reason: Text


class ContextPack(Record):
    """The manifest of everything that one role invocation was given."""

    context_pack_id: Annotated[str, Field(pattern=r"^CP-[0-9a-f]{8}$")]
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


class ProducedBy(Record):
    """The role and its invocation."""

    role: str
    run_id: str


class Contribution(Record):
    """The one product of one role invocation; never changed."""

    contribution_id: Annotated[str, Field(pattern=r"^CONTRIB-[0-9a-f]{8}$")]
    type: ContributionType
    produced_by: ProducedBy
    artifact_ref: str
    task_ref: str
    created_at: Timestamp
    context_pack_ref: str
