from decimal import Decimal

import pytest

from modules.read_amount import AmountError, read_amount


@pytest.mark.parametrize(
    "field, amount",
    [
        ("1,234.50", "1234.50"),
        ("0.125", "0.125"),
        ("5", "5"),
        ("007", "7"),
        ("0,123", "123"),
        ("123,456", "123456"),
        ("1234567", "1234567"),
        ("1,234,567.8", "1234567.8"),
        ("1234.000", "1234.000"),
        ("12345678901234567890123456789012345678901234567890", "12345678901234567890123456789012345678901234567890"),
    ],
)
def test_amounts_without_sign(field, amount):
    assert str(read_amount(field)) == amount


@pytest.mark.parametrize(
    "field, amount",
    [
        ("-3", "-3"),
        ("(12.00)", "-12.00"),
        ("-1,000", "-1000"),
        ("(1,234,567.8)", "-1234567.8"),
        ("(1234)", "-1234"),
        ("-0.05", "-0.05"),
        (
            "(12345678901234567890123456789012345678901234567890.1)",
            "-12345678901234567890123456789012345678901234567890.1",
        ),
        ("-0.00", "0.00"),
        ("(0.00)", "0.00"),
        ("-0", "0"),
    ],
)
def test_negative_amounts_and_zero(field, amount):
    assert str(read_amount(field)) == amount


def test_five_thousand_digits():
    assert read_amount("7" * 5000 + ".25") == Decimal("7" * 5000 + ".25")
    with pytest.raises(AmountError) as caught:
        read_amount("7" * 5000 + "x")
    assert caught.value.column == 5001


@pytest.mark.parametrize(
    "field, column",
    [
        ("abc", 1),
        ("+3", 1),
        (" 3", 1),
        (".5", 1),
        (",1", 1),
        (")", 1),
        ("\u0661", 1),
        ("\ud800", 1),
        ("12x", 3),
        ("1\u0661", 2),
        ("3 ", 2),
        ("3\n", 2),
        ("--3", 2),
        ("-(3)", 2),
        ("-,", 2),
        ("(-3)", 2),
        ("()", 2),
        ("12)", 3),
        ("1,234)", 6),
        ("1234,567", 5),
        ("12,34,567", 6),
        ("1,x", 3),
        ("1,2x", 4),
        ("1,23.5", 5),
        ("1,2345", 6),
        ("1.x", 3),
        ("1..5", 3),
        ("1.5,0", 4),
        ("1.5.0", 4),
        ("(1,)", 4),
        ("(1,2)", 5),
        ("(1,23)", 6),
        ("(1.)", 4),
        ("(1,234,567 )", 11),
        ("(12))", 5),
        ("(12)3", 5),
        ("(12) ", 5),
    ],
)
def test_first_character_that_does_not_fit(field, column):
    with pytest.raises(AmountError) as caught:
        read_amount(field)
    assert isinstance(caught.value, ValueError)
    assert caught.value.column == column


@pytest.mark.parametrize(
    "field, column",
    [
        ("", 1),
        ("-", 2),
        ("(", 2),
        ("(12", 4),
        ("5.", 3),
        ("1,", 3),
        ("1,2", 4),
        ("1,23", 5),
        ("-1,234,56", 10),
        ("(1,2", 5),
        ("(0.5", 5),
    ],
)
def test_beginning_of_an_amount(field, column):
    with pytest.raises(AmountError) as caught:
        read_amount(field)
    assert isinstance(caught.value, ValueError)
    assert caught.value.column == column
