"""The values of a module's boundary: what stands for an iterable, an iterator or a function where it crosses, what a value
holds, how it is shown, and whether it is of a type (design: module-directory).

A counterexample is read by a person: a value stands as Python writes it, and a long one is shortened by what it is made of.
A value is of a type as a reader of the contract would say: deeply, an int stands for a float, but a bool for no int and a
datetime for no date. Loads nothing else of the project but the table of `boundary_values`.
"""

import ast
import collections.abc
import copy
import dataclasses
import enum
import zlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import (
    CLASSES,
    ROWS,
    TAKEN_CONTAINERS,
    TYPE_VARIABLE,
    full_repr,
    scalar_of,
)


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


BUILD: dict[str, Any] = {**CLASSES, "tuple...": tuple}
"""The classes of containers by the kind of a shape."""

_CONTAINERS: dict[str, Any] = {
    **BUILD,
    **{name: getattr(collections.abc, name) for name in TAKEN_CONTAINERS},
    "Iterator": collections.abc.Iterator,
}


GIVEN_AS: Mapping[str, Sequence[str]] = {
    "Mapping": ("dict",),
    "Sequence": ("list", "tuple..."),
    "Collection": ("list", "tuple..."),
    "Iterable": ("list",),
    "Iterator": ("list",),
}
"""What is passed for a type that says only what a function needs; the plainest first. No set: its order differs from
process to process. Of a list for an iterable the module gets an iterator."""


class Shape(NamedTuple):
    """A type.

    Args:
        kind: A scalar's name; `none`, `union`, `literal`, `class`, `named` for a named type, `Callable`, `any` for a type
            variable of which nothing is known, or the name of a container, with `tuple...` for one of any length.
        parts: Of a union, a container, or the fields of a class; what a named type stands for; what a callable gives. A
            class or a named type may be among its own parts' parts.
        values: Of a Literal.
        name: Of a class; for messages, of anything.
        fields: The names of a class's fields.
        properties: The types of a class's properties, by name.
        instances: Of a class that checks its fields: values that are there, for fields that it refuses.
        parameters: What a callable is called with.
    """

    kind: str
    parts: Sequence["Shape"] = ()
    values: tuple[Any, ...] = ()
    name: str = ""
    fields: tuple[str, ...] = ()
    properties: Sequence[tuple[str, "Shape"]] = ()
    instances: Sequence[Any] = ()
    parameters: Sequence["Shape"] = ()


class Classes(NamedTuple):
    """The exported classes: what their statements say, the classes themselves, and values of them that are there."""

    stated: Mapping[str, Any]
    found: Mapping[str, Any]
    instances: Mapping[str, Sequence[Any]] = MappingProxyType({})


def of_variable(classes: Classes, kind: str) -> Classes:
    """The classes with a type for the type variable: it is one more named type."""
    stands_for = {"kind": "type", "fields": [["", kind]]}
    return classes._replace(
        stated={**classes.stated, TYPE_VARIABLE: stands_for}, found={**classes.found, TYPE_VARIABLE: dict}
    )


class RefusedError(Exception):
    """A class refuses the fields that were chosen, and there is no other value of it."""


def instance_of(shape: Shape, fields: Mapping[str, Any]) -> Any:
    """A value of a class; where it refuses these fields, one that is there.

    Raises:
        RefusedError: there is none.
    """
    try:
        return shape.values[0](**fields)
    except Exception as error:  # whatever the module's own check raises
        if not shape.instances:
            raise RefusedError(shape.name) from error
        return copy.deepcopy(shape.instances[0])


def shape_of(text: str, classes: Classes) -> Shape:
    """What a type in normal form means."""
    return _shape(ast.parse(text, mode="eval").body, classes, {})


