import pytest

from modules.expand_part import TemplateError, expand_part


def test_template_with_what_is_known():
    template = "https://api.example.org/{version}/a b{?q,lang}{#part}"
    known = {"version": "v 1", "q": "ö", "part": None, "unused": "x"}
    assert expand_part(template, known) == "https://api.example.org/v%201/a%20b{?q,lang}"


@pytest.mark.parametrize(
    "template, values",
    [
        ("/{a}{?b:3,c*}", {}),
        ("{+a}{#a.b}{/a*}{;%41}", {"b": "1", "A": "2"}),
        ("{?a,b}", {"a": "1"}),
        ("{a,b:2,c*}", {"a": "1", "c": ["x"]}),
        ("{a:3,b}", {"a": ["x"]}),
    ],
)
def test_expressions_that_are_kept(template, values):
    assert expand_part(template, values) == template


@pytest.mark.parametrize(
    "template, values, left",
    [
        ("{?a,b*}{c}", {"a": "1", "b": ["x", "y"]}, "?a=1&b=x&b=y{c}"),
        ("{;m*}{+t}{b}", {"m": {"k": "ö", "l": ""}, "t": "x/y%41"}, ";k=%C3%B6;lx/y%41{b}"),
        ("{a}{?a,b}{a:2}", {"a": "xyz"}, "xyz{?a,b}xy"),
        ("{?a,a}", {"a": "1"}, "?a=1&a=1"),
        ("X{?a}{#b}{/c*}{d}", {"a": None, "b": [], "c": {}}, "X{d}"),
        ("{a:3}{b:3}", {"a": [], "b": {}}, ""),
        ("{?a,b}", {"a": None, "b": ""}, "?b="),
    ],
)
def test_expressions_that_are_expanded(template, values, left):
    assert expand_part(template, values) == left


@pytest.mark.parametrize(
    "template, values, left",
    [
        ("", {"a": "1"}, ""),
        ("a b%41%zz{x}ö\ud800", {}, "a%20b%41%25zz{x}%C3%B6%EF%BF%BD"),
        ("azAZ09-._~:/?#[]@!$&'()*+,;=", {}, "azAZ09-._~:/?#[]@!$&'()*+,;="),
        ("%{a}", {"a": "41"}, "%2541"),
        ("%{a}41", {}, "%25{a}41"),
        ("%4{a}1", {"a": ""}, "%2541"),
        ("{+a}{b}", {"a": "{b}", "b": "1"}, "%7Bb%7D1"),
        ("{+a}41", {"a": "%"}, "%2541"),
    ],
)
def test_text_is_encoded_by_itself(template, values, left):
    assert expand_part(template, values) == left


@pytest.mark.parametrize(
    "template, first, everything, address",
    [
        ("/a b%/{id}{?q,p}", {"id": "x/%41"}, {"id": "x/%41", "q": "ö", "p": None}, "/a%20b%25/x%2F%2541?q=%C3%B6"),
        ("%{a}{+b}", {"b": "%41%4"}, {"a": "41", "b": "%41%4"}, "%2541%41%254"),
        ("{a}{b}", {}, {"a": "{b}", "b": "{a}"}, "%7Bb%7D%7Ba%7D"),
    ],
)
def test_two_steps_give_the_address_of_one(template, first, everything, address):
    assert expand_part(expand_part(template, first), everything) == address
    assert expand_part(template, everything) == address


@pytest.mark.parametrize(
    "template, values, position, problem",
    [
        ("{a}{=b}", {"a": "1"}, 4, "reserved operator"),
        ("x}", {}, 1, "brace not opened"),
        ("{a}{b c}", {}, 4, "bad name"),
        ("{a}{}", {"a": "1"}, 3, "empty expression"),
        ("{x}{b:0}", {}, 5, "bad prefix"),
        ("{x}{a:3}{", {"a": ["x"]}, 8, "brace not closed"),
    ],
)
def test_templates_that_are_not_well_formed(template, values, position, problem):
    with pytest.raises(TemplateError) as caught:
        expand_part(template, values)
    error = caught.value
    assert (error.position, error.problem, str(error)) == (position, problem, f"position {position}: {problem}")


@pytest.mark.parametrize(
    "template, values, position",
    [
        ("{x}/{a:3}", {"a": ["y"]}, 6),
        ("{a:3}{c}{b:1}", {"a": ["x"], "b": ["y"]}, 2),
        ("ö {b}{?b,a:3}", {"a": {"k": "v"}, "b": "long enough"}, 10),
        ("{a:1,c}{b:2}", {"a": ["x"], "b": ["y"]}, 9),
    ],
)
def test_prefix_on_a_list_or_mapping(template, values, position):
    with pytest.raises(TemplateError) as caught:
        expand_part(template, values)
    error = caught.value
    assert (error.position, error.problem) == (position, "prefix on a list or mapping")
    assert str(error) == f"position {position}: prefix on a list or mapping"
