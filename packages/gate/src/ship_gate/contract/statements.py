"""What a contract says, one statement after the other, each with the JSON pointer that cites it (design: contracts).

Docstrings, obligations, requests, pages and rules go through `statements`; the one line of the Code Index does not.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from ship_gate.contract.boundary.lazy_types import is_lazy
from ship_gate.contract.contract import ErrorSurface, MicroModuleContract, SurfaceKind

_Item = TypeVar("_Item")


class StatementKind(StrEnum):
    """What a statement is; `HAPPY_PATH` only as an obligation, `NOTHING` where a contract has none of a dimension."""

    PURPOSE = "purpose"
    HAPPY_PATH = "happy path"
    INPUT = "input"
    CONSTRAINT = "input constraint"
    OUTPUT = "output"
    INVARIANT = "output invariant"
    ERROR_SURFACE = "error surface"
    ERROR_BASE = "error base"
    ERROR_CLASS = "error class"
    ERROR_FIELD = "error field"
    EFFECT = "effect"
    MODES = "modes"
    ERROR_CASE = "error case"
    DEPENDENCY = "dependency"
    NOTHING = "nothing"


OF_SLOTS = (StatementKind.CONSTRAINT, StatementKind.INVARIANT)
"""What is said of an input or an output."""


class Statement(NamedTuple):
    """One statement of a contract.

    Args:
        pointer: JSON pointer into the contract.
        kind: What it is.
        name: The input, output, error, target or module that it is about; empty where it is about none of them.
        text: What it says of that.
        form: How an error reaches the caller, what is stated of its class, or the type of an effect; otherwise empty.
    """

    pointer: str
    kind: StatementKind
    name: str
    text: str
    form: str = ""

    @property
    def path(self) -> str:
        """The place in the words of the rules, `inputs.0.constraints.1`."""
        return self.pointer.strip("/").replace("/", ".")

    @property
    def is_part(self) -> bool:
        """Whether it is part of an input, an output or an error surface."""
        return self.pointer.count("/") > 2

    @property
    def sentence(self) -> str:
        """The statement with what it is about."""
        if self.kind is StatementKind.EFFECT:
            return f"{self.form} {self.name}: {self.text}"
        name = f"{self.name}{'.' if self.kind is StatementKind.ERROR_FIELD else ': '}" if self.name else ""
        return f"{name}{self.text}"

    @property
    def line(self) -> str:
        """The statement as it follows its pointer in a list of all; what a part belongs to was said before."""
        returned = f" ({self.form})" if self.form in (SurfaceKind.CODE, SurfaceKind.VARIANT) else ""
        return self.text if self.is_part else self._replace(name=f"{self.name}{returned}").sentence


def statements(contract: MicroModuleContract) -> Sequence[Statement]:
    """Everything that a contract says, in the order of its fields; tags, budgets and other advice are left out."""
    return tuple(_walk(contract))


def entries(contract: MicroModuleContract, field: str) -> list[tuple[Statement, list[Statement]]]:
    """What a contract says in one field, each statement with its parts."""
    found: list[tuple[Statement, list[Statement]]] = []
    for one in statements(contract):
        if one.is_part and one.pointer.startswith(f"/{field}/"):
            found[-1][1].append(one)
        elif one.pointer.split("/")[1] == field and one.kind is not StatementKind.NOTHING:
            found.append((one, []))
    return found


def _walk(contract: MicroModuleContract) -> Iterator[Statement]:
    kinds = StatementKind
    yield Statement("/purpose", kinds.PURPOSE, "", contract.purpose)
    for place, slot in _places("/inputs", contract.inputs):
        yield Statement(place, kinds.INPUT, slot.name, slot.type)
        yield from _texts(f"{place}/constraints", kinds.CONSTRAINT, slot.name, slot.constraints)
    for place, slot in _places("/outputs", contract.outputs):
        yield Statement(place, kinds.OUTPUT, slot.name, slot.type)
        yield from _texts(f"{place}/invariants", kinds.INVARIANT, slot.name, slot.invariants)
    yield from _nothing("/outputs", contract.outputs, "none")
    for place, error in _places("/error_surfaces", contract.error_surfaces):
        yield Statement(place, kinds.ERROR_SURFACE, error.name, error.when, error.surface)
        yield from _of_class(place, error)
    if not contract.error_surfaces:
        passed = " and ".join(slot.name for slot in contract.inputs if is_lazy(slot.type))
        fails = f"raises only what {passed} raises" if passed else "cannot fail"
        yield Statement("/error_surfaces", kinds.NOTHING, "", f"none: it {fails}")
    for place, effect in _places("/effects", contract.effects):
        yield Statement(place, kinds.EFFECT, effect.target, effect.description, effect.type)
    yield from _nothing("/effects", contract.effects, "none: pure")
    notes = f" ({contract.modes.notes})" if contract.modes.notes else ""
    yield Statement("/modes", kinds.MODES, "", " and ".join(contract.modes.names) + notes)
    yield from _texts("/error_cases", kinds.ERROR_CASE, "", contract.error_cases)
    for place, dependency in _places("/dependencies", contract.dependencies):
        yield Statement(place, kinds.DEPENDENCY, dependency.ref, dependency.why)
    yield from _nothing("/dependencies", contract.dependencies, "none")


def _of_class(place: str, error: ErrorSurface) -> Iterator[Statement]:
    for part, kind in (("base", StatementKind.ERROR_BASE), ("shared", StatementKind.ERROR_CLASS)):
        if text := getattr(error, part):
            yield Statement(f"{place}/{part}", kind, error.name, text, part)
    for part, field in _places(f"{place}/fields", error.fields):
        yield Statement(part, StatementKind.ERROR_FIELD, error.name, f"{field.name}: {field.type}", "field")


def _places(pointer: str, items: Iterable[_Item]) -> Iterator[tuple[str, _Item]]:
    return ((f"{pointer}/{place}", item) for place, item in enumerate(items))


def _texts(pointer: str, kind: StatementKind, name: str, texts: Iterable[str]) -> Iterator[Statement]:
    return (Statement(place, kind, name, text) for place, text in _places(pointer, texts))


def _nothing(pointer: str, items: Sequence[object], text: str) -> Iterator[Statement]:
    if not items:
        yield Statement(pointer, StatementKind.NOTHING, "", text)
