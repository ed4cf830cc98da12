"""What parse_money promises: the amounts people type, and a clear refusal of everything else."""

from decimal import Decimal

import pytest
from modules.parse_money import parse_money


@pytest.mark.parametrize("text", ["12.50", "12.5", "$12.5", "  12.50 ", "€ 12.50", "£12.50", "CHF 12.50", "CHF12.50"])
def test_the_ways_to_write_twelve_fifty_all_mean_it(text):
    assert parse_money(text) == Decimal("12.50")


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1,200", "1200.00"), ("1200", "1200.00"), ("1,234,567.89", "1234567.89"), ("007", "7.00")],
)
def test_thousands_may_be_set_off_by_commas(text, amount):
    assert parse_money(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["0", "3", "3.1", "3.14", "1,000"])
def test_the_amount_has_exactly_two_decimal_places(text):
    assert str(parse_money(text)).partition(".")[2] in {"00", "10", "14"}


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "twelve", "1.234", "-5", "12,50", "1,2345", ",500", "12.", ".5", "1 000", "$", "$$5", "CHF", "chf 5", "NaN", "1e3",
        "\u0661\u0662",  # twelve in Arabic digits
    ],
)
def test_what_is_not_an_amount_is_refused(text):
    with pytest.raises(ValueError, match="not an amount of money"):
        parse_money(text)


def test_the_limit_itself_is_an_amount():
    assert parse_money("1,000,000,000.00") == Decimal("1000000000.00")


@pytest.mark.parametrize("text", ["1,000,000,000.01", "9" * 5000])
def test_more_than_the_limit_is_refused(text):
    with pytest.raises(ValueError, match="beyond 1000000000.00"):
        parse_money(text)
