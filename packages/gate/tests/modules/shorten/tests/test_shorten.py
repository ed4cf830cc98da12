"""What shorten promises, called and awaited."""

import asyncio

import pytest
from modules.shorten import shorten, shorten_async


class TestShorten:
    """Called."""

    def test_a_long_text_is_cut(self):
        assert shorten("abcdef", 3) == ("abc", "E_CUT")

    def test_ten_characters_are_kept_by_default(self):
        assert shorten("0123456789", limit=10) == shorten("0123456789") == ("0123456789", "E_WHOLE")

    @pytest.mark.parametrize("limit", [1, 2, 9])
    def test_no_result_is_longer_than_the_limit(self, limit):
        assert len(shorten("abcdef", limit)[0]) <= limit

    @pytest.mark.parametrize("limit", [0, -1])
    def test_a_limit_below_one_is_refused(self, limit):
        with pytest.raises(ValueError, match="at least 1"):
            shorten("abc", limit)


def test_awaiting_gives_the_same():
    assert asyncio.run(shorten_async("abcdef", 3)) == shorten("abcdef", 3)
