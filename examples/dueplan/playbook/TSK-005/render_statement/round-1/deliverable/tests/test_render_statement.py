from datetime import date, datetime
from decimal import Decimal

import pytest

from modules.render_statement import InstalmentError, PaymentError, StatementError, render_statement


def instalments(*pairs):
    return [{"due": due, "amount": Decimal(amount)} for due, amount in pairs]


def paid(*pairs):
    return [{"day": day, "amount": Decimal(amount)} for day, amount in pairs]


def test_statement_of_two_instalments():
    plan = instalments((date(2024, 3, 1), "1234.50"), (date(2024, 4, 1), "1234.50"))
    text = render_statement("Ann Lee", plan, [], [Decimal("2.70"), Decimal("0.00")], date(2024, 3, 10))
    assert text == (
        "Statement for Ann Lee, 2024-03-10\n"
        "2024-03-01  1,234.50  0.00  1,234.50  late\n"
        "2024-04-01  1,234.50  0.00  1,234.50\n"
        "Owed today: 1,237.20"
    )


def test_columns_line_up_in_the_order_of_the_plan():
    plan = instalments((date(2024, 5, 1), "20"), (date(987, 1, 5), "1000000.00"), (date(2024, 3, 1), "999.9"))
    payments = paid((date(2024, 3, 2), "1500.00"), (date(2024, 3, 1), "999000.00"))
    fees = [Decimal("0.00"), Decimal("-0.00"), Decimal("0.01")]
    assert render_statement("Bo", plan, payments, fees, date(2024, 3, 10)) == (
        "Statement for Bo, 2024-03-10\n"
        "2024-05-01         20.00          0.00   20.00\n"
        "0987-01-05  1,000,000.00  1,000,000.00    0.00\n"
        "2024-03-01        999.90        500.00  499.90  late\n"
        "Owed today: 499.91"
    )


@pytest.mark.parametrize(
    "name, today, head",
    [
        ("Ann Lee", date(2024, 3, 10), "Statement for Ann Lee, 2024-03-10"),
        (" O'Neill, \ud800\t ", date(987, 1, 5), "Statement for  O'Neill, \ud800\t , 0987-01-05"),
    ],
)
def test_empty_plan(name, today, head):
    text = render_statement(name, [], paid((date(2024, 3, 1), "5.00")), [], today)
    assert text == head + "\nOwed today: 0.00"


@pytest.mark.parametrize(
    "dues, rows",
    [
        (
            [date(2024, 3, 1), date(2024, 3, 1)],
            ["2024-03-01  20.00  20.00   0.00", "2024-03-01  20.00   5.00  15.00"],
        ),
        (
            [date(2024, 3, 2), date(2024, 3, 1)],
            ["2024-03-02  20.00   5.00  15.00", "2024-03-01  20.00  20.00   0.00"],
        ),
    ],
)
def test_payments_fill_the_oldest_due_first(dues, rows):
    plan = [{"due": due, "amount": Decimal("20.00")} for due in dues]
    payments = paid((date(2030, 1, 1), "15.00"), (date(2020, 1, 1), "10.00"))
    text = render_statement("Bo", plan, payments, [Decimal("0"), Decimal("0")], date(2024, 3, 10))
    assert text.split("\n")[1:] == [*rows, "Owed today: 15.00"]


@pytest.mark.parametrize(
    "today, payments, last",
    [
        (date(2024, 2, 29), [], "Owed today: 3.20"),
        (date(2024, 3, 1), [], "Owed today: 13.20"),
        (date(2024, 3, 31), [], "Owed today: 13.20"),
        (date(2024, 4, 1), [], "Owed today: 33.20"),
        (date(2024, 4, 1), [(date(2024, 3, 1), "12.50")], "Owed today: 20.70"),
        (date(2024, 4, 1), [(date(2024, 3, 1), "99.00")], "Owed today: 3.20"),
    ],
)
def test_owed_today(today, payments, last):
    plan = instalments((date(2024, 3, 1), "10.00"), (date(2024, 4, 1), "20.00"))
    text = render_statement("Bo", plan, paid(*payments), [Decimal("1.2"), Decimal("2.000")], today)
    assert text.split("\n")[3] == last


