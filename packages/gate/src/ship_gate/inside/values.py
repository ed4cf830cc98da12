"""The values of a module's boundary: what stands for an iterable, an iterator or a function where it crosses, what a value
holds, how it is shown, and how large it is (design: module-directory).

A counterexample is read by a person: a value stands as Python writes it, and a long one is shortened by what it is
made of. Loads nothing else of the project but the table of `boundary_values`.
"""

import copy
import dataclasses
import enum
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import full_repr, scalar_of


class Items(NamedTuple):
    """The items of an iterable, in their order.

    Args:
        values: One more than its bound at most.
        error: What it raised instead of a further item: the names of the class and its bases, the message, and the
            arguments; None if it came to its end.
    """

    values: list[Any]
    error: Any = None


class Function(NamedTuple):
    """A function that the module is given.

    Args:
        name: Of the parameter.
        results: What it gives, chosen by its arguments; none if it is called where it is.
    """

    name: str
    results: list[Any]


class DrawnFunction:
    """A pure function that was drawn: the same arguments give the same result.

    Args:
        results: What it gives, one at least.
    """

    def __init__(self, results: Sequence[Any]) -> None:
        self.results = list(results)

    def __call__(self, *arguments: object) -> object:
        """One of the results."""
        return chosen(self.results, full_repr(arguments).encode())

    def __eq__(self, other: object) -> bool:
        """Whether it gives the same."""
        return isinstance(other, DrawnFunction) and self.results == other.results

    __hash__ = object.__hash__


def chosen(results: Sequence[Any], arguments: bytes) -> Any:
    """The result for arguments, as they cross: always the same one, and a copy of its own."""
    return copy.deepcopy(results[zlib.crc32(arguments) % len(results)])


def field_names(value: Any) -> list[str]:
    """The fields of a NamedTuple or a dataclass, or of a value of one; none of anything else."""
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return [*getattr(value, "_fields", ())]


def members_of(value: Any) -> list[Any] | None:
    """The keys and values of a dict, the elements of another container, the fields of a dataclass, the results of a function
    that was drawn; None for a value that holds no others."""
    whole: Any = value  # a check narrows `value` to containers of nothing known
    if isinstance(value, dict):
        return [*whole, *whole.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [*whole]
    if isinstance(value, DrawnFunction):
        return value.results
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, name) for name in field_names(value)]
    return None


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
