"""Tests of invoice that findings of the gate asked for."""

from decimal import Decimal

import pytest

from invoice import Line, discount, grand_total, line_total, split_amount, tax_by_rate

D = Decimal
WRONG = ["-1", "-0.01", "NaN", "Infinity", "1000000000.01", "1E+999999"]


def make(quantity="1", price="10.00", tax="19"):
    return Line("Item", D(quantity), D(price), D(tax))


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("field", ["quantity", "price", "tax"])
def test_line_total_refuses(field, value):
    with pytest.raises(ValueError):
        line_total(make(**{field: value}))


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("field", ["quantity", "price", "tax"])
def test_tax_by_rate_refuses(field, value):
    with pytest.raises(ValueError):
        tax_by_rate([make(), make(**{field: value})])


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("field", ["quantity", "price", "tax"])
def test_grand_total_refuses(field, value):
    with pytest.raises(ValueError):
        grand_total([make(), make(**{field: value})])


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("field", ["quantity", "price", "tax"])
def test_discount_refuses(field, value):
    with pytest.raises(ValueError):
        discount([make(), make(**{field: value})], D(10))


def test_largest_numbers():
    assert line_total(make(price="1000000000")) == D("1000000000.00")
    assert split_amount(D("1000000000"), [1]) == [D("1000000000.00")]


def test_tax_by_rate_of_nothing_and_of_half():
    assert tax_by_rate([make("0", "5", "0"), make("0.5", "0.5", "0.5")]) == {
        D("0"): D("0.00"),
        D("0.5"): D("0.00"),
    }


def test_grand_total_of_nothing_and_of_half():
    assert grand_total([make("0", "5", "0"), make("0.5", "0.5", "0.5")]) == D("0.25")


def test_grand_total_of_odd_cents():
    assert grand_total([make("1", "0.33", "10")]) == D("0.36")


def test_discount_of_nothing_and_of_half():
    assert discount([make("0", "0", "0"), make("0.5", "0.5", "0.5")], D("0.5")) == [
        make("0", "0.00", "0"),
        make("0.5", "0.50", "0.5"),
    ]


@pytest.mark.parametrize("amount", ["1000000000.01", "1E+999999"])
def test_split_amount_too_large(amount):
    with pytest.raises(ValueError):
        split_amount(D(amount), [3, 7])
