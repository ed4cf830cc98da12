import pytest

from modules.monogram import monogram


@pytest.mark.parametrize(("name", "letters"), [("ada lovelace", "A.L"), ("Kay (Mc) Nulty", "K.M.N")])
def test_the_letters_of_a_name(name, letters):
    assert monogram(name) == letters


def test_one_letter_is_enough():
    assert monogram("a") == "A"


@pytest.mark.parametrize("name", ["", "42"])
def test_a_number_is_refused(name):
    with pytest.raises(ValueError, match="name has no letter"):
        monogram(name)
