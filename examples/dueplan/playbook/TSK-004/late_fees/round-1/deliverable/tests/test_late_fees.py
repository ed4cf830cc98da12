from datetime import date, datetime
from decimal import Decimal

import pytest

from modules.late_fees import FeeError, late_fees


def allocation(*records):
    return {
        "instalments": [
            {"due": due, "amount": amount, "paid": Decimal("0.00"), "open": open_, "paid_on": None}
            for due, amount, open_ in records
        ],
        "overpaid": Decimal("0.00"),
    }


def test_fees_in_the_order_of_the_records():
    allocated = allocation(
        (date(2024, 3, 20), Decimal("365.00"), Decimal("365.00")),
        (date(2024, 3, 1), Decimal("365.00"), Decimal("182.50")),
        (date(2024, 2, 1), Decimal("365.00"), Decimal("0.00")),
        (date(2024, 3, 1), Decimal("365"), Decimal("365")),
    )
    fees = late_fees(allocated, date(2024, 3, 11), Decimal("0.08"), 5)
    assert [str(fee) for fee in fees] == ["0.00", "0.40", "0.00", "0.80"]


def test_no_records():
    assert late_fees({"instalments": [], "overpaid": Decimal("5.00")}, date(2024, 3, 1), Decimal("0.08"), 0) == []


def test_paid_paid_on_and_overpaid_have_no_influence():
    record = {
        "due": date(2024, 3, 1),
        "amount": Decimal("365.00"),
        "paid": Decimal("-7.123"),
        "open": Decimal("365.00"),
        "paid_on": date(2024, 3, 2),
    }
    allocated = {"instalments": [record], "overpaid": Decimal("NaN")}
    assert late_fees(allocated, date(2024, 3, 11), Decimal("0.08"), 0) == [Decimal("0.80")]


@pytest.mark.parametrize(
    "today, grace_days, fee",
    [
        (date(2024, 3, 6), 5, "0.00"),
        (date(2024, 3, 7), 5, "6.00"),
        (date(2024, 3, 1), 0, "0.00"),
        (date(2024, 3, 2), 0, "1.00"),
        (date(2024, 2, 1), 0, "0.00"),
        (date(2025, 3, 1), 1000000000000000000000000000000, "0.00"),
    ],
)
def test_days_of_grace(today, grace_days, fee):
    allocated = allocation((date(2024, 3, 1), Decimal("3650.00"), Decimal("3650.00")))
    assert [str(given) for given in late_fees(allocated, today, Decimal("0.1"), grace_days)] == [fee]


@pytest.mark.parametrize(
    "amount, open_, rate, today, fee",
    [
        (Decimal("365.00"), Decimal("365.00"), Decimal("0.08"), date(2024, 1, 11), "0.80"),
        (Decimal("365.00"), Decimal("365.00"), Decimal("0.08"), date(2025, 1, 1), "29.28"),
        (Decimal("100.00"), Decimal("36.50"), Decimal("0.10"), date(2024, 1, 11), "0.10"),
        (Decimal("100.00"), Decimal("0.00"), Decimal("0.10"), date(2024, 1, 11), "0.00"),
        (Decimal("100.00"), Decimal("100.00"), Decimal("0"), date(2024, 1, 11), "0.00"),
        (Decimal("73.00"), Decimal("73.00"), Decimal("0.025"), date(2024, 1, 2), "0.01"),
        (Decimal("72.99"), Decimal("72.99"), Decimal("0.025"), date(2024, 1, 2), "0.00"),
        (Decimal("73.00"), Decimal("73.00"), Decimal("0.02499999999999999999999999999999999999"), date(2024, 1, 2), "0.00"),
        (Decimal("73.00"), Decimal("73.00"), Decimal("0.075"), date(2024, 1, 2), "0.02"),
        (Decimal("10.05"), Decimal("10.05"), Decimal("10"), date(2024, 12, 31), "1.00"),
        (Decimal("10.05"), Decimal("1.00"), Decimal("10"), date(2024, 12, 31), "1.00"),
        (Decimal("10.09"), Decimal("10.09"), Decimal("0.1"), date(2024, 12, 31), "1.00"),
        (Decimal("10.10"), Decimal("10.10"), Decimal("0.1"), date(2024, 12, 31), "1.01"),
        (Decimal("0.09"), Decimal("0.09"), Decimal("10"), date(2024, 12, 31), "0.00"),
        (Decimal("999999999999.99"), Decimal("999999999999.99"), Decimal("0.01"), date(2024, 1, 2), "27397260.27"),
    ],
)
def test_fee_of_an_instalment_due_on_new_year(amount, open_, rate, today, fee):
    fees = late_fees(allocation((date(2024, 1, 1), amount, open_)), today, rate, 0)
    assert [str(given) for given in fees] == [fee]


