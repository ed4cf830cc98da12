"""The rule of every status machine: a change of status is in the table of legal ones, or it is refused."""

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
    """Refuse a change of status that is not in the table.

    Args:
        subject: What would change, as the message names it.
        legal: The pairs of old and new status.
        why_not: The rule that the change would break.

    Raises:
        RefusedError: names the subject, both statuses and the rule.
    """
    if (old, new) in legal:
        return
    targets = ", ".join(sorted(target for source, target in legal if source is old))
    raise RefusedError(
        f"{subject} cannot go from {old} to {new}" + (f": {why_not}" if why_not else ""),
        where=where,
        remedy=f"from {old} it may become: {targets or 'nothing, it is terminal'}",
    )
