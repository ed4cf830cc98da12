from __future__ import annotations

import re

from ..parse_pattern import Pattern

__all__ = ["matches", "PathError", "Pattern"]

_TOKEN = re.compile(
    r"(?s)(?P<folders>(?<![^/])\*\*+/)|(?P<beneath>(?<![^/])\*\*+\Z)|(?P<star>\*+)|(?P<one>\?)"
    r"|\[(?:(?P<other>[!^])|(?![!^]))(?P<items>(?:\\.|[^\\])(?:\\.|[^\]\\])*)\]"
    r"|\\(?P<escaped>.)|(?P<plain>[^\\\[])|."
)
_RANGE = re.compile(r"(?s)(\\.|[^\\])(?:-(\\.|[^\\]))?")


class PathError(ValueError):
    """Named by the contract."""


def _check(path: str) -> None:
    if not path:
        raise PathError("empty path")
    if "\\" in path:
        raise PathError("backslash in the path; folders are parted by /")
    if path.startswith("/"):
        raise PathError("absolute path")
    parts = path.split("/")
    if ".." in parts:
        raise PathError("'..' in the path")
    if "" in parts or "." in parts:
        raise PathError("bad part in the path: empty or '.'")


def _accepts(token: re.Match[str], character: str) -> bool:
    itself = character in (token["escaped"], token["plain"])
    if character == "/":
        return itself
    if token["items"]:
        held = any(low[-1] <= character <= (high or low)[-1] for low, high in _RANGE.findall(token["items"]))
        return held is not bool(token["other"])
    return itself or bool(token["one"])


def _advance(token: re.Match[str], text: str, places: set[int]) -> set[int]:
    if token["beneath"]:
        return {len(text)} if places else places
    if token["folders"] or token["star"]:
        reached = set(places)
        inside = False
        for place, character in enumerate(text):
            inside = inside or place in places
            if token["folders"]:
                if inside and character == "/":
                    reached.add(place + 1)
            elif place in reached and character != "/":
                reached.add(place + 1)
        return reached
    return {place + 1 for place, character in enumerate(text) if place in places and _accepts(token, character)}


def matches(pattern: Pattern, path: str, is_folder: bool = False) -> bool:
    _check(path)
    if pattern.folder_only and not is_folder:
        return False
    text = path if pattern.anchored else path.rpartition("/")[2]
    places = {0}
    for token in _TOKEN.finditer(pattern.body):
        places = _advance(token, text, places)
    return len(text) in places
