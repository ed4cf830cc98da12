from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["parse_pattern", "Pattern"]

_ITEM = r"\\.|[^\\]"
_CLASS = rf"\[(?:([!^])|(?![!^]))((?:{_ITEM})(?:\\.|[^\]\\])*)\]"
_TOKEN = re.compile(rf"(?s)\\.|{_CLASS}|[^\\\[]")
_BODY = re.compile(rf"(?s)(?:\\.|{_CLASS}|[^\\\[])*")
_RANGE = re.compile(rf"(?s)({_ITEM})(?:-({_ITEM}))?")


@dataclass(frozen=True)
class Pattern:
    """Named by the contract."""

    body: str
    negated: bool = False
    folder_only: bool = False
    anchored: bool = False


def _holds_no_name(items: str) -> bool:
    for low, high in _RANGE.findall(items):
        first, last = low[-1], (high or low)[-1]
        if first <= last and not first == last == "/":
            return False
    return True


def _can_match(body: str) -> bool:
    if not _BODY.fullmatch(body):
        return False
    names = ""
    for token in _TOKEN.finditer(body):
        if not token[2]:
            names += token[0]
        elif not token[1] and _holds_no_name(token[2]):
            return False
        else:
            names += "["
    return {"", ".", ".."}.isdisjoint(names.split("/"))


def parse_pattern(line: str) -> Pattern | None:
    if line.startswith("#"):
        return None
    end = len(line.rstrip(" "))
    backslashes = end - len(line[:end].rstrip("\\"))
    text = line[: end + backslashes % 2]
    unmarked = text.removeprefix("!")
    path = unmarked.removesuffix("/")
    body = path.removeprefix("/")
    if not _can_match(body):
        return None
    return Pattern(body, unmarked != text, path != unmarked, "/" in path)
