import pytest
from modules.longest import longest


def test_the_longest_word_is_found():
    assert longest(["z", "bcd", "ab"]) == "bcd"


def test_of_equal_ones_it_is_the_first():
    assert longest(["a", "zz", "bb"]) == "zz"


def test_no_words_are_refused():
    with pytest.raises(ValueError, match="there are no words"):
        longest([])
