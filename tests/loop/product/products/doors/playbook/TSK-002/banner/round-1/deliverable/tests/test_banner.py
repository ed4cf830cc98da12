import pytest

from modules.banner import banner


@pytest.mark.parametrize(("name", "letters"), [("ada lovelace", "* AL *"), ("Kay (Mc) Nulty", "* KMN *")])
def test_the_letters_of_a_name(name, letters):
    assert banner(name) == letters


def test_one_letter_is_enough():
    assert banner("a") == "* A *"


@pytest.mark.parametrize("name", ["", "42"])
def test_a_number_is_refused(name):
    with pytest.raises(ValueError, match="name has no letter"):
        banner(name)
