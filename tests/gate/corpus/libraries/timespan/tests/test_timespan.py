"""Tests for timespan."""

import pytest

from timespan import format_span, parse_span, round_span, split_span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1h30m", 5400),
        ("2d 4h", 2 * 86400 + 4 * 3600),
        ("90s", 90),
        ("45", 45),
        ("0", 0),
        ("1w", 604800),
        ("1w2d3h4m5s", 604800 + 2 * 86400 + 3 * 3600 + 4 * 60 + 5),
    ],
)
def test_parse_span(text, expected):
    assert parse_span(text) == expected


def test_parse_span_any_case():
    assert parse_span("1H30M") == 5400


def test_parse_span_spaces():
    assert parse_span("1h  30m 5s") == 5405


@pytest.mark.parametrize("text", ["", "   "])
def test_parse_span_empty(text):
    with pytest.raises(ValueError):
        parse_span(text)


@pytest.mark.parametrize("text", ["5x", "1y", "abc", "h", "1h30", "-5s", "1.5h"])
def test_parse_span_malformed(text):
    with pytest.raises(ValueError):
        parse_span(text)


def test_parse_span_duplicate_unit():
    with pytest.raises(ValueError):
        parse_span("1h2h")


def test_parse_span_wrong_order():
    with pytest.raises(ValueError):
        parse_span("30m1h")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (5400, "1h30m"),
        (86400, "1d"),
        (604800, "1w"),
        (694861, "1w1d1h1m1s"),
    ],
)
def test_format_span(seconds, expected):
    assert format_span(seconds) == expected


def test_format_span_negative():
    with pytest.raises(ValueError):
        format_span(-1)


@pytest.mark.parametrize("seconds", [0, 1, 61, 3599, 3600, 100000, 1234567])
def test_round_trip(seconds):
    assert parse_span(format_span(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "unit", "expected"),
    [
        (89, "m", 60),
        (90, "m", 120),
        (29, "m", 0),
        (30, "m", 60),
        (5400, "h", 7200),
        (7, "s", 7),
        (43200, "d", 86400),
    ],
)
def test_round_span(seconds, unit, expected):
    assert round_span(seconds, unit) == expected


def test_round_span_unknown_unit():
    with pytest.raises(ValueError):
        round_span(10, "y")


def test_round_span_negative():
    with pytest.raises(ValueError):
        round_span(-10, "m")


def test_split_span_even():
    assert split_span(9, 3) == [3, 3, 3]


def test_split_span_uneven():
    assert split_span(11, 3) == [4, 4, 3]


def test_split_span_more_parts_than_seconds():
    assert split_span(2, 4) == [1, 1, 0, 0]


def test_split_span_no_parts():
    with pytest.raises(ValueError):
        split_span(10, 0)


def test_split_span_negative():
    with pytest.raises(ValueError):
        split_span(-1, 2)
