"""Other regular expressions in place of a literal one, each with one small fault (design: ship-gate).

A quantifier that takes one more or one less, one that is left out, a class turned round, an anchor that is missing. A
pattern with whole numbers as bounds is left alone there: a test of each end of each of them is more than is due.
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_FUNCTIONS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
_SEARCHING = {"findall", "finditer", "search", "split", "sub", "subn"}
_PART = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?(?:P<\w+>|P=\w+\)|<?[=!]|[:>])?|[*+?]\??|\{[\d,]*\}\??|.", re.DOTALL
)
_OTHERS = {"+": "*", "*": "+", "+?": "*?", "*?": "+?", "?": ""}
_TURNED = {r"\d": r"\D", r"\w": r"\W", r"\s": r"\S", r"\D": r"\d", r"\W": r"\w", r"\S": r"\s"}


class PatternChange(NamedTuple):
    """Another pattern, and what was changed, for a person."""

    pattern: str
    change: str


def pattern_function(call: ast.AST, argument: ast.AST) -> str:
    """The function of `re` that a call gives an argument to as its pattern; empty if there is none."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[first, *others]) if (
            first is argument and name in _FUNCTIONS
        ):
            options = " ".join(map(ast.unparse, [*others, *(keyword.value for keyword in call.keywords)]))
            return "" if re.search(r"\bre\.(X|VERBOSE)\b", options) else name
        case _:
            return ""


def other_patterns(pattern: str, function: str) -> Iterator[PatternChange]:
    """The patterns with one fault each that can be compiled.

    Args:
        pattern: As it is written.
        function: Of `re`, that takes it; a missing anchor is a fault only where something is searched for.
    """
    parts = _PART.findall(pattern)
    if "".join(parts) != pattern:
        return
    for place, part in enumerate(parts):
        other = _other(part, function)
        if other is None:
            continue
        changed = "".join([*parts[:place], other, *parts[place + 1 :]])
        try:
            re.compile(changed)
        except (re.error, OverflowError, RecursionError):
            continue
        what = f"`{_writable(part)}` to `{_writable(other)}`" if other else f"`{part}` left out"
        yield PatternChange(changed, f"{what} in the pattern {pattern!r}")


def _writable(part: str) -> str:
    """Surrogates, which no text that is printed or stored can hold, as their escapes."""
    return part.encode(errors="backslashreplace").decode()


def _other(part: str, function: str) -> str | None:
    if part in _OTHERS:
        return _OTHERS[part]
    if part in _TURNED:
        return _TURNED[part]
    if part.startswith("[") and len(part) > 2:
        return f"[{part[2:]}" if part.startswith("[^") else f"[^{part[1:]}"
    is_anchor = part in {"^", "$", r"\b"} and function in _SEARCHING
    return "" if is_anchor or (part == "$" and function == "match") else None
