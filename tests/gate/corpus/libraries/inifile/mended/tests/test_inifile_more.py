"""Tests of inifile that findings of the gate asked for."""

import pytest

from inifile import IniError, dump_ini, parse_ini


def test_error_has_line_and_reason():
    with pytest.raises(IniError) as info:
        parse_ini("a = 1\nb")
    assert info.value.line == 2
    assert info.value.reason == "neither section, key nor comment"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\nb", '"a\\nb"'),
        ('"quoted"', '"\\"quoted\\""'),
        (' in"side', '" in\\"side"'),
        (" back\\slash", '" back\\\\slash"'),
        ("back\\slash", "back\\slash"),
        ('in"side', 'in"side'),
        ("Xn", "Xn"),
        ("# x", "# x"),
    ],
)
def test_dump_writes(value, written):
    assert dump_ini({"": {"a": value}}) == f"a = {written}\n"


def test_dump_of_an_empty_value():
    assert dump_ini({"": {"a": ""}}) == "a =\n"


def test_dump_has_an_empty_line_before_each_section_but_the_first():
    values = {"s": {"X": "1"}, "": {"k": "2"}, "t": {}}
    assert dump_ini(values) == "k = 2\n\n[s]\nX = 1\n\n[t]\n"
    assert dump_ini({"s": {}, "t": {"a": "1"}}) == "[s]\n\n[t]\na = 1\n"


@pytest.mark.parametrize("key", ["", " a", "#a", ";a", "[a", "a=b", "a\nb"])
def test_dump_refuses_a_key(key):
    with pytest.raises(ValueError):
        dump_ini({"": {key: "1"}})


@pytest.mark.parametrize("name", [" s", "s ", "a\nb"])
def test_dump_refuses_a_section(name):
    with pytest.raises(ValueError):
        dump_ini({"": {"a": "1"}, name: {}})
