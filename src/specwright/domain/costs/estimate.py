"""What is still to come: an estimate in tokens and money from recorded runs, with a stated range (design: costs).

The figures are means over the tasks and modules of `examples/*/recorded.journal`; a test computes them again. A task is
planned and its contracts are debated; then each of its modules is proposed, challenged and adjudicated. A request about
several tasks (design: tasks-together) is shared out among them.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

from specwright.canonical_json import JsonValue
from specwright.domain.costs.cost import Usage, dollars

RESEARCH = {"researcher": Usage(2_739, 5_046)}
"""Of a SPEC.md."""

TASK = {"planner": Usage(1_811, 987), "challenger": Usage(2_264, 376), "arbiter": Usage(2_239, 110)}
"""The plan of a task and the debate of its contracts."""

MODULE = {"proposer": Usage(5_011, 3_521), "challenger": Usage(5_236, 1_115), "arbiter": Usage(2_963, 114)}
"""The debate of a module, its share of requests about several."""

MODULES_PER_TASK = 14 / 14
LOWEST, HIGHEST = 0.5, 2.1
"""The recorded tasks took from 0.65 to 2.0 of these means; a task that is sent back at every step takes more."""

Price = Callable[[str, Usage], Decimal | None]
"""What a role's tokens cost; None if its model's price is unknown."""


class Estimate(NamedTuple):
    """What is likely to be asked of models.

    Args:
        tokens: In and out.
        usd: US dollars; None if a price is unknown.
    """

    tokens: int
    usd: Decimal | None

    @property
    def range_of_tokens(self) -> tuple[int, int]:
        """The least and the most, as recorded runs differ."""
        return _rounded(self.tokens * LOWEST), _rounded(self.tokens * HIGHEST)

    @property
    def range_of_usd(self) -> tuple[Decimal, Decimal] | None:
        """The same in money."""
        if self.usd is None:
            return None
        return self.usd * Decimal(str(LOWEST)), self.usd * Decimal(str(HIGHEST))

    def in_words(self) -> str:
        """The estimate for a person."""
        low, high = self.range_of_tokens
        text = f"about {_rounded(self.tokens):,} tokens ({low:,} to {high:,})"
        if self.range_of_usd is None:
            return f"{text}, at an unknown price"
        cheap, dear = self.range_of_usd
        return f"{text}, {dollars(self.usd)} ({dollars(cheap)} to {dollars(dear)})"

    def to_json(self) -> dict[str, JsonValue]:
        """The estimate for a program; money is null if a price is unknown."""
        money = self.range_of_usd
        return {
            "tokens": _rounded(self.tokens),
            "tokens_range": list(self.range_of_tokens),
            "usd": None if self.usd is None else float(round(self.usd, 4)),
            "usd_range": None if money is None else [float(round(end, 4)) for end in money],
        }


def research_estimate(price: Price) -> Estimate:
    """What a product spec takes, from SPEC.md to the approval gate."""
    return _estimate(RESEARCH, 1, price)


def build_estimate(tasks: int, price: Price) -> Estimate:
    """What tasks take from their plans to their sealed modules."""
    return _sum(_estimate(TASK, tasks, price), _estimate(MODULE, tasks * MODULES_PER_TASK, price))


def planned_estimate(modules: int, price: Price) -> Estimate:
    """What a task takes once its plan is there: the debate of its contracts, and its modules."""
    contracts = {role: usage for role, usage in TASK.items() if role != "planner"}
    return _sum(_estimate(contracts, 1, price), _estimate(MODULE, modules, price))


def _estimate(figures: Mapping[str, Usage], times: float, price: Price) -> Estimate:
    prices = [price(role, usage) for role, usage in figures.items()]
    known = [usd for usd in prices if usd is not None]
    usd = sum(known, Decimal(0)) * Decimal(str(times)) if len(known) == len(prices) else None
    return Estimate(round(times * sum(u.input_tokens + u.output_tokens for u in figures.values())), usd)


def _sum(one: Estimate, other: Estimate) -> Estimate:
    usd = None if one.usd is None or other.usd is None else one.usd + other.usd
    return Estimate(one.tokens + other.tokens, usd)


def _rounded(tokens: float) -> int:
    """To the thousand: more would look like knowledge."""
    return max(1_000, 1_000 * round(tokens / 1_000)) if tokens else 0
