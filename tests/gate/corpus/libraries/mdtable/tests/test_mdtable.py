"""Tests for mdtable."""

import pytest

from mdtable import column, format_table, parse_table, sort_rows

ROWS = [["name", "age"], ["Bob", "30"], ["Alice", "4"], ["Carl", "n/a"]]


def test_parse_table():
    text = "| name | age |\n|------|----:|\n| Bob  |  30 |\n"
    assert parse_table(text) == [["name", "age"], ["Bob", "30"]]


def test_parse_table_without_outer_pipes():
    assert parse_table("a | b\n--- | ---\n1 | 2") == [["a", "b"], ["1", "2"]]


def test_parse_table_escaped_pipe():
    text = "| a | b |\n|---|---|\n| x \\| y | z |"
    assert parse_table(text) == [["a", "b"], ["x | y", "z"]]


def test_parse_table_escaped_pipe_at_end():
    assert parse_table("a | b\n--|--\n1 | x\\|") == [["a", "b"], ["1", "x|"]]


def test_parse_table_short_row():
    assert parse_table("|a|b|c|\n|-|-|-|\n|1|")[1] == ["1", "", ""]


def test_parse_table_long_row():
    assert parse_table("|a|b|\n|-|-|\n|1|2|3|")[1] == ["1", "2"]


def test_parse_table_empty_cells():
    assert parse_table("|a|b|\n|-|-|\n| | |")[1] == ["", ""]


def test_parse_table_header_only():
    assert parse_table("|a|\n|:-:|") == [["a"]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "| a | b |",
        "| a | b |\n| 1 | 2 |",
        "| a | b |\n|---|\n| 1 | 2 |",
        "| a | b |\n|---|---|---|",
    ],
)
def test_parse_table_bad_delimiter(text):
    with pytest.raises(ValueError):
        parse_table(text)


def test_format_table():
    assert format_table([["a", "long"], ["1", "2"]]) == (
        "| a   | long |\n| --- | ---- |\n| 1   | 2    |\n"
    )


def test_format_table_align():
    assert format_table([["left", "right", "mid"], ["a", "b", "c"]], "lrc") == (
        "| left | right | mid |\n"
        "| ---- | ----: | :-: |\n"
        "| a    |     b |  c  |\n"
    )


def test_format_table_escapes_pipes():
    assert "x\\|y" in format_table([["a"], ["x|y"]])


def test_format_table_line_ends():
    assert "| one two |" in format_table([["a"], ["one\ntwo"]])


@pytest.mark.parametrize("rows", [[], [[]], [["a", "b"], ["1"]]])
def test_format_table_bad_rows(rows):
    with pytest.raises(ValueError):
        format_table(rows)


@pytest.mark.parametrize("align", ["l", "lrc", "lx"])
def test_format_table_bad_align(align):
    with pytest.raises(ValueError):
        format_table([["a", "b"]], align)


def test_round_trip():
    rows = [["a", "b|c"], ["", "x"], ["1 | 2", "y\\z"]]
    assert parse_table(format_table(rows)) == rows


def test_column():
    assert column(ROWS, "age") == ["30", "4", "n/a"]


def test_column_unknown():
    with pytest.raises(KeyError):
        column(ROWS, "size")


def test_column_twice():
    with pytest.raises(ValueError):
        column([["a", "a"], ["1", "2"]], "a")


def test_sort_rows_text():
    assert column(sort_rows(ROWS, "name"), "name") == ["Alice", "Bob", "Carl"]


def test_sort_rows_numeric():
    assert column(sort_rows(ROWS, "age", numeric=True), "age") == ["4", "30", "n/a"]


def test_sort_rows_numeric_others_last_in_order():
    rows = [["n"], ["z"], ["2"], ["a"], ["-1.5"]]
    assert sort_rows(rows, "n", numeric=True) == [["n"], ["-1.5"], ["2"], ["z"], ["a"]]


def test_sort_rows_stable():
    rows = [["k", "v"], ["b", "1"], ["a", "2"], ["b", "3"], ["a", "4"]]
    assert column(sort_rows(rows, "k"), "v") == ["2", "4", "1", "3"]


def test_sort_rows_does_not_change_input():
    rows = [["n"], ["2"], ["1"]]
    sort_rows(rows, "n")
    assert rows == [["n"], ["2"], ["1"]]


def test_sort_rows_errors():
    with pytest.raises(KeyError):
        sort_rows(ROWS, "size")
    with pytest.raises(ValueError):
        sort_rows([["a", "a"]], "a")
