"""The decision to retire a module version: why, since when, and what its users do instead (design: deprecation)."""

from typing import Annotated, Self

from pydantic import StringConstraints, model_validator

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import Record, Text, Timestamp
from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus

LONGEST_NOTE = 2_000
"""Characters of a reason or a migration note."""

_Note = Annotated[Text, StringConstraints(max_length=LONGEST_NOTE)]


class DeprecationRequest(Record):
    """What a person asks for.

    Args:
        module_ref: The version that is not to be used any more.
        reason: Why.
        migration_note: What those that use it do instead.
        replacement: The version that takes its place, if there is one.
    """

    module_ref: ModuleRefText
    reason: _Note
    migration_note: _Note
    replacement: ModuleRefText | None = None

    @model_validator(mode="after")
    def _another_version(self) -> Self:
        if self.replacement == self.module_ref:
            raise ValueError("a module version cannot replace itself")
        return self


class Deprecation(DeprecationRequest):
    """The decision. `consumers` are the versions in the Code Index that depended on it then."""

    decided_at: Timestamp
    decided_by: str
    consumers: list[ModuleRefText]
    status: IndexStatus = IndexStatus.DEPRECATED

    @property
    def notice(self) -> str:
        """What the Code Index notes, with the time."""
        return f"{self.status.capitalize()} {self.decided_at}: {self.reason} Migration: {self.migration_note}"

    def applied_to(self, entry: CodeIndexEntry) -> CodeIndexEntry:
        """The entry of the version once it is retired."""
        return entry.retired(self.status, self.replacement, self.notice)
