"""Tests of timespan that findings of the gate asked for."""

import pytest

from timespan import parse_span, round_span, split_span


@pytest.mark.parametrize("text", ["1" * 101, "1" * 4301, "1" * 4301 + "s"])
def test_parse_span_too_long(text):
    with pytest.raises(ValueError):
        parse_span(text)


def test_parse_span_of_a_hundred_digits():
    assert parse_span("0" * 99 + "7") == 7


@pytest.mark.parametrize(
    ("seconds", "unit", "expected"),
    [
        (604800, "w", 604800),
        (302400, "w", 604800),
        (302399, "w", 0),
        (86400, "d", 86400),
        (3600, "h", 3600),
        (1799, "h", 0),
        (0, "m", 0),
        (0, "s", 0),
        (1, "s", 1),
    ],
)
def test_round_span_of_every_unit(seconds, unit, expected):
    assert round_span(seconds, unit) == expected


@pytest.mark.parametrize(
    ("seconds", "parts", "expected"), [(0, 2, [0, 0]), (5, 1, [5]), (1, 2, [1, 0]), (0, 1, [0])]
)
def test_split_span_limits(seconds, parts, expected):
    assert split_span(seconds, parts) == expected


def test_split_span_of_too_many_parts():
    assert split_span(1, 100_000)[:2] == [1, 0]
    with pytest.raises(ValueError):
        split_span(1, 100_001)
