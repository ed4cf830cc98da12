"""Builds classes from descriptions of their source, so that tests and examples can use them without the module.

A description is a JSON object that `source.classes` makes from the module's syntax tree: an exception with its
bases, or a field-only dataclass, TypedDict or Enum with its fields.
"""

import ast
import builtins
import dataclasses
import enum
import sys
import typing
from collections.abc import Mapping
from typing import Any

from specwright.gate.inside.codec import ClassKey

_ENUMS: dict[str, Any] = {"Enum": enum.Enum, "StrEnum": enum.StrEnum, "IntEnum": enum.IntEnum}


def class_of(description: Mapping[str, Any], known: dict[str, type]) -> type:
    """The class that a description means.

    Args:
        description: `kind`, `name`, `module`, `id` and `bases` or `fields`.
        known: Classes that were made before, by their id; the new one is added.
    """
    identity = description["id"]
    if identity not in known:
        known[identity] = _build(description, known)
    return known[identity]


def _build(description: Mapping[str, Any], known: dict[str, type]) -> type:
    name, module, kind = description["name"], description["module"], description["kind"]
    if kind == "exception":
        bases = tuple(
            getattr(builtins, base) if isinstance(base, str) else class_of(base, known)
            for base in description["bases"]
        )
        return type(name, bases, {"__module__": module})
    fields: list[list[str]] = description["fields"]
    if kind in _ENUMS:
        return _ENUMS[kind](
            name, [(field, ast.literal_eval(value)) for field, _, value in fields], module=module
        )
    if kind == "TypedDict":
        return typing.TypedDict(name, {field: typing.Any for field, _, _ in fields})  # type: ignore[operator,misc]  # a class made at run time
    options: dict[str, Any] = dict.fromkeys(description["options"], True)
    made_class = dataclasses.make_dataclass(
        name, [_field(*field) for field in fields], frozen=True, **options
    )
    made_class.__module__ = module
    return made_class


def _field(name: str, annotation: str, default: str) -> Any:
    if not default:
        return (name, annotation)
    return (name, annotation, dataclasses.field(default=ast.literal_eval(default)))


def nearest_class(names: list[list[str]], exported: Mapping[ClassKey, type]) -> type[BaseException]:
    """The exception class of a method resolution order that crossed: the class itself where it is exported or belongs to
    Python, else one of its name derived from the nearest of its bases that is."""
    for place, (module, name) in enumerate(names):
        found = exported.get((module, name)) or _of_python(module, name)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found if place == 0 else type(names[0][1], (found,), {"__module__": names[0][0]})
    return type(names[0][1] if names else "Exception", (Exception,), {})


def _of_python(module: str, name: str) -> object:
    # only what is loaded already: whoever names the class in a test has imported it
    if module.partition(".")[0] in sys.stdlib_module_names:
        return getattr(sys.modules.get(module), name, None)
    return None
