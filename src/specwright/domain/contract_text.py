"""The texts that a docstring can carry on one line (DESIGN §8.1, D-S8.1-04).

Joiners (U+200C, U+200D) are format characters too, yet scripts and emoji need them; they stay. A no-break
space is white space like any other, and so is no single space."""

import unicodedata

__all__ = ["text_problem"]

_BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_JOINERS = {"\u200c", "\u200d"}


def text_problem(text: str) -> str:
    """What keeps a text from standing on one line of a docstring; empty if nothing does."""
    if not text:
        return "is empty; say what holds"
    if text.startswith("```"):
        return "starts with three backticks, which opens a code block; begin with a word"
    hidden = next((c for c in text if _is_hidden(c)), None)
    if hidden is not None:
        return f"holds the control or bidirectional character U+{ord(hidden):04X}; remove it"
    if text != " ".join(text.split()):
        return "is not on one line with single spaces; collapse its white space"
    return ""


def _is_hidden(character: str) -> bool:
    if character in _JOINERS:
        return False
    category = unicodedata.category(character)
    return (
        category in {"Cc", "Cf", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(character) in _BIDIRECTIONAL
    )
