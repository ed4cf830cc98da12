import pytest
from modules.top_word import EmptyTextError, top_word


def test_the_most_frequent_word_is_found():
    assert top_word("one two two") == "two"


def test_the_first_of_several_is_taken():
    assert top_word("to be or not to be") == "to"


def test_a_single_word_is_enough():
    assert top_word(" a ") == "a"


@pytest.mark.parametrize("text", ["", "   "])
def test_a_text_without_a_word_is_refused(text):
    with pytest.raises(EmptyTextError):
        top_word(text)
