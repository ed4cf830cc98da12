"""What a contract's texts say about its values: the limits that the fuzz draws at, and those that it holds
the module to (design: module-directory, ship-gate).

Numbers and quoted texts are taken from every text, as places where something may change: they are only drawn.
A `Bound` is taken from a constraint that says nothing else ("at most 1000 characters", "between 0 and 100",
"one of 'a', 'b'"), so that breaking it is beyond doubt.

Left out: every other sentence, such as one about the elements of a list; what it says is for the tests."""

import ast
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ship_gate.base.boundary_values import SCALARS
from ship_gate.syntax_tree import parse_expression

_WORDS = {
    w: str(n)
    for n, w in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_NUMBER = r"[+-]?\d[\d_,]*(?:\.\d+)?"
_COUNT = rf"(?:{_NUMBER}|{'|'.join(_WORDS)})"
_IN_TEXT = re.compile(rf"(?<![\w.]){_NUMBER}(?![\w])")
_QUOTED = re.compile(r"'([^']{1,200})'|\"([^\"]{1,200})\"|`([^`]{1,200})`")
_CHOICE = re.compile(r"(?:is |must be )?(?:one of|either) (?P<list>.+)", re.IGNORECASE)
_NUMERIC = {row.name for row in SCALARS if row.is_bounded}
_SIZED = re.compile(r"(?:str|bytes|list|set|frozenset|dict|tuple)\b")
_UNITS = {"str": r"characters?(?: long)?", "bytes": r"bytes?(?: long)?"}
_LARGEST = 10**30
_MOST_TRIED = 128


class Bound(NamedTuple):
    """A limit of one input, as its constraint states it.

    Args:
        text: The constraint.
        of: Whether the value, its length or its membership is limited.
        low: The least, as a decimal text; empty if there is none. `above` makes it exclusive.
        high: The greatest, likewise. `below` makes it exclusive.
        values: The choices.
    """

    text: str
    of: str
    low: str = ""
    high: str = ""
    above: bool = False
    below: bool = False
    values: tuple[str, ...] = ()


def numbers(texts: Iterable[str]) -> list[str]:
    """Every number in some texts, as decimal texts, each once."""
    found = [_decimal_text(match) for text in texts for match in _IN_TEXT.findall(text)]
    return [number for number in dict.fromkeys(found) if abs(float(number)) <= _LARGEST]


def quoted(texts: Iterable[str]) -> list[str]:
    """Every quoted text in some texts, each once."""
    found = ["".join(groups) for text in texts for groups in _QUOTED.findall(text)]
    return list(dict.fromkeys(found))


def bounds(declared: str, constraints: Iterable[str]) -> list[Bound]:
    """The constraints of an input that say a limit and nothing else.

    Args:
        declared: The type; that of an optional input limits what is given.
        constraints: The texts.
    """
    base = " | ".join(part for part in declared.split(" | ") if part != "None")
    return [bound for text in constraints if (bound := _bound(base, text)) is not None]


def small_range(declared: str, constraints: Iterable[str]) -> tuple[int, int] | None:
    """The least and the greatest number that an input may be, if all between them can be tried."""
    found = [bound for bound in bounds(declared, constraints) if bound.of == "value"]
    ends = [int(end) for bound in found for end in (bound.low, bound.high) if end.lstrip("-").isdigit()]
    is_small = "int" in declared.split(" | ") and len(ends) == 2 and 0 <= ends[1] - ends[0] <= _MOST_TRIED
    return (ends[0], ends[1]) if is_small else None


def _bound(base: str, text: str) -> Bound | None:
    sentence = text.strip().rstrip(".")
    if base == "str" and (choice := _CHOICE.fullmatch(sentence)):
        values = _choices(choice["list"])
        return Bound(text, "choice", values=values) if values else None
    if base in _NUMERIC:
        return _limited(text, sentence, "value", "")
    if _SIZED.match(base) and " | " not in base:
        if re.fullmatch(r"(?:is |must be )?(?:non-empty|not empty)", sentence, re.IGNORECASE):
            return Bound(text, "length", low="1")
        kind = re.split(r"\W", base)[0]
        return _limited(text, sentence, "length", " " + _UNITS.get(kind, r"[a-z]+"))
    return None


def _choices(listed: str) -> tuple[str, ...]:
    """The texts of a list that holds nothing else."""
    try:
        value = ast.literal_eval(
            parse_expression("(" + re.sub(r",? (?:or|and) (?=['\"])", ", ", listed) + ",)")
        )
    except (ValueError, SyntaxError):
        return ()
    return tuple(map(str, value)) if all(isinstance(part, str) for part in value) else ()


_FORMS: list[tuple[str, Callable[[re.Match[str]], dict[str, object]]]] = [
    (r"(?:between|from) (?P<a>{n}) (?:and|to) (?P<b>{n}){u}(?: inclusive)?", lambda m: _both(m["a"], m["b"])),
    (
        r"(?:at least|no less than|no fewer than|minimum) (?P<a>{n}){u}",
        lambda m: {"low": _decimal_text(m["a"])},
    ),
    (r"(?P<a>{n}){u} or more", lambda m: {"low": _decimal_text(m["a"])}),
    (r"(?:at most|no more than|up to|maximum) (?P<a>{n}){u}", lambda m: {"high": _decimal_text(m["a"])}),
    (r"(?P<a>{n}){u} or (?:less|fewer)", lambda m: {"high": _decimal_text(m["a"])}),
    (r"(?:greater|more|longer) than (?P<a>{n}){u}", lambda m: {"low": _decimal_text(m["a"]), "above": True}),
    (r"(?:less|fewer|shorter) than (?P<a>{n}){u}", lambda m: {"high": _decimal_text(m["a"]), "below": True}),
    (r"exactly (?P<a>{n}){u}", lambda m: _both(m["a"], m["a"])),
]
_SIGNS: dict[str, dict[str, object]] = {
    "positive": {"low": "0", "above": True},
    "non-negative": {"low": "0"},
    "not negative": {"low": "0"},
}


def _limited(text: str, sentence: str, of: str, unit: str) -> Bound | None:
    sentence = re.sub(r"^(?:is|must be|has) ", "", sentence)
    if of == "value" and sentence.lower() in _SIGNS:
        return Bound(text, of, **_SIGNS[sentence.lower()])  # pyright: ignore[reportArgumentType]  # its own fields
    for form, read in _FORMS:
        pattern = form.replace("{n}", _COUNT).replace("{u}", unit)
        if match := re.fullmatch(pattern, sentence, re.IGNORECASE):
            return Bound(text, of, **read(match))  # pyright: ignore[reportArgumentType]  # its own fields
    return None


def _both(low: str, high: str) -> dict[str, object]:
    return {"low": _decimal_text(low), "high": _decimal_text(high)}


def _decimal_text(number: str) -> str:
    return _WORDS.get(number.lower(), number.replace(",", "").replace("_", ""))
