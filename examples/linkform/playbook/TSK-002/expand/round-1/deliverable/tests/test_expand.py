import pytest

from modules.expand import TemplateError, expand


def test_address_of_a_service():
    values = {"path": ["a b", "c"], "q": "ö", "lang": None, "unused": "x"}
    assert expand("https://api.example.org{/path*}{?q,lang}", values) == "https://api.example.org/a%20b/c?q=%C3%B6"


@pytest.mark.parametrize(
    "template, address",
    [
        ("", ""),
        ("/a b/ö/%41/%aF/%zz?x=[1]", "/a%20b/%C3%B6/%41/%aF/%25zz?x=[1]"),
        ("azAZ09-._~:/?#[]@!$&'()*+,;=", "azAZ09-._~:/?#[]@!$&'()*+,;="),
        ("\"<>\\^`|\x00\n\x7f", "%22%3C%3E%5C%5E%60%7C%00%0A%7F"),
        ("%4", "%254"),
        ("%%41", "%25%41"),
        ("😀", "%F0%9F%98%80"),
        ("\ud800/\ude00\udfff", "%EF%BF%BD/%EF%BF%BD%EF%BF%BD"),
    ],
)
def test_text_outside_expressions(template, address):
    assert expand(template, {}) == address


@pytest.mark.parametrize(
    "template, address",
    [
        ("{a,b}", "x%2Fy,1%21%2541%20"),
        ("{+a,b}", "x/y,1!%41%20"),
        ("X{#a,b}", "X#x/y,1!%41%20"),
        ("X{.a,b}", "X.x%2Fy.1%21%2541%20"),
        ("{/a,b}", "/x%2Fy/1%21%2541%20"),
        ("{;a,b}", ";a=x%2Fy;b=1%21%2541%20"),
        ("{?a,b}", "?a=x%2Fy&b=1%21%2541%20"),
        ("?x=1{&a,b}", "?x=1&a=x%2Fy&b=1%21%2541%20"),
        ("{a}-{+a}", "x%2Fy-x/y"),
    ],
)
def test_texts_under_each_operator(template, address):
    assert expand(template, {"a": "x/y", "b": "1!%41 "}) == address


@pytest.mark.parametrize(
    "template, value, address",
    [
        ("{a}", "azAZ09-._~:?#[]@$&'()*+,;=", "azAZ09-._~%3A%3F%23%5B%5D%40%24%26%27%28%29%2A%2B%2C%3B%3D"),
        ("{+a}", ":/?#[]@!$&'()*+,;=%4%aF{}", ":/?#[]@!$&'()*+,;=%254%aF%7B%7D"),
        ("{a}", "\ud800", "%EF%BF%BD"),
        ("{a}", "\ud83d\ude00", "%EF%BF%BD%EF%BF%BD"),
        ("{+a}", ["\udfff", "é"], "%EF%BF%BD,%C3%A9"),
        ("{a*}", {"\udfff": "\ud800"}, "%EF%BF%BD=%EF%BF%BD"),
    ],
)
def test_encoding_of_values(template, value, address):
    assert expand(template, {"a": value}) == address


def test_names_are_written_as_in_the_template():
    assert expand("{?%61.b_}{;%61.b_*}", {"%61.b_": "1", "a.b_": "2"}) == "?%61.b_=1;%61.b_=1"


@pytest.mark.parametrize(
    "template, address",
    [
        ("X{?none,missing,list,map}", "X"),
        ("X{#list*,map*}{/none}{missing}", "X"),
        ("{list:3}{map:3}{none:3}", ""),
        ("{?none,empty,list,a}", "?empty=&a=1"),
        ("{none,a,missing}", "1"),
        ("{empty}{+empty}", ""),
        ("X{#empty}", "X#"),
        ("X{.empty}", "X."),
        ("{/a,empty}", "/1/"),
        ("{;empty,a}", ";empty;a=1"),
        ("?x{&empty}", "?x&empty="),
        ("{empty,empty}", ","),
    ],
)
def test_variables_without_a_value_and_empty_texts(template, address):
    values = {"none": None, "list": [], "map": {}, "empty": "", "a": "1"}
    assert expand(template, values) == address


