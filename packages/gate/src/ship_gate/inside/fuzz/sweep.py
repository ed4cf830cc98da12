"""Calls that are always tried: those of the tests with one thing replaced by what breaks programs (design:
module-directory, ship-gate).

Loaded by `inside.fuzz.runner`, which runs without the module and loads nothing else of the factory. Nothing is drawn:
what is known to be dangerous is tried at every place, each once."""

import contextlib
import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ship_gate.base.boundary_values import ROWS
from ship_gate.inside.fuzz.dangerous_values import Sources, dangerous_values
from ship_gate.inside.shapes import (
    BUILD,
    GIVEN_AS,
    RefusedError,
    Shape,
    instance_of,
    is_endless,
    is_hashable,
    mismatch,
)
from ship_gate.inside.values import DrawnFunction, measure

_LARGE = 2500
"""Characters or elements: more than twice as many as Python nests calls, and few enough for a plain program."""
_MOST_SWEPT = 200
_MOST_GIVEN = 8
_MOST_NESTED = 2

_Within = tuple[str, ...]
"""The classes that a value lies in, from the outermost on."""
_TIMES = 3
_FEW = 4
_LONGEST = 200
_MOST_RECOMBINED = 60
_PIECES = re.compile(r"\w+|\W+")
_WORD = re.compile(r"\w+")
_DIGITS = re.compile("[0-9]+")
_MANY_DIGITS = ("9" * 12, "9" * 18)


