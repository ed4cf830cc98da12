"""The prices that providers publish, from `genai-prices`, which is kept by others and works offline (design: costs)."""

import os
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from specwright.domain.costs import Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_PROVIDERS = {
    "azure_ai": "azure",
    "azure_openai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "google_anthropic_vertex": "google",
    "google_genai": "google",
    "google_vertexai": "google",
    "mistralai": "mistral",
    "xai": "x-ai",
}
"""What `genai-prices` calls the providers that LangChain names otherwise."""

_ADDRESSES = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"),
}
"""Variables by which the clients of providers are sent to another server."""

_MILLION = 1_000_000
_AT = " at "


def model_label(name: str, base_url: str) -> str:
    """How the journal names a model: with the address, without its secrets, if another server answers for it."""
    variables = _ADDRESSES.get(name.partition(":")[0], ())
    url = base_url or next(filter(None, map(os.environ.get, variables)), "")
    address = re.sub(r"(?<=://)[^/@]*@|[?#].*", "", url)
    return f"{name}{_AT}{address}" if url else name


class PublishedPrices:
    """What an answer of a model costs: first what the settings say, then the published prices.

    A server at an address of its own sets its own prices, so those of the model's maker are not taken for it.

    Args:
        own: US dollars for a million tokens in and out, by `provider:model`.
    """

    def __init__(self, own: Mapping[str, tuple[float, float]] | None = None) -> None:
        self._own = own or {}

    def usd(self, model: str, usage: Usage) -> Decimal | None:
        """What an answer costs; None if no price is known."""
        name, _, address = model.partition(_AT)
        if (own := self._own.get(name)) is not None:
            paid = usage.input_tokens * Decimal(str(own[0])) + usage.output_tokens * Decimal(str(own[1]))
            return paid / _MILLION
        found = _found(name, address, usage)
        return found.total_price if found else None

    def context_window(self, model: str) -> int | None:
        """The tokens that a model takes at once; None if that is not known."""
        name, _, address = model.partition(_AT)
        found = _found(name, address, Usage())
        return found.model.context_window if found else None


def _found(name: str, address: str, usage: Usage) -> "PriceCalculation | None":
    if not name:
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price  # its table takes a while to read

    provider, _, model = name.partition(":")
    tokens = Tokens(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    try:
        if address:
            return calc_price(tokens, model, provider_api_url=address)
        return calc_price(tokens, model, provider_id=_PROVIDERS.get(provider, provider))
    except (LookupError, ValueError):
        return None