@pytest.mark.parametrize(
    "amount, open_, rate, fee",
    [
        (Decimal("999999999999.99"), Decimal("0.01"), Decimal("1E+1000000"), "99999999999.99"),
        (Decimal("999999999999.99"), Decimal("999999999999.99"), Decimal("1E-1000000"), "0.00"),
        (Decimal("10.09"), Decimal("10.09"), Decimal("1E+999999999999"), "1.00"),
    ],
)
def test_rate_of_any_size(amount, open_, rate, fee):
    fees = late_fees(allocation((date(2024, 3, 1), amount, open_)), date(2024, 3, 2), rate, 0)
    assert [str(given) for given in fees] == [fee]


@pytest.mark.parametrize(
    "rate", [Decimal("-0.01"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-Infinity")]
)
def test_rate_is_refused(rate):
    with pytest.raises(FeeError) as caught:
        late_fees(allocation(), date(2024, 3, 11), rate, 0)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("grace_days", [-1, True, False])
def test_grace_days_are_refused(grace_days):
    with pytest.raises(FeeError) as caught:
        late_fees(allocation(), date(2024, 3, 11), Decimal("0.08"), grace_days)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "amount",
    [
        Decimal("0.00"),
        Decimal("-1.00"),
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("10.005"),
        Decimal("1000000000000"),
    ],
)
def test_amount_is_refused(amount):
    with pytest.raises(FeeError) as caught:
        late_fees(allocation((date(2024, 3, 1), amount, Decimal("0.00"))), date(2024, 3, 11), Decimal("0.08"), 0)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "open_",
    [Decimal("-0.01"), Decimal("20.01"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("0.001")],
)
def test_open_is_refused(open_):
    good = (date(2024, 3, 1), Decimal("20.00"), Decimal("20.00"))
    with pytest.raises(FeeError) as caught:
        late_fees(
            allocation(good, (date(2024, 3, 1), Decimal("20.00"), open_)), date(2024, 3, 11), Decimal("0.08"), 0
        )
    assert isinstance(caught.value, ValueError)


def test_smallest_amount_and_negative_zero_open():
    allocated = allocation(
        (date(2024, 3, 1), Decimal("0.01"), Decimal("0.01")), (date(2024, 3, 1), Decimal("10.500"), Decimal("-0.00"))
    )
    assert [str(fee) for fee in late_fees(allocated, date(2024, 3, 11), Decimal("0.08"), 0)] == ["0.00", "0.00"]


@pytest.mark.parametrize(
    "due, today",
    [
        (datetime(2024, 3, 1, 12, 0), date(2024, 3, 11)),
        (date(2024, 3, 1), datetime(2024, 3, 11, 12, 0)),
    ],
)
def test_datetime_is_refused(due, today):
    with pytest.raises(FeeError) as caught:
        late_fees(allocation((due, Decimal("20.00"), Decimal("20.00"))), today, Decimal("0.08"), 0)
    assert isinstance(caught.value, ValueError)
