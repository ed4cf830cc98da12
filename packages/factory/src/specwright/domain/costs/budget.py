"""The budgets of a project and of a task: whether one more call fits (design: budgets)."""

from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from specwright.domain.costs.cost import Cost, dollars
from specwright.domain.costs.estimate import Estimate

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


TIMES_THE_MOST = 3
"""Where no budget is set a run pauses at so many times the most of its estimate: a model that reasons at length takes more
than the recorded ones, a loop that has run away takes more than that (ADR 0068)."""


def allowance(most: int) -> int:
    """What may be taken without a budget, by the most that an estimate says."""
    return TIMES_THE_MOST * most


def below_estimate(budget: Budget, spent: Cost, estimate: Estimate) -> str:
    """What is to be said where a budget does not reach for what is estimated; empty if it does, or if there is none."""
    if budget.tokens and (left := max(0, budget.tokens - spent.tokens)) < estimate.tokens:
        of = f", of which {left:,} are left," if spent.tokens else ""
        enough = spent.tokens + estimate.range_of_tokens[1]
        return (
            f"the budget of {budget.tokens:,} tokens{of} is below the estimate of {estimate.about:,}: the run will "
            f"pause on the way; `specwright run --budget-tokens {enough}` raises it"
        )
    if budget.usd and estimate.usd is not None and estimate.range_of_usd:
        rest = max(Decimal(0), budget.usd - spent.usd)
        if rest < estimate.usd:
            of = f", of which {dollars(rest)} are left," if spent.usd else ""
            enough_usd = _rounded_up(spent.usd + estimate.range_of_usd[1])
            return (
                f"the budget of {dollars(budget.usd)}{of} is below the estimate of {dollars(estimate.usd)}: the run "
                f"will pause on the way; `specwright run --budget-usd {enough_usd}` raises it"
            )
    return ""


def in_words(budgets: Budgets, *, paused: bool) -> str:
    """The budgets that hold, for a person, or that none does.

    Args:
        budgets: The limits.
        paused: Whether a run without a limit pauses by its estimate.
    """
    told = [
        text
        for name, one in (("", budgets.project), (" for each task", budgets.task))
        for text in (
            f"{one.tokens:,} tokens{name}" if one.tokens else "",
            f"{dollars(one.usd)}{name}" if one.usd else "",
        )
        if text
    ]
    if told:
        return " and ".join(told)
    if not paused:
        return "none, by `budget_tokens = 0`: nothing stops a run that takes more than was estimated"
    pauses = f"the run pauses at {TIMES_THE_MOST} times its highest estimate"
    return f"none set; {pauses} (--budget-tokens N: a limit of N, 0: no limit)"


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
