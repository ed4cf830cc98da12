"""What answers of models cost, in tokens and money (design: costs).

A price that is not known is counted as such: money is a sum over the priced answers and a number of those without a
price, so that an unknown price is never taken for nothing.
"""

from decimal import Decimal
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

    def to_json(self) -> dict[str, JsonValue]:
        """The cost for a program; `usd` is null as soon as one price is not known."""
        known = None if self.unpriced else float(round(self.usd, 6))
        return {
            "requests": self.requests,
            "characters": self.characters,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": known,
            "unpriced": self.unpriced,
        }


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
