"""What render_report promises: a text that can be pasted into a chat and read there."""

from decimal import Decimal

import pytest
from modules.render_report import render_report

BALANCES = {"Ana": Decimal("50.00"), "Ben": Decimal("-10.00"), "Cleo": Decimal("-40.00")}
TRANSFERS = [("Cleo", "Ana", Decimal("40.00")), ("Ben", "Ana", Decimal("10.00"))]


def test_the_report_of_a_weekend_for_three():
    assert render_report(BALANCES, TRANSFERS, "Lisbon") == (
        "Lisbon\n"
        "======\n"
        "\n"
        "Ana   +50.00\n"
        "Ben   -10.00\n"
        "Cleo  -40.00\n"
        "\n"
        "Cleo pays Ana 40.00\n"
        "Ben pays Ana 10.00\n"
    )


def test_a_report_without_a_title_is_called_tab():
    assert render_report(BALANCES, TRANSFERS).splitlines()[:2] == ["Tab", "==="]


def test_a_tab_without_people_and_transfers_has_a_title_and_a_sentence():
    assert render_report({}, []) == "Tab\n===\n\nNobody owes anything.\n"


def test_without_transfers_nobody_owes_anything():
    assert render_report({"Ana": Decimal("-0.00")}, []).splitlines()[3:] == [
        "Ana  +0.00",
        "",
        "Nobody owes anything.",
    ]


@pytest.mark.parametrize("transfers", [[], TRANSFERS])
def test_the_report_ends_with_one_newline(transfers):
    report = render_report(BALANCES, transfers)
    assert report.endswith("\n")
    assert not report.endswith("\n\n")


@pytest.mark.parametrize(
    ("amount", "written"),
    [("1000000000.00", "+1,000,000,000.00"), ("-1000000000", "-1,000,000,000.00"), ("1E+3", "+1,000.00")],
)
def test_large_balances_are_written_out(amount, written):
    assert render_report({"Ana": Decimal(amount)}, []).splitlines()[3] == f"Ana  {written}"


@pytest.mark.parametrize("name", ["", "  ", "Ana\nBen", "Ana\x1b[1m", "\udc80"])
def test_a_name_that_does_not_fit_on_a_line_is_refused(name):
    with pytest.raises(ValueError, match="a name is blank or not printable"):
        render_report({name: Decimal("0.00")}, [])


@pytest.mark.parametrize("transfer", [("", "Ana", Decimal("1.00")), ("Ana", "\t", Decimal("1.00"))])
def test_the_names_in_a_transfer_are_held_to_the_same(transfer):
    with pytest.raises(ValueError, match="a name is blank or not printable"):
        render_report({}, [transfer])


@pytest.mark.parametrize("amount", ["NaN", "0.001", "1000000000.01"])
def test_an_amount_that_is_no_money_is_refused(amount):
    with pytest.raises(ValueError, match="amount"):
        render_report({"Ana": Decimal(amount)}, [])
    with pytest.raises(ValueError, match="amount"):
        render_report({}, [("Ben", "Ana", Decimal(amount))])


@pytest.mark.parametrize("amount", ["0.00", "-0.01", "-5.00"])
def test_a_transfer_of_less_than_a_cent_is_refused(amount):
    with pytest.raises(ValueError, match="less than 0.01"):
        render_report(BALANCES, [("Ben", "Ana", Decimal(amount))])


def test_a_transfer_may_be_of_a_single_cent():
    assert "Ben pays Ana 0.01\n" in render_report({}, [("Ben", "Ana", Decimal("0.01"))])


@pytest.mark.parametrize("title", ["", " ", "Lisbon\n2026", "\ud800"])
def test_a_title_that_does_not_fit_on_a_line_is_refused(title):
    with pytest.raises(ValueError, match="title is blank or not printable"):
        render_report(BALANCES, TRANSFERS, title)
