"""Other values in place of those that a module returned, to see whether a test notices (design: ship-gate).

What is altered keeps its type, so that a test which fails has read the value and not merely used it. There are several
ways, because an assertion may look at one side only: a length that is at most ten, an order, a name that is left out.
"""

import copy
import dataclasses
import enum
from typing import Any, cast

from ship_gate.base.boundary_values import CLASSES, ROWS_OF_CLASS
from ship_gate.inside.codec import KEPT, unchecked_value
from ship_gate.inside.values import Items

WAYS = ("other", "last", "higher", "lower", "more", "fewer", "order")
"""`other` changes every part and keeps the shape, `last` the last part alone; `higher` and `lower` go far from each part,
`more` and `fewer` change the number of items, and `order` turns them round."""


def perturb(value: object, variation: str) -> object:
    """Another value of the same type; the same one where the variation leads to no other."""
    kind = type(value)
    if isinstance(value, Items):
        return value._replace(values=_items(value.values, variation, grows=True))
    if (
        isinstance(value, (dict, tuple))
        or kind in _CONTAINERS
        or dataclasses.is_dataclass(kind)
        or isinstance(value, enum.Enum)
    ):
        return _composite(value, variation)
    row = ROWS_OF_CLASS.get(kind)
    try:
        return value if row is None else row.altered(value, variation)
    except (OverflowError, ValueError, ArithmeticError):
        return value


def _composite(value: Any, variation: str) -> object:
    kind = cast("Any", type(value))
    if isinstance(value, enum.Enum):
        members: list[enum.Enum] = list(kind)
        return members[(members.index(value) + (-1 if variation == "lower" else 1)) % len(members)]
    if isinstance(value, dict):
        changed = _dict(cast("dict[Any, Any]", value), variation)
        return changed if kind is dict else _filled(cast("dict[Any, Any]", value), changed)
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind) if field.init]
        chosen = names[-1:] if variation == "last" else names
        if getattr(kind, KEPT, False):
            # no call: the check would refuse most of what is altered
            kept: dict[str, object] = {
                name: part if name in names and name not in chosen else perturb(part, variation)
                for name, part in cast("dict[str, object]", vars(value)).items()
            }
            fields = {name: kept.pop(name) for name in names}
            return unchecked_value(kind, fields, kept)
        return dataclasses.replace(
            value, **{name: perturb(getattr(value, name), variation) for name in chosen}
        )
    items = _items(list(value), variation, grows=not isinstance(value, tuple))
    build: Any = getattr(kind, "_make", kind)  # of a named tuple
    return build(items)


def _filled(value: dict[Any, Any], items: dict[Any, Any]) -> dict[Any, Any]:
    """A Counter, defaultdict or OrderedDict with other items."""
    other = copy.copy(value)
    other.clear()
    other.update(items)
    return other


def _items(items: list[object], variation: str, *, grows: bool) -> list[object]:
    match variation:
        case "last":
            return [*items[:-1], *(perturb(item, variation) for item in items[-1:])] or ["~"]
        case "order":
            return items[::-1]
        # a tuple has a fixed number of parts, as a rule
        case "fewer" if grows:
            return []
        case "more" if grows:
            doubled = [item for item in items for _ in range(2)]
            return [*doubled, *(perturb(item, "other") for item in items)] or ["~"]
        case _:
            return [perturb(item, variation) for item in items] or ["~"]


def _dict(value: dict[Any, Any], variation: str) -> dict[Any, Any]:
    match variation:
        case "fewer":
            return {}
        case "order":
            # the values too, so that it is another one, and what is said of their sum still holds
            return dict(zip(reversed(value), value.values(), strict=True))
        case "more":
            key: Any = perturb(next(reversed(value)), "other") if value else "~"
            return {**value, key: next(iter(value.values()), 0)}
        case _:
            chosen = [*value][-1:] if variation == "last" else [*value]
            return {**value, **{key: perturb(value[key], variation) for key in chosen}} or {"~": 0}


_CONTAINERS = {*CLASSES.values()}


def spoil(values: list[object]) -> None:
    """Change what can be changed in place, however deep, as a module must not do with its arguments."""
    waiting, seen = [*values], set[int]()
    while waiting:
        value: Any = waiting.pop()
        if type(value) is bytearray:
            value.append(0)
        if id(value) in seen or type(value) not in _CONTAINERS:
            continue
        seen.add(id(value))
        waiting += value.values() if type(value) is dict else value
        match value:
            case list():
                cast("list[object]", value).append("~")
            case dict():
                value["~"] = "~"
            case set():
                cast("set[object]", value).add("~")
            case _:
                pass
