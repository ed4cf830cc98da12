"""What is still to come: an estimate in tokens and money from recorded runs, with a stated range (design: costs).

Before the research SPEC.md is all that is known, and a draft may be refused: that estimate goes by its words, with a range
that holds the recorded runs and those of ten first users. The other figures are means over the tasks and modules of the
five runs in README.md, when readers of the requests answered them. A task is planned and its contracts are debated; then
each of its modules is proposed, challenged and adjudicated.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

from agent_wire.canonical_json import JsonValue
from specwright.domain.costs.cost import Usage, dollars

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
