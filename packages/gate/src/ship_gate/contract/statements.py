"""What a contract says, one statement after the other, each with the JSON pointer that cites it (design: contracts).

Docstrings, obligations, requests, pages and rules go through `statements`; the one line of the Code Index does not.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

from ship_gate import canonical_json
from ship_gate.contract.contract import DIMENSIONS, ErrorSurface, MicroModuleContract, SurfaceKind
from ship_gate.contract.types import is_lazy

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


def contract_text(contract: MicroModuleContract) -> str:
    """What a contract says of its module; tags, budgets and other advice are left out."""
    return "\n".join(_lines(contract))


def text_for_callers(contract: MicroModuleContract) -> str:
    """What a contract says to those who call its module: callers see neither its scenarios nor its wiring (F§11.1)."""
    return "\n".join(one for one in _lines(contract) if not one.startswith(("/error_cases", "/dependencies")))


def _lines(contract: MicroModuleContract) -> list[str]:
    lines = (f"{one.pointer} {one.line}" for one in statements(contract))
    return [f"`{contract.name}` {contract.ref}", *lines]


_COMPARED = ("purpose", *DIMENSIONS, "error_cases", "dependencies")


def contract_changes(before: MicroModuleContract, after: MicroModuleContract) -> list[str]:
    """The differences of two contracts, for those who worked to the earlier one: a line for each statement that was
    removed, `-`, or added, `+`, by field; one for a field in another order.
    """
    lines: list[str] = []
    for field in _COMPARED:
        old, new = ([*_compared(contract, field)] for contract in (before, after))
        lines += [f"- {field}: {text}" for text in old if text not in new]
        lines += [f"+ {field}: {text}" for text in new if text not in old]
        if sorted(old) == sorted(new) and old != new:
            lines.append(f"~ {field}: the same statements in another order")
    return lines


def _compared(contract: MicroModuleContract, field: str) -> Iterator[str]:
    """The statements of a field; an error surface with what it says of its class is one."""
    for one, parts in entries(contract, field):
        if one.kind is StatementKind.MODES:
            yield canonical_json.canonical(contract.at(one.pointer)).decode()
        elif one.kind in (StatementKind.INPUT, StatementKind.OUTPUT):
            yield f"{one.name} is {one.text}"
            yield from (part.sentence for part in parts)
        else:
            yield "; ".join((one.sentence, *(f"{part.form} {part.text}" for part in parts)))
