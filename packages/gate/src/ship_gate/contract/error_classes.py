"""What a contract states of the errors of a module, and the rules for it when it is locked (design: contracts).

Exceptions come before codes and variants, as the docstring's sections do. An exception is a builtin that says something, or
a class of the module's own. A class may stand in many error surfaces, one for each reason. What it is stands once, in the
first of them: the exception of Python that it derives from (`base`), one sentence that holds whenever it is raised
(`shared`), and its typed attributes (`fields`). All three are part of the fingerprint, and a contract that states none of
them has the fingerprint it always had.

Where no base is stated, the words of the surfaces may name one (`PatchError is a ValueError`), as contracts did before there
was a field for it.
"""

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import ErrorField, ErrorSurface, MicroModuleContract, SurfaceKind
from ship_gate.contract.types import class_names, identifier_problem, is_class_name, type_problem

ERROR_BASES = (
    "Exception",
    "ArithmeticError",
    "AttributeError",
    "ConnectionError",
    "EOFError",
    "FileExistsError",
    "FileNotFoundError",
    "IndexError",
    "KeyError",
    "LookupError",
    "OSError",
    "OverflowError",
    "PermissionError",
    "RuntimeError",
    "TimeoutError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
)
"""The exceptions of Python from which an error class may derive: those that are made from a message alone, and that callers
catch. Not here: what ends a program or a loop, warnings, groups, and those with a constructor of their own."""

_BASE = re.compile(
    r"(?:\bderiv\w+ from|\bsubclass(?:es)?(?: of)?|\binherit\w* from|\bextends|\bis an?|, an?) `?([A-Z]\w+)\b"
)


class ErrorClass(NamedTuple):
    """What a contract states of an error class; what it leaves open is empty.

    Args:
        base: The exception of Python that it derives from, one of `ERROR_BASES`.
        shared: What holds for all its surfaces.
        fields: Its attributes with their types.
    """

    base: str = ""
    shared: str = ""
    fields: tuple[ErrorField, ...] = ()

    def contradicts(self, other: "ErrorClass") -> bool:
        """Whether it says of the class itself something else than another contract, which exports the class."""
        is_other_base = bool(self.base and other.base) and self.base != other.base
        return is_other_base or (bool(self.fields) and self.fields != other.fields)


def is_builtin_exception(name: str) -> bool:
    """Whether Python itself has an exception of this name."""
    value = getattr(builtins, name, None)
    return isinstance(value, type) and issubclass(value, BaseException)


def is_os_error(name: str) -> bool:
    """Whether it is OSError, or an exception of Python that derives from it."""
    return is_builtin_exception(name) and issubclass(getattr(builtins, name), OSError)


def _is_own_exception(error: ErrorSurface) -> bool:
    """Whether an error surface is an exception that Python does not have."""
    return error.surface is SurfaceKind.EXCEPTION and not is_builtin_exception(error.name)


def own_exceptions(contract: MicroModuleContract) -> tuple[str, ...]:
    """The exceptions that the contract names and Python does not have, each once."""
    return tuple(dict.fromkeys(error.name for error in contract.error_surfaces if _is_own_exception(error)))


def error_classes(contract: MicroModuleContract) -> dict[str, ErrorClass]:
    """The error classes of which a contract states something; only the first surface of a class does."""
    found: dict[str, ErrorClass] = {}
    for error in contract.error_surfaces:
        stated = ErrorClass(error.base, error.shared, tuple(error.fields))
        if stated != ErrorClass():
            found.setdefault(error.name, stated)
    return found


def error_class(contract: MicroModuleContract, name: str) -> ErrorClass:
    """What a contract states of one class, with the base that its words name."""
    stated = error_classes(contract).get(name, ErrorClass())
    return stated._replace(base=stated.base or _base_in_words(contract, name))


def base_of(contract: MicroModuleContract, name: str) -> str:
    """The exception of Python from which a class of the contract derives."""
    return error_class(contract, name).base or "Exception"


def _base_in_words(contract: MicroModuleContract, name: str) -> str:
    said = " ".join(error.when for error in contract.error_surfaces if error.name == name)
    return next((found for found in _BASE.findall(said) if is_builtin_exception(found)), "")


def class_line(name: str, stated: ErrorClass) -> str:
    """The statement as a docstring has it: `PatchError is a ValueError: its message names the place`."""
    article = "an" if stated.base[:1] in "AEIOU" else "a"
    head = f"{name} is {article} {stated.base}" if stated.base else name
    return f"{head}: {stated.shared}" if stated.shared else head


def stated_once(errors: Sequence[ErrorSurface]) -> list[ErrorSurface]:
    """Error surfaces with what is said of a class in its first one, where all that say it say the same."""
    first: dict[str, int] = {}
    found = list(errors)
    for place, error in enumerate(errors):
        at = first.setdefault(error.name, place)
        if at == place or not _is_own_exception(error):
            continue
        for part, nothing in _PARTS.items():
            there, here = getattr(found[at], part), getattr(error, part)
            if here and there in (nothing, here):
                found[at] = found[at].model_copy(update={part: here})
                found[place] = found[place].model_copy(update={part: nothing})
    return found


_PARTS: dict[str, object] = {"base": "", "shared": "", "fields": []}
"""What an error surface may say of its class, and what stands there if it says nothing."""


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
            if not _is_own_exception(error):
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
