import pytest

from modules.check_rows import ColumnsError, check_rows

TEXT = {"name": "who", "kind": "text", "may_be_empty": False}
AMOUNT = {"name": "sum", "kind": "amount", "may_be_empty": False}
DATE = {"name": "day", "kind": "date", "may_be_empty": False}


def found(rows, columns):
    return [(f["row"], f["column"], f["name"], f["problem"]) for f in check_rows(rows, columns)]


def test_findings_in_the_order_of_the_table():
    rows = [
        ["day", "colour", "who", "who"],
        ["2026-02-29", "", "", "Bo", "x"],
        ["2026-03-01", "red", "Ann", "Ann"],
        ["", "red"],
    ]
    assert check_rows(rows, [AMOUNT, TEXT, DATE]) == [
        {"row": 1, "column": 2, "name": "colour", "problem": "unknown column"},
        {"row": 1, "column": 4, "name": "who", "problem": "duplicate column"},
        {"row": 1, "column": 5, "name": "sum", "problem": "missing column"},
        {"row": 2, "column": 1, "name": "day", "problem": "not a date"},
        {"row": 2, "column": 3, "name": "who", "problem": "empty field"},
        {"row": 2, "column": 5, "name": "", "problem": "too many fields"},
        {"row": 4, "column": 1, "name": "day", "problem": "empty field"},
        {"row": 4, "column": 3, "name": "", "problem": "too few fields"},
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["who", "sum", "day"], ["Ann", "1,234.50", "2026-03-01"], [" ", "(3)", "2024-02-29"]],
        [["day", "who", "sum"], ["2026-03-01", "Ann", "-3"]],
        [["sum", "day", "who"]],
    ],
)
def test_table_that_fits(rows):
    assert check_rows(rows, [TEXT, AMOUNT, DATE]) == []


@pytest.mark.parametrize(
    "names, findings",
    [
        (["x", "who", "x"], [(1, 1, "x", "unknown column"), (1, 3, "x", "unknown column")]),
        (["who", "who", "who"], [(1, 2, "who", "duplicate column"), (1, 3, "who", "duplicate column")]),
        (["", "who", "WHO"], [(1, 1, "", "unknown column"), (1, 3, "WHO", "unknown column")]),
    ],
)
def test_unknown_and_duplicate_columns(names, findings):
    assert found([names], [TEXT]) == findings


@pytest.mark.parametrize(
    "rows, findings",
    [
        ([], [(1, 1, "sum", "missing column"), (1, 1, "who", "missing column")]),
        ([[]], [(1, 1, "sum", "missing column"), (1, 1, "who", "missing column")]),
        ([["who"]], [(1, 2, "sum", "missing column")]),
        ([["", "sum"]], [(1, 1, "", "unknown column"), (1, 3, "who", "missing column")]),
    ],
)
def test_missing_columns(rows, findings):
    assert found(rows, [AMOUNT, TEXT]) == findings


@pytest.mark.parametrize(
    "rows, findings",
    [
        ([["a", "b"], ["1"], [], ["1", "2"]], [(2, 2, "", "too few fields"), (3, 1, "", "too few fields")]),
        ([["a"], ["1", "2", "3"], ["1", ""]], [(2, 2, "", "too many fields"), (3, 2, "", "too many fields")]),
        ([[], ["1"], []], [(2, 1, "", "too many fields")]),
    ],
)
def test_number_of_fields(rows, findings):
    columns = [{"name": name, "kind": "text", "may_be_empty": True} for name in rows[0]]
    assert found(rows, columns) == findings


def test_no_columns():
    assert found([["a"], ["", "x"]], []) == [(1, 1, "a", "unknown column"), (2, 2, "", "too many fields")]


@pytest.mark.parametrize(
    "row, findings",
    [
        (["x", "", "x"], [(2, 1, "sum", "not an amount"), (2, 3, "sum", "not an amount")]),
        (["x"], [(2, 1, "sum", "not an amount"), (2, 2, "", "too few fields")]),
        (["1", "x", "x", "x"], [(2, 3, "sum", "not an amount"), (2, 4, "", "too many fields")]),
    ],
)
def test_every_field_under_a_known_name_is_checked(row, findings):
    assert found([["sum", "other", "sum"], row], [AMOUNT]) == [
        (1, 2, "other", "unknown column"),
        (1, 3, "sum", "duplicate column"),
        *findings,
    ]


@pytest.mark.parametrize("kind", ["text", "amount", "date"])
def test_empty_fields(kind):
    rows = [["a"], [""]]
    assert found(rows, [{"name": "a", "kind": kind, "may_be_empty": True}]) == []
    assert found(rows, [{"name": "a", "kind": kind, "may_be_empty": False}]) == [(2, 1, "a", "empty field")]


@pytest.mark.parametrize(
    "kind, fields, problem",
    [
        ("text", ["x", " ", "1,2", "2026-02-30"], None),
        ("amount", ["7", "-1,000", "(1,234,567.80)", "1234567", "007.5"], None),
        ("amount", [" ", "x", "12,34", "1234,567", "1,2345", "5.", ".5", "+3", "(3", "--3", "\u0661"], "not an amount"),
        ("date", ["2026-03-01", "2024-02-29", "0001-01-01", "9999-12-31"], None),
        ("date", ["2026-02-29", "2026-02-30", "2026-13-01", "2026-00-01", "2026-03-00", "0000-01-01"], "not a date"),
        ("date", [" ", "2026-3-1", "20260301", "2026-W09-7", "2026-03-01 ", "2026-03-01\n"], "not a date"),
        ("date", ["\u0662026-01-01", "2026/03/01", "01-03-2026", "02026-03-01"], "not a date"),
    ],
)
def test_kinds(kind, fields, problem):
    rows = [["a"], *([field] for field in fields)]
    expected = [] if problem is None else [(row, 1, "a", problem) for row in range(2, len(rows) + 1)]
    assert found(rows, [{"name": "a", "kind": kind, "may_be_empty": True}]) == expected


def test_two_columns_of_the_same_name_are_refused():
    with pytest.raises(ColumnsError) as caught:
        check_rows([["who"]], [TEXT, AMOUNT, {"name": "who", "kind": "date", "may_be_empty": True}])
    assert isinstance(caught.value, ValueError)
