"""Tests of numerals that findings of the gate asked for."""

import pytest

from numerals import is_roman


@pytest.mark.parametrize("text", ["M", "D", "C", "L", "X", "V", "I", "MMMCMXCIX"])
def test_every_letter_is_roman(text):
    assert is_roman(text) is True
