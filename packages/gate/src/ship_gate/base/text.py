"""Texts: shown on one line, inside generated markdown, in a contract; and names that are nearly right.

Names and descriptions come from people and models. A newline or a leading `## ` in one must not look like a
heading of a task file (design: ids) or of the spec a person approves (design: approval). A text of a contract must come
back from the line of a docstring as it was (design: module-directory).
"""

import difflib
import re
import unicodedata
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


_KEPT_FORMAT_CHARACTERS = "\u200c\u200d"  # joiners: Persian and Indic words and emoji need them
_BLOCK_START = re.compile(
    r"""
    (?: \#{1,6}(?=\s|$)                  # heading
    |   [-+*](?=\s|$)                    # list item
    |   (?:[-*_]\s*){3,}$                # thematic break
    |   =+$                              # underline of a heading
    |   [>|<]                            # quote, table, HTML
    |   `{3} | ~{3}                      # fence
    |   \[[^\]]*\]:                      # link definition
    )""",
    re.VERBOSE,
)
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_BREAK = re.compile(r" *[^\S ]\s*")
"""A line break, tab or other white space that is no plain space, with the spaces around it."""
_BACKTICKS = re.compile(r"`+")


def printable(text: str) -> str:
    """A text on one line, without control, bidirectional and other invisible characters.

    Spaces stay as they are: in a criterion such as "returns 'a' for '  a '" they are the point.
    """
    line = _BREAK.sub(" ", text).strip()
    if line.isprintable():  # nearly always; looking at each character costs a hundred times more
        return line
    return "".join(char for char in line if _is_visible(char)).strip()


def inline(text: str) -> str:
    """A plain text that starts no markdown block, also at the start of a line or list item."""
    line = printable(text)
    if _BLOCK_START.match(line):
        return f"\\{line}"
    return _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line


def bullets(texts: Iterable[str]) -> str:
    """A list of plain texts."""
    return "\n".join(f"- {inline(text)}" for text in texts)


def fenced(text: str, info: str = "", indent: str = "") -> str:
    """A text of many lines as a fenced block that nothing in it can close.

    Args:
        text: Shown as it is, apart from the indent.
        info: The language after the fence.
        indent: Put before every line; two spaces inside a list item.
    """
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = [f"{fence}{info}", *text.splitlines(), fence]
    return "\n".join(f"{indent}{line}" if line else "" for line in lines)


def _is_visible(char: str) -> bool:
    # Cc controls, Cf bidirectional marks and other format characters, Cs lone surrogates
    return char in _KEPT_FORMAT_CHARACTERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs")


_BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_JOINERS = {"\u200c", "\u200d"}
_BLANK = re.compile(
    r"<[a-z]+([_ -][a-z]+)*>|\{[a-z]+([_ -][a-z]+)*\}|(TODO|TBD|FIXME|XXX)\b.*|\.{3}|…", re.IGNORECASE
)


_STANDS_FOR_NOTHING = re.compile(
    r"(?:tb[acd]|todo|fixme|xxx|na|none|placeholder|not applicable"
    r"|to be (?:confirmed|decided|defined|determined|specified))(?: later)?"
)
_MARKED = re.compile(r"(?:todo|fixme|xxx)\s*:|tbd\b")
_REASON = re.compile(r"none\s*[:–—-]")
_ABBREVIATED = re.compile(r"(?<=\b[a-z])(?:\.|\s*/\s*)(?=[a-z]\b)")
"""What stands between the letters of `t.b.d` and `n / a`."""
_MARK_ALONE = re.compile(r"\s*(?:\.\.\.|[…–—?-])\s*")
_AROUND = " \t\n.…-–—?!'\"`*_[](){}<>“”‘’«»"


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder, whatever stands around it, also as the reason of a `none:`; or begins with a mark
    such as `TODO:` or `TBD` (design: contracts)."""
    if _MARK_ALONE.fullmatch(text):
        return True
    bare = _ABBREVIATED.sub("", unicodedata.normalize("NFKC", text).strip(_AROUND).lower())
    if reason := _REASON.match(bare):
        bare = bare[reason.end() :].strip(_AROUND) or "none"
    return bool(_STANDS_FOR_NOTHING.fullmatch(bare) or _MARKED.match(bare))


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
