"""Costs of model answers in tokens and money, estimates, and budgets (design: models).

An answer without a known price is counted separately, so that an unknown price never passes for zero.

Estimates come from recorded runs and have a range. Before the research, only SPEC.md is known and drafts may be refused, so
that estimate uses the number of words, with a range that covers all recorded runs. The other figures are means over the
tasks and modules of the five runs in docs/costs.md: a task is planned and its contracts are debated, then each module is
proposed, challenged and adjudicated.
"""

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from agent_wire.canonical_json import JsonValue


class Usage(NamedTuple):
    """The tokens of one answer, as the provider counts them.

    Args:
        input_tokens: All input tokens, cached ones included.
        output_tokens: All output tokens, reasoning included.
        cache_read: Input tokens read from the provider's cache.
        cache_write: Input tokens written to the provider's cache.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Cost(NamedTuple):
    """A sum over model answers, each counted once.

    Args:
        requests: The number of requests.
        characters: The characters of the requests; 0 for those of an older journal.
        input_tokens: As the provider counts them; 0 if it does not.
        output_tokens: The same.
        usd: The US dollars of the answers whose price is known.
        unpriced: The number of answers whose price is unknown.
    """

    requests: int = 0
    characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Cost") -> "Cost":
        """Return the sum of both."""
        return Cost(
            self.requests + other.requests,
            self.characters + other.characters,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.usd + other.usd,
            self.unpriced + other.unpriced,
        )


def dollars(usd: Decimal | None) -> str:
    """Format an amount: `$1.20`, `$0.0042`, `unknown`."""
    if usd is None:
        return "unknown"
    if not usd or usd >= Decimal("0.1"):
        return f"${usd:.2f}"
    return f"${usd:.4f}" if usd >= Decimal("0.0001") else "under $0.0001"


def money(cost: Cost) -> str:
    """Format the money of a sum, with the number of answers of unknown price."""
    if not cost.unpriced:
        return dollars(cost.usd)
    if not cost.usd:
        return "unknown"
    return f"{dollars(cost.usd)} and {cost.unpriced:,} of unknown price"


FIRST_REQUEST = 2_300
"""The tokens of the researcher's first request, without SPEC.md."""

SPEC_TOKENS = (1_500, 2_000, 2_500)
"""The fixed part of a product spec in tokens: lowest, usual, highest."""

SPEC_TOKENS_A_WORD = (7, 17, 26)
"""The tokens to add for each word of SPEC.md: lowest, usual, highest."""

DRAFTS = (1.0, 1.6, 4.0)
"""The number of drafts until a valid spec: of fifteen runs, nine took one draft and one took four."""

TASK = {"planner": Usage(3_794, 1_193), "challenger": Usage(4_460, 450), "arbiter": Usage(2_780, 108)}
"""The mean tokens for a task's plan and contract debate, by role."""

MODULE = {"proposer": Usage(5_307, 3_390), "challenger": Usage(5_925, 1_178), "arbiter": Usage(3_299, 107)}
"""The mean tokens for the debate of a module, by role."""

_CHARACTERS = 4
"""Characters per token, roughly."""

MODULES_PER_TASK = 21 / 21
LOWEST, HIGHEST = 0.5, 2.1
"""The range as multiples of the means. Recorded tasks took 0.51 to 1.9 times the mean; one that is rejected at every step
takes more."""

Price = Callable[[str, Usage], Decimal | None]
"""Returns the price of a role's tokens in US dollars; None if its model's price is unknown."""


class Estimate(NamedTuple):
    """An estimate of model usage.

    Args:
        tokens: Input and output tokens.
        usd: US dollars; None if a price is unknown.
        least: Tokens and US dollars of the cheapest case; by default `LOWEST` times the estimate.
        most: The same of the most expensive case; by default `HIGHEST` times the estimate.
    """

    tokens: int
    usd: Decimal | None
    least: "tuple[int, Decimal | None] | None" = None
    most: "tuple[int, Decimal | None] | None" = None

    @property
    def about(self) -> int:
        """The tokens, rounded to the thousand."""
        return _rounded(self.tokens)

    @property
    def range_of_tokens(self) -> tuple[int, int]:
        """The lowest and highest number of tokens to expect."""
        if self.least is not None and self.most is not None:
            return _rounded(self.least[0]), _rounded(self.most[0])
        return _rounded(self.tokens * LOWEST), _rounded(self.tokens * HIGHEST)

    @property
    def range_of_usd(self) -> tuple[Decimal, Decimal] | None:
        """The lowest and highest price to expect; None if a price is unknown."""
        if self.usd is None:
            return None
        if self.least is not None and self.most is not None:
            return self.least[1] or Decimal(0), self.most[1] or Decimal(0)
        return self.usd * Decimal(str(LOWEST)), self.usd * Decimal(str(HIGHEST))

    def in_words(self) -> str:
        """The estimate as text."""
        low, high = self.range_of_tokens
        text = f"about {_rounded(self.tokens):,} tokens ({low:,} to {high:,})"
        if self.range_of_usd is None:
            return f"{text}, price unknown"
        cheap, dear = self.range_of_usd
        return f"{text}, {dollars(self.usd)} ({dollars(cheap)} to {dollars(dear)})"

    def to_json(self) -> dict[str, JsonValue]:
        """Return the estimate as JSON; money is null if a price is unknown."""
        money = self.range_of_usd
        return {
            "tokens": _rounded(self.tokens),
            "tokens_range": list(self.range_of_tokens),
            "usd": None if self.usd is None else float(round(self.usd, 4)),
            "usd_range": None if money is None else [float(round(end, 4)) for end in money],
        }


