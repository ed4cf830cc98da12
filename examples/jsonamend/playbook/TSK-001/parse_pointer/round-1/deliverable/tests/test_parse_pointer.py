import pytest

from modules.parse_pointer import PointerSyntaxError, parse_pointer


def test_pointer_of_several_tokens():
    assert parse_pointer("/a~1b/0/m~0n") == ["a/b", "0", "m~n"]


def test_empty_text_is_the_whole_document():
    assert parse_pointer("") == []


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("/", [""]),
        ("/a/", ["a", ""]),
        ("//", ["", ""]),
        ("/a//b", ["a", "", "b"]),
    ],
)
def test_one_token_for_each_slash(text, tokens):
    assert parse_pointer(text) == tokens


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("/~0", ["~"]),
        ("/~1", ["/"]),
        ("/~01", ["~1"]),
        ("/~00", ["~0"]),
        ("/~01~10~00", ["~1/0~0"]),
    ],
)
def test_escapes_are_undone_once(text, tokens):
    assert parse_pointer(text) == tokens


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("/%25/ /\ud800", ["%25", " ", "\ud800"]),
        ("/\"\x00\n\\", ["\"\x00\n\\"]),
        ("/-/01/7", ["-", "01", "7"]),
    ],
)
def test_other_characters_stay(text, tokens):
    assert parse_pointer(text) == tokens


@pytest.mark.parametrize("text", ["a", "a/b", " /a", "#/a", "~0/a"])
def test_text_without_slash_at_its_beginning_is_refused(text):
    with pytest.raises(PointerSyntaxError) as caught:
        parse_pointer(text)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("text", ["/~2", "/a~", "/~/b", "/~~0", "/~0/ok/~a", "/~\n0"])
def test_tilde_without_0_or_1_is_refused(text):
    with pytest.raises(PointerSyntaxError) as caught:
        parse_pointer(text)
    assert isinstance(caught.value, ValueError)
