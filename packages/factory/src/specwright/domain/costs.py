"""What answers of models cost, in tokens and money (design: models).

A price that is not known is counted as such: money is a sum over the priced answers and a number of those without a
price, so that an unknown price is never taken for nothing.

What is still to come: an estimate in tokens and money from recorded runs, with a stated range (design: models).

Before the research SPEC.md is all that is known, and a draft may be refused: that estimate goes by its words, with a range
that holds the recorded runs and those of ten first users. The other figures are means over the tasks and modules of the
five runs in docs/costs.md, when readers of the requests answered them. A task is planned and its contracts are debated; then
each of its modules is proposed, challenged and adjudicated.

The budgets of a project and of a task: whether one more call fits (design: models).
"""

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple

from agent_wire.canonical_json import JsonValue


class Usage(NamedTuple):
    """The tokens of one answer, as the provider counts them.

    Args:
        input_tokens: All that were read, those of a provider's cache included.
        output_tokens: All that were written, reasoning included.
        cache_read: Of the input, those that the provider had in its cache.
        cache_write: Of the input, those that it put there.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Cost(NamedTuple):
    """A sum over model answers, each counted once.

    Args:
        requests: How many.
        characters: Of the requests; 0 where an older journal does not say.
        input_tokens: As the provider counts them; 0 if it does not.
        output_tokens: The same.
        usd: US dollars, of the answers whose price is known.
        unpriced: How many answers have a price that is not known.
    """

    requests: int = 0
    characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Cost") -> "Cost":
        """The sum of both."""
        return Cost(
            self.requests + other.requests,
            self.characters + other.characters,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.usd + other.usd,
            self.unpriced + other.unpriced,
        )


def dollars(usd: Decimal | None) -> str:
    """An amount of money for a person: `$1.20`, `$0.0042`, `unknown`."""
    if usd is None:
        return "unknown"
    if not usd or usd >= Decimal("0.1"):
        return f"${usd:.2f}"
    return f"${usd:.4f}" if usd >= Decimal("0.0001") else "under $0.0001"


def money(cost: Cost) -> str:
    """The money of a sum for a person, which says what it does not know."""
    if not cost.unpriced:
        return dollars(cost.usd)
    if not cost.usd:
        return "unknown"
    return f"{dollars(cost.usd)} and {cost.unpriced:,} of unknown price"


FIRST_REQUEST = 2_300
"""Tokens of the researcher's first request without SPEC.md."""

SPEC_TOKENS = (1_500, 2_000, 2_500)
"""Of a product spec, whatever SPEC.md says: the least, the usual and the most."""

SPEC_TOKENS_A_WORD = (7, 17, 26)
"""And for each word of SPEC.md."""

DRAFTS = (1.0, 1.6, 4.0)
"""How often it is written until nothing in it is refused: nine of fifteen runs took one draft, one took four."""

TASK = {"planner": Usage(3_794, 1_193), "challenger": Usage(4_460, 450), "arbiter": Usage(2_780, 108)}
"""The plan of a task and the debate of its contracts."""

MODULE = {"proposer": Usage(5_307, 3_390), "challenger": Usage(5_925, 1_178), "arbiter": Usage(3_299, 107)}
"""The debate of a module."""

_CHARACTERS = 4
"""Of a token, about."""

MODULES_PER_TASK = 21 / 21
LOWEST, HIGHEST = 0.5, 2.1
"""The recorded tasks took from 0.51 to 1.9 of these means; a task that is sent back at every step takes more."""

Price = Callable[[str, Usage], Decimal | None]
"""What a role's tokens cost; None if its model's price is unknown."""


class Estimate(NamedTuple):
    """What is likely to be asked of models.

    Args:
        tokens: In and out.
        usd: US dollars; None if a price is unknown.
        least: Tokens and US dollars of the cheapest case, if that is not `LOWEST` of these.
        most: Of the dearest.
    """

    tokens: int
    usd: Decimal | None
    least: "tuple[int, Decimal | None] | None" = None
    most: "tuple[int, Decimal | None] | None" = None

    @property
    def about(self) -> int:
        """The tokens to the thousand."""
        return _rounded(self.tokens)

    @property
    def range_of_tokens(self) -> tuple[int, int]:
        """The least and the most, as recorded runs differ."""
        if self.least is not None and self.most is not None:
            return _rounded(self.least[0]), _rounded(self.most[0])
        return _rounded(self.tokens * LOWEST), _rounded(self.tokens * HIGHEST)

    @property
    def range_of_usd(self) -> tuple[Decimal, Decimal] | None:
        """The same in money."""
        if self.usd is None:
            return None
        if self.least is not None and self.most is not None:
            return self.least[1] or Decimal(0), self.most[1] or Decimal(0)
        return self.usd * Decimal(str(LOWEST)), self.usd * Decimal(str(HIGHEST))

    def in_words(self) -> str:
        """The estimate for a person."""
        low, high = self.range_of_tokens
        text = f"about {_rounded(self.tokens):,} tokens ({low:,} to {high:,})"
        if self.range_of_usd is None:
            return f"{text}, price unknown"
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


def research_estimate(text: str, price: Price, shown: int = 0) -> Estimate:
    """What a product spec takes, from SPEC.md to the approval gate. Its range is wide: nobody knows before how much a
    SPEC.md asks for, and a draft that is refused is written again with all before it in the request.

    Args:
        text: SPEC.md.
        price: Of the researcher's tokens.
        shown: Characters of what it is shown besides, as the approved spec of a change.
    """
    least, usual, most = (
        _estimate({"researcher": _research(text, shown, *case)}, 1, price)
        for case in zip(SPEC_TOKENS, SPEC_TOKENS_A_WORD, DRAFTS, strict=True)
    )
    return usual._replace(least=least[:2], most=most[:2])


def _research(text: str, shown: int, fixed: int, each: int, drafts: float) -> Usage:
    """Every draft is asked for with those before it."""
    first, spec = FIRST_REQUEST + (len(text) + shown) / _CHARACTERS, fixed + each * len(text.split())
    before = drafts * (drafts - 1) / 2
    return Usage(round(drafts * first + before * spec), round(drafts * spec))


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
than the recorded ones, a loop that has run away takes more than that (ADR 0027)."""


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


def in_words(budgets: Budgets, most: int | None) -> str:
    """The budgets that hold, for a person, or that none does.

    Args:
        budgets: The limits.
        most: Tokens of the estimate by which a run without a limit pauses; None if it does not.
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
    if most is None:
        return "none, by `budget_tokens = 0`: nothing stops a run that takes more than was estimated"
    pauses = (
        f"the run pauses at {allowance(most):,} tokens, {TIMES_THE_MOST} times the most that is estimated now"
    )
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
