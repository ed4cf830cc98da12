"""The estimate before the research goes by the words of SPEC.md."""

from decimal import Decimal

import pytest

from specwright.domain.costs import Usage, research_estimate


@pytest.mark.parametrize(
    ("words", "took"), [(60, 5_000), (206, 6_000), (206, 36_000), (206, 82_000), (418, 33_000)]
)
def test_the_range_before_the_research_holds_what_first_users_met(words: int, took: int) -> None:
    """The least, the mean and the most of their SPEC.md, with what the cheapest and the dearest took (D-S9-14)."""
    low, high = research_estimate("words " * words, lambda _, __: None).range_of_tokens
    assert low - 500 <= took <= high


def test_the_estimate_before_the_research_goes_by_spec_md() -> None:
    """A longer one costs more, an approved spec that is shown besides is counted, and money follows the price (D-S9-14)."""

    def price(role: str, usage: Usage) -> Decimal:
        assert role == "researcher"
        return Decimal(usage.input_tokens + 10 * usage.output_tokens) / 1_000_000

    short, long = (research_estimate("one word " * number, price) for number in (30, 300))
    assert short.tokens < long.tokens
    assert short.range_of_tokens < long.range_of_tokens
    assert research_estimate("one word " * 30, price, 40_000).tokens - short.tokens == 1.6 * 10_000
    assert short.range_of_usd is not None
    assert short.usd is not None
    cheap, dear = short.range_of_usd
    assert cheap < short.usd < dear
    assert cheap == price("researcher", Usage(2_300 + 9 * 30 // 4 + 1, 1_500 + 7 * 60))
