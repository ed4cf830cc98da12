"""Builds classes from descriptions of their source, so that tests and examples can use them without the module.

A description is a JSON object that `source.classes` makes from the module's syntax tree: an exception with its
bases, or a dataclass, NamedTuple, TypedDict or Enum with its fields. Where a dataclass checks its fields or derives
properties, its code stays in the module's process: a value is made by a call, which raises what the check raises and brings
the properties back.
"""

import ast
import builtins
import collections
import dataclasses
import enum
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ship_gate.base.boundary_values import CONSTRUCTORS
from ship_gate.inside.codec import KEPT, ClassKey

_ENUMS: dict[str, Any] = {"Enum": enum.Enum, "StrEnum": enum.StrEnum, "IntEnum": enum.IntEnum}

Make = Callable[[str, str, dict[str, object]], object]
"""Has a value made by its module: the module, the class and the fields."""


def class_of(description: Mapping[str, Any], known: dict[str, type], make: Make) -> type:
    """The class that a description means.

    Args:
        description: `kind`, `name`, `module`, `id` and `bases` or `fields`.
        known: Classes that were made before, by their id; the new one is added.
        make: For values of a class with code of its own.
    """
    identity = description["id"]
    if identity not in known:
        known[identity] = _build(description, known, make)
    return known[identity]


def _build(description: Mapping[str, Any], known: dict[str, type], make: Make) -> type:
    name, module, kind = description["name"], description["module"], description["kind"]
    if kind == "exception":
        bases = tuple(
            getattr(builtins, base) if isinstance(base, str) else class_of(base, known, make)
            for base in description["bases"]
        )
        return type(name, bases, {"__module__": module})
    fields: list[list[str]] = description["fields"]
    if kind in _ENUMS:
        return _ENUMS[kind](name, [(field, constant(value)) for field, _, value in fields], module=module)
    if kind == "type":
        return typing.cast("type", typing.Any)  # for annotations: it is no class
    if kind == "NamedTuple":
        names = [field for field, _, _ in fields]
        defaults = [_default(default, known, module) for _, _, default in fields if default]
        return collections.namedtuple(name, names, defaults=defaults, module=module)  # pyright: ignore[reportUntypedNamedTuple]  # made at run time
    if kind == "TypedDict":
        return typing.TypedDict(name, {field: typing.Any for field, _, _ in fields})  # type: ignore[operator,misc]  # a class made at run time
    options: dict[str, Any] = dict.fromkeys(description["options"], True)
    own: dict[str, Any] = {}
    if description["called"]:
        # a value keeps its properties, for which slots have no room
        options.pop("slots", None)
        own = _checking_methods(
            make, module.removeprefix("modules."), name, [field for field, _, _ in fields]
        )
        own |= {one: property(_stored(one)) for one in description["properties"]}
    made_class = dataclasses.make_dataclass(
        name, [_field(field, known, module) for field in fields], frozen=True, namespace=own, **options
    )
    made_class.__module__ = module
    return made_class


def _checking_methods(make: Make, module: str, name: str, fields: Sequence[str]) -> dict[str, Any]:
    def check(self: object) -> None:
        __tracebackhide__ = True
        made = make(module, name, {field: getattr(self, field) for field in fields})
        if type(made) is type(self):
            vars(self).update(vars(made))

    return {"__post_init__": check, KEPT: True}


def _stored(name: str) -> Callable[[object], object]:
    return lambda self: vars(self)[name]


def _field(field: list[str], known: Mapping[str, type], module: str) -> Any:
    name, annotation, default = field
    if not default:
        return (name, annotation)
    return (name, annotation, dataclasses.field(default=_default(default, known, module)))


def _default(text: str, known: Mapping[str, type], module: str) -> Any:
    """The value of a field's default; of two classes of a name the module's own counts."""
    classes = sorted(known.values(), key=lambda kind: getattr(kind, "__module__", "") == module)
    return constant(text, {getattr(kind, "__name__", ""): kind for kind in classes})


def constant(text: str, enums: Mapping[str, type] = MappingProxyType({})) -> Any:
    """The value of a default.

    Args:
        text: In the normal form of a contract, which has nothing but constants.
        enums: The classes whose members it may name.
    """
    try:
        return ast.literal_eval(text)
    except ValueError:
        return eval(text, {**CONSTRUCTORS, **enums})  # noqa: S307 - the gate has read its syntax tree


def nearest_class(names: list[list[str]], exported: Mapping[ClassKey, type]) -> type[BaseException]:
    """The exception class of a method resolution order that crossed: the class itself where it is exported or belongs to
    Python, else one of its name derived from the nearest of its bases that is."""
    for place, (module, name) in enumerate(names):
        found = exported.get((module, name)) or _of_python(module, name)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found if place == 0 else type(names[0][1], (found,), {"__module__": names[0][0]})
    return type(names[0][1] if names else "Exception", (Exception,), {})


def rebuilt_error(kind: type[BaseException], args: tuple[object, ...], message: str) -> BaseException:
    """An exception that crossed: of its class, with its message, whatever its class wants to be made with."""
    for given in (args, (message,)):
        try:
            error = kind(*given)
            if str(error) == message:
                return error
        except Exception:  # noqa: S112 - a class may want other arguments than it was raised with
            continue
    error = kind.__new__(kind)
    error.args = (message,)
    return error


def _of_python(module: str, name: str) -> object:
    # only what is loaded already: whoever names the class in a test has imported it
    if module.partition(".")[0] in sys.stdlib_module_names:
        return getattr(sys.modules.get(module), name, None)
    return None
