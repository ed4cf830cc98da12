from __future__ import annotations

from dataclasses import dataclass

from ..matches import PathError, matches
from ..parse_pattern import Pattern, parse_pattern

__all__ = ["decide", "PathError", "Decision"]


@dataclass(frozen=True)
class Decision:
    """Named by the contract."""

    ignored: bool
    folder: str | None
    line: int | None


def _patterns(text: str) -> list[tuple[int, Pattern]]:
    numbered = enumerate(text.removeprefix("\ufeff").split("\n"), 1)
    read = [(number, parse_pattern(line.removesuffix("\r"))) for number, line in numbered]
    return [(number, pattern) for number, pattern in read if pattern]


def _judge(rules: list[tuple[int, int, Pattern]], parts: list[str], is_folder: bool) -> Decision:
    for depth, number, pattern in rules:
        if depth < len(parts) and matches(pattern, "/".join(parts[depth:]), is_folder):
            return Decision(not pattern.negated, "/".join(parts[:depth]), number)
    return Decision(False, None, None)


def decide(files: dict[str, str], path: str, is_folder: bool = False) -> Decision:
    matches(Pattern(path), path)
    for folder in files:
        if folder:
            matches(Pattern(folder), folder)
    parts = path.split("/")
    rules = [
        (depth, number, pattern)
        for depth in range(len(parts))
        for number, pattern in _patterns(files.get("/".join(parts[:depth]), ""))
    ]
    rules.reverse()
    for end in range(1, len(parts)):
        above = _judge(rules, parts[:end], True)
        if above.ignored:
            return above
    return _judge(rules, parts, is_folder)
