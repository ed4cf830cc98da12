"""Tests for numerals."""

import pytest

from numerals import from_roman, is_roman, next_roman, sort_roman, to_roman

CASES = [
    (1, "I"),
    (3, "III"),
    (4, "IV"),
    (5, "V"),
    (9, "IX"),
    (14, "XIV"),
    (40, "XL"),
    (49, "XLIX"),
    (90, "XC"),
    (400, "CD"),
    (944, "CMXLIV"),
    (1994, "MCMXCIV"),
    (2024, "MMXXIV"),
    (3999, "MMMCMXCIX"),
]


@pytest.mark.parametrize(("number", "text"), CASES)
def test_to_roman(number, text):
    assert to_roman(number) == text


@pytest.mark.parametrize("number", [0, -1, 4000])
def test_to_roman_out_of_range(number):
    with pytest.raises(ValueError):
        to_roman(number)


@pytest.mark.parametrize(("number", "text"), CASES)
def test_from_roman(number, text):
    assert from_roman(text) == number


def test_round_trip_all():
    for number in range(1, 4000):
        assert from_roman(to_roman(number)) == number


def test_from_roman_lower_case():
    assert from_roman("mcmxciv") == 1994


def test_from_roman_mixed_case():
    assert from_roman("xIv") == 14


def test_from_roman_surrounding_blanks():
    assert from_roman("  XII ") == 12


@pytest.mark.parametrize(
    "text", ["IIII", "IC", "VX", "", "   ", "ABC", "IXI", "VV", "X I", "MMMM", "12"]
)
def test_from_roman_invalid(text):
    with pytest.raises(ValueError):
        from_roman(text)


@pytest.mark.parametrize("text", ["I", "iv", " XC "])
def test_is_roman_true(text):
    assert is_roman(text) is True


@pytest.mark.parametrize("text", ["", "IIII", "hello", "VX"])
def test_is_roman_false(text):
    assert is_roman(text) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [("I", "II"), ("III", "IV"), ("ix", "X"), ("MMMCMXCVIII", "MMMCMXCIX")],
)
def test_next_roman(text, expected):
    assert next_roman(text) == expected


def test_next_roman_overflow():
    with pytest.raises(OverflowError):
        next_roman("MMMCMXCIX")


def test_next_roman_invalid():
    with pytest.raises(ValueError):
        next_roman("IIII")


def test_sort_roman():
    assert sort_roman(["X", "IX", "M", "V"]) == ["V", "IX", "X", "M"]


def test_sort_roman_keeps_texts_and_order_of_equals():
    assert sort_roman(["x", "V", "X", " x "]) == ["V", "x", "X", " x "]


def test_sort_roman_does_not_change_input():
    texts = ["X", "I"]
    sort_roman(texts)
    assert texts == ["X", "I"]


def test_sort_roman_empty():
    assert sort_roman([]) == []


def test_sort_roman_invalid():
    with pytest.raises(ValueError):
        sort_roman(["X", "foo"])
