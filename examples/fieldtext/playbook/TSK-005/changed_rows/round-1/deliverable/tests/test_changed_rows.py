import pytest

from modules.changed_rows import DuplicateKeyError, TableError, changed_rows


def test_added_removed_and_changed():
    before = [["id", "x", "y"], ["1", "a", "b"], ["2", "c", "d"]]
    after = [["id", "x", "y"], ["2", "C", "d"], ["3", "e", "f"]]
    assert changed_rows(before, after, "id") == {
        "added": ["3"],
        "removed": ["1"],
        "changed": [{"key": "2", "columns": ["x"]}],
    }


@pytest.mark.parametrize(
    "before, after, added, removed",
    [
        ([["k"], ["b"], ["a"], ["c"]], [["k"], ["z"], ["a"], ["y"], ["d"]], ["z", "y", "d"], ["b", "c"]),
        ([["k"]], [["k"], ["b"], ["k"], [""]], ["b", "k", ""], []),
        ([["k"], ["b"], ["k"], [""]], [["k"]], [], ["b", "k", ""]),
        ([["k"], ["1,000"]], [["k"], ["1000"], ["1,000 "]], ["1000", "1,000 "], ["1,000"]),
    ],
)
def test_keys_that_only_one_table_has(before, after, added, removed):
    assert changed_rows(before, after, "k") == {"added": added, "removed": removed, "changed": []}


@pytest.mark.parametrize(
    "before, after, changed",
    [
        (
            [["x", "k", "y"], ["1", "b", "2"], ["3", "a", "4"], ["5", "", "6"], ["7", "k", "8"]],
            [["y", "x", "k"], ["8", "7", "k"], ["9", "9", ""], ["0", "3", "a"], ["2", "0", "b"]],
            [
                {"key": "b", "columns": ["x"]},
                {"key": "a", "columns": ["y"]},
                {"key": "", "columns": ["x", "y"]},
            ],
        ),
        ([["k", "x"], ["a", "1,000"]], [["k", "x"], ["a", "1000"]], [{"key": "a", "columns": ["x"]}]),
        ([["k", "x"], ["a", "\u00e9"]], [["k", "x"], ["a", "e\u0301"]], [{"key": "a", "columns": ["x"]}]),
    ],
)
def test_rows_that_changed(before, after, changed):
    assert changed_rows(before, after, "k") == {"added": [], "removed": [], "changed": changed}


@pytest.mark.parametrize(
    "before, after",
    [
        ([["k", "x"], ["a", "1"], ["b", "2"]], [["k", "x"], ["a", "1"], ["b", "2"]]),
        ([["k", "x"], ["a", "1"], ["b", "2"]], [["x", "k"], ["2", "b"], ["1", "a"]]),
        ([["k", "x"]], [["x", "k"]]),
    ],
)
def test_no_change(before, after):
    assert changed_rows(before, after, "k") == {"added": [], "removed": [], "changed": []}


@pytest.mark.parametrize(
    "table",
    [
        [],
        [[]],
        [["x", "y"], ["1", "2"]],
        [["k", "x", "x"]],
        [["k", "k"]],
    ],
)
def test_first_row_is_refused(table):
    good = [["k", "x"], ["a", "1"], ["a", "2"]]
    with pytest.raises(TableError) as in_before:
        changed_rows(table, good, "k")
    assert isinstance(in_before.value, ValueError)
    with pytest.raises(TableError) as in_after:
        changed_rows(good, table, "k")
    assert isinstance(in_after.value, ValueError)


def test_same_name_twice_in_both_tables_is_refused():
    with pytest.raises(TableError):
        changed_rows([["k", "x", "x"]], [["k", "x", "x"]], "k")


@pytest.mark.parametrize("row", [[], ["b"], ["b", "1", "2"]])
def test_length_of_a_row_is_refused(row):
    good = [["k", "x"], ["a", "1"], ["a", "2"]]
    with pytest.raises(TableError) as in_before:
        changed_rows([["k", "x"], ["c", "1"], row], good, "k")
    assert isinstance(in_before.value, ValueError)
    with pytest.raises(TableError) as in_after:
        changed_rows(good, [["k", "x"], ["c", "1"], row], "k")
    assert isinstance(in_after.value, ValueError)


@pytest.mark.parametrize(
    "before, after",
    [
        ([["k", "x"]], [["k", "y"]]),
        ([["k", "x"]], [["k"]]),
        ([["k"]], [["k", "x"]]),
        ([["k", "x"], ["a", "1"], ["a", "1"]], [["k", "X"]]),
    ],
)
def test_other_names_are_refused(before, after):
    with pytest.raises(TableError) as caught:
        changed_rows(before, after, "k")
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "before, after, table, row, key",
    [
        ([["k", "x"], ["a", "1"], ["a", "1"]], [["k", "x"]], "before", 3, "a"),
        ([["k", "x"]], [["x", "k"], ["1", "a"], ["1", "b"], ["2", "b"]], "after", 4, "b"),
        ([["k"], ["a"], ["b"], ["a"], ["a"], ["b"]], [["k"], ["c"], ["c"]], "before", 4, "a"),
        ([["k"], ["a"], ["b"], ["b"], ["a"]], [["k"]], "before", 4, "b"),
        ([["k"], ["a"]], [["k"], [""], ["a"], [""]], "after", 4, ""),
    ],
)
def test_key_that_stands_twice_is_refused(before, after, table, row, key):
    with pytest.raises(DuplicateKeyError) as caught:
        changed_rows(before, after, "k")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.table, caught.value.row, caught.value.key) == (table, row, key)
