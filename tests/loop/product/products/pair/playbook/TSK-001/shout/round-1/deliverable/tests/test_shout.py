import pytest
from modules.shout import shout


def test_every_letter_is_a_capital():
    assert shout("ada lovelace") == "ADA LOVELACE"


def test_the_spaces_around_a_name_are_gone():
    assert shout(" a ") == "A"


@pytest.mark.parametrize("name", ["", "42", " - "])
def test_a_name_without_a_letter_is_refused(name):
    with pytest.raises(ValueError, match="name has no letter"):
        shout(name)
