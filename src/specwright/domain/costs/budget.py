"""The budgets of a project and of a task: whether one more call fits (design: budgets)."""

from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from specwright.domain.costs.cost import Cost, dollars

RESERVED_OUTPUT = 8_000
"""Tokens that are reserved for an answer; the longest recorded one has 6,099."""

_BYTES_PER_TOKEN = 3
"""Few, so that a reservation is rather too large: recorded requests have 3.8 characters; a Chinese one has three bytes."""


class Budget(NamedTuple):
    """What may be spent; 0 sets no limit."""

    tokens: int = 0
    usd: Decimal = Decimal(0)


class Budgets(NamedTuple):
    """The budget of the whole project, and that of each of its tasks."""

    project: Budget = Budget()
    task: Budget = Budget()

    @property
    def in_money(self) -> bool:
        """Whether any of them is in money, so that prices must be known."""
        return bool(self.project.usd or self.task.usd)


class Shortage(NamedTuple):
    """A budget that the next call may exceed.

    Args:
        setting: Its name.
        limit: The budget, as a person reads it.
        spent: The same.
        needed: What the next call may take.
        enough: A budget that the call fits into.
    """

    setting: str
    limit: str
    spent: str
    needed: str
    enough: str


def _rounded_up(usd: Decimal) -> str:
    return str(usd.quantize(Decimal("0.0001"), ROUND_CEILING))


def tokens_in(size: int) -> int:
    """How many tokens a text of so many bytes may have, rather too many."""
    return -(-size // _BYTES_PER_TOKEN)


def shortage(budgets: Budgets, project: Cost, task: Cost | None, needed: Cost) -> Shortage | None:
    """The first budget that a call may exceed; None if it fits into all.

    Args:
        budgets: The limits.
        project: What the project has spent and reserved.
        task: What the call's task has; None for a call of no task.
        needed: What the call may take.
    """
    sums = [("budget", budgets.project, project)]
    if task is not None:
        sums.append(("task_budget", budgets.task, task))
    for name, budget, spent in sums:
        if budget.tokens and spent.tokens + needed.tokens > budget.tokens:
            limit, so_far, call = (f"{n:,} tokens" for n in (budget.tokens, spent.tokens, needed.tokens))
            return Shortage(f"{name}_tokens", limit, so_far, call, str(spent.tokens + needed.tokens))
        if budget.usd and spent.usd + needed.usd > budget.usd:
            limit, so_far, call = map(dollars, (budget.usd, spent.usd, needed.usd))
            return Shortage(f"{name}_usd", limit, so_far, call, _rounded_up(spent.usd + needed.usd))
    return None
