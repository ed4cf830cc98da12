"""Tests for invoice."""

from dataclasses import FrozenInstanceError
from decimal import Decimal

import pytest

from invoice import Line, discount, grand_total, line_total, split_amount, tax_by_rate

D = Decimal


def make(quantity="1", price="10.00", tax="19", text="Item"):
    return Line(text, D(quantity), D(price), D(tax))


def test_line_is_frozen():
    line = make()
    with pytest.raises(FrozenInstanceError):
        line.price = D("1")


def test_line_total():
    assert line_total(make("3", "1.25")) == D("3.75")


def test_line_total_rounds_half_up():
    assert line_total(make("0.5", "0.01")) == D("0.01")
    assert line_total(make("0.5", "0.05")) == D("0.03")
    assert line_total(make("1", "1.004")) == D("1.00")


def test_line_total_has_two_decimals():
    assert str(line_total(make("2", "5"))) == "10.00"


def test_line_total_zero():
    assert line_total(make("0", "5")) == D("0.00")


@pytest.mark.parametrize("field", ["quantity", "price", "tax"])
@pytest.mark.parametrize("value", ["-1", "NaN", "Infinity"])
def test_line_total_invalid(field, value):
    with pytest.raises(ValueError):
        line_total(make(**{field: value}))


def test_tax_by_rate():
    lines = [make(tax="19"), make(tax="7"), make(price="5.00", tax="19")]
    assert tax_by_rate(lines) == {D("7"): D("0.70"), D("19"): D("2.85")}


def test_tax_by_rate_ascending():
    lines = [make(tax="19"), make(tax="0"), make(tax="7")]
    assert list(tax_by_rate(lines)) == [D("0"), D("7"), D("19")]


def test_tax_by_rate_equal_rates_keep_first_form():
    result = tax_by_rate([make(tax="19.0"), make(tax="19")])
    assert [str(rate) for rate in result] == ["19.0"]
    assert result[D("19")] == D("3.80")


def test_tax_by_rate_is_on_the_sum():
    lines = [make(price="0.02", tax="19")] * 3
    assert tax_by_rate(lines) == {D("19"): D("0.01")}


def test_tax_by_rate_rounds_half_up():
    assert tax_by_rate([make(price="0.50", tax="1")]) == {D("1"): D("0.01")}


def test_tax_by_rate_empty():
    assert tax_by_rate([]) == {}


def test_grand_total():
    lines = [make(tax="19"), make("2", "5.00", "7")]
    assert grand_total(lines) == D("22.60")


def test_grand_total_empty():
    assert grand_total([]) == D("0")


def test_discount():
    lines = [make("2", "9.99", "7", "Tea")]
    assert discount(lines, D("10")) == [make("2", "8.99", "7", "Tea")]


def test_discount_rounds_half_up():
    assert discount([make(price="0.25")], D("50"))[0].price == D("0.13")


@pytest.mark.parametrize(("percent", "price"), [("0", "10.00"), ("100", "0.00")])
def test_discount_limits(percent, price):
    assert discount([make()], D(percent))[0].price == D(price)


@pytest.mark.parametrize("percent", ["-1", "100.01", "NaN"])
def test_discount_invalid(percent):
    with pytest.raises(ValueError):
        discount([make()], D(percent))


def test_discount_does_not_change_input():
    lines = [make()]
    discount(lines, D("50"))
    assert lines == [make()]


@pytest.mark.parametrize(
    ("amount", "weights", "expected"),
    [
        ("1.00", [1, 1, 1], ["0.34", "0.33", "0.33"]),
        ("10.00", [1, 3], ["2.50", "7.50"]),
        ("0.05", [1, 1], ["0.03", "0.02"]),
        ("1.00", [1, 2], ["0.33", "0.67"]),
        ("0.00", [1, 2], ["0.00", "0.00"]),
        ("5", [0, 1], ["0.00", "5.00"]),
        ("0.02", [1, 1, 1], ["0.01", "0.01", "0.00"]),
    ],
)
def test_split_amount(amount, weights, expected):
    assert split_amount(D(amount), weights) == [D(value) for value in expected]


def test_split_amount_sums_to_amount():
    shares = split_amount(D("123.45"), [3, 7, 11, 13])
    assert sum(shares) == D("123.45")


@pytest.mark.parametrize("weights", [[], [1, -1], [0, 0]])
def test_split_amount_bad_weights(weights):
    with pytest.raises(ValueError):
        split_amount(D("1.00"), weights)


@pytest.mark.parametrize("amount", ["1.001", "-1.00", "NaN", "Infinity"])
def test_split_amount_bad_amount(amount):
    with pytest.raises(ValueError):
        split_amount(D(amount), [1])
