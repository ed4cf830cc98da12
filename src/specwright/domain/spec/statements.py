"""The sentences of SPEC.md, and what they have in common with a text of the spec (design: trace).

Nothing records from which sentence a criterion comes. What is compared here can be checked by a reader: the same words in
the same order, the same values, the same name, or else the most words in common.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"[^\n]+(?:\n(?![ \t]*(?:[-*+]|\d+[.)])[ \t]|[ \t]*\n|#)[^\n]+)*")
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`*(])")
_MARKS = re.compile(r"^\s*(?:#+|[-*+]|\d+[.)])\s+")
_VALUE = re.compile(r"\"([^\"\n]{2,})\"|'([^'\n]{2,})'|`([^`\n]{2,})`|(?<![\w.])(\d[\d.,]*\d)(?![\w])")
_WORD = re.compile(r"[a-z]{5,}")
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_LEAST = 12
"""Characters of a text that counts as the same words in another."""
_SHARED = 2
"""Words in common that count, where nothing else is."""


class Statement(NamedTuple):
    """A sentence of SPEC.md: its line, from 1, and its text on one line, without the marks of Markdown; and the line of the
    heading that it stands under, 0 before the first one."""

    line: int
    text: str
    section: int = 0


def statements(text: str) -> list[Statement]:
    """The sentences of a SPEC.md, headings among them; a fenced block is one."""
    found: list[Statement] = []
    end = 0
    for fence in _FENCE.finditer(text):
        found += _sentences(text, end, fence.start())
        inside = "\n".join(fence[0].splitlines()[1:-1])
        found.append(Statement(_line(text, fence.start()) + 1, normal(inside)))
        end = fence.end()
    found += _sentences(text, end, len(text))
    prose = _FENCE.sub(_blank, text)
    headings = [_line(prose, heading.start()) for heading in _HEADING.finditer(prose)]
    return [
        one._replace(section=max((line for line in headings if line <= one.line), default=0))
        for one in found
        if one.text
    ]


def _blank(fence: re.Match[str]) -> str:
    """As many lines with nothing in them."""
    return "\n" * fence[0].count("\n")


def _sentences(text: str, start: int, end: int) -> Iterator[Statement]:
    for block in _BLOCK.finditer(text, start, end):
        mark = _MARKS.match(block[0])
        place = block.start() + (mark.end() if mark else 0)
        for part in _END.split(text[place : block.end()]):
            at = text.index(part, place)
            yield Statement(_line(text, at), normal(part))
            place = at + len(part)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def normal(text: str) -> str:
    """A text on one line, without emphasis."""
    return " ".join(text.replace("**", "").split())


def holds(text: str, part: str) -> bool:
    """Whether a part stands in a text, whatever the case, the white space, the emphasis and the marks of code."""
    return _unmarked(part) in _unmarked(text)


def _unmarked(text: str) -> str:
    return normal(text.replace("`", "")).casefold()


def same_words(one: str, other: str) -> bool:
    """Whether one of two texts stands in the other, word for word."""
    short, long = sorted((normal(one), normal(other)), key=len)
    short = short.rstrip(".")
    return len(short) >= _LEAST and holds(long, short)


def shared_values(one: str, other: str) -> list[str]:
    """The quoted texts, code and numbers that two texts have in common."""
    others = set(values_in(other))
    return [value for value in dict.fromkeys(values_in(one)) if value in others]


def values_in(text: str) -> Iterator[str]:
    """The quoted texts, code and numbers of a text."""
    for match in _VALUE.finditer(text):
        yield next(group for group in match.groups() if group).strip("\"'")


def shared_errors(one: str, other: str) -> list[str]:
    """The names of errors, as `ValueError`, that two texts have in common."""
    others = set(_ERROR.findall(other))
    return [name for name in dict.fromkeys(_ERROR.findall(one)) if name in others]


def names_in(text: str, names: Sequence[str]) -> list[str]:
    """The names that stand in a text as words."""
    return [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)]


def shared_words(one: str, other: str) -> list[str]:
    """The words of five letters and more that two texts have in common; none if they are too few to say anything."""
    others = set(_WORD.findall(other.casefold()))
    found = [word for word in dict.fromkeys(_WORD.findall(one.casefold())) if word in others]
    return found if len(found) >= _SHARED else []
