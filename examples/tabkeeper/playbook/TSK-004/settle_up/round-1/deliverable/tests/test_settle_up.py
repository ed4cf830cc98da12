"""What settle_up promises: few transfers, and nobody owes anything afterwards."""

from decimal import Decimal

import pytest
from modules.settle_up import settle_up

TABS = [
    {"Ana": "50.00", "Ben": "-10.00", "Cleo": "-40.00"},
    {"Ana": "0.01", "Ben": "-0.01"},
    {"Ana": "-30.00", "Ben": "10.00", "Cleo": "10.00", "Dora": "10.00"},
    {"Ana": "7.25", "Ben": "12.50", "Cleo": "-3.10", "Dora": "-16.65", "Eli": "0.00"},
    {"Ana": "1000000000.00", "Ben": "-1000000000.00"},
]


def tab_of(amounts):
    return {name: Decimal(amount) for name, amount in amounts.items()}


def test_two_transfers_settle_a_tab_of_three():
    transfers = settle_up(tab_of(TABS[0]))
    assert transfers == [("Cleo", "Ana", Decimal("40.00")), ("Ben", "Ana", Decimal("10.00"))]


@pytest.mark.parametrize("amounts", TABS)
def test_after_the_transfers_everybody_is_even(amounts):
    after = tab_of(amounts)
    for debtor, creditor, amount in settle_up(tab_of(amounts)):
        after[debtor] += amount
        after[creditor] -= amount
    assert set(after.values()) == {0}


@pytest.mark.parametrize("amounts", TABS)
def test_there_are_fewer_transfers_than_people(amounts):
    assert 0 < len(settle_up(tab_of(amounts))) < len(amounts)


@pytest.mark.parametrize("amounts", TABS)
def test_every_transfer_is_of_at_least_a_cent(amounts):
    assert min(amount for _, _, amount in settle_up(tab_of(amounts))) >= Decimal("0.01")


@pytest.mark.parametrize("amounts", [{}, {"Ana": "0"}, {"Ana": "0.00", "Ben": "-0.00"}])
def test_people_who_are_even_pay_nothing(amounts):
    assert settle_up(tab_of(amounts)) == []


def test_equal_debts_are_paid_in_the_order_of_the_names():
    balances = tab_of({"Dora": "-5.00", "Ben": "-5.00", "Cleo": "5.00", "Ana": "5.00"})
    assert settle_up(balances) == [("Ben", "Ana", Decimal("5.00")), ("Dora", "Cleo", Decimal("5.00"))]


def test_a_debt_is_shared_out_to_the_largest_credits_first():
    balances = tab_of({"Ana": "1.00", "Ben": "2.00", "Cleo": "-3.00"})
    assert settle_up(balances) == [("Cleo", "Ben", Decimal("2.00")), ("Cleo", "Ana", Decimal("1.00"))]


@pytest.mark.parametrize("name", ["", " "])
def test_a_blank_name_is_refused(name):
    with pytest.raises(ValueError, match="blank"):
        settle_up({"Ana": Decimal("1.00"), name: Decimal("-1.00")})


@pytest.mark.parametrize("amount", ["NaN", "-Infinity", "0.005", "1000000000.01"])
def test_a_balance_that_is_no_amount_of_money_is_refused(amount):
    with pytest.raises(ValueError, match="amount"):
        settle_up({"Ana": Decimal(amount), "Ben": -Decimal(amount)})


@pytest.mark.parametrize("amount", ["-9.99", "-10.01", "10.00"])
def test_balances_that_do_not_add_up_are_refused(amount):
    with pytest.raises(ValueError, match="add up to zero"):
        settle_up({"Ana": Decimal("10.00"), "Ben": Decimal(amount)})
