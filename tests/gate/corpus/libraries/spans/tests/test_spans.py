"""Tests for spans."""

import pytest

from spans import contains, gaps, normalise, subtract, total


def test_normalise_empty():
    assert normalise([]) == []


def test_normalise_sorts():
    assert normalise([(5, 8), (1, 3)]) == [(1, 3), (5, 8)]


def test_normalise_merges_overlapping():
    assert normalise([(1, 5), (3, 8)]) == [(1, 8)]


def test_normalise_merges_touching():
    assert normalise([(1, 3), (3, 5)]) == [(1, 5)]


def test_normalise_nested():
    assert normalise([(1, 10), (2, 3)]) == [(1, 10)]


def test_normalise_keeps_neighbours_apart():
    assert normalise([(1, 3), (4, 5)]) == [(1, 3), (4, 5)]


def test_normalise_negative_numbers():
    assert normalise([(-5, -2), (-3, 1)]) == [(-5, 1)]


@pytest.mark.parametrize("span", [(3, 3), (5, 2)])
def test_normalise_invalid(span):
    with pytest.raises(ValueError):
        normalise([(0, 1), span])


def test_normalise_does_not_change_input():
    spans = [(5, 8), (1, 3)]
    normalise(spans)
    assert spans == [(5, 8), (1, 3)]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([(0, 10)], [], [(0, 10)]),
        ([(0, 10)], [(3, 5)], [(0, 3), (5, 10)]),
        ([(0, 10)], [(0, 10)], []),
        ([(0, 10)], [(-5, 3)], [(3, 10)]),
        ([(0, 10)], [(7, 15)], [(0, 7)]),
        ([(0, 10)], [(10, 15)], [(0, 10)]),
        ([(0, 3), (5, 8)], [(2, 6)], [(0, 2), (6, 8)]),
        ([(0, 10)], [(1, 2), (4, 6)], [(0, 1), (2, 4), (6, 10)]),
        ([], [(1, 2)], []),
    ],
)
def test_subtract(left, right, expected):
    assert subtract(left, right) == expected


def test_subtract_invalid():
    with pytest.raises(ValueError):
        subtract([(1, 1)], [])
    with pytest.raises(ValueError):
        subtract([], [(2, 1)])


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, False), (1, True), (2, True), (3, False), (5, True), (8, False)],
)
def test_contains(number, expected):
    assert contains([(5, 8), (1, 3)], number) is expected


def test_contains_invalid():
    with pytest.raises(ValueError):
        contains([(3, 1)], 2)


@pytest.mark.parametrize(
    ("spans", "start", "end", "expected"),
    [
        ([], 0, 5, [(0, 5)]),
        ([(2, 4)], 0, 6, [(0, 2), (4, 6)]),
        ([(0, 6)], 0, 6, []),
        ([(-3, 2), (4, 9)], 0, 6, [(2, 4)]),
        ([(10, 12)], 0, 6, [(0, 6)]),
    ],
)
def test_gaps(spans, start, end, expected):
    assert gaps(spans, start, end) == expected


def test_gaps_empty_range():
    assert gaps([(1, 2)], 5, 5) == []


def test_gaps_end_before_start():
    with pytest.raises(ValueError):
        gaps([], 5, 4)


def test_total():
    assert total([(0, 5), (10, 12)]) == 7


def test_total_counts_once():
    assert total([(0, 5), (3, 8), (0, 5)]) == 8


def test_total_empty():
    assert total([]) == 0
