"""Tests for inifile."""

import pytest

from inifile import IniError, dump_ini, get_flag, merge_ini, parse_ini


def test_parse_empty():
    assert parse_ini("") == {}


def test_parse_sections():
    text = "top = 1\n\n[first]\na = x\nb=y\n[second]\n"
    assert parse_ini(text) == {
        "": {"top": "1"},
        "first": {"a": "x", "b": "y"},
        "second": {},
    }


def test_parse_keeps_order():
    assert list(parse_ini("[z]\n[a]\n[m]\n")) == ["z", "a", "m"]


def test_parse_comments():
    assert parse_ini("# one\n; two\na = 1 # not a comment\n") == {
        "": {"a": "1 # not a comment"}
    }


def test_parse_strips_blanks():
    assert parse_ini("  a   =   b c  \n") == {"": {"a": "b c"}}


def test_parse_value_with_equals():
    assert parse_ini("a = b = c") == {"": {"a": "b = c"}}


def test_parse_empty_value():
    assert parse_ini("a =") == {"": {"a": ""}}


def test_parse_quoted_keeps_blanks():
    assert parse_ini('a = "  x  "') == {"": {"a": "  x  "}}


def test_parse_escapes():
    assert parse_ini(r'a = "q\"b\\n\n"') == {"": {"a": 'q"b\\n\n'}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\na = 2", 2),
        ("[s]\n[t]\n[s]", 3),
        ("\nnonsense", 2),
        ("= 1", 1),
        ("[]", 1),
        ("[  ]", 1),
        ("[open", 1),
        ('a = 1\nb = "open', 2),
        ('a = "\\x"', 1),
        ('a = "x" y', 1),
        ('a = "x\\"', 1),
    ],
)
def test_parse_errors(text, line):
    with pytest.raises(IniError) as info:
        parse_ini(text)
    assert info.value.line == line
    assert info.value.reason


def test_ini_error_is_value_error():
    assert issubclass(IniError, ValueError)


def test_same_key_in_two_sections():
    assert parse_ini("[a]\nk = 1\n[b]\nk = 2") == {"a": {"k": "1"}, "b": {"k": "2"}}


def test_dump():
    assert dump_ini({"s": {"a": "1", "b": "x y"}}) == "[s]\na = 1\nb = x y\n"


def test_dump_top_section_first():
    text = dump_ini({"s": {"a": "1"}, "": {"b": "2"}})
    assert text.startswith("b = 2\n")
    assert parse_ini(text) == {"": {"b": "2"}, "s": {"a": "1"}}


@pytest.mark.parametrize(
    "value",
    ["", "plain", " lead", "trail ", '"quoted"', 'in"side', "a\nb", "back\\slash",
     "\\n", ' "\\\n', "# x", "[x]"],
)
def test_dump_round_trip(value):
    values = {"": {"k": value}, "s": {"k": value}}
    assert parse_ini(dump_ini(values)) == values


def test_dump_quotes_only_where_needed():
    assert dump_ini({"": {"a": 'x "y" \\z'}}) == 'a = x "y" \\z\n'
    assert dump_ini({"": {"a": " x"}}) == 'a = " x"\n'


@pytest.mark.parametrize("key", ["", " a", "a ", "a=b", "#a", ";a", "[a", "a\nb"])
def test_dump_bad_key(key):
    with pytest.raises(ValueError):
        dump_ini({"s": {key: "1"}})


@pytest.mark.parametrize("name", [" ", " s", "s ", "a\nb"])
def test_dump_bad_section(name):
    with pytest.raises(ValueError):
        dump_ini({name: {}})


def test_merge():
    base = {"a": {"x": "1", "y": "2"}, "b": {"z": "3"}}
    over = {"c": {"n": "9"}, "a": {"y": "5", "w": "6"}}
    merged = merge_ini(base, over)
    assert merged == {
        "a": {"x": "1", "y": "5", "w": "6"},
        "b": {"z": "3"},
        "c": {"n": "9"},
    }
    assert list(merged) == ["a", "b", "c"]
    assert list(merged["a"]) == ["x", "y", "w"]


def test_merge_does_not_change_arguments():
    base = {"a": {"x": "1"}}
    over = {"a": {"x": "2"}}
    merge_ini(base, over)
    assert base == {"a": {"x": "1"}}
    assert over == {"a": {"x": "2"}}


@pytest.mark.parametrize("text", ["yes", "TRUE", "On", "1"])
def test_get_flag_true(text):
    assert get_flag({"s": {"k": text}}, "s", "k") is True


@pytest.mark.parametrize("text", ["no", "False", "OFF", "0"])
def test_get_flag_false(text):
    assert get_flag({"s": {"k": text}}, "s", "k") is False


def test_get_flag_missing():
    with pytest.raises(KeyError):
        get_flag({"s": {}}, "s", "k")
    with pytest.raises(KeyError):
        get_flag({}, "s", "k")


@pytest.mark.parametrize("text", ["", "maybe", "2"])
def test_get_flag_other_text(text):
    with pytest.raises(ValueError):
        get_flag({"s": {"k": text}}, "s", "k")
