"""The rules for error surfaces and error classes, checked when a contract is locked (design: contracts).

Exceptions come before codes and variants, as the docstring's sections do. An exception is a builtin that says something, or
a class of the module's own, of which the first surface may state base, shared sentence and fields (`error_classes`).
"""

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence

from ship_gate.contract.boundary.class_statement import ClassStatement
from ship_gate.contract.boundary.types import (
    class_names,
    identifier_problem,
    is_class_name,
    type_problem,
)
from ship_gate.contract.contract import ErrorSurface, MicroModuleContract, SurfaceKind
from ship_gate.contract.error_classes import ERROR_BASES, is_builtin_exception, is_own_exception

_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TOO_VAGUE = {"Exception", "BaseException", "ExceptionGroup", "NotImplementedError", "AssertionError"}


def error_problems(contract: MicroModuleContract, known: Mapping[str, ClassStatement]) -> Iterator[str]:
    """What is wrong with the error surfaces of a contract, and with what they state of their classes.

    Args:
        contract: Any.
        known: The classes that it states.
    """
    yield from _name_problems(contract, known)
    yield from _class_problems(contract, known)


def _name_problems(contract: MicroModuleContract, known: Mapping[str, ClassStatement]) -> Iterator[str]:
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    classes = {name for text in types for name in class_names(text)} | set(known)
    others = False
    for index, error in enumerate(contract.error_surfaces):
        path = f"error_surfaces.{index}"
        if error.surface is SurfaceKind.EXCEPTION:
            if others:
                yield f"{path}: an exception comes after a code or variant; list exceptions first"
            if problem := _exception_problem(error, classes):
                yield f"{path}.name: {problem}"
        else:
            others = True
            if not _CODE.fullmatch(error.name):
                yield f"{path}.name: {error.name!r} is no code; use letters, digits, `_`, `.`, `-`"


def _class_problems(contract: MicroModuleContract, known: Mapping[str, ClassStatement]) -> Iterator[str]:
    """What error surfaces say of the class: once, of a class of the module's own, with a base and types that there are."""
    named: set[str] = set()
    for index, error in enumerate(contract.error_surfaces):
        said = {"base": error.base, "shared": error.shared, "fields": error.fields}
        for part in (part for part, what in said.items() if what):
            path = f"error_surfaces.{index}.{part}"
            if not is_own_exception(error):
                yield f"{path}: only an exception of the module's own has {_OF_CLASS[part]}; name one, or say it in `when`"
            elif error.name in named:
                yield f"{path}: {error.name} is stated once, in the surface that names it first; move it there"
        if error.base and error.base not in ERROR_BASES:
            yield (
                f"error_surfaces.{index}.base: {error.base!r} is no base of an error class; write one of "
                f"{', '.join(ERROR_BASES)}, or leave it out"
            )
        named.add(error.name)
        names = [field.name for field in error.fields]
        for place, field in enumerate(error.fields):
            path = f"error_surfaces.{index}.fields.{place}"
            if problem := _error_field_problem(field.name, names[:place]) or type_problem(field.type):
                yield f"{path}: {problem}"
            elif unknown := [name for name in class_names(field.type) if name not in known]:
                yield f"{path}: nothing says what {unknown[0]} is; an input or output has to state it"


_OF_CLASS = {"base": "a base", "shared": "a statement for all its surfaces", "fields": "fields"}
"""What an error surface may say of its class, in words."""


def _error_field_problem(name: str, before: Sequence[str]) -> str:
    if problem := identifier_problem(name):
        return problem
    if name.startswith("_") or hasattr(Exception, name):
        return f"{name!r} is private or has a meaning for every exception; choose another name"
    return f"{name!r} is there already; give each its own name" if name in before else ""


def _exception_problem(error: ErrorSurface, classes: set[str]) -> str:
    name = error.name
    if is_builtin_exception(name):
        value = getattr(builtins, name)
        if name in _TOO_VAGUE or not issubclass(value, Exception):
            return (
                f"{name!r} tells the caller nothing; name a more precise exception (what a callable or an iterable raises "
                "passes through, and is declared nowhere)"
            )
        return ""
    if problem := identifier_problem(name):
        return problem
    if not is_class_name(name):
        return f"{name!r} is no exception's name; write a builtin exception or a CamelCase class"
    if name in classes:
        return f"{name!r} is the class of a value too; give the exception its own name"
    return ""
