"""The check that every status machine uses: a transition must be in its table."""

from collections.abc import Collection
from enum import StrEnum
from typing import TypeVar

from specwright.errors import RefusedError

Status = TypeVar("Status", bound=StrEnum)


def check_transition(
    subject: str,
    old: Status,
    new: Status,
    *,
    legal: Collection[tuple[Status, Status]],
    why_not: str = "",
    where: str,
) -> None:
    """Raise unless a change of status is in the table.

    Args:
        subject: The thing that would change, as the message names it.
        old: The present status.
        new: The new status.
        legal: The pairs of old and new status.
        why_not: The rule that the change would break.
        where: The place for the message.

    Raises:
        RefusedError: the change is not legal; the message names the subject, both statuses and the rule.
    """
    if (old, new) in legal:
        return
    targets = ", ".join(sorted(target for source, target in legal if source is old))
    raise RefusedError(
        f"{subject} cannot go from {old} to {new}" + (f": {why_not}" if why_not else ""),
        where=where,
        remedy=f"from {old} it may go to: {targets or 'nothing, the status is terminal'}",
    )
