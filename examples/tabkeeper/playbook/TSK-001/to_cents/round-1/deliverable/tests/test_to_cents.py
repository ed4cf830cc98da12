"""What to_cents promises: exact cents, or a ValueError that says why not."""

from decimal import Decimal

import pytest
from modules.to_cents import to_cents


def test_an_amount_with_two_places_is_its_number_of_cents():
    assert to_cents(Decimal("12.34")) == 1234


@pytest.mark.parametrize(
    ("amount", "cents"),
    [
        ("0", 0),
        ("0.01", 1),
        ("0.1", 10),
        ("-7.05", -705),
        ("1E+3", 100000),
        ("1000.000", 100000),
    ],
)
def test_the_cents_are_the_amount_times_100_however_it_is_written(amount, cents):
    result = to_cents(Decimal(amount))
    assert result == cents
    assert type(result) is int


@pytest.mark.parametrize("amount", ["NaN", "sNaN", "-NaN", "Infinity", "-Infinity"])
def test_what_is_not_a_finite_number_is_refused(amount):
    with pytest.raises(ValueError, match="finite"):
        to_cents(Decimal(amount))


@pytest.mark.parametrize("amount", ["0.001", "12.345", "-0.009", "1E-999999"])
def test_a_fraction_of_a_cent_is_refused(amount):
    with pytest.raises(ValueError, match="two decimal places"):
        to_cents(Decimal(amount))


def test_the_limit_itself_is_accepted_in_both_directions():
    assert to_cents(Decimal("1000000000.00")) == 100000000000
    assert to_cents(Decimal("-1000000000.00")) == -100000000000


@pytest.mark.parametrize("amount", ["1000000000.01", "-1000000000.01", "1E+999999", "-1E+999999"])
def test_an_amount_beyond_the_limit_is_refused(amount):
    with pytest.raises(ValueError, match="beyond 1000000000.00"):
        to_cents(Decimal(amount))
