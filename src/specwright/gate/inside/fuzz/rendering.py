"""How the fuzz shows a value, and how large it calls it (design: module-directory).

A counterexample is read by a person: a value stands as Python writes it, and a long one is shortened by what it is
made of. Loads nothing else of the factory.
"""

import dataclasses
import enum
import pathlib
from decimal import Decimal
from typing import Any

_SHOWN = 60
_ITEMS = 6


def measure(value: Any) -> int:
    """How large a value is: characters, elements, or the magnitude of a number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return sum(measure(getattr(value, field.name)) for field in dataclasses.fields(value))
    whole: Any = value
    match value:
        case bool() | enum.Enum():
            return 1
        case int():
            return abs(value)
        case str() | bytes():
            return len(value)
        case dict():
            return 1 + sum(measure(key) + measure(part) for key, part in whole.items())
        case list() | tuple() | set() | frozenset():
            return 1 + sum(map(measure, whole))
        case Decimal():
            return 1 if not value.is_finite() else min(10**9, abs(value.adjusted()))
        case _:
            return 1


def shown(value: Any) -> str:
    """A value as Python writes it, shortened where it is long."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = (f"{field.name}={shown(getattr(value, field.name))}" for field in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    whole: Any = value  # a match narrows `value` to containers of nothing known
    match value:
        case enum.Enum():
            return f"{type(value).__name__}.{value.name}"
        case str() | bytes():
            return _shown_text(value)
        case dict():
            return (
                "{"
                + _listed([f"{shown(key)}: {shown(part)}" for key, part in _first(whole.items())], whole)
                + "}"
            )
        case list():
            return _repeated(whole) or "[" + _listed([shown(part) for part in _first(whole)], whole) + "]"
        case tuple():
            inner = _listed([shown(part) for part in _first(whole)], whole)
            return f"({inner}{',' if len(whole) == 1 else ''})"
        case set() | frozenset() if value:
            inner = "{" + _listed(sorted(shown(part) for part in _first(whole)), whole) + "}"
            return inner if isinstance(value, set) else f"frozenset({inner})"
        case pathlib.PurePath():
            return f"Path({shown(str(value))})"
        case int() if abs(value) >= 10**40:
            return f"{'-' if value < 0 else ''}0x{abs(value):x}"[:_SHOWN]
        case _:
            return repr(value).replace("datetime.", "")


def _first(values: Any) -> list[Any]:
    return [value for value, _ in zip(values, range(_ITEMS), strict=False)]


def _listed(parts: list[str], whole: Any) -> str:
    more = len(whole) - len(parts)
    return ", ".join(parts) + (f", ... {more} more" if more > 0 else "")


def _repeated(value: list[Any]) -> str:
    if len(value) > _ITEMS and all(type(part) is type(value[0]) and part == value[0] for part in value):
        return f"[{shown(value[0])}] * {len(value)}"
    return ""


def _shown_text(value: Any) -> str:
    if len(value) <= _SHOWN:
        return repr(value)
    for length in range(1, 9):
        unit = value[:length]
        if len(value) % length == 0 and unit * (len(value) // length) == value:
            return f"{unit!r} * {len(value) // length}"
    return f"{value[: _SHOWN // 2]!r}... ({len(value)} long)"
