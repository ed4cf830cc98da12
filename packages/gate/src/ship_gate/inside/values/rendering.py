"""How the fuzz shows a value, and how large it calls it (design: module-directory).

A counterexample is read by a person: a value stands as Python writes it, and a long one is shortened by what it is
made of. Loads nothing else of the factory but what stands for iterables and functions.
"""

import dataclasses
import enum
from typing import Any

from ship_gate.base.boundary_values import full_repr, scalar_of
from ship_gate.inside.values.lazy_values import DrawnFunction, Function, Items
from ship_gate.inside.values.members import field_names, members_of

_ITEMS = 6
_LEVELS = 10


def measure(value: Any) -> int:
    """How large a value is: characters, elements, or the magnitude of a number."""
    members = members_of(value)
    if members is not None:
        return sum(map(measure, members)) + (not dataclasses.is_dataclass(value))
    row = scalar_of(value)
    return 1 if row is None else row.size(value)


def shown(value: Any, depth: int = 0) -> str:
    """A value as Python writes it, shortened where it is long or deep."""
    if depth > _LEVELS:
        return "..."
    if isinstance(value, Items | Function | DrawnFunction):
        return _shown_lazy(value, depth + 1)
    if names := field_names(value):
        parts = (f"{name}={shown(getattr(value, name), depth + 1)}" for name in names)
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        return _shown_container(value, depth + 1)
    row = scalar_of(value)
    return full_repr(value) if row is None else row.shown(value)


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
