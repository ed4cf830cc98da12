import pytest
from modules.join_lines import join_lines


def test_lines_are_joined():
    assert join_lines(["a", "b"], "+") == "a+b"


def test_a_comma_is_the_default():
    assert join_lines(["a", "b"]) == "a, b"


def test_no_lines_are_refused():
    with pytest.raises(ValueError, match="there are no lines"):
        join_lines([])
