"""The reuse search report: why a module is made, or which one is used instead (F§14.3)."""

from typing import Self

from specwright.domain.plan_answers import ReuseAnswer, ReuseCandidate, ReuseConclusion
from specwright.domain.record import Record, Text

__all__ = ["ReuseSearchReport"]


class ReuseSearchReport(Record):
    """What was searched for, what was found, and what follows (F§14.3)."""

    query: Text
    candidates_considered: list[ReuseCandidate]
    conclusion: ReuseConclusion
    justification: Text

    @classmethod
    def of(cls, answer: ReuseAnswer) -> Self:
        """The report of a planner's answer."""
        return cls(
            query=answer.query,
            candidates_considered=answer.candidates_considered,
            conclusion=answer.conclusion,
            justification=answer.justification,
        )
