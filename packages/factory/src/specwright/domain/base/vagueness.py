"""Texts that say too little for anybody to act on (design: debate, amendments)."""

import re

MIN_WORDS = 5
"""Of evidence, of a reason, and of the detail of a change (F§9.5, F§9.6)."""

_STOCK = """a all and are as at be better clean cleanup code correct correctly everything expected fine fix good handling
improve improved is it its looks make makes me more nice nicer of ok properly right seems should that the this to up well
works"""
"""Words that fit everything."""


def is_vague(text: str) -> bool:
    """Whether a text has too few words, or none that says what it is about."""
    words = re.findall(r"[^\W_]+", text.lower())
    return len(words) < MIN_WORDS or {*_STOCK.split()}.issuperset(words)
