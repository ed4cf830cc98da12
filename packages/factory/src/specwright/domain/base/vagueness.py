"""Texts that say too little for anybody to act on (design: debate, amendments)."""

import re

MIN_WORDS = 5
"""Of evidence, of a reason, and of the detail of a change (F§9.5, F§9.6)."""

_STOCK = """a all and any appropriate are as at be better cases clean cleaner cleanup clearer code correct correctly
documentation edge error errors everything exception exceptions expected fine fix for function good handle handling
implementation improve improved in is it its looks make makes me module more necessary needed nice nicer of ok please
possible properly quality readability readable refactor refactored restructure right robust robustness seems should simplify
simpler some that the this to up well where works"""
"""Words that fit everything."""


def is_vague(text: str) -> bool:
    """Whether a text has too few words, or none that says what it is about."""
    words = re.findall(r"[^\W_]+", text.lower())
    return len(words) < MIN_WORDS or {*_STOCK.split()}.issuperset(words)
