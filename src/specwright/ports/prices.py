"""The prices port: what an answer of a model costs (design: costs)."""

from decimal import Decimal
from typing import Protocol

from specwright.domain.costs.cost import Usage


class Prices(Protocol):
    """Knows what models cost."""

    def usd(self, model: str, usage: Usage) -> Decimal | None:
        """What an answer costs in US dollars; None if the model's price is not known.

        Args:
            model: `provider:model`, or `provider:model at URL` where another server answers for it.
            usage: Its tokens.
        """
        ...
