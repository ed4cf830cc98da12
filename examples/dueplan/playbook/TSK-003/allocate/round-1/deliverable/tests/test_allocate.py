from datetime import date, datetime
from decimal import Decimal

import pytest

from modules.allocate import InstalmentError, PaymentError, allocate


def test_two_payments_onto_two_instalments():
    plan = [
        {"due": date(2024, 3, 1), "amount": Decimal("20")},
        {"due": date(2024, 4, 1), "amount": Decimal("30.50")},
    ]
    payments = [
        {"day": date(2024, 3, 20), "amount": Decimal("15.00")},
        {"day": date(2024, 2, 1), "amount": Decimal("8.5")},
    ]
    assert allocate(plan, payments) == {
        "instalments": [
            {
                "due": date(2024, 3, 1),
                "amount": Decimal("20.00"),
                "paid": Decimal("20.00"),
                "open": Decimal("0.00"),
                "paid_on": date(2024, 3, 20),
            },
            {
                "due": date(2024, 4, 1),
                "amount": Decimal("30.50"),
                "paid": Decimal("3.50"),
                "open": Decimal("27.00"),
                "paid_on": None,
            },
        ],
        "overpaid": Decimal("0.00"),
    }


@pytest.mark.parametrize(
    "dues, paid",
    [
        ([date(2024, 3, 1), date(2024, 4, 1), date(2024, 5, 1)], ["20.00", "20.00", "10.00"]),
        ([date(2024, 5, 1), date(2024, 4, 1), date(2024, 3, 1)], ["10.00", "20.00", "20.00"]),
        ([date(2024, 4, 1), date(2024, 5, 1), date(2024, 3, 1)], ["20.00", "10.00", "20.00"]),
        ([date(2024, 4, 1), date(2024, 4, 1), date(2024, 4, 1)], ["20.00", "20.00", "10.00"]),
        ([date(2024, 5, 1), date(2024, 5, 1), date(2024, 4, 1)], ["20.00", "10.00", "20.00"]),
    ],
)
def test_oldest_due_is_filled_first(dues, paid):
    plan = [{"due": due, "amount": Decimal("20.00")} for due in dues]
    result = allocate(plan, [{"day": date(2024, 3, 1), "amount": Decimal("50.00")}])
    assert [record["due"] for record in result["instalments"]] == dues
    assert [str(record["paid"]) for record in result["instalments"]] == paid
    assert str(result["overpaid"]) == "0.00"


@pytest.mark.parametrize(
    "payments, paid_on, open_, overpaid",
    [
        ([], [None, None], ["20.00", "10.01"], "0.00"),
        ([(date(2024, 3, 1), "19.99")], [None, None], ["0.01", "10.01"], "0.00"),
        ([(date(2024, 3, 1), "20")], [date(2024, 3, 1), None], ["0.00", "10.01"], "0.00"),
        ([(date(2024, 3, 1), "20.01")], [date(2024, 3, 1), None], ["0.00", "10.00"], "0.00"),
        ([(date(2023, 1, 1), "30.01")], [date(2023, 1, 1), date(2023, 1, 1)], ["0.00", "0.00"], "0.00"),
        ([(date(2024, 3, 1), "30.020")], [date(2024, 3, 1), date(2024, 3, 1)], ["0.00", "0.00"], "0.01"),
        (
            [(date(2024, 3, 9), "15"), (date(2024, 3, 5), "10"), (date(2024, 3, 7), "10"), (date(2024, 3, 11), "7")],
            [date(2024, 3, 7), date(2024, 3, 9)],
            ["0.00", "0.00"],
            "11.99",
        ),
        (
            [(date(2024, 5, 1), "999999999999.99"), (date(2024, 4, 1), "30.01"), (date(2024, 6, 1), "999999999999.99")],
            [date(2024, 4, 1), date(2024, 4, 1)],
            ["0.00", "0.00"],
            "1999999999999.98",
        ),
    ],
)
def test_payments_in_order_of_their_days(payments, paid_on, open_, overpaid):
    plan = [
        {"due": date(2024, 3, 1), "amount": Decimal("20.00")},
        {"due": date(2024, 4, 1), "amount": Decimal("10.01")},
    ]
    result = allocate(plan, [{"day": day, "amount": Decimal(amount)} for day, amount in payments])
    assert [record["paid_on"] for record in result["instalments"]] == paid_on
    assert [str(record["open"]) for record in result["instalments"]] == open_
    assert [record["paid"] + record["open"] for record in result["instalments"]] == [Decimal("20.00"), Decimal("10.01")]
    assert str(result["overpaid"]) == overpaid
    paid = sum(record["paid"] for record in result["instalments"])
    assert paid + result["overpaid"] == sum(Decimal(amount) for _, amount in payments)


