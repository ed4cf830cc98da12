import pytest

from modules.write_table import RowError, write_table


@pytest.mark.parametrize(
    "rows, text",
    [
        ([["a", "b"], ["1", "2"]], "a,b\n1,2\n"),
        ([], ""),
        ([[""]], "\n"),
        ([["", ""]], ",\n"),
        ([["a"], [""], ["b", "", "c"]], "a\n\nb,,c\n"),
    ],
)
def test_rows_and_fields_in_order(rows, text):
    assert write_table(rows, ",") == text


@pytest.mark.parametrize(
    "rows, delimiter, text",
    [
        ([["a,b", 'c"d', "e\nf", "g\r"]], ",", '"a,b","c""d","e\nf","g\r"\n'),
        ([['"']], ",", '""""\n'),
        ([['"a"', "\r\n", ","]], ",", '"""a""","\r\n",","\n'),
        ([["a b", "c"]], " ", '"a b" c\n'),
        ([["x|y", ""], ["|"]], "|", '"x|y"|\n"|"\n'),
    ],
)
def test_fields_that_are_quoted(rows, delimiter, text):
    assert write_table(rows, delimiter) == text


@pytest.mark.parametrize(
    "rows, delimiter, text",
    [
        ([[" a ", "", ";"]], ",", " a ,,;\n"),
        ([["a,b"]], ";", "a,b\n"),
        ([["\t\x00", "\ud800'", "\u2028\x0b\\"]], ",", "\t\x00,\ud800',\u2028\x0b\\\n"),
    ],
)
def test_other_fields_are_written_as_they_are(rows, delimiter, text):
    assert write_table(rows, delimiter) == text


@pytest.mark.parametrize("rows, row", [([["a"], [], []], 2), ([[]], 1), ([["a"], ["b"], []], 3)])
def test_row_without_fields_is_refused(rows, row):
    with pytest.raises(RowError) as caught:
        write_table(rows, ",")
    assert isinstance(caught.value, ValueError)
    assert caught.value.row == row


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\r", "\n", "\r\n"])
def test_delimiter_is_refused(delimiter):
    with pytest.raises(ValueError) as caught:
        write_table([[]], delimiter)
    assert not isinstance(caught.value, RowError)
