import pytest

from modules.variable_names import TemplateError, variable_names


@pytest.mark.parametrize(
    "template, names",
    [
        ("/users/{id}{?page,size,id}", ["id", "page", "size"]),
        ("{b,a,b}{a}{c}", ["b", "a", "c"]),
        ("{+a:3}{#b*}{.c}{/d}{;e}{?f}{&g}", ["a", "b", "c", "d", "e", "f", "g"]),
        ("{a:1,b:9999,c:20,d:345}", ["a", "b", "c", "d"]),
        ("{a,a:2,a*}", ["a"]),
        ("{%41,A,%aF%0f}", ["%41", "A", "%aF%0f"]),
        ("{_,Zz09,b.c.d,1.%2E}", ["_", "Zz09", "b.c.d", "1.%2E"]),
    ],
)
def test_names_once_in_order_as_written(template, names):
    assert variable_names(template) == names


@pytest.mark.parametrize("template", ["", "/a b/%zz?x=[1],ö\ud800\n*:"])
def test_text_alone_has_no_names(template):
    assert variable_names(template) == []


def test_text_beside_expressions_adds_nothing():
    assert variable_names("%zz =!{a} ö,{b}:3*") == ["a", "b"]


@pytest.mark.parametrize(
    "template, position, problem",
    [
        ("a{b", 1, "brace not closed"),
        ("{a{b}", 0, "brace not closed"),
        ("{", 0, "brace not closed"),
        ("{=", 0, "brace not closed"),
        ("{a}{{", 3, "brace not closed"),
        ("}", 0, "brace not opened"),
        ("{a}}", 3, "brace not opened"),
    ],
)
def test_braces_that_do_not_match(template, position, problem):
    with pytest.raises(TemplateError) as caught:
        variable_names(template)
    assert (caught.value.position, caught.value.problem) == (position, problem)


@pytest.mark.parametrize("template, position", [("a{}", 1), ("{a}{+}", 3), ("{?}", 0), ("{#}", 0), ("{.}", 0), ("{/}", 0), ("{;}", 0), ("{&}", 0)])
def test_empty_expression(template, position):
    with pytest.raises(TemplateError) as caught:
        variable_names(template)
    assert (caught.value.position, caught.value.problem) == (position, "empty expression")


@pytest.mark.parametrize("template, position", [("{=}", 1), ("{,a}", 1), ("/{!a}", 2), ("{a}{@b}", 4), ("{|a}", 1)])
def test_reserved_operator(template, position):
    with pytest.raises(TemplateError) as caught:
        variable_names(template)
    assert (caught.value.position, caught.value.problem) == (position, "reserved operator")


@pytest.mark.parametrize(
    "template, position",
    [
        ("{a,,b}", 3),
        ("{?,a}", 2),
        ("{?=a}", 2),
        ("{a,}", 3),
        ("{*}", 1),
        ("{:3}", 1),
        ("{a**}", 1),
        ("{a*b}", 1),
        ("{a*:3}", 1),
        ("{?x,a b}", 4),
        ("{x:12,y*,-}", 9),
        ("{a..b}", 1),
        ("{..a}", 2),
        ("{a.}", 1),
        ("{%4}", 1),
        ("{%4g}", 1),
        ("{é}", 1),
        ("{a\n}", 1),
        ("{\ud800}", 1),
    ],
)
def test_bad_name(template, position):
    with pytest.raises(TemplateError) as caught:
        variable_names(template)
    assert (caught.value.position, caught.value.problem) == (position, "bad name")


@pytest.mark.parametrize(
    "template, position",
    [
        ("{a:0}", 2),
        ("{a:10000}", 2),
        ("{a:}", 2),
        ("{a:01}", 2),
        ("{a:3*}", 2),
        ("{a:3:4}", 2),
        ("{a:-1}", 2),
        ("{a:\u0663}", 2),
        ("{a:1\n}", 2),
        ("x{?a:1,bc:x}", 9),
    ],
)
def test_bad_prefix(template, position):
    with pytest.raises(TemplateError) as caught:
        variable_names(template)
    assert (caught.value.position, caught.value.problem) == (position, "bad prefix")


@pytest.mark.parametrize(
    "template, position, problem",
    [
        ("{a:0}{", 2, "bad prefix"),
        ("}{", 0, "brace not opened"),
        ("{a b:0}", 1, "bad name"),
        ("{a:0,b c}", 2, "bad prefix"),
        ("{!a b", 0, "brace not closed"),
        ("{!a b}", 1, "reserved operator"),
    ],
)
def test_first_mistake_is_told(template, position, problem):
    with pytest.raises(TemplateError) as caught:
        variable_names(template)
    assert (caught.value.position, caught.value.problem) == (position, problem)


@pytest.mark.parametrize(
    "template, message",
    [
        ("ö{b", "position 1: brace not closed"),
        ("{a}}", "position 3: brace not opened"),
        ("{}", "position 0: empty expression"),
        ("{!a}", "position 1: reserved operator"),
        ("{a,,b}", "position 3: bad name"),
        ("{a:0}", "position 2: bad prefix"),
    ],
)
def test_message_of_a_value_error(template, message):
    with pytest.raises(ValueError) as caught:
        variable_names(template)
    assert str(caught.value) == message