def test_greatest_amounts():
    plan = instalments((date(2024, 3, 1), "999999999999.99"))
    assert render_statement("Bo", plan, [], [Decimal("999999999999.99")], date(2024, 3, 1)) == (
        "Statement for Bo, 2024-03-01\n"
        "2024-03-01  999,999,999,999.99  0.00  999,999,999,999.99  late\n"
        "Owed today: 1,999,999,999,999.98"
    )


@pytest.mark.parametrize("name", ["", "\n", "Ann\nLee", "Ann\r", "Ann\x85Lee", "Ann\u2028Lee", "Ann\x1cLee"])
def test_name_is_refused(name):
    with pytest.raises(StatementError) as caught:
        render_statement(name, instalments((date(2024, 3, 1), "0")), [], [Decimal("0")], date(2024, 3, 10))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("fees", [[], [Decimal("0.00"), Decimal("0.00")]])
def test_number_of_fees_is_refused(fees):
    with pytest.raises(StatementError) as caught:
        render_statement("Bo", instalments((date(2024, 3, 1), "20.00")), [], fees, date(2024, 3, 10))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "fee",
    [
        Decimal("-0.01"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1000000000000"),
        Decimal("0.005"),
    ],
)
def test_fee_is_refused(fee):
    plan = instalments((date(2024, 3, 1), "20.00"), (date(2024, 4, 1), "20.00"))
    with pytest.raises(StatementError) as caught:
        render_statement("Bo", plan, paid((date(2024, 3, 1), "0")), [Decimal("0.00"), fee], date(2024, 3, 10))
    assert isinstance(caught.value, ValueError)


def test_datetime_as_today_is_refused():
    with pytest.raises(StatementError) as caught:
        render_statement("Bo", instalments((date(2024, 3, 1), "0")), [], [Decimal("0")], datetime(2024, 3, 10, 12, 0))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "due, amount",
    [
        (date(2024, 4, 1), Decimal("0")),
        (date(2024, 4, 1), Decimal("-1.00")),
        (date(2024, 4, 1), Decimal("NaN")),
        (date(2024, 4, 1), Decimal("Infinity")),
        (date(2024, 4, 1), Decimal("1.005")),
        (date(2024, 4, 1), Decimal("1000000000000")),
        (datetime(2024, 4, 1, 12, 0), Decimal("20.00")),
    ],
)
def test_instalment_is_refused(due, amount):
    plan = [{"due": date(2024, 3, 1), "amount": Decimal("20.00")}, {"due": due, "amount": amount}]
    with pytest.raises(InstalmentError) as caught:
        render_statement("Bo", plan, paid((date(2024, 3, 1), "0")), [Decimal("0"), Decimal("0")], date(2024, 3, 10))
    assert isinstance(caught.value, ValueError)
    assert caught.value.position == 1


@pytest.mark.parametrize(
    "day, amount",
    [
        (date(2024, 4, 1), Decimal("0")),
        (date(2024, 4, 1), Decimal("-1.00")),
        (date(2024, 4, 1), Decimal("NaN")),
        (date(2024, 4, 1), Decimal("Infinity")),
        (date(2024, 4, 1), Decimal("1.005")),
        (date(2024, 4, 1), Decimal("1000000000000")),
        (datetime(2024, 4, 1, 12, 0), Decimal("20.00")),
    ],
)
def test_payment_is_refused(day, amount):
    payments = [{"day": date(2024, 3, 1), "amount": Decimal("999999999999.99")}, {"day": day, "amount": amount}]
    with pytest.raises(PaymentError) as caught:
        render_statement("Bo", [], payments, [], date(2024, 3, 10))
    assert isinstance(caught.value, ValueError)
    assert caught.value.position == 1