@pytest.mark.parametrize(
    "template, value, address",
    [
        ("{a:2}", "öäü", "%C3%B6%C3%A4"),
        ("{a:1}", "😀b", "%F0%9F%98%80"),
        ("{a:3}", "abc", "abc"),
        ("{?a:30}", "xy", "?a=xy"),
        ("{+a:2}", "%41", "%254"),
        ("{#a:3}", "%41/", "#%41"),
        ("{;a:3}", "", ";a"),
    ],
)
def test_prefixes(template, value, address):
    assert expand(template, {"a": value}) == address


def test_largest_prefix():
    assert expand("{a:9999}", {"a": "x" * 9999 + "y"}) == "x" * 9999


@pytest.mark.parametrize(
    "template, address",
    [
        ("{a}{a*}", "x%2F,,yx%2F,,y"),
        ("{+a*}", "x/,,y"),
        ("{#a}", "#x/,,y"),
        ("{.a}{.a*}", ".x%2F,,y.x%2F..y"),
        ("{/a}{/a*}", "/x%2F,,y/x%2F//y"),
        ("{;a}{;a*}", ";a=x%2F,,y;a=x%2F;a;a=y"),
        ("{?a}{&a*}", "?a=x%2F,,y&a=x%2F&a=&a=y"),
        ("{?a*}", "?a=x%2F&a=&a=y"),
    ],
)
def test_lists(template, address):
    assert expand(template, {"a": ["x/", "", "y"]}) == address


@pytest.mark.parametrize(
    "template, address",
    [
        ("{a}", "k%2F,1%2C,b,"),
        ("{a*}", "k%2F=1%2C,b="),
        ("{+a}{#a*}", "k/,1,,b,#k/=1,,b="),
        ("{.a}{.a*}", ".k%2F,1%2C,b,.k%2F=1%2C.b="),
        ("{/a}{/a*}", "/k%2F,1%2C,b,/k%2F=1%2C/b="),
        ("{;a}{;a*}", ";a=k%2F,1%2C,b,;k%2F=1%2C;b"),
        ("{?a}{&a*}", "?a=k%2F,1%2C,b,&k%2F=1%2C&b="),
        ("{?a*}", "?k%2F=1%2C&b="),
    ],
)
def test_mappings_in_their_order(template, address):
    assert expand(template, {"a": {"k/": "1,", "b": ""}}) == address


@pytest.mark.parametrize(
    "template, value, address",
    [
        ("{;a}{;a*}", [""], ";a;a"),
        ("{?a}{&a*}", [""], "?a=&a="),
        ("{?a*}{a*}", "x", "?a=xx"),
        ("{;a}{;a*}", {"": ""}, ";a=,;"),
    ],
)
def test_one_empty_text_and_exploded_texts(template, value, address):
    assert expand(template, {"a": value}) == address


@pytest.mark.parametrize(
    "template, position, problem",
    [
        ("{a", 0, "brace not closed"),
        ("x}", 1, "brace not opened"),
        ("{a:3}{b", 5, "brace not closed"),
        ("{a}{}", 3, "empty expression"),
        ("{=a}", 1, "reserved operator"),
        ("{a,b c}", 3, "bad name"),
        ("{a:0}", 2, "bad prefix"),
    ],
)
def test_templates_that_are_not_well_formed(template, position, problem):
    with pytest.raises(TemplateError) as caught:
        expand(template, {"a": ["x"]})
    error = caught.value
    assert (error.position, error.problem, str(error)) == (position, problem, f"position {position}: {problem}")


@pytest.mark.parametrize(
    "template, values, position",
    [
        ("x{?b,a:3}", {"a": ["x"]}, 6),
        ("{a:3}", {"a": {"k": "v"}}, 2),
        ("{a:1}{b:2}", {"a": ["x"], "b": ["y"]}, 2),
        ("{b:1,cc:20}{a:1}", {"a": ["x"], "b": "y", "cc": {"": ""}}, 7),
    ],
)
def test_prefix_on_a_list_or_mapping(template, values, position):
    with pytest.raises(TemplateError) as caught:
        expand(template, values)
    error = caught.value
    assert (error.position, error.problem) == (position, "prefix on a list or mapping")
    assert str(error) == f"position {position}: prefix on a list or mapping"
