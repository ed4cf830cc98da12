"""Which texts of judges say nothing: praise without a reason, and changes that name no change (design: debate,
amendments)."""

import re

MIN_WORDS = 5
"""Of evidence, of a reason, and of the detail of a change."""

CONCRETE_WORDS = 2
"""Of the detail of an amendment, which nobody debates: words that are about this module and no other."""


def _words(text: str) -> set[str]:
    return set(re.findall(r"[\w']+", text.lower()))


_PRAISE = _words(
    "absolutely acceptable adequate appropriate clean complete correct covered done excellent fine good great handled issue "
    "issues met nice ok okay perfect problem problems proper properly reasonable right satisfied solid sound well works"
)
_CHANGE = _words(
    "add additional adjust behaviour better careful carefully case cases change changes clean cleaner cleanup clear "
    "clearer code considerably consistent correctness coverage detail details docs documentation edge enhance error errors "
    "everywhere exception exceptions extend fix function further generally handle handling implementation improve improved "
    "improvement improvements increase input inputs issue issues make missing module more necessary needed output outputs "
    "overall polish problem problems quality readability readable refactor relevant rework robust robustly robustness "
    "robuster several strengthen stronger structure structured test tests thorough thoroughly tidy up value values various"
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


def is_vague(text: str, least: int = 1) -> bool:
    """Whether a text has too few words, or fewer than `least` that tell what is to change."""
    concrete = _words(text) - _CHANGE - _PRAISE - _FILLERS
    return len(re.findall(r"[\w']+", text)) < MIN_WORDS or len(concrete) < least
