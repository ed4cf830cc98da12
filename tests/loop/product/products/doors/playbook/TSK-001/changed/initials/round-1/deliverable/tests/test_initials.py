import pytest
from modules.initials import initials


@pytest.mark.parametrize(
    ("name", "letters"), [("ada lovelace", "AL"), ("(ada) lovelace", "AL"), ("grace hopper", "GH")]
)
def test_each_word_gives_its_first_letter(name, letters):
    assert initials(name) == letters


def test_a_single_letter_is_enough():
    assert initials(" a ") == "A"


def test_a_word_of_digits_adds_nothing():
    assert initials("ada 42 lovelace") == "AL"


@pytest.mark.parametrize(("separator", "letters"), [(".", "A.L"), ("", "AL"), ("x", "AxL")])
def test_the_separator_stands_between_letters(separator, letters):
    assert initials("ada 42 lovelace", separator) == letters


@pytest.mark.parametrize("name", ["", "42", " - "])
def test_a_name_without_a_letter_is_refused(name):
    with pytest.raises(ValueError, match="name has no letter"):
        initials(name)


@pytest.mark.parametrize("separator", ["..", "x.x"])
def test_two_separators_are_refused(separator):
    with pytest.raises(ValueError, match="separator has more than one character"):
        initials("ada lovelace", separator)
