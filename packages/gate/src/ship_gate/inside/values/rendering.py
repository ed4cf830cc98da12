"""How the fuzz shows a value, and how large it calls it (design: module-directory).

A counterexample is read by a person: a value stands as Python writes it, and a long one is shortened by what it is
made of. Loads nothing else of the factory but what stands for iterables and functions.
"""

import dataclasses
import enum
import pathlib
import zoneinfo
from decimal import Decimal
from typing import Any

from ship_gate.inside.values.lazy_values import DrawnFunction, Function, Items

_SHOWN = 60
_ITEMS = 6
_LEVELS = 10


def measure(value: Any) -> int:
    """How large a value is: characters, elements, or the magnitude of a number."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return sum(measure(getattr(value, field.name)) for field in dataclasses.fields(value))
    whole: Any = value
    if isinstance(value, DrawnFunction):
        return measure(value.results)
    match value:
        case bool() | enum.Enum():
            return 1
        case int():
            return abs(value)
        case str() | bytes() | bytearray():
            return len(value)
        case dict():
            return 1 + sum(measure(key) + measure(part) for key, part in whole.items())
        case list() | tuple() | set() | frozenset():
            return 1 + sum(map(measure, whole))
        case Decimal():
            return 1 if not value.is_finite() else min(10**9, abs(value.adjusted()))
        case _:
            return 1


def shown(value: Any, depth: int = 0) -> str:
    """A value as Python writes it, shortened where it is long or deep."""
    if depth > _LEVELS:
        return "..."
    if isinstance(value, Items | Function | DrawnFunction):
        return _shown_lazy(value, depth + 1)
    if names := _field_names(value):
        parts = (f"{name}={shown(getattr(value, name), depth + 1)}" for name in names)
        return f"{type(value).__name__}({', '.join(parts)})"
    match value:
        case enum.Enum():
            return f"{type(value).__name__}.{value.name}"
        case str() | bytes():
            return _shown_text(value)
        case dict() | list() | tuple() | set() | frozenset():
            return _shown_container(value, depth + 1)
        case pathlib.PurePath():
            return f"Path({shown(str(value))})"
        case int() if abs(value) >= 10**40:
            return f"{'-' if value < 0 else ''}0x{abs(value):x}"[:_SHOWN]
        case zoneinfo.ZoneInfo():
            return f"ZoneInfo({value.key!r})"
        case _:
            return repr(value).replace("datetime.", "")


def _field_names(value: Any) -> list[str]:
    """The fields of a dataclass or of a NamedTuple."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [field.name for field in dataclasses.fields(value)]
    return [*getattr(value, "_fields", ())]


def _shown_lazy(value: Items | Function | DrawnFunction, depth: int) -> str:
    if isinstance(value, Items):
        return f"an iterator over {shown(value.values, depth)}"
    return f"<a function that gives {' or '.join(shown(one, depth) for one in value.results)}>"


def _shown_container(value: Any, depth: int) -> str:
    if isinstance(value, dict):
        pairs = _first(value.items())
        inner = _listed([f"{shown(key, depth)}: {shown(part, depth)}" for key, part in pairs], value)
        return "{" + inner + "}"
    whole: Any = value  # a match narrows `value` to containers of nothing known
    parts = [shown(part, depth) for part in _first(value)]
    match value:
        case list():
            return _repeated(whole, depth) or "[" + _listed(parts, value) + "]"
        case tuple():
            return f"({_listed(parts, whole)}{',' if len(whole) == 1 else ''})"
        case _ if value:
            inner = "{" + _listed(sorted(parts), value) + "}"
            return inner if isinstance(value, set) else f"frozenset({inner})"
        case _:
            return repr(value)


def _first(values: Any) -> list[Any]:
    return [value for value, _ in zip(values, range(_ITEMS), strict=False)]


def _listed(parts: list[str], whole: Any) -> str:
    more = len(whole) - len(parts)
    return ", ".join(parts) + (f", ... {more} more" if more > 0 else "")


def _repeated(value: list[Any], depth: int) -> str:
    if len(value) > _ITEMS and all(type(part) is type(value[0]) and part == value[0] for part in value):
        return f"[{shown(value[0], depth)}] * {len(value)}"
    return ""


def _shown_text(value: Any) -> str:
    if len(value) <= _SHOWN:
        return repr(value)
    for length in range(1, 9):
        unit = value[:length]
        if len(value) % length == 0 and unit * (len(value) // length) == value:
            return f"{unit!r} * {len(value) // length}"
    return f"{value[: _SHOWN // 2]!r}... ({len(value)} long)"
