"""What split_evenly promises: shares that are even to the cent and add up."""

from decimal import Decimal

import pytest
from modules.split_evenly import split_evenly

THREE = ["Ana", "Ben", "Cleo"]


def test_an_amount_that_divides_gives_equal_shares():
    shares = split_evenly(Decimal("90.00"), THREE)
    assert shares == {"Ana": Decimal("30.00"), "Ben": Decimal("30.00"), "Cleo": Decimal("30.00")}


def test_the_odd_cent_of_ten_among_three_goes_to_the_first():
    shares = split_evenly(Decimal("10.00"), THREE)
    assert shares == {"Ana": Decimal("3.34"), "Ben": Decimal("3.33"), "Cleo": Decimal("3.33")}


@pytest.mark.parametrize("amount", ["0", "0.01", "10", "99.99", "1000000000.00"])
def test_the_shares_add_up_to_the_amount(amount):
    assert sum(split_evenly(Decimal(amount), THREE).values()) == Decimal(amount)


@pytest.mark.parametrize("amount", ["0.01", "0.02", "20.00", "100.00", "100.01"])
def test_no_share_is_more_than_a_cent_larger_than_another(amount):
    shares = split_evenly(Decimal(amount), THREE).values()
    assert max(shares) - min(shares) <= Decimal("0.01")


def test_two_odd_cents_go_to_the_first_two():
    shares = split_evenly(Decimal("20.00"), THREE)
    assert shares == {"Ana": Decimal("6.67"), "Ben": Decimal("6.67"), "Cleo": Decimal("6.66")}


def test_with_fewer_cents_than_people_the_last_pay_nothing():
    shares = split_evenly(Decimal("0.01"), THREE)
    assert shares == {"Ana": Decimal("0.01"), "Ben": Decimal("0.00"), "Cleo": Decimal("0.00")}


def test_the_shares_come_in_the_order_of_the_names():
    assert list(split_evenly(Decimal("1.00"), ["Cleo", "Ana", "Ben"])) == ["Cleo", "Ana", "Ben"]


def test_one_person_bears_everything():
    assert split_evenly(Decimal("7.77"), ["Ana"]) == {"Ana": Decimal("7.77")}


@pytest.mark.parametrize("amount", ["0.001", "NaN", "Infinity"])
def test_an_amount_that_is_not_in_whole_cents_is_refused(amount):
    with pytest.raises(ValueError, match="amount"):
        split_evenly(Decimal(amount), THREE)


@pytest.mark.parametrize(("amount", "reason"), [("-0.01", "negative"), ("1000000000.01", "beyond")])
def test_an_amount_outside_the_limits_is_refused(amount, reason):
    with pytest.raises(ValueError, match=reason):
        split_evenly(Decimal(amount), THREE)


def test_nobody_cannot_share():
    with pytest.raises(ValueError, match="people is empty"):
        split_evenly(Decimal("1.00"), [])


@pytest.mark.parametrize("name", ["", "  ", "\t"])
def test_a_blank_name_is_refused(name):
    with pytest.raises(ValueError, match="blank"):
        split_evenly(Decimal("1.00"), ["Ana", name])


def test_a_name_that_comes_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        split_evenly(Decimal("1.00"), ["Ana", "Ben", "Ana"])
