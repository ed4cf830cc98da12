import pytest

from modules.read_table import ReadError, read_table


def test_table_of_two_rows():
    assert read_table("a,b\n1,2\n", ",") == [["a", "b"], ["1", "2"]]


@pytest.mark.parametrize(
    "text, rows",
    [
        ("", []),
        ("a", [["a"]]),
        ("a\n", [["a"]]),
        ("a\r\n", [["a"]]),
        ("\n", [[""]]),
        ("\r\n\n", [[""], [""]]),
        ("a\r\nb\nc", [["a"], ["b"], ["c"]]),
        ("a\n\nb", [["a"], [""], ["b"]]),
        ('"a"\r\n"b"\n"c"', [["a"], ["b"], ["c"]]),
    ],
)
def test_one_row_for_each_line(text, rows):
    assert read_table(text, ",") == rows


@pytest.mark.parametrize(
    "text, delimiter, rows",
    [
        (",", ",", [["", ""]]),
        (",\n,,\r\n", ",", [["", ""], ["", "", ""]]),
        ("a,b;c", ";", [["a,b", "c"]]),
        ('"a" b', " ", [["a", "b"]]),
        ("a]b^c-d\\e", "]", [["a", "b^c-d\\e"]]),
        ("a]b^c-d\\e", "^", [["a]b", "c-d\\e"]]),
        ("a]b^c-d\\e", "-", [["a]b^c", "d\\e"]]),
        ("a]b^c-d\\e", "\\", [["a]b^c-d", "e"]]),
        ('a.b|"c"|d', "|", [["a.b", "c", "d"]]),
    ],
)
def test_delimiters_part_the_fields(text, delimiter, rows):
    assert read_table(text, delimiter) == rows


@pytest.mark.parametrize(
    "text, rows",
    [
        ('"a,""b""\r\nc",d', [['a,"b"\r\nc', "d"]]),
        ('""', [[""]]),
        ('"","",x', [["", "", "x"]]),
        ('""""', [['"']]),
        ('"a""""b"\n""""""', [['a""b'], ['""']]),
        ('"\r\n\n",\n', [["\r\n\n", ""]]),
    ],
)
def test_quoted_fields(text, rows):
    assert read_table(text, ",") == rows


@pytest.mark.parametrize(
    "text, rows",
    [
        ("a\rb\r", [["a\rb\r"]]),
        ("\r,\r\r\n\r", [["\r", "\r"], ["\r"]]),
        (" a ,\ufeff\x00\t,\ud800'\u2028\x0b", [[" a ", "\ufeff\x00\t", "\ud800'\u2028\x0b"]]),
    ],
)
def test_other_characters_stand_for_themselves(text, rows):
    assert read_table(text, ",") == rows


@pytest.mark.parametrize(
    "text, line, column",
    [
        ('ab\nc,d"e', 2, 4),
        ('a"', 1, 2),
        ('"a\nb",c"', 2, 5),
        ('a\r\n\r\nb,c,d""', 3, 6),
        (' "a"', 1, 2),
        ('a\r"b', 1, 3),
        ('x,y"\n"z', 1, 4),
    ],
)
def test_quote_inside_an_unquoted_field(text, line, column):
    with pytest.raises(ReadError) as caught:
        read_table(text, ",")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "text, line, column",
    [
        ('"a"b', 1, 4),
        ('"a"\rb', 1, 4),
        ('"a"\r', 1, 4),
        ('"a" ,b', 1, 4),
        ('x\n"a\n""b"";"c",d', 3, 8),
        ('a,""b"\n"c', 1, 5),
    ],
)
def test_text_after_a_closing_quote(text, line, column):
    with pytest.raises(ReadError) as caught:
        read_table(text, ",")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "text, line, column",
    [
        ('x\na,"b\nc', 2, 3),
        ('"', 1, 1),
        ('"""', 1, 1),
        ('a,"b""', 1, 3),
        ('a\r\n"b\r\n', 2, 1),
    ],
)
def test_quote_that_is_never_closed(text, line, column):
    with pytest.raises(ReadError) as caught:
        read_table(text, ",")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\r", "\n", "\r\n"])
def test_delimiter_is_refused(delimiter):
    with pytest.raises(ValueError) as caught:
        read_table('a"', delimiter)
    assert not isinstance(caught.value, ReadError)