@pytest.mark.parametrize(
    "payments, overpaid",
    [
        ([], "0.00"),
        ([{"day": date(2024, 3, 1), "amount": Decimal("5")}, {"day": date(2024, 2, 1), "amount": Decimal("0.01")}], "5.01"),
    ],
)
def test_empty_plan(payments, overpaid):
    result = allocate([], payments)
    assert result["instalments"] == []
    assert str(result["overpaid"]) == overpaid


@pytest.mark.parametrize(
    "amount, text",
    [
        (Decimal("20"), "20.00"),
        (Decimal("10.500"), "10.50"),
        (Decimal("1E+2"), "100.00"),
        (Decimal("0.01"), "0.01"),
        (Decimal("999999999999.99"), "999999999999.99"),
    ],
)
def test_two_places_everywhere(amount, text):
    result = allocate([{"due": date(2024, 3, 1), "amount": amount}], [])
    record = result["instalments"][0]
    assert [str(record["amount"]), str(record["paid"]), str(record["open"])] == [text, "0.00", text]
    assert str(result["overpaid"]) == "0.00"


@pytest.mark.parametrize(
    "amount",
    [
        Decimal("0"),
        Decimal("-5.00"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("10.005"),
        Decimal("1000000000000"),
    ],
)
def test_amount_is_refused(amount):
    good = {"due": date(2024, 3, 1), "amount": Decimal("20.00")}
    paid = {"day": date(2024, 3, 1), "amount": Decimal("20.00")}
    bad_instalment = {"due": date(2024, 4, 1), "amount": amount}
    bad_payment = {"day": date(2024, 4, 1), "amount": amount}
    with pytest.raises(InstalmentError) as instalment:
        allocate([good, good, bad_instalment, bad_instalment], [paid])
    assert isinstance(instalment.value, ValueError)
    assert instalment.value.position == 2
    assert "2" in str(instalment.value)
    with pytest.raises(PaymentError) as payment:
        allocate([good], [paid, bad_payment, paid, bad_payment])
    assert isinstance(payment.value, ValueError)
    assert payment.value.position == 1
    assert "1" in str(payment.value)
    with pytest.raises(InstalmentError) as first:
        allocate([good, bad_instalment], [bad_payment])
    assert first.value.position == 1


def test_datetime_as_due_is_refused():
    plan = [
        {"due": datetime(2024, 3, 1, 12, 0), "amount": Decimal("20.00")},
        {"due": date(2024, 4, 1), "amount": Decimal("0")},
    ]
    with pytest.raises(InstalmentError) as caught:
        allocate(plan, [])
    assert caught.value.position == 0
    assert "0" in str(caught.value)


def test_datetime_as_day_is_refused():
    payments = [
        {"day": date(2024, 3, 1), "amount": Decimal("20.00")},
        {"day": datetime(2024, 3, 1, 12, 0), "amount": Decimal("20.00")},
        {"day": date(2024, 3, 1), "amount": Decimal("0")},
    ]
    with pytest.raises(PaymentError) as caught:
        allocate([], payments)
    assert caught.value.position == 1
    assert "1" in str(caught.value)
