"""What a person asks to be changed in a released product (design: change)."""

import difflib
from typing import Annotated

from pydantic import Field

from ship_gate.base.record import Record, SemVer, Timestamp
from specwright.domain.spec.bug_report import BugReport


class ChangeRequest(Record):
    """A changed SPEC.md, or a request in a sentence, or both.

    Args:
        number: Of the project's changes, from 1.
        base_version: The version of the spec that it changes.
        request: The sentence; empty if the changed SPEC.md says it.
        spec_before: The SPEC.md that the product was built from.
        spec_text: The SPEC.md as it is now.
        report: The bug report that it repairs; then the spec says the same as before (design: bug-reports).
    """

    number: Annotated[int, Field(ge=1)]
    base_version: SemVer
    request: str
    spec_before: str
    spec_text: str
    asked_at: Timestamp
    asked_by: str
    report: BugReport | None = None

    @property
    def asked(self) -> tuple[str, str, str]:
        """What is asked for, without when and by whom."""
        return self.request, self.spec_before, self.spec_text

    @property
    def diff(self) -> str:
        """The change of SPEC.md as a unified diff; empty if there is none."""
        before, after = self.spec_before.splitlines(), self.spec_text.splitlines()
        return "\n".join(difflib.unified_diff(before, after, "SPEC.md", "SPEC.md, changed", lineterm=""))
