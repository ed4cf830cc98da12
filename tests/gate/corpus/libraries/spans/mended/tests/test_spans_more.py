"""Tests of spans that findings of the gate asked for."""

import pytest

from spans import subtract, total


def test_subtract_goes_on_after_a_hole_that_ends_before():
    assert subtract([(5, 10)], [(0, 2), (6, 7)]) == [(5, 6), (7, 10)]


def test_subtract_stops_at_a_hole_that_begins_after():
    assert subtract([(0, 4), (10, 14)], [(4, 5), (8, 11)]) == [(0, 4), (11, 14)]


def test_total_invalid():
    with pytest.raises(ValueError):
        total([(3, 3)])