def research_estimate(text: str, price: Price, shown: int = 0) -> Estimate:
    """Estimate the cost of a product spec up to the approval. The range is wide, because the size of the spec is unknown
    and each further draft sends all earlier ones again.

    Args:
        text: The text of SPEC.md.
        price: The price of the researcher's tokens.
        shown: The characters of anything else in the request, such as the approved spec of a change.
    """
    least, usual, most = (
        _estimate({"researcher": _research(text, shown, *case)}, 1, price)
        for case in zip(SPEC_TOKENS, SPEC_TOKENS_A_WORD, DRAFTS, strict=True)
    )
    return usual._replace(least=least[:2], most=most[:2])


def _research(text: str, shown: int, fixed: int, each: int, drafts: float) -> Usage:
    """Sum the tokens of all drafts; each request repeats the earlier drafts."""
    first, spec = FIRST_REQUEST + (len(text) + shown) / _CHARACTERS, fixed + each * len(text.split())
    before = drafts * (drafts - 1) / 2
    return Usage(round(drafts * first + before * spec), round(drafts * spec))


def build_estimate(tasks: int, price: Price) -> Estimate:
    """Estimate the cost of tasks, from their plans to their sealed modules."""
    return _sum(_estimate(TASK, tasks, price), _estimate(MODULE, tasks * MODULES_PER_TASK, price))


def planned_estimate(modules: int, price: Price) -> Estimate:
    """Estimate the cost of a planned task: the contract debate and the modules."""
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
    """Round to the thousand, to avoid false precision."""
    return max(1_000, 1_000 * round(tokens / 1_000)) if tokens else 0


RESERVED_OUTPUT = 8_000
"""Tokens to reserve for an answer; the longest recorded one has 6,099."""

_BYTES_PER_TOKEN = 3
"""Low, so that reservations are too large rather than too small: recorded requests have 3.8 characters per token, Chinese
text three bytes."""


class Budget(NamedTuple):
    """A spending limit; 0 sets no limit."""

    tokens: int = 0
    usd: Decimal = Decimal(0)


class Budgets(NamedTuple):
    """The budget of the project, and that of each task."""

    project: Budget = Budget()
    task: Budget = Budget()

    @property
    def in_money(self) -> bool:
        """Whether a budget is in money, which requires known prices."""
        return bool(self.project.usd or self.task.usd)


TIMES_THE_MOST = 3
"""Without a budget a run pauses at this multiple of its highest estimate. A model that reasons at length stays below it, a
runaway loop does not (ADR 0027)."""


def allowance(most: int) -> int:
    """Return the tokens that a run without a budget may use, given its highest estimate."""
    return TIMES_THE_MOST * most


def below_estimate(budget: Budget, spent: Cost, estimate: Estimate) -> str:
    """Return a warning if the budget is below the estimate; empty if it is not, or if there is no budget."""
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


def in_words(budgets: Budgets, most: int | None) -> str:
    """Describe the budgets, or what happens without any.

    Args:
        budgets: The limits.
        most: The highest estimate in tokens, from which the default limit follows; None if no limit applies.
    """
    limits = [
        text
        for name, one in (("", budgets.project), (" for each task", budgets.task))
        for text in (
            f"{one.tokens:,} tokens{name}" if one.tokens else "",
            f"{dollars(one.usd)}{name}" if one.usd else "",
        )
        if text
    ]
    if limits:
        return " and ".join(limits)
    if most is None:
        return "none, by `budget_tokens = 0`: nothing stops a run that takes more than was estimated"
    pauses = (
        f"the run pauses at {allowance(most):,} tokens, {TIMES_THE_MOST} times the most that is estimated now"
    )
    return f"none set; {pauses} (--budget-tokens N: a limit of N, 0: no limit)"


class Shortage(NamedTuple):
    """A budget that the next call may exceed.

    Args:
        setting: The name of its setting.
        limit: The budget, formatted.
        spent: The amount spent and reserved, formatted.
        needed: The upper bound of the next call, formatted.
        enough: A value of the setting that allows the call.
    """

    setting: str
    limit: str
    spent: str
    needed: str
    enough: str


def _rounded_up(usd: Decimal) -> str:
    return str(usd.quantize(Decimal("0.0001"), ROUND_CEILING))


def tokens_in(size: int) -> int:
    """Return an upper estimate of the tokens in a text of `size` bytes."""
    return -(-size // _BYTES_PER_TOKEN)


def shortage(budgets: Budgets, project: Cost, task: Cost | None, needed: Cost) -> Shortage | None:
    """Return the first budget that a call may exceed; None if it fits into all.

    Args:
        budgets: The limits.
        project: The amount that the project has spent and reserved.
        task: The same for the call's task; None if it has none.
        needed: The upper bound of the call.
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
