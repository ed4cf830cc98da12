import pytest
from modules.initials import initials


def test_each_word_gives_its_first_letter():
    assert initials("ada lovelace") == "AL"


def test_a_single_letter_is_enough():
    assert initials(" a ") == "A"


def test_a_word_of_digits_adds_nothing():
    assert initials("ada 42 lovelace") == "AL"


def test_letters_behind_other_characters_count():
    assert initials("(ada) lovelace") == "AL"


@pytest.mark.parametrize("name", ["", "42", " - "])
def test_a_name_without_a_letter_is_refused(name):
    with pytest.raises(ValueError, match="name has no letter"):
        initials(name)