def _shape(node: ast.expr, classes: Classes, known: dict[str, Shape]) -> Shape:
    text = ast.unparse(node)
    match node:
        case ast.Constant(value=None):
            return Shape("none", name="None")
        case ast.BinOp(left=left, right=right):
            sides = [_shape(side, classes, known) for side in (left, right)]
            parts = tuple(
                part for side in sides for part in (side.parts if side.kind == "union" else (side,))
            )
            return Shape("union", parts, name=text)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            values = ast.literal_eval(inner)
            return Shape("literal", values=values if isinstance(inner, ast.Tuple) else (values,), name=text)
        case ast.Subscript() if text in ROWS:
            return Shape(text, name=text)
        case ast.Subscript(
            value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(elts=taken), returns])
        ):
            parameters = tuple(_shape(one, classes, known) for one in taken)
            return Shape("Callable", (_shape(returns, classes, known),), name=text, parameters=parameters)
        case ast.Subscript(value=ast.Name(id=base), slice=inner):
            elements = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
            if base == "tuple" and elements and ast.unparse(elements[-1]) == "...":
                base, elements = "tuple...", elements[:1]
            return Shape(base, tuple(_shape(element, classes, known) for element in elements), name=text)
        case ast.Name(id=name) if name == TYPE_VARIABLE and name not in classes.stated:
            return Shape("any", name=text)
        case _:
            is_plain = text in ROWS or text in {"list", "dict"}
            return Shape(text, name=text) if is_plain else _class(text, classes, known)


def _class(name: str, classes: Classes, known: dict[str, Shape]) -> Shape:
    stated = classes.stated[name]
    found = classes.found[name]
    if stated["kind"].endswith("Enum"):
        return Shape("literal", values=tuple(found), name=name)
    if name not in known:
        parts: list[Shape] = []
        fields = tuple(field for field, _ in stated["fields"])
        properties: list[tuple[str, Shape]] = []
        instances = classes.instances.get(name, ())
        known[name] = (
            Shape("named", parts, name=name)
            if stated["kind"] == "type"
            else Shape("class", parts, (found,), name, fields, properties, instances)
        )
        # a class within itself is the same shape
        parts += [_shape(ast.parse(text, mode="eval").body, classes, known) for _, text in stated["fields"]]
        properties += [
            (one, _shape(ast.parse(text, mode="eval").body, classes, known))
            for one, text in stated.get("properties", ())
        ]
    return known[name]


def is_endless(shape: Shape, within: frozenset[str] = frozenset()) -> bool:
    """Whether each value of a type holds one of the classes that it is within, so that no value would ever end."""
    match shape.kind:
        case "class" | "named":
            return shape.name in within or any(
                is_endless(part, within | {shape.name}) for part in shape.parts
            )
        case "union":
            return all(is_endless(part, within) for part in shape.parts)
        case "tuple":
            return any(is_endless(part, within) for part in shape.parts)
        case _:  # a container may be empty
            return False


def mismatch(value: Any, shape: Shape, place: str = "result") -> str:
    """Where a value is of another type, in words; empty if it is of this one."""
    match shape.kind:
        case "none":
            return "" if value is None else _other(value, shape, place)
        case "any":
            return ""
        case "union":
            fits = any(not mismatch(value, part) for part in shape.parts)
            return "" if fits else _other(value, shape, place)
        case "literal":
            same = any(type(value) is type(literal) and value == literal for literal in shape.values)
            return "" if same else _other(value, shape, place)
        case "named":
            return mismatch(value, shape.parts[0], place)
        case "class":
            return _class_mismatch(value, shape, place)
        case "Callable":
            return "" if isinstance(value, DrawnFunction) else _other(value, shape, place)
        case "Iterable" | "Iterator" if type(value) is Items:
            pairs = enumerate(value.values)
            faults = (mismatch(part, shape.parts[0], f"item {at} of {place}") for at, part in pairs)
            return next(filter(None, faults), "")
        case kind if kind in ROWS:
            return "" if ROWS[kind].accepts(value) else _other(value, shape, place)
        case _:
            return _container_mismatch(value, shape, place)


