"""Tests of mdtable that findings of the gate asked for."""

import pytest

from mdtable import column, sort_rows


@pytest.mark.parametrize("rows", [[["b"], []], [["a", "b"], ["1", "2"], ["1"]]])
def test_column_of_a_short_row(rows):
    with pytest.raises(ValueError):
        column(rows, "b")


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("rows", [[["b"], []], [["a", "b"], ["1", "2"], ["1"]]])
def test_sort_rows_of_a_short_row(rows, numeric):
    with pytest.raises(ValueError):
        sort_rows(rows, "b", numeric)


def test_sort_rows_by_text_unless_told():
    rows = [["n", "v"], ["9", "x"], ["10", "y"], ["1", "z"]]
    by_text = [["n", "v"], ["1", "z"], ["10", "y"], ["9", "x"]]
    assert sort_rows(rows, "n") == by_text
    assert sort_rows(rows, "n", False) == by_text
    assert sort_rows(rows, "n", True) == [["n", "v"], ["1", "z"], ["9", "x"], ["10", "y"]]


def test_sort_rows_by_number_with_the_rest_last():
    rows = [["n"], ["x"], ["1"], ["-2"], ["a"], [" 0.5 "]]
    assert sort_rows(rows, "n", True) == [["n"], ["-2"], [" 0.5 "], ["1"], ["x"], ["a"]]
