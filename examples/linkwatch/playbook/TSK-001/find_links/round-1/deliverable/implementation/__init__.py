"""Find the links in the text of a Markdown note."""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .code import without_code

__all__ = ["Link", "find_links"]

_LONGEST = 2000
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]]+)\]:[ \t]*(?:<([^<>\n]*)>|([^\s<]\S*))", re.MULTILINE)
_MARK = re.compile(r"\\.|\n[ \t]*\n|[\[\]]")
_ANGLED = re.compile(r"\([ \t]*<([^<>\n]*)>")
_OPENING = re.compile(r"\([ \t]*")
_CLOSING = re.compile(r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_LABEL = re.compile(r"\[([^\[\]]*)\]")
_BARE = re.compile(r"(?<![A-Za-z0-9])https?://[^\s<>\"`|]+", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)


@dataclass(frozen=True)
class Link:
    """A link as it stands in a note."""

    line: int
    text: str
    url: str


def find_links(text: str) -> list[Link]:
    note = without_code(text)
    taken = bytearray(len(note))
    defined: dict[str, str] = {}
    for found in _DEFINITION.finditer(note):
        defined.setdefault(_label(found[1]), found[2] or found[3] or "")
        _take(taken, *found.span())
    links = list(_bracketed(note, defined, taken))
    for found in _BARE.finditer(note):
        if not taken[found.start()]:
            url = _trimmed(found[0])
            links.append((found.start(), url, url))
    breaks = [place for place, letter in enumerate(note) if letter == "\n"]
    return [
        Link(bisect.bisect_left(breaks, start) + 1, words, url)
        for start, words, url in sorted(links)
        if _WEB.match(url)
    ]


def _take(taken: bytearray, start: int, end: int) -> None:
    taken[start:end] = b"\1" * (end - start)


def _bracketed(note: str, defined: dict[str, str], taken: bytearray) -> Iterator[tuple[int, str, str]]:
    """Inline and reference links: where they start, their text and address. What they take is marked."""
    for start, end in _pairs(note):
        if taken[start] == 1:
            continue
        words = note[start + 1 : end]
        target = _destination(note, end + 1)
        if target is None:
            label, after = words, end + 1
            named = _LABEL.match(note, after)
            if named:
                label, after = named[1] or words, named.end()
            if _label(label) not in defined:
                continue
            target = defined[_label(label)], after
        url, after = target
        yield start, " ".join(words.split()), url
        for place in range(start, end):
            taken[place] = taken[place] or 2
        _take(taken, end, after)


def _pairs(note: str) -> list[tuple[int, int]]:
    """Square brackets with their partners, from left to right.

    A backslash takes a bracket's meaning, a blank line its partner.
    """
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for found in _MARK.finditer(note):
        if found[0] == "[":
            opened.append(found.start())
        elif found[0] == "]" and opened:
            pairs.append((opened.pop(), found.start()))
        elif found[0].startswith("\n"):
            opened.clear()
    return sorted(pairs)


def _destination(note: str, at: int) -> tuple[str, int] | None:
    """The address in round brackets at a place, and the end of the link."""
    angled = _ANGLED.match(note, at, at + _LONGEST)
    if angled:
        return _closed(angled[1], note, angled.end())
    opening = _OPENING.match(note, at, at + _LONGEST)
    if not opening:
        return None
    begins, depth = opening.end(), 0
    for place in range(begins, min(len(note), begins + _LONGEST)):
        letter = note[place]
        if letter.isspace() or (letter == ")" and not depth):
            return _closed(note[begins:place], note, place)
        depth += (letter == "(") - (letter == ")")
    return None


def _closed(url: str, note: str, at: int) -> tuple[str, int] | None:
    """The address, if a title at most and a bracket follow it; and the end of the link."""
    closing = _CLOSING.match(note, at, at + _LONGEST)
    return (url, closing.end()) if closing else None


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


def _trimmed(url: str) -> str:
    """A bare address without the marks that end its sentence, and without a closing bracket that has no partner."""
    surplus = {mark: url.count(mark) - url.count(partner) for mark, partner in (")(", "][")}
    end = len(url)
    while url[end - 1] in ".,;:!?'*_~" or surplus.get(url[end - 1], 0) > 0:
        end -= 1
        surplus[url[end]] = surplus.get(url[end], 0) - 1
    return url[:end]