def _class_mismatch(value: Any, shape: Shape, place: str) -> str:
    found = shape.values[0]
    if dataclasses.is_dataclass(found) or issubclass(found, tuple):
        given: Any = value
        if type(given).__name__ != shape.name or not (
            dataclasses.is_dataclass(given) or hasattr(given, "_fields")
        ):
            return _other(value, shape, place)
        names = (*shape.fields, *(name for name, _ in shape.properties))
        members = [(getattr(value, name, None), f"{place}.{name}") for name in names]
    else:
        row: Any = value
        if not isinstance(value, dict) or set(row) != set(shape.fields):
            return _other(row, shape, place)
        members = [(row[name], f"{place}[{name!r}]") for name in shape.fields]
    pairs = zip(members, (*shape.parts, *(of for _, of in shape.properties)), strict=True)
    return next((found for (part, inner), of in pairs if (found := mismatch(part, of, inner))), "")


def _container_mismatch(value: Any, shape: Shape, place: str) -> str:
    base = _CONTAINERS[shape.kind]
    # a text is a sequence of texts to Python, and hardly ever meant
    if isinstance(value, (str, bytes, bytearray)):
        return _other(value, shape, place)
    if not isinstance(value, base) or (shape.kind == "tuple" and len(value) != len(shape.parts)):
        return _other(value, shape, place)
    if not shape.parts:
        return ""
    return next(
        (found for part, of, inner in _elements(value, shape, place) if (found := mismatch(part, of, inner))),
        "",
    )


def _elements(value: Any, shape: Shape, place: str) -> Iterator[tuple[Any, Shape, str]]:
    if shape.kind in {"dict", "Mapping"}:
        for key, part in value.items():
            yield key, shape.parts[0], f"the key {shown(key)} of {place}"
            yield part, shape.parts[1], f"{place}[{shown(key)}]"
    elif shape.kind == "tuple":
        for index, (part, of) in enumerate(zip(value, shape.parts, strict=True)):
            yield part, of, f"{place}[{index}]"
    elif shape.kind in {"set", "frozenset"}:
        for part in value:
            yield part, shape.parts[0], f"{shown(part)} in {place}"
    else:
        for index, part in enumerate(value):
            yield part, shape.parts[0], f"{place}[{index}]"


def values_of_variable(value: Any, shape: Shape) -> Iterator[Any]:
    """The parts of a value that stand where its type says the type variable, and can be nothing else.

    Args:
        value: Of the type.
        shape: The type.
    """
    match shape.kind:
        case "named" if shape.name == TYPE_VARIABLE:
            yield value
        case "union":
            fitting = [part for part in shape.parts if not mismatch(value, part)]
            if len(fitting) == 1:
                yield from values_of_variable(value, fitting[0])
        case "Callable":
            for result in value.results:
                yield from values_of_variable(result, shape.parts[0])
        case "Iterable" | "Iterator" if type(value) is Items:
            for part in value.values:
                yield from values_of_variable(part, shape.parts[0])
        case kind if kind in _CONTAINERS and shape.parts:
            for part, of, _ in _elements(value, shape, ""):
                yield from values_of_variable(part, of)
        case _:
            pass


def _other(value: Any, shape: Shape, place: str) -> str:
    return f"{place} is {shown(value)}, which is no {shape.name}"


def is_json(value: Any) -> bool:
    """Whether a value is one that JSON has, all the way down."""
    waiting = [value]
    while waiting:
        whole: Any = waiting.pop()
        members: Any = whole  # `whole` is narrowed to containers of nothing known
        if isinstance(whole, dict):
            if not all(isinstance(key, str) for key in members):
                return False
            waiting += members.values()
        elif isinstance(whole, list):
            waiting += members
        elif not (whole is None or isinstance(whole, (str, int, float))):
            return False
    return True


def is_hashable(value: Any) -> bool:
    """Whether a value can be a key; a signalling NaN cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True
