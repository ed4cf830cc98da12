from datetime import date, datetime
from decimal import Decimal

import pytest

from modules.make_plan import PlanError, make_plan


def test_plan_of_three_months():
    assert make_plan(Decimal("100.00"), date(2024, 1, 15), 3, []) == [
        {"due": date(2024, 1, 15), "amount": Decimal("33.34")},
        {"due": date(2024, 2, 15), "amount": Decimal("33.33")},
        {"due": date(2024, 3, 15), "amount": Decimal("33.33")},
    ]


@pytest.mark.parametrize(
    "total, count, amounts",
    [
        (Decimal("100.00"), 3, ["33.34", "33.33", "33.33"]),
        (Decimal("0.05"), 3, ["0.02", "0.02", "0.01"]),
        (Decimal("0.03"), 3, ["0.01", "0.01", "0.01"]),
        (Decimal("20"), 2, ["10.00", "10.00"]),
        (Decimal("2E+2"), 1, ["200.00"]),
        (Decimal("10.500"), 1, ["10.50"]),
        (Decimal("0.01"), 1, ["0.01"]),
        (Decimal("999999999999.99"), 2, ["500000000000.00", "499999999999.99"]),
    ],
)
def test_amounts_in_order(total, count, amounts):
    assert [str(instalment["amount"]) for instalment in make_plan(total, date(2024, 1, 15), count, [])] == amounts


def test_hundred_and_twenty_instalments():
    plan = make_plan(Decimal("999999999999.99"), date(2024, 1, 15), 120, [])
    amounts = [str(instalment["amount"]) for instalment in plan]
    assert amounts == ["8333333333.34"] * 39 + ["8333333333.33"] * 81
    assert sum(instalment["amount"] for instalment in plan) == Decimal("999999999999.99")
    assert plan[119]["due"] == date(2033, 12, 15)


@pytest.mark.parametrize(
    "first_due, count, holidays, days",
    [
        (
            date(2024, 1, 31),
            4,
            [],
            [date(2024, 1, 31), date(2024, 2, 29), date(2024, 4, 1), date(2024, 4, 30)],
        ),
        (date(2023, 1, 30), 3, [], [date(2023, 1, 30), date(2023, 2, 28), date(2023, 3, 30)]),
        (date(2024, 6, 1), 2, [], [date(2024, 6, 3), date(2024, 7, 1)]),
        (date(2024, 6, 1), 2, [date(2024, 7, 1)], [date(2024, 6, 3), date(2024, 7, 2)]),
        (date(2024, 3, 29), 1, [date(2024, 4, 1), date(2024, 3, 29)], [date(2024, 4, 2)]),
    ],
)
def test_due_days(first_due, count, holidays, days):
    assert [instalment["due"] for instalment in make_plan(Decimal("50.00"), first_due, count, holidays)] == days


@pytest.mark.parametrize(
    "first_due, days",
    [
        (date(2023, 12, 15), [date(2023, 12, 15), date(2024, 1, 15), date(2024, 2, 15)]),
        (date(2023, 11, 15), [date(2023, 11, 15), date(2023, 12, 15), date(2024, 1, 15)]),
        (date(9999, 10, 1), [date(9999, 10, 1), date(9999, 11, 1), date(9999, 12, 1)]),
    ],
)
def test_one_instalment_for_each_month(first_due, days):
    assert [instalment["due"] for instalment in make_plan(Decimal("50.00"), first_due, 3, [])] == days


@pytest.mark.parametrize(
    "total",
    [
        Decimal("0"),
        Decimal("-0.01"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("-Infinity"),
        Decimal("10.005"),
        Decimal("1.0000000000000000000000000000000000001"),
        Decimal("1000000000000"),
        Decimal("1E+1000000"),
        Decimal("1E-1000000"),
    ],
)
def test_total_is_refused(total):
    with pytest.raises(PlanError) as caught:
        make_plan(total, date(2024, 1, 15), 1, [])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("total, count", [(Decimal("0.02"), 3), (Decimal("1.19"), 120)])
def test_less_than_a_cent_each_is_refused(total, count):
    with pytest.raises(PlanError) as caught:
        make_plan(total, date(2024, 1, 15), count, [])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("count", [0, 121, -1, True])
def test_count_is_refused(count):
    with pytest.raises(PlanError) as caught:
        make_plan(Decimal("500.00"), date(2024, 1, 15), count, [])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "first_due, holidays",
    [
        (datetime(2024, 1, 15, 0, 0), []),
        (date(2024, 1, 15), [date(2024, 1, 16), datetime(2024, 1, 17, 12, 0)]),
    ],
)
def test_datetime_is_refused(first_due, holidays):
    with pytest.raises(PlanError) as caught:
        make_plan(Decimal("50.00"), first_due, 2, holidays)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "first_due, count, holidays",
    [
        (date(9999, 12, 1), 2, []),
        (date(9999, 12, 31), 1, [date(9999, 12, 31)]),
    ],
)
def test_end_of_the_calendar(first_due, count, holidays):
    with pytest.raises(PlanError) as caught:
        make_plan(Decimal("50.00"), first_due, count, holidays)
    assert isinstance(caught.value, ValueError)


def test_last_month_of_the_calendar():
    assert make_plan(Decimal("50.00"), date(9999, 12, 31), 1, []) == [
        {"due": date(9999, 12, 31), "amount": Decimal("50.00")}
    ]
