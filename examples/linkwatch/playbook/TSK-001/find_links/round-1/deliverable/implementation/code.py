"""Take the code out of a Markdown text."""

import bisect
import re

__all__ = ["without_code"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)")
_RUN = re.compile(r"`+")
_BLANK_LINE = re.compile(r"(\n[ \t]*\n)")


def without_code(text: str) -> str:
    """The text, with as many lines, with nothing but spaces where code stands."""
    kept: list[str] = []
    fence, in_item, indented, after_blank = "", False, False, True
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        opened, blank, inside = _FENCE.match(line), not line.strip(), fence
        if fence:
            closes = opened is not None and opened[1].startswith(fence) and not line.strip(f" \t{fence}")
            fence = "" if closes else fence
        else:
            deep = line.startswith(("    ", "\t")) and not blank
            indented = not in_item and ((deep and (after_blank or indented)) or (blank and indented))
            fence = opened[1] if opened and not indented else ""
            if _ITEM.match(line) and not indented:
                in_item = True
            elif not blank and not line.startswith((" ", "\t")):
                in_item = False
        after_blank = blank
        kept.append("" if inside or fence or indented else line)
    return _without_spans("\n".join(kept))


def _without_spans(text: str) -> str:
    """The text without its code spans; a run of backticks without a partner in its paragraph is none."""
    pieces: list[str] = []
    for paragraph in _BLANK_LINE.split(text):
        runs = [found.span() for found in _RUN.finditer(paragraph)]
        of_length: dict[int, list[int]] = {}
        for place, (start, end) in enumerate(runs):
            of_length.setdefault(end - start, []).append(place)
        at = place = 0
        while place < len(runs):
            start, end = runs[place]
            same = of_length[end - start]
            partner = bisect.bisect_right(same, place)
            if partner < len(same):
                place = same[partner]
                stop = runs[place][1]
                pieces += (paragraph[at:start], re.sub(r"[^\n]", " ", paragraph[start:stop]))
                at = stop
            place += 1
        pieces.append(paragraph[at:])
    return "".join(pieces)
