"""What callables are called with and give, where both ends of a call check it (design: ship-gate)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ship_gate.inside.codec import ClassKey
from ship_gate.inside.values.shapes import Classes, Shape, mismatch, shape_of


def callable_shapes(
    module: str, surface: Mapping[str, Any], classes: Mapping[ClassKey, type]
) -> dict[str, Shape]:
    """Of the callables that a module is given, by their names.

    Args:
        module: Its name.
        surface: Of `gate.sandbox.staging`.
        classes: The exported classes, by the module and their names.
    """
    stated: dict[str, Any] = surface[module].get("lazy", {}).get("callables", {})
    if not stated:
        return {}
    known = _classes(module, surface, classes)
    shapes = {name: shape_of(text, known) for name, text in stated.items()}
    # one that may be left out is a union
    parts = ((name, part) for name, shape in shapes.items() for part in (shape, *shape.parts))
    return {name: part for name, part in parts if part.kind == "Callable"}


def unfit_arguments(name: str, arguments: Sequence[Any], shape: Shape) -> str:
    """In which way a callable is called otherwise than its contract says, in words; empty if it is not."""
    shapes = shape.parameters
    if len(arguments) != len(shapes):
        return f"calls {name} with {len(arguments)} arguments, where its contract says {len(shapes)}"
    for place, (value, part) in enumerate(zip(arguments, shapes, strict=True), 1):
        if problem := mismatch(value, part, f"argument {place}"):
            return f"calls {name} with what its contract does not say: {problem}"
    return ""


def _classes(module: str, surface: Mapping[str, Any], found: Mapping[ClassKey, type]) -> Classes:
    """The classes that a module's types may name; of two of a name its own counts."""
    stated: dict[str, Any] = {}
    kinds: dict[str, Any] = {}
    for name in (*(one for one in surface if one != module), module):
        for description in surface[name]["classes"]:
            if description["kind"] != "exception":
                key = (description["module"].removeprefix("modules."), description["name"])
                fields = [(field, text) for field, text, _ in description["fields"]]
                stated[description["name"]] = {"kind": description["kind"], "fields": fields}
                kinds[description["name"]] = found.get(key, dict)
    return Classes(stated, kinds)