def sweep(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """Arguments by name, call by call.

    Args:
        shapes: The types of the parameters.
        sources: What the tests give, and what the contract mentions.
    """
    dangers = dangerous_values(sources)
    try:
        usual = _usual(shapes, sources)
    except RefusedError:
        # nothing is known that a class takes; what is drawn may find something
        return
    for name, shape in shapes.items():
        tested = _tested(name, shape, sources)
        swept = itertools.islice(_unless_refused(_dangerous(shape, dangers)), _MOST_SWEPT)
        values = itertools.chain(
            _overlarge_numbers(tested), recombined(tested), sources.ranges.get(name, ()), swept
        )
        yield from ({**copy.deepcopy(usual), name: value} for value in values)


def _unless_refused(values: Iterator[Any]) -> Iterator[Any]:
    """The values, as far as classes take what they are made of."""
    with contextlib.suppress(RefusedError):
        yield from values


def calls_of_tests(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """Calls with what the tests give, a few."""
    try:
        usual = _usual(shapes, sources)
    except RefusedError:
        return
    yield usual
    for name, shape in shapes.items():
        tested = [value for value in _tested(name, shape, sources) if value != usual.get(name)]
        yield from ({**copy.deepcopy(usual), name: value} for value in tested[:_FEW])


def recombined(tested: Sequence[Any]) -> Iterator[str]:
    """Texts out of the words of the tests' texts: more of them, others beside one another, and in another order."""
    texts = [value for value in tested if isinstance(value, str) and len(value) <= _LONGEST]
    pieces = [_PIECES.findall(text) for text in texts]
    words = list(dict.fromkeys(piece for found in pieces for piece in found if _WORD.fullmatch(piece)))
    marks = list(dict.fromkeys(piece for found in pieces for piece in found if not _WORD.fullmatch(piece)))
    made: dict[str, None] = {}
    for text, found in zip(texts, pieces, strict=True):
        own = [piece for piece in found if _WORD.fullmatch(piece)]
        between = [piece for piece in found if not _WORD.fullmatch(piece)] or [" "]
        for mark in dict.fromkeys(between[:_FEW]):
            made |= dict.fromkeys(mark.join([text] * often) for often in (2, 4))
            made |= dict.fromkeys((mark.join(own[::-1]), mark.join(sorted(own))))
            made |= dict.fromkeys(text + mark + word for word in words[:_FEW])
    for (one, other), mark in itertools.product(
        itertools.permutations(words[:_FEW], 2), marks[:_FEW] or [" "]
    ):
        made[one + mark + other] = None
    yield from itertools.islice((text for text in made if text not in texts), _MOST_RECOMBINED)


def enlarged(shapes: Mapping[str, Shape], sources: Sources) -> Iterator[dict[str, Any]]:
    """What the tests give, made large: texts and lists repeated, one element or character alone, many times.

    A program that calls itself for each element ends here, whatever it was drawn.
    """
    for name, shape in shapes.items():
        for value, at in itertools.product(_tested(name, shape, sources)[:_MOST_GIVEN], (0, -1)):
            usual = _usual(shapes, sources, at)
            for large in _large(value):
                if not mismatch(large, shape):
                    yield {**copy.deepcopy(usual), name: large}


def overlong(
    shapes: Mapping[str, Shape], sources: Sources, bounds: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Calls as the tests make them, with one item of an iterable more than its bound, and with as many.

    Args:
        shapes: The types of the parameters.
        sources: What the tests give.
        bounds: Of some parameters.
    """
    for name, bound in bounds.items():
        for at in (0, -1):
            try:
                usual = _usual(shapes, sources, at)
            except RefusedError:
                return
            items: list[Any] = [*(usual[name] or ())] or [*(_plainest(shapes[name]) or ())]
            for length in (bound + 1, bound) if items else ():
                yield {**copy.deepcopy(usual), name: [*itertools.islice(itertools.cycle(items), length)]}


def _tested(name: str, shape: Shape, sources: Sources) -> list[Any]:
    return [value for value in sources.by_parameter.get(name, ()) if not mismatch(value, shape)]


def _usual(shapes: Mapping[str, Shape], sources: Sources, at: int = 0) -> dict[str, Any]:
    """A call as the tests make it, the first one's arguments or the last one's."""
    tested = {name: _tested(name, shape, sources) for name, shape in shapes.items()}
    return {name: tested[name][at] if tested[name] else _plainest(shape) for name, shape in shapes.items()}


def _overlarge_numbers(tested: Sequence[Any]) -> Iterator[str]:
    """The texts of the tests with one number in them larger than what most things hold."""
    for text in [value for value in tested if isinstance(value, str)][:_MOST_GIVEN]:
        for number in _DIGITS.finditer(text):
            yield from (text[: number.start()] + digits + text[number.end() :] for digits in _MANY_DIGITS)


def _large(value: Any) -> Iterator[Any]:
    """A value made large, in a few ways."""
    if measure(value) > _LARGE:
        return
    if isinstance(value, (str, bytes)) and value:
        yield (value * _LARGE)[:_LARGE]
        yield value[:1] * _LARGE
    elif isinstance(value, list) and value:
        whole: list[Any] = [*value]
        yield [copy.deepcopy(part) for part in (whole * _LARGE)[:_LARGE]]
        yield from ([large] for large in _large(whole[0]))


def _plainest(shape: Shape, within: frozenset[str] = frozenset()) -> Any:
    match shape.kind:
        case "none" | "literal":
            return shape.values[0] if shape.values else None
        case "union":
            return _plainest(next(part for part in shape.parts if not is_endless(part, within)), within)
        case "named":
            return _plainest(shape.parts[0], within | {shape.name})
        case "class":
            inner = within | {shape.name}
            parts = zip(shape.fields, shape.parts, strict=True)
            return instance_of(shape, {field: _plainest(part, inner) for field, part in parts})
        case "tuple" | "Callable":
            parts = tuple(_plainest(part, within) for part in shape.parts)
            return DrawnFunction(parts) if shape.kind == "Callable" else parts
        case "list" | "dict" if not shape.parts:
            return [] if shape.kind == "list" else {}
        case kind if kind in GIVEN_AS:
            return _plainest(shape._replace(kind=GIVEN_AS[kind][0]), within)
        case "list" | "tuple..." | "set" | "frozenset" | "dict":
            parts = [] if any(is_endless(part, within) for part in shape.parts) else [*shape.parts]
            if shape.kind == "dict":
                return {_plainest(parts[0], within): _plainest(parts[1], within)} if parts else {}
            return BUILD[shape.kind]([_plainest(part, within) for part in parts])
        case kind:
            return ROWS[kind].plain()


def _dangerous(shape: Shape, dangers: Mapping[str, Sequence[Any]], within: _Within = ()) -> Iterator[Any]:
    """Values of a type that hold one dangerous leaf."""
    match shape.kind:
        case "none" | "literal":
            yield from shape.values or (None,)
        case "union":
            for part in shape.parts:
                yield from _dangerous(part, dangers, within)
        case "Callable":
            yield from (DrawnFunction([found]) for found in _dangerous(shape.parts[0], dangers, within))
        case kind if kind in GIVEN_AS:
            for given in GIVEN_AS[kind]:
                yield from _dangerous(shape._replace(kind=given), dangers, within)
        case "class" | "tuple" | "named":
            yield from _dangerous_instances(shape, dangers, within)
        case "list" | "tuple..." | "set" | "frozenset" if shape.parts:
            yield from _dangerous_containers(shape, dangers, within)
        case "dict" if shape.parts:
            yield {}
            key = _plainest(shape.parts[0])
            yield from (
                {found: value}
                for value in _plainest(shape, frozenset(within)).values()
                for found in filter(is_hashable, _dangerous(shape.parts[0], dangers, within))
            )
            yield from ({key: found} for found in _dangerous(shape.parts[1], dangers, within))
        case kind:
            yield from dangers.get(kind, ())


def _dangerous_instances(
    shape: Shape, dangers: Mapping[str, Sequence[Any]], within: _Within
) -> Iterator[Any]:
    """Of a class, a tuple or a named type; one within itself comes to an end."""
    if shape.kind != "tuple":
        if within.count(shape.name) >= _MOST_NESTED:
            return
        within = (*within, shape.name)
    if shape.kind == "named":
        yield from _dangerous(shape.parts[0], dangers, within)
        return
    whole = [_plainest(part, frozenset(within)) for part in shape.parts]
    for place, part in enumerate(shape.parts):
        for value in _dangerous(part, dangers, within):
            parts = [*copy.deepcopy(whole[:place]), value, *copy.deepcopy(whole[place + 1 :])]
            if shape.kind == "tuple":
                yield tuple(parts)
                continue
            with contextlib.suppress(RefusedError):
                yield instance_of(shape._replace(instances=()), dict(zip(shape.fields, parts, strict=True)))


def _dangerous_containers(
    shape: Shape, dangers: Mapping[str, Sequence[Any]], within: _Within
) -> Iterator[Any]:
    build = BUILD[shape.kind]
    yield build([])
    others = _plainest(shape, frozenset(within))
    found = _dangerous(shape.parts[0], dangers, within)
    for value in filter(is_hashable, found) if "set" in shape.kind else found:
        yield build([value])
        yield build([*copy.deepcopy(others), value])
        yield build([copy.deepcopy(value) for _ in range(_TIMES)])
