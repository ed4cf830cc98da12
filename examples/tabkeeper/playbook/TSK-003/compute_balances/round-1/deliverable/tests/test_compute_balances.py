"""What compute_balances promises: what each person paid minus what each person owes."""

from decimal import Decimal

import pytest
from modules.compute_balances import compute_balances

THREE = ["Ana", "Ben", "Cleo"]
DINNER = ("Ana", Decimal("90.00"), THREE)
TAXI = ("Ben", Decimal("30.00"), THREE)


def test_dinner_and_taxi_leave_ana_ahead():
    assert compute_balances([DINNER, TAXI]) == {
        "Ana": Decimal("50.00"),
        "Ben": Decimal("-10.00"),
        "Cleo": Decimal("-40.00"),
    }


def test_a_tab_without_expenses_has_no_balances():
    assert compute_balances([]) == {}


def test_who_pays_without_sharing_gets_everything_back():
    balances = compute_balances([("Dora", Decimal("10.00"), THREE)])
    assert balances == {
        "Dora": Decimal("10.00"),
        "Ana": Decimal("-3.34"),
        "Ben": Decimal("-3.33"),
        "Cleo": Decimal("-3.33"),
    }


def test_who_pays_for_themselves_is_even():
    assert compute_balances([("Ana", Decimal("5.00"), ["Ana"])]) == {"Ana": Decimal("0.00")}


def test_several_expenses_of_one_person_add_up():
    coffee = ("Ana", Decimal("4.00"), ["Ben"])
    assert compute_balances([coffee, coffee]) == {"Ana": Decimal("8.00"), "Ben": Decimal("-8.00")}


@pytest.mark.parametrize("amount", ["0", "0.01", "0.02", "10", "99.99", "1000000000.00"])
def test_the_balances_add_up_to_zero(amount):
    balances = compute_balances([("Ana", Decimal(amount), THREE)])
    assert sum(balances.values()) == 0


def test_people_come_in_the_order_in_which_they_appear():
    expenses = [("Cleo", Decimal("1.00"), ["Ben"]), ("Ana", Decimal("1.00"), ["Cleo", "Dora"])]
    assert list(compute_balances(expenses)) == ["Cleo", "Ben", "Ana", "Dora"]


@pytest.mark.parametrize("payer", ["", " ", "\n"])
def test_a_blank_payer_is_refused(payer):
    with pytest.raises(ValueError, match="who paid is blank"):
        compute_balances([(payer, Decimal("1.00"), THREE)])


@pytest.mark.parametrize("amount", ["-0.01", "0.001", "NaN", "Infinity"])
def test_an_amount_that_cannot_be_paid_is_refused(amount):
    with pytest.raises(ValueError, match="amount"):
        compute_balances([DINNER, ("Ben", Decimal(amount), THREE)])


@pytest.mark.parametrize("people", [[], ["Ana", ""], ["Ana", "Ana"]])
def test_an_expense_needs_people_with_different_names(people):
    with pytest.raises(ValueError, match="people is empty|blank|twice"):
        compute_balances([("Ana", Decimal("1.00"), people)])


def test_a_tab_may_reach_the_limit():
    half = ("Ana", Decimal("500000000.00"), ["Ben"])
    assert compute_balances([half, half])["Ben"] == Decimal("-1000000000.00")


def test_a_tab_beyond_the_limit_is_refused():
    half = ("Ana", Decimal("500000000.00"), ["Ben"])
    with pytest.raises(ValueError, match="add up to more than 1000000000.00"):
        compute_balances([half, half, ("Ben", Decimal("0.01"), ["Ana"])])
