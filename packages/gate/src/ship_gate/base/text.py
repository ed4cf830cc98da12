"""Texts as they are shown on one line, names that are nearly right, and how long a file that an agent edits may become."""

import difflib
import re
from collections.abc import Iterable

MAX_CHARACTERS = 4_000_000
"""Of a file that an agent writes: an edit that replaces every occurrence could grow it tenfold each time (design:
principles)."""


def one_line(text: str) -> str:
    """The text without unprintable characters, single-spaced."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shortened(text: str, most: int = 100) -> str:
    """The text as one line; of a long one the beginning, up to a word, and its length."""
    line = one_line(text)
    if len(line) <= most:
        return line
    begun = line[:most]
    at_a_word = begun.rpartition(" ")[0] if not line[most].isspace() else begun
    return f"{(at_a_word if len(at_a_word) > most // 2 else begun).rstrip()}... ({len(text):,} characters)"


_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


def first_sentences(text: str, most: int) -> str:
    """The text as one line; of a long one the sentences that fit, at least the first, and how many more it has. None is cut,
    since its end may say what to do."""
    sentences = _SENTENCE_END.split(one_line(text))
    taken = 1
    while taken < len(sentences) and len(" ".join(sentences[: taken + 1])) <= most:
        taken += 1
    more = len(sentences) - taken
    counted = f" (and {more} more sentence{'' if more == 1 else 's'})" if more else ""
    return " ".join(sentences[:taken]) + counted


def holds(text: str, part: str) -> bool:
    """Whether a part stands in a text, whatever the case, the white space, the emphasis and the marks of code."""
    return _unmarked(part) in _unmarked(text)


def _unmarked(text: str) -> str:
    return " ".join(text.replace("`", "").replace("**", "").split()).casefold()


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """A sentence with the known name that is most like the wanted one; empty if none is like it."""
    like = closest(wanted, known)
    return f"did you mean `{like}`? " if like else ""


def closest(wanted: str, known: Iterable[str]) -> str:
    """The known name that begins with the wanted one or is most like it, whatever its capitals; empty if none is."""
    names = {name.lower(): name for name in known}
    begun = [name for name in names if len(wanted) > 2 and name.startswith(wanted.lower())]
    like = begun or difflib.get_close_matches(wanted.lower(), names, 1)
    return names[like[0]] if like else ""


def edited_length(text: str, old: str, new: str, *, replace_all: bool) -> int:
    """The most characters that a text can have after an edit."""
    times = (text.count(old) if old else 0) if replace_all else 1
    return len(text) + times * max(0, len(new) - len(old))
