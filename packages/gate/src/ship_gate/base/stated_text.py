"""What a text of a contract may be, so that it comes back from the line of a docstring as it was (design:
module-directory)."""

import re
import unicodedata

from ship_gate.base.record import is_placeholder

_BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_JOINERS = {"\u200c", "\u200d"}
_BLANK = re.compile(
    r"<[a-z]+([_ -][a-z]+)*>|\{[a-z]+([_ -][a-z]+)*\}|(TODO|TBD|FIXME|XXX)\b.*|\.{3}|…", re.IGNORECASE
)


def text_problem(text: str) -> str:
    """What keeps a text from one line of a docstring (design: module-directory); empty if nothing does."""
    if not text:
        return "is empty; say what holds"
    if is_placeholder(text) or _BLANK.fullmatch(text):
        return "is a placeholder; say what holds, or leave it out"
    if text.startswith("```"):
        return "starts with three backticks, which opens a code block; begin with a word"
    hidden = next((c for c in text if _is_hidden(c)), None)
    if hidden is not None:
        return f"holds the control or bidirectional character U+{ord(hidden):04X}; remove it"
    if text != " ".join(text.split()):
        return r"is not on one line with single spaces; collapse its white space, or write spaces that are meant as \x20"
    return ""


def _is_hidden(character: str) -> bool:
    if character in _JOINERS:  # format characters too, yet scripts and emoji need them
        return False
    category = unicodedata.category(character)
    return (
        category in {"Cc", "Cf", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(character) in _BIDIRECTIONAL
    )
