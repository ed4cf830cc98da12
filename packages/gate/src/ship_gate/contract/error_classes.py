"""What a contract states of an error class of the module's own (design: contracts).

A class may stand in many error surfaces, one for each reason. What it is stands once, in the first of them: the exception
of Python that it derives from (`base`), one sentence that holds whenever it is raised (`shared`), and its typed attributes
(`fields`). All three are part of the fingerprint, and a contract that states none of them has the fingerprint it always had.

Where no base is stated, the words of the surfaces may name one (`PatchError is a ValueError`), as contracts did before there
was a field for it.
"""

import builtins
import re
from collections.abc import Sequence
from typing import NamedTuple

from ship_gate.contract.contract import ErrorField, ErrorSurface, MicroModuleContract, SurfaceKind

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


def is_own_exception(error: ErrorSurface) -> bool:
    """Whether an error surface is an exception that Python does not have."""
    return error.surface is SurfaceKind.EXCEPTION and not is_builtin_exception(error.name)


def own_exceptions(contract: MicroModuleContract) -> tuple[str, ...]:
    """The exceptions that the contract names and Python does not have, each once."""
    return tuple(dict.fromkeys(error.name for error in contract.error_surfaces if is_own_exception(error)))


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
        if at == place or not is_own_exception(error):
            continue
        for part, nothing in _PARTS.items():
            there, here = getattr(found[at], part), getattr(error, part)
            if here and there in (nothing, here):
                found[at] = found[at].model_copy(update={part: here})
                found[place] = found[place].model_copy(update={part: nothing})
    return found


_PARTS: dict[str, object] = {"base": "", "shared": "", "fields": []}
"""What an error surface may say of its class, and what stands there if it says nothing."""
