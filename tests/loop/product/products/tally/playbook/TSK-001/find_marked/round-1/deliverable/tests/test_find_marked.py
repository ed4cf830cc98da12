import pytest
from modules.find_marked import Marked, MarkSettings, find_marked


def test_marked_lines_come_in_order():
    assert find_marked(["!a", "b", "c!"], MarkSettings("!")) == [Marked(1, "!a"), Marked(3, "c!")]


def test_no_more_than_the_most():
    assert find_marked(["!a", "!b"], MarkSettings("!", 1)) == [Marked(1, "!a")]
    assert find_marked(["!a"], MarkSettings("!", 0)) == []
    assert find_marked(["!a", "!b"], MarkSettings("!", -1)) == []
    assert find_marked(["!"] * 101, MarkSettings("!")) == [Marked(number, "!") for number in range(1, 101)]


def test_an_empty_mark_is_refused():
    with pytest.raises(ValueError, match="the mark is empty"):
        find_marked(["a"], MarkSettings(""))
