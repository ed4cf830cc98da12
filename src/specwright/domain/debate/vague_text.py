"""Which texts of judges say nothing: praise without a reason, and changes that name no change (design: debate,
amendments)."""

import re

MIN_WORDS = 5
"""Of evidence, of a reason, and of the detail of a change."""


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w']+", text.lower()))


_PRAISE = _words(
    "acceptable adequate appropriate clean complete correct covered done excellent fine good great handled issue issues "
    "met nice ok okay perfect problem problems proper properly reasonable right satisfied solid sound well works"
)
_CHANGE = _words(
    "add adjust better clean cleaner cleanup clear clearer code docs documentation enhance error errors exception "
    "exceptions fix handle handling improve improved improvement improvements issue issues make more polish problem "
    "problems quality readability readable refactor robust robustly robustness robuster test tests tidy up"
)
_FILLERS = _words(
    "a all also an and any are as at be been bit both can could do every everything for from has have here i in is it "
    "its just look looks me my nothing no of on or please quite really seem seems should so some that the them there "
    "these they thing things this to very was way were whole will with without would you your"
)


def is_praise(text: str) -> bool:
    """Whether a text, apart from what it cites, says nothing but that all is well."""
    words = _words(text)
    return bool(words & _PRAISE) and words <= _PRAISE | _FILLERS


def is_vague(text: str) -> bool:
    """Whether a text has too few words, or none that tells what is to change."""
    return len(re.findall(r"[\w']+", text)) < MIN_WORDS or _words(text) <= _CHANGE | _PRAISE | _FILLERS
