"""What a value holds, for all who walk through values (design: module-directory)."""

import dataclasses
from typing import Any

from ship_gate.inside.values.lazy_values import DrawnFunction


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
