"""Calls that are always tried: those of the tests with one thing replaced by what breaks programs (DESIGN §8.1,
D-S8-14).

Loaded by `fuzz_runner`, which runs without the module and loads nothing else of the factory. Nothing is drawn:
what is known to be dangerous is tried at every place, each once."""

import copy
import datetime
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from specwright.gate.inside.fuzz_hostile import Sources, hostile
from specwright.gate.inside.fuzz_types import Shape, is_hashable, mismatch

__all__ = ["sweep"]


def sweep(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """Arguments by name, call by call.

    Args:
        shapes: The types of the parameters.
        sources: What the tests give, and what the contract mentions.
    """
    usual: dict[str, Any] = {}
    for name, shape in shapes.items():
        tested = (value for value in sources.given.get(name, ()) if not mismatch(value, shape))
        usual[name] = next(tested, _plainest(shape))
    dangers = hostile(sources)
    for name, shape in shapes.items():
        for value, _ in zip(_dangerous(shape, dangers), range(_MOST_SWEPT), strict=False):
            yield {**copy.deepcopy(usual), name: value}


def _plainest(shape: Shape) -> Any:
    match shape.kind:
        case "none":
            return None
        case "union":
            return _plainest(shape.parts[0])
        case "literal":
            return shape.values[0]
        case "class":
            return shape.values[0](
                **{f: _plainest(p) for f, p in zip(shape.fields, shape.parts, strict=True)}
            )
        case "tuple":
            return tuple(map(_plainest, shape.parts))
        case "list" | "dict" if not shape.parts:
            return [] if shape.kind == "list" else {}
        case "list" | "tuple..." | "set" | "frozenset":
            return _BUILD[shape.kind]([_plainest(shape.parts[0])])
        case "dict":
            return {_plainest(shape.parts[0]): _plainest(shape.parts[1])}
        case kind:
            return _PLAINEST[kind]


def _dangerous(shape: Shape, dangers: Mapping[str, Sequence[Any]]) -> Iterator[Any]:
    """Values of a type that hold one dangerous leaf."""
    match shape.kind:
        case "none" | "literal":
            yield from shape.values or (None,)
        case "union":
            for part in shape.parts:
                yield from _dangerous(part, dangers)
        case "class" | "tuple":
            whole = [_plainest(part) for part in shape.parts]
            for place, part in enumerate(shape.parts):
                for value in _dangerous(part, dangers):
                    made = [*copy.deepcopy(whole[:place]), value, *copy.deepcopy(whole[place + 1 :])]
                    named = dict(zip(shape.fields, made, strict=False))
                    yield shape.values[0](**named) if shape.kind == "class" else tuple(made)
        case "list" | "tuple..." | "set" | "frozenset" if shape.parts:
            yield _BUILD[shape.kind]([])
            other = _plainest(shape.parts[0])
            for value in filter(
                is_hashable if "set" in shape.kind else _is_any, _dangerous(shape.parts[0], dangers)
            ):
                yield _BUILD[shape.kind]([value])
                yield _BUILD[shape.kind]([copy.deepcopy(other), value])
        case "dict" if shape.parts:
            yield {}
            key = _plainest(shape.parts[0])
            yield from (
                {found: _plainest(shape.parts[1])}
                for found in _dangerous(shape.parts[0], dangers)
                if is_hashable(found)
            )
            yield from ({key: found} for found in _dangerous(shape.parts[1], dangers))
        case kind:
            yield from dangers.get(kind, ())


def _is_any(value: Any) -> bool:
    return True


_MOST_SWEPT = 200
_BUILD: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple...": tuple,
    "set": set,
    "frozenset": frozenset,
}
_PLAINEST: dict[str, Any] = {
    "str": "a",
    "bytes": b"a",
    "bool": False,
    "int": 1,
    "float": 1.0,
    "Decimal": Decimal(1),
    "datetime": datetime.datetime.fromisoformat("2024-01-01T00:00:00"),
    "date": datetime.date(2024, 1, 1),
    "time": datetime.time(12),
    "timedelta": datetime.timedelta(days=1),
    "UUID": uuid.UUID(int=1),
    "Path": Path("new.txt"),
}
